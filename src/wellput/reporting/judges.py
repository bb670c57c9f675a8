"""Tables of `wellput agree` about the judges: how far they agree with each other, which systems they
chose, and how often a filter's decisions (to keep or refuse a change of a text) are right by their
verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from wellput.agreement.result import AgreementResult, JudgeSummary
from wellput.core.errors import counted
from wellput.reporting.table import Table, number, p_text, with_interval


def judge_table(result: AgreementResult) -> Table:
    """A row for each question and kind of values (ratings as given, or normalized); all figures of a
    row use the same values."""
    rows = [cells for row in result.judges for cells in _judge_rows(row)]
    notes = [f"{row.question}: {row.note}." for row in result.judges if row.note]
    notes += [sentence for row in result.judges if (sentence := ceiling_sentence(row))]
    notes += [
        f"{' and '.join(row['questions'])} correlate {number(row['value'], 2)} over "
        f"{counted(row['n'], 'trial')}."
        for row in result.questions
    ]
    return Table(
        columns=[
            "question",
            "values",
            "judges",
            "trials",
            "pairwise r (min to max)",
            "split half",
            "κ",
            "α",
            "β",
            "ICC",
        ],
        rows=rows,
        title="Judges among themselves",
        notes=[*_disagreement_notes(result.judges), *notes],
    )


def _judge_rows(row: JudgeSummary) -> list[list[str]]:
    """The rows of one question: by the ratings as given and, if there are any, by normalized
    ones."""
    summaries: list[Mapping[str, Any]] = [asdict(row)]
    if row.normalized is not None:
        summaries.append(row.normalized)
    return [
        [
            row.question,
            summary["values"],
            str(row.n_judges),
            str(row.n_trials),
            _pairwise(summary["pairwise"]),
            *(_or_dash(summary[name]) for name in ("split_half", "kappa", "alpha", "beta")),
            _icc(summary["icc"]),
        ]
        for summary in summaries
    ]


def _pairwise(pairs: Mapping[str, float] | None) -> str:
    """The mean correlation of two judges, with the lowest and the highest."""
    if pairs is None:
        return "–"
    mean, least, greatest = (number(pairs[name], 2) for name in ("mean", "min", "max"))
    return f"{mean} ({least} to {greatest})"


def _icc(coefficients: Mapping[str, Mapping[str, float]] | None) -> str:
    """The intraclass correlation ICC2 as text if it is defined, else ICC1. Both are the reliability
    of a single judge; if one judge is more severe than another, that counts as disagreement."""
    for name in ("ICC2", "ICC1"):
        if coefficients and name in coefficients:
            return f"{number(coefficients[name]['value'], 2)} ({name})"
    return "–"


def _or_dash(figure: float | None) -> str:
    return "–" if figure is None else number(figure, 2)


def _disagreement_notes(judges: Sequence[JudgeSummary]) -> list[str]:
    """What counts as disagreement in κ, α and β (Artstein & Poesio's weighted agreement)."""
    words = {
        "as given": "Ratings: κ (quadratic weights), α and β (interval) count a disagreement by the "
        "square of the difference (between yes and no always 1).",
        "choices": "Choices: κ and α (nominal) count any two that differ. A trial is an item with "
        "the two systems offered.",
        "labels": "Labels: κ and α (nominal) count any two that differ.",
    }
    return [
        words[values] for values in dict.fromkeys(row.values for row in judges if row.n_judges > 1)
    ]


def ceiling_sentence(row: JudgeSummary) -> str:
    """How far a perfect metric could agree with these judges; empty if that is not known."""
    if row.ceiling is None or row.ceiling["value"] is None:
        return ""
    value = number(row.ceiling["value"], 2)
    ceiling = with_interval(value, row.ceiling["low"], row.ceiling["high"], 2)
    return (
        f"{row.question}: a perfect metric is expected to correlate {ceiling} with the mean of these "
        "judges, because their ratings are noisy. A metric may exceed this by chance."
    )


def preference_tables(
    entry: Mapping[str, Any], notes_on_left_out: Sequence[str] = (), *, confidence: float = 0.95
) -> list[Table]:
    """The tables of systems and of pairs for one question with choices between two systems.
    `notes_on_left_out` say which choices were left out."""
    systems = Table(
        columns=["system", "chosen / offered", "win rate", "strength", "offers"],
        rows=[
            [
                row["system"],
                number(row["selection_ratio"], 3),
                with_interval(number(row["win_rate"], 3), row["low"], row["high"], 3),
                with_interval(
                    number(row["strength"], 2, sign=True),
                    row["strength_low"],
                    row["strength_high"],
                    2,
                ),
                str(row["n"]),
            ]
            for row in entry["systems"]
        ],
        title=f"Preferences: {entry['question']}, {counted(entry['n'], 'choice')} of "
        f"{counted(entry['judges'], 'judge')}",
        notes=[
            "Win rate: the share of comparisons that the system is expected to win; a tie is half a "
            "win. Strength: log scale of Bradley and Terry, with Davidson's ties. Both are those of "
            f"the ranking. [low, high]: {100 * confidence:g}% interval for other judges and other "
            "items.",
            *([entry["note"]] if entry["note"] else []),
            *notes_on_left_out,
        ],
    )
    pairs = Table(
        columns=["pair", "chosen", "ties", "first's share", "p", "p (Holm)", "χ²"],
        rows=[
            [
                " : ".join(row["systems"]),
                " : ".join(str(count) for count in row["chosen"]),
                str(row["ties"]),
                with_interval(number(row["share"], 2), row["low"], row["high"], 2),
                p_text(row["p_value"]),
                p_text(row["p_adjusted"]),
                number(row["chi_squared"], 2),
            ]
            for row in entry["pairs"]
        ],
        caption=f"Pairs of systems: {entry['question']}",
        notes=[
            "The first's share and p are those of the ranking: a model of all choices, for other "
            "judges and other items. χ² is shown because papers print it. It assumes that all "
            "choices are independent, and no statement here rests on it."
        ],
    )
    return [systems, pairs]


def confusion_table(result: AgreementResult) -> Table:
    """How often metrics choose the output that people choose; a filter has `decision_table`."""
    # `kept` is the decision of a filter: whether it kept a change.
    if any(row["metric"] == "kept" for row in result.confusion):
        return decision_table(result)
    return Table(
        columns=["metric", "question", "choices right", "κ", "n"],
        rows=[
            [
                row["metric"],
                row["question"],
                number(row["accuracy"], 3),
                number(row["kappa"], 3),
                str(row["n"]),
            ]
            for row in sorted(result.confusion, key=lambda row: (row["question"], -row["accuracy"]))
        ],
        title="Metrics as judges: how often people choose the output with the higher score",
    )


def decision_table(result: AgreementResult) -> Table:
    """A filter's decisions in the rows, people's verdicts in the columns (Kauchak & Barzilay's Table
    8)."""
    rows = []
    notes = []
    for row in result.confusion:
        name = row["question"]
        rows.append([f"{name}: refused", str(row["true_negatives"]), str(row["false_negatives"])])
        rows.append([f"{name}: kept", str(row["false_positives"]), str(row["true_positives"])])
        notes.append(
            f"{name}: {number(row['accuracy'], 3)} of {row['n']:,} verdicts agree with the filter, "
            f"κ {number(row['kappa'], 3)}."
        )
    return Table(
        ["filter", "judged wrong", "judged right"],
        rows,
        title="The filter's decisions",
        notes=notes,
    )


def substitution_tables(result: AgreementResult) -> list[Table]:
    """How many of the words that each paraphrasing method substitutes are right, by each judge (Kauchak
    & Barzilay's Tables 7 and 8)."""
    accuracy = Table(
        ["method", "question", "judge", "right", "judged", "κ of the judges"],
        [
            [
                row["method"],
                row["question"],
                row["judge"],
                number(row["accuracy"], 3),
                str(row["n"]),
                "" if row["kappa"] is None else number(row["kappa"], 2),
            ]
            for row in result.substitutions
        ],
        title="How many of the substitutions that a method makes are right",
    )
    refusing = [row for row in result.substitutions if row["refused_right"] + row["refused_wrong"]]
    decisions = Table(
        ["method", "judge", "kept, right", "kept, wrong", "refused, right", "refused, wrong"],
        [
            [
                row["method"],
                row["judge"],
                *(
                    str(row[key])
                    for key in ("kept_right", "kept_wrong", "refused_right", "refused_wrong")
                ),
            ]
            for row in refusing
        ],
        title="What the filters decided, and what each judge said",
    )
    return [accuracy, *([decisions] if refusing else [])]


def homogeneity_table(result: AgreementResult) -> Table:
    """Whether people in two studies of the same pairs of systems chose alike."""
    return Table(
        ["pair", "question", "chosen here", "chosen there", "χ²", "p"],
        [
            [
                " : ".join(row["systems"]),
                row["question"],
                *(" : ".join(str(count) for count in counts) for counts in row["chosen"]),
                number(row["chi_squared"], 2),
                p_text(row["p_value"]),
            ]
            for row in result.homogeneity
        ],
        title="Did people in the two studies choose alike?",
        notes=[
            "χ² of homogeneity with Yates's correction. It assumes that all choices are independent. "
            "A large p does not show that people chose alike: it may be that there are few choices."
        ],
    )
