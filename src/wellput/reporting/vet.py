"""What `wellput vet` shows, which asks whether a machine judge (or a metric, or one more person) may
stand in for people: the verdict, a test for each person, agreement, and biases."""

from __future__ import annotations

from collections.abc import Sequence

from wellput.agreement.machines.biases import SystemSeverity
from wellput.agreement.machines.verdict import (
    shown,
    signed_interval,
    untested_people,
    verdict_sentences,
)
from wellput.agreement.machines.vetting import VetResult
from wellput.core.errors import counted
from wellput.core.estimates import Estimate
from wellput.reporting.rank import left_out_notes
from wellput.reporting.table import Report, Table, number, p_text
from wellput.stats.clusters import ALL_EQUAL_REASON
from wellput.stats.judges.alternative_annotator import AlternativeAnnotatorTest, PersonLeftOut

CSV_COLUMNS = (
    "judge", "n", "advantage_probability", "p_value", "p_adjusted", "won", "p_clustered",
    "p_clustered_adjusted", "won_clustered",
)  # fmt: skip
MAX_PEOPLE_SHOWN = 20
PEARSON = "Pearson's r"
SCORING_WORDS = {
    "accuracy": "the share of equal answers",
    "neg_rmse": "the root mean squared difference",
}
"""How it is measured whether an answer is near to those of other people."""


def vet_report(result: VetResult) -> Report:
    """The tables; the verdict is in the notes of the first."""
    tables = [_test_table(result), _agreement_table(result), _bias_table(result)]
    if result.biases.by_system and result.kind != "labels":
        tables.append(_severity_table(result))
    return Report(tables, result.values(), CSV_COLUMNS, result.records())


def _test_table(result: VetResult) -> Table:
    test = result.alt_test
    rows = [
        [
            result.people[person.judge],
            f"{person.n_trials:,}",
            f"{100 * person.advantage_probability:.0f}%",
            *_outcome_cells(person),
        ]
        for person in test.people[:MAX_PEOPLE_SHOWN]
    ]
    columns = ["person left out", "trials", "as good", "p", "p (BY)", "beaten"]
    if test.is_clustered:
        columns += ["as published: p (BY)", "beaten"]
    notes = list(verdict_sentences(result))
    if test.people:
        hidden = len(test.people) - len(rows)
        more = f" {hidden} more people are in the JSON." if hidden else ""
        notes.append(
            f"Winning rate {number(test.beaten_rate, 2)}{_published_rate(test)}, advantage probability "
            f"{number(test.advantage_probability, 2)}.{more} Each person is left out in turn; as good: "
            "how often the judge's answer is at least as near to the other people's as this person's, "
            f"by {SCORING_WORDS[test.scoring]}."
        )
    notes += _caveats(result)
    return Table(
        columns,
        rows,
        title=f"May {result.judge} stand in for people? {', '.join(result.questions)}",
        notes=notes,
    )


def _outcome_cells(person: PersonLeftOut) -> list[str]:
    """The outcome of the test that decides; then that of the published test, if it is another one."""
    published = [p_text(person.p_adjusted), "yes" if person.is_beaten_in_published_test else "no"]
    if person.clustered is None:
        return [p_text(person.p_value), *published]
    clustered = person.clustered
    return [
        p_text(clustered.p_value), p_text(clustered.p_adjusted), "yes" if clustered.is_beaten else "no",
        *published,
    ]  # fmt: skip


def _published_rate(test: AlternativeAnnotatorTest) -> str:
    """The winning rate by the published test, if another test decides."""
    return (
        f" (by the test as published {number(test.winning_rate, 2)})" if test.is_clustered else ""
    )


def _caveats(result: VetResult) -> list[str]:
    """What the test used and assumes, and what was left out."""
    test = result.alt_test
    items = counted(result.n_items, "item")
    clustered = (
        " Trials of the same item (or document) depend on each other, so p is computed from whole "
        "items. As published: the same test with all trials taken as independent."
        if test.is_clustered
        else ""
    )
    notes = [
        f"{counted(test.n_trials, 'trial')} on {items} with answers of at least two people and of "
        "the judge. p: one-sided t-test. A small p shows that the share of trials where the person's "
        "answer is nearer, minus the share where the judge's is nearer, is below "
        f"{test.epsilon:g} (the allowance). p (BY): corrected by Benjamini & Yekutieli's method."
        f"{clustered} Intervals hold for these people and systems, other items."
    ]
    if test.untested and test.has_enough_people:
        notes.append(
            f"Not tested, because they have fewer than {test.min_trials} of these trials: "
            f"{untested_people(result)}."
        )
    if len(test.people) == 2:
        notes.append(
            "With two people each is compared with the other one alone; three or more are safer."
        )
    if result.is_metric:
        notes.append(
            f"{result.judge} is a metric: "
            + (
                "it chooses the output with the better score."
                if result.kind == "choices"
                else "its scores are put on the question's scale by a straight line that was fitted to "
                "people's answers about other items."
                if result.is_refitted
                else "its scores are on the question's scale, and are taken as they are."
            )
        )
    if result.other_machines:
        notes.append(f"Left out (machines): {', '.join(result.other_machines)}.")
    return [*notes, *left_out_notes(result.excluded), *result.notes]


def _agreement_table(result: VetResult) -> Table:
    agreement = result.agreement
    measure = "share of equal answers" if result.alt_test.scoring == "accuracy" else PEARSON
    rows = [
        ["a person with the other people", measure, *_cells(agreement.people)],
        ["the judge with the same people", measure, *_cells(agreement.judge)],
        [
            "the judge's minus the person's",
            "difference of these",
            *_cells(agreement.difference, sign=True),
        ],
    ]
    if agreement.beyond_chance is not None:
        rows.append(
            [
                "the judge with the same people",
                "κ (beyond chance)",
                *_cells(agreement.beyond_chance),
            ]
        )
    if result.panel is not None:
        rows.append(["the judge with the mean of all people", PEARSON, *_cells(result.panel)])
    notes = []
    if result.ceiling is not None:
        rows.append(["a perfect judge with that mean (ceiling)", PEARSON, *_cells(result.ceiling)])
        notes.append("ceiling: people's own noise keeps even a perfect judge below 1.")
    if result.consistency is not None:
        consistency_measure = (
            "ICC of one answer" if result.kind == "numbers" else "share of equal answers"
        )
        rows.append(
            ["the judge with itself, asked again", consistency_measure, *_cells(result.consistency)]
        )
        notes.append(f"asked again: {counted(result.consistency.n or 0, 'repeated trial')}.")
    else:
        notes.append("The judge answered nothing twice, so its consistency is unknown.")
    return Table(
        ["agreement", "measured by", "value", _interval_heading(result)],
        rows,
        title="How far it agrees",
        notes=notes,
    )


def _interval_heading(result: VetResult) -> str:
    return f"{100 * result.confidence:g}% interval"


def _cells(estimate: Estimate, *, sign: bool = False) -> list[str]:
    """The value and its interval as text."""
    low, high = estimate.low, estimate.high
    bounds = (
        "–"
        if low is None or high is None
        else f"[{shown(low, sign=sign)}, {shown(high, sign=sign)}]"
    )
    return [shown(estimate.value, sign=sign), bounds]


def _bias_table(result: VetResult) -> Table:
    """What the judge favors more than people do: position, length, its own family; and its severity."""
    biases = result.biases
    is_choice = result.kind == "choices"
    unit = "share of choices" if is_choice else "points"
    favored_place = "the output shown first" if is_choice else "each place earlier"
    # The name of each bias, how a row of the table names it, and its estimate.
    named: Sequence[tuple[str, str, Estimate | None]] = [
        ("position", f"position: for {favored_place}", biases.position),
        ("length", "length: for an output twice as long", biases.length),
        ("self_preference", "self-preference: for its own family", biases.self_preference),
        *(() if is_choice else (("severity", "severity: over all systems", biases.severity),)),
    ]
    rows = [
        [text, *_cells(bias, sign=True), "–" if bias.p_value is None else p_text(bias.p_value)]
        for _, text, bias in named
        if bias is not None
    ]
    reasons: dict[str, list[str]] = {}
    for name, _, bias in named:
        if bias is None and name in biases.missing:
            reasons.setdefault(biases.missing[name], []).append(name.replace("_", "-"))
    notes = [f"Not measured: {', '.join(names)}: {why}." for why, names in reasons.items()]
    if rows:
        than_half = " (position: than half of the time)" if biases.position is not None else ""
        meaning = (
            f"How much more often it chooses such an output than people do{than_half}."
            if is_choice
            else "How many points more it gives than people do."
        )
        notes.insert(0, meaning)
    if biases.severity is not None and biases.severity.method.startswith(ALL_EQUAL_REASON):
        notes.append(
            "severity: the same for every item, so there is no interval; p is that of the sign test."
        )
    return Table(
        ["bias", unit, _interval_heading(result), "p"],
        rows,
        title="In what it differs from people",
        notes=notes,
    )


def _severity_table(result: VetResult) -> Table:
    """How much more, or less, the judge gives to each system than people do."""
    rows = [_severity_row(row) for row in result.biases.by_system]
    is_choice = result.kind == "choices"
    unit = "share of wins" if is_choice else "points"
    meaning = f"In {unit}; negative: the judge is more severe than people."
    meaning_of_p = (
        " p tests the difference from the judge's average severity."
        if any(row.deviation is not None for row in result.biases.by_system)
        else ""
    )
    columns = ["system", "judge − people", _interval_heading(result)]
    columns += ["p (Holm)"] if is_choice else ["from the average", "p (Holm)"]
    return Table(
        columns,
        # For choices, without the deviation from the average.
        [row if not is_choice else [*row[:3], row[4]] for row in rows],
        title="Severity by system",
        notes=[
            meaning
            if is_choice
            else f"{meaning}{meaning_of_p} A judge that is equally severe to all systems still ranks "
            "them rightly."
        ],
    )


def _severity_row(row: SystemSeverity) -> list[str]:
    tested = row.deviation or row.severity
    deviation = "–" if row.deviation is None else shown(row.deviation.value, sign=True)
    p = "–" if tested.p_adjusted is None else p_text(tested.p_adjusted)
    return [
        row.system,
        shown(row.severity.value, sign=True),
        signed_interval(row.severity) or "–",
        deviation,
        p,
    ]
