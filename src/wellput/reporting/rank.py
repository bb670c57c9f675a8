"""What `wellput rank` shows: which system won and how certain that is, how far systems are apart, how
much of the judgments' spread comes from judges, items and so on, and what a larger study would bring.

The *whole* is the ranking over all items; a *slice* is the items with one value of a tag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from wellput.agreement.panel import Exclusion
from wellput.agreement.rankings.fitted_ranking import FittedRanking, answer_sentence
from wellput.agreement.rankings.people_ranking import QuestionRanking, RankResult
from wellput.agreement.rankings.plain_ranking import (
    ESTIMATE_HEADINGS,
    VARIANCE_COMPONENTS,
    EstimateScale,
    SystemDifference,
    shown_estimate,
    shown_interval,
    shown_rank,
)
from wellput.core.errors import counted
from wellput.reporting.ranking import (
    DIFFERENCE_HEADINGS,
    MAX_PAIRS_SHOWN,
    difference_interval,
    difference_text,
    judgments_text,
    slice_differences_table,
    whom,
)
from wellput.reporting.table import Report, Table, number, p_text, p_with_relation

CSV_COLUMNS = (
    "question", "by", "model", "system", "estimate", "low", "high", "rank", "rank_low", "rank_high",
    "cluster", "n", "raw_mean",
)  # fmt: skip
MODEL_WORDS = {
    "linear": "a linear mixed model (REML)",
    "ordinal": "an ordinal mixed model (cumulative logit)",
    "binary": "a binary mixed model (logit)",
    "bradley-terry": "a Bradley–Terry mixed model of choices",
}
RAW_WORDS: dict[EstimateScale, str] = {
    "mean": "the mean of a system's judgments",
    "rate": "the share of yes",
    "win rate": "the share of comparisons won, a tie being half",
}
"""What the column `raw` has, by the kind of estimate."""
WHY_MODEL = {
    "ordinal": ", because the answers have few different values",
    "binary": ", because the answers are yes or no",
}
"""Why this model was used, where the answers decided it."""
SOURCE_WORDS = {
    "judge": "judges: some are more severe than others",
    "item": "items: some are harder than others",
    "document": "documents: some are harder than others",
    "judge:system": "judges' tastes: a judge prefers some systems more than others do",
    "item:system": "outputs: a system does better on some items than on others",
    "document:system": "a system does better on some documents than on others",
    "residual": "single answers, and all that cannot be distinguished from them",
}
"""The sources of variance in words, by the name of the variance component."""


def rank_report(result: RankResult) -> Report:
    """The tables of all questions; the first table also has the notes that hold for all of them."""
    tables = []
    for question in result.questions:
        if question.ranking.by is None:
            tables += _question_tables(question, is_named=len(_wholes(result)) > 1)
            tables += _slices_of(question.ranking, result)
        # A slice is shown by itself if its question has no ranking over all items.
        elif not any(whole.question == question.ranking.question for whole in _wholes(result)):
            tables.append(_systems_table(question))
    notes = _notes_on_all(result)
    if notes:
        tables[0] = replace(tables[0], notes=[*tables[0].notes, *notes])
    return Report(tables, result.values(), CSV_COLUMNS, result.records())


def _wholes(result: RankResult) -> list[FittedRanking]:
    """The rankings over all items, one for each question."""
    return [ranking for ranking in result.rankings if ranking.by is None]


def _slices_of(whole: FittedRanking, result: RankResult) -> list[Table]:
    """The rankings of the slices of a question, and how they differ."""
    slices = [
        question
        for question in result.questions
        if question.ranking.by is not None and question.ranking.question == whole.question
    ]
    if not slices:
        return []
    tests = [test for test in result.slice_tests if test.question == whole.question]
    rankings = [part.ranking for part in slices]
    return [
        *(_systems_table(part) for part in slices),
        slice_differences_table(whole, rankings, tests),
    ]


def _question_tables(question: QuestionRanking, *, is_named: bool) -> list[Table]:
    """The tables of one question; if there are several, each title names it."""
    tables = [_pairs_table(question.ranking), _variance_table(question)]
    if any(not order.is_same for order in question.other_orders):
        tables.insert(0, _orders_table(question))
    if is_named:
        name = question.ranking.question
        tables = [replace(table, title=f"{table.title} ({name})") for table in tables]
    return [_systems_table(question), *tables]


def _systems_table(question: QuestionRanking) -> Table:
    """The ranking of the systems; its notes say who won and how the ranking was made."""
    ranking = question.ranking
    level = f"{100 * ranking.confidence:g}%"
    has_covariates = bool(ranking.covariate_effects)
    is_ranked = ranking.against is None  # otherwise all are only compared with this system
    has_intervals = not ranking.sequential  # a running study has intervals of differences only
    columns = [
        "system", ESTIMATE_HEADINGS[ranking.model],
        *([f"{level} interval"] if has_intervals else ()),
        *(("rank", "cluster") if is_ranked else ()), "judgments", "raw",
    ]  # fmt: skip
    rows = [
        [
            row.system,
            shown_estimate(row.estimate, ranking),
            *([shown_interval(row, ranking)] if has_intervals else ()),
            *((shown_rank(row), str(row.cluster)) if is_ranked else ()),
            judgments_text(row, ranking),
            shown_estimate(row.raw_mean, ranking),
        ]
        for row in ranking.systems
    ]
    best = frozenset(
        (place, 1) for place, row in enumerate(ranking.systems) if row.system in ranking.highlighted
    )
    adjusted = ", and holds for average values of the covariates" if has_covariates else ""
    simulated = "; the judges are simulated" if ranking.are_simulated else ""
    why = WHY_MODEL.get(ranking.fitted, "") if ranking.is_chosen_by_answers else ""
    model = f"By {MODEL_WORDS[ranking.fitted]}{why}."
    notes = [answer_sentence(ranking)]
    if ranking.by is not None:
        notes += [*ranking.notes, f"{ranking.size}{simulated}.{_holds_for(ranking)}"]
        return Table(columns, rows, title=_title(ranking), notes=notes, best=best)
    notes += [
        *_sensitivity(question),
        *ranking.notes,
        f"{ranking.size}{simulated}. {model}{_holds_for(ranking)}",
        *([f"rank: the ranks a system may have{_correction_words(ranking)}."] if is_ranked else ()),
        f"raw: {RAW_WORDS[ranking.model]}; the {ESTIMATE_HEADINGS[ranking.model]} is corrected for "
        f"severe judges and hard items{adjusted}.",
    ]
    notes += [
        _covariate_note(name, effect, ranking) for name, effect in ranking.covariate_effects.items()
    ]
    return Table(columns, rows, title=_title(ranking), notes=notes, best=best)


def _holds_for(ranking: FittedRanking) -> str:
    if not ranking.has_tests:
        return ""
    always = ", however often one looks" if ranking.sequential else ""
    return f" Intervals and tests hold for {ranking.scope}{always}."


def _title(ranking: FittedRanking) -> str:
    return f"Whom {whom(ranking)} prefer: {ranking.label}"


def _correction_words(ranking: FittedRanking) -> str:
    if ranking.correction == "none":
        return ", not corrected for the number of comparisons"
    return f"; with {100 * ranking.confidence:g}% confidence, all are right together"


def _sensitivity(question: QuestionRanking) -> list[str]:
    """Whether other ways of ranking (such as plain means, or without a judge) give the same order, in
    one or two lines."""
    same_ways = [order.way for order in question.other_orders if order.is_same]
    other_ways = [order.way for order in question.other_orders if not order.is_same]
    lines = (
        [f"The order is the same {', '.join(same_ways)}{_most_influential(same_ways)}."]
        if same_ways
        else []
    )
    if other_ways:
        lines.append(
            f"The order is different {', '.join(other_ways)}{_most_influential(other_ways)}: see below."
        )
    return lines


def _most_influential(ways: Sequence[str]) -> str:
    """If the last way leaves a judge out: says that it is the judge whose absence changes most."""
    return ", the most influential one" if ways[-1].startswith("without judge") else ""


def _orders_table(question: QuestionRanking) -> Table:
    """The rank of each system by every way of ranking."""
    ranking = question.ranking
    orders = question.other_orders
    rows = [
        [row.system, str(row.rank), *(str(order.systems.index(row.system) + 1) for order in orders)]
        for row in ranking.systems
    ]
    return Table(
        ["system", "by the model", *(order.way for order in orders)],
        rows,
        title="Does the order depend on how it is made?",
        notes=[
            "Ranks. Where they differ, the systems are closer than their intervals are wide, or few "
            "judges or items decide the order."
        ],
    )


def _covariate_note(name: str, effect: SystemDifference, ranking: FittedRanking) -> str:
    """How much a covariate, such as the length of the output, changes judgments."""
    unit = "" if ranking.fitted == "linear" else " log odds"
    digits = ranking.decimals if ranking.fitted == "linear" else 2
    certainty = ""  # while judges still work, an interval computed once would not hold
    if effect.low is not None and effect.high is not None:
        interval = f"[{number(effect.low, digits)}, {number(effect.high, digits)}]"
        certainty = f" {interval}, p {p_with_relation(effect.p_value)}"
    return (
        f"{name}: one standard deviation more changes a judgment by "
        f"{number(effect.delta, digits, sign=True)}{unit}{certainty}. Its influence is taken out of "
        "the estimates."
    )


def _pairs_table(ranking: FittedRanking) -> Table:
    """The differences of all pairs, or of neighbors if there are many."""
    shown = list(ranking.differences)
    title = "How far systems are apart"
    if len(shown) > MAX_PAIRS_SHOWN and ranking.against is None:
        names = [row.system for row in ranking.systems]
        neighbors = set(pairwise(names))
        shown = [difference for difference in shown if difference.systems in neighbors]
        title += f" (neighbors of {counted(len(ranking.differences), 'pair')}; JSON has all)"
    is_corrected = ranking.correction == "holm"
    heading = DIFFERENCE_HEADINGS[ranking.model]
    level = f"{100 * ranking.confidence:g}% interval"
    rows = [
        [
            f"{difference.systems[0]} – {difference.systems[1]}",
            difference_text(difference.delta, ranking),
            difference_interval(difference, ranking),
            p_text(difference.p_value),
            *([p_text(difference.p_adjusted)] if is_corrected else ()),
        ]
        for difference in shown
    ]
    columns = ["systems", heading, level, "p", *(["p (Holm)"] if is_corrected else ())]
    return Table(columns, rows, title=title)


def _variance_table(question: QuestionRanking) -> Table:
    """Where the spread of single judgments comes from."""
    ranking = question.ranking
    estimable = [name for name in VARIANCE_COMPONENTS if name in ranking.variance]
    total = sum(ranking.variance[name] for name in estimable)
    # A variance is in squared units, so it needs about twice as many decimals.
    digits = 2 * ranking.decimals - 1 if ranking.model == "mean" else 3
    rows = [
        [
            SOURCE_WORDS[name],
            number(ranking.variance[name], digits),
            _percent(ranking.variance[name], total),
        ]
        for name in estimable
    ]
    notes = [
        f"{SOURCE_WORDS[name].partition(':')[0]}: {why}."
        for name, why in ranking.not_estimable.items()
    ]
    if ranking.fitted != "linear":
        notes.append("Variances are in log odds; the variance of single answers is not counted.")
    notes += _next_steps(question)
    return Table(
        ["where the spread comes from", "variance", "share"],
        rows,
        title="Within a system, judgments differ by",
        notes=notes,
    )


def _next_steps(question: QuestionRanking) -> list[str]:
    """The reliability of the ranking, what more judges or items would bring, and a test without a
    model."""
    ranking = question.ranking
    notes = []
    if ranking.reliability is not None:
        notes.append(
            f"Reliability of the ranking: {number(ranking.reliability, 2)} (1: another study like this "
            "one would repeat it exactly)."
        )
    if question.larger_studies:
        parts = [
            _larger(study.change, study.width_ratio, study.reliability)
            for study in question.larger_studies
        ]
        notes.append(f"Intervals of differences would be narrower: {'; '.join(parts)}.")
    if question.permutation_p is not None:
        exchange = (
            "each choice is turned round at random"
            if ranking.model == "win rate"
            else "each judge's answers about an item are exchanged"
        )
        notes.append(
            "A test without a model, for these judges and items only: p "
            f"{p_with_relation(question.permutation_p)} for a difference between any systems "
            f"({exchange})."
        )
    return notes


def _larger(change: str, width_ratio: float, reliability: float | None) -> str:
    """What a larger study brings, in words."""
    after = "" if reliability is None else f", reliability {number(reliability, 2)}"
    return f"{change} −{100 * (1 - width_ratio):.0f}%{after}"


def _percent(part: float, total: float) -> str:
    return f"{100 * part / total:.0f}%" if total > 0 else "–"


def _notes_on_all(result: RankResult) -> list[str]:
    """The notes that are not about one question: what was left out or not ranked, and others."""
    return [
        *left_out_notes(result.excluded),
        *(f"Not ranked: {why}" for why in result.refused.values()),
        *result.notes,
    ]


def left_out_notes(excluded: Sequence[Exclusion]) -> list[str]:
    """One line for each reason why judgments were left out."""
    by_reason: dict[str, list[tuple[str, int]]] = {}
    for exclusion in excluded:
        name = ", ".join(filter(None, (exclusion.judge, exclusion.system, exclusion.item)))
        by_reason.setdefault(exclusion.reason, []).append((name, exclusion.n))
    return [
        f"Left out ({reason}): {counted(sum(n for _, n in exclusions), 'judgment')} of "
        f"{_names([name for name, _ in exclusions])}."
        for reason, exclusions in by_reason.items()
    ]


def _names(names: Sequence[str], most: int = 4) -> str:
    """The first `most` different names, and how many more there are."""
    unique = list(dict.fromkeys(names))
    n_more = len(unique) - most
    return ", ".join(unique[:most]) + (f" and {n_more} more" if n_more > 0 else "")
