"""Tables of whom people prefer, in all items and in each slice of them: systems best first, and how far
each is behind the first.

`board_table`, the table of `wellput demo`, has the metrics beside the people in 80 columns.

Tables of slices also name the slices in which systems are not in their overall order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from wellput.agreement.orders import MetricOrder, misplaced, order_sentence
from wellput.agreement.rankings.fitted_ranking import FittedRanking
from wellput.agreement.rankings.people_ranking import RankingSliceTest
from wellput.agreement.rankings.plain_ranking import (
    ESTIMATE_HEADINGS,
    SEQUENTIAL_NOTE,
    RankedSystem,
    Ranking,
    RankingModel,
    SystemDifference,
    shown_difference,
    shown_estimate,
    shown_interval,
    shown_rank,
    shown_share,
    winner_sentence,
)
from wellput.core.errors import counted
from wellput.reporting.score import CSV_COLUMNS
from wellput.reporting.table import Report, Table, number, p_text, p_with_relation, with_interval
from wellput.stats.corrections import holm

DIFFERENCE_HEADINGS: dict[RankingModel, str] = {
    "mean": "difference",
    "rate": "percentage points",
    "win rate": "share of the first",
}
MAX_PAIRS_SHOWN = 28
"""All pairs of 8 systems; of more systems, the neighbors in the ranking."""
GAP_HEADINGS: dict[RankingModel, str] = {
    "mean": "behind first",
    "rate": "percentage points behind first",
    "win rate": "against first",
}


def ranking_tables(rankings: Sequence[Ranking], orders: Sequence[MetricOrder] = ()) -> list[Table]:
    """A table for each question. Its notes say who won, whether the metrics see it, and what this holds
    for."""
    return [ranking_table(ranking, orders) for ranking in rankings]


def whom(ranking: Ranking) -> str:
    """Whose preferences a heading names: people's, unless all judges are machines."""
    are_machines = isinstance(ranking, FittedRanking) and ranking.are_machines
    return "machine judges" if are_machines else "people"


def ranking_table(ranking: Ranking, orders: Sequence[MetricOrder] = ()) -> Table:
    """The systems best first; those of a study that is still running have no intervals."""
    has_intervals = not ranking.sequential
    columns = ["system", ESTIMATE_HEADINGS[ranking.model], "judgments"]
    rows = [
        [row.system, shown_estimate(row.estimate, ranking), judgments_text(row, ranking)]
        for row in ranking.systems
    ]
    if has_intervals:
        columns.insert(2, f"{100 * ranking.confidence:g}% interval")
        for cells, row in zip(rows, ranking.systems, strict=True):
            cells.insert(2, shown_interval(row, ranking))
    if ranking.has_tests:
        are_choices = ranking.model == "win rate"
        columns += ["rank", GAP_HEADINGS[ranking.model], "p (Holm)"]
        gaps = {d.systems[1]: d for d in ranking.differences_from_first}
        if (
            are_choices
        ):  # a system that is chosen less often overall may still win against the first
            first = ranking.systems[0].system
            gaps |= {d.systems[0]: d for d in ranking.differences if d.systems[1] == first}
        for cells, row in zip(rows, ranking.systems, strict=True):
            cells += [shown_rank(row), *_gap(row.system, gaps.get(row.system), ranking)]
    best = frozenset(
        (place, 1) for place, row in enumerate(ranking.systems) if row.system in ranking.highlighted
    )
    return Table(
        columns,
        rows,
        title=f"Whom {whom(ranking)} prefer: {ranking.question}",
        notes=_notes(ranking, orders),
        best=best,
    )


def _notes(ranking: Ranking, orders: Sequence[MetricOrder]) -> list[str]:
    sentences = [winner_sentence(ranking), order_sentence(orders, ranking)]
    holds = f" Intervals and tests hold for {ranking.scope}." if ranking.has_tests else ""
    return [
        *(sentence for sentence in sentences if sentence),
        *([SEQUENTIAL_NOTE] if ranking.sequential else ()),
        *ranking.notes,
        f"{ranking.size}.{holds}",
    ]


def _gap(system: str, difference: SystemDifference | None, ranking: Ranking) -> list[str]:
    """How far the system is behind the first (for choices: how often it is chosen over the first), and
    the corrected p-value. Empty for the first."""
    if difference is None:
        return ["", ""]
    if ranking.model == "win rate":
        sign = 1 if difference.systems[0] == system else -1
        return [shown_share(sign * difference.delta), p_text(difference.p_adjusted)]
    return [shown_difference(abs(difference.delta), ranking), p_text(difference.p_adjusted)]


def judgments_text(row: RankedSystem, ranking: Ranking) -> str:
    """How many judgments a system has, marked where they are very few beside those of the others."""
    return f"{row.n:,} (few)" if row.system in ranking.rarely_judged else f"{row.n:,}"


def difference_text(delta: float, ranking: Ranking) -> str:
    """How far a system is ahead of another, with its sign; of choices its share of those between the
    two."""
    if ranking.model == "win rate":
        return shown_share(delta)
    text = shown_difference(delta, ranking)
    return text if text.startswith("−") else f"+{text}"


def difference_interval(one: SystemDifference, ranking: Ranking) -> str:
    """`[low, high]`, a dash where there is none."""
    if one.low is None or one.high is None or math.isnan(one.low):
        return "–"
    return f"[{difference_text(one.low, ranking)}, {difference_text(one.high, ranking)}]"


MIN_MARKED_RANKS = 2


def demo_report(shown: Any) -> Report:
    """People and metrics side by side, with the answer in words."""
    (ranking,) = shown.agreement.ranking
    table = board_table(ranking, shown.agreement.orders)
    return Report([table], shown.values(), CSV_COLUMNS, shown.records())


def board_table(ranking: Ranking, orders: Sequence[MetricOrder]) -> Table:
    """Systems in people's order, with the score and the rank that each metric gives them."""
    rows = [
        [
            row.system,
            with_interval(number(row.estimate, 1), row.low, row.high, 1),
            *(_board_cell(row, order) for order in orders),
        ]
        for row in ranking.systems
    ]
    rows.append(["pairs right", "", *(f"{o.agreeing} of {o.pairs}" for o in orders)])
    return Table(
        columns=["system", "people", *(order.metric for order in orders)],
        rows=rows,
        title=f"Whom do people prefer, and do the metrics see it? {ranking.question}",
        notes=[
            f"people: {ESTIMATE_HEADINGS[ranking.model]} [95% interval]. (1): ranked first. ▲ ▼: "
            f"{MIN_MARKED_RANKS} or more ranks above or below where people put it.",
            "",
            winner_sentence(ranking),
            order_sentence(orders, ranking),
        ],
    )


def _board_cell(row: RankedSystem, order: MetricOrder) -> str:
    if row.system not in order.systems:
        return "–"
    place = order.systems.index(row.system)
    score = order.scores[place]
    places = misplaced(row, order)
    mark = "" if abs(places) < MIN_MARKED_RANKS else "▲" if places > 0 else "▼"
    return f"{number(score, 1 if abs(score) >= 10 else 2)} ({place + 1}){mark}"


MAX_NAMED_SLICES = 8
"""At most this many slices whose order differs by no more than chance are named."""


def ranking_slice_table(whole: Ranking, slices: Mapping[str, Ranking], tag: str) -> Table:
    """A row for each system in each slice, best first; `slices` has the rankings by the tag's
    values."""
    rows = [
        [
            name,
            row.system,
            shown_estimate(row.estimate, ranking),
            shown_interval(row, ranking),
            *([shown_rank(row)] if whole.has_tests else []),
            f"{row.n:,}",
        ]
        for name, ranking in slices.items()
        for row in ranking.systems
    ]
    return Table(
        columns=[
            tag,
            "system",
            ESTIMATE_HEADINGS[whole.model],
            f"{100 * whole.confidence:g}% interval",
            *(["rank"] if whole.has_tests else []),
            "judgments",
        ],
        rows=rows,
        title=f"Whom {whole.who} prefer by {tag}: {whole.question}",
        notes=parting_sentences(whole, slices, tag),
        name="people by slice",
    )


def parting_sentences(whole: Ranking, slices: Mapping[str, Ranking], tag: str) -> list[str]:
    """The slices where two systems are in another order than over all items: those where a test shows
    it, one by one, and the names of the others. p-values are corrected over all slices."""
    tests = [(name, one) for name, part in slices.items() for one in part.differences]
    adjusted = holm(np.array([one.p_value for _, one in tests], float))
    n_tests = int(np.isfinite(adjusted).sum())
    p_values = {
        (name, frozenset(one.systems)): float(p)
        for (name, one), p in zip(tests, adjusted, strict=True)
    }
    shown: list[str] = []
    chance: list[str] = []
    for name, part in slices.items():
        for ahead, behind in _turned(whole, part):
            p = p_values.get((name, frozenset((ahead, behind))), float("nan"))
            if p < _alpha(part.differences):
                shown.append(
                    f"{tag} {name} differs from the whole: there {whole.who} prefer {ahead} to "
                    f"{behind} on {whole.question} (p {p_with_relation(p)}, corrected for "
                    f"{counted(n_tests, 'difference')} of all slices)."
                )
            else:
                chance.append(f"{name} ({ahead} before {behind})")
    if chance:
        some = ", ".join(chance[:MAX_NAMED_SLICES])
        more = (
            f" and {len(chance) - MAX_NAMED_SLICES} more" if len(chance) > MAX_NAMED_SLICES else ""
        )
        also = "also " if shown else ""
        shown.append(
            f"For {whole.who} on {whole.question}, the order {also}differs from the whole in "
            f"{some}{more}; no test shows that this is more than chance."
        )
    return shown


def _turned(whole: Ranking, part: Ranking) -> list[tuple[str, str]]:
    """(a, b) where a is ahead of b in the slice, and behind it over all items."""
    overall, here = (
        {row.system: place for place, row in enumerate(one.systems)} for one in (whole, part)
    )
    both = [system for system in overall if system in here]
    return [(b, a) for a, b in combinations(both, 2) if here[b] < here[a]]


def _alpha(differences: Sequence[SystemDifference]) -> float:
    return differences[0].alpha if differences else 0.0


def slice_differences_table(
    whole: FittedRanking, slices: Sequence[FittedRanking], tests: Sequence[RankingSliceTest]
) -> Table:
    """The differences in each slice. The notes say which differences depend on the slice, and which
    slices have another order than the whole."""
    tag, _ = _tag_and_name(slices[0])
    shown = [(part, one) for part in slices for one in _shown_pairs(whole, part)]
    is_corrected = whole.correction == "holm"
    rows = [
        [
            _tag_and_name(part)[1],
            f"{one.systems[0]} – {one.systems[1]}",
            difference_text(one.delta, whole),
            difference_interval(one, whole),
            p_text(one.p_value),
            *([p_text(one.p_adjusted)] if is_corrected else ()),
        ]
        for part, one in shown
    ]
    n_all = sum(len(part.differences) for part in slices)
    corrected = (
        [f"p (Holm): corrected for all {counted(n_all, 'difference')} of all slices."]
        if is_corrected
        else []
    )
    parting = parting_sentences(whole, {_tag_and_name(one)[1]: one for one in slices}, tag)
    left = f" (neighbors in the whole; JSON has all {n_all:,})" if len(shown) < n_all else ""
    return Table(
        [
            tag,
            "systems",
            DIFFERENCE_HEADINGS[whole.model],
            f"{100 * whole.confidence:g}% interval",
            "p",
            *(["p (Holm)"] if is_corrected else ()),
        ],
        rows,
        title=f"How far systems are apart, by {tag}: {whole.question}{left}",
        notes=[
            *_dependence_sentences(whole, slices, tests, tag),
            *(parting or ["Every slice has the systems in the order of the whole."]),
            *_model_sentence(whole, slices),
            *corrected,
        ],
    )


def _tag_and_name(ranking: FittedRanking) -> tuple[str, str]:
    ((tag, name),) = (ranking.by or {}).items()
    return tag, name


def _shown_pairs(whole: FittedRanking, part: FittedRanking) -> Iterator[SystemDifference]:
    """All pairs of the slice, the better one of the whole first; of many only neighbors."""
    order = [row.system for row in whole.systems]
    chosen = [one.systems for one in whole.differences]
    if len(chosen) > MAX_PAIRS_SHOWN and whole.against is None:
        chosen = list(pairwise(order))
    found = {frozenset(one.systems): one for one in part.differences}
    for pair in chosen:
        if (one := found.get(frozenset(pair))) is not None:
            yield one if one.systems == pair else one.swapped


def _dependence_sentences(
    whole: FittedRanking,
    slices: Sequence[FittedRanking],
    tests: Sequence[RankingSliceTest],
    tag: str,
) -> list[str]:
    """The pairs whose difference is not the same in all slices, or that none is shown to be so."""
    if whole.sequential or len(slices) < 2:
        return []
    if not tests:
        return [
            f"The slices have too few judges or items to test whether differences depend on {tag}."
        ]
    corrected = f", corrected by Holm's method for {len(tests):,} tests" if len(tests) > 1 else ""
    how = f"Welch's analysis of variance of the slices' differences{corrected}"
    shown = sorted((one for one in tests if _is_shown(one, whole)), key=lambda one: one.p_adjusted)
    if not shown:
        least = min(one.p_adjusted for one in tests)
        return [
            f"No difference between systems is shown to depend on {tag} (smallest p "
            f"{p_with_relation(least)}; {how})."
        ]
    lines = []
    for one in shown[:MAX_NAMED_SLICES]:
        low, high = (choose(one.deltas, key=one.deltas.__getitem__) for choose in (min, max))
        lines.append(
            f"How far {one.systems[0]} is ahead of {one.systems[1]} depends on {tag}, p "
            f"{p_with_relation(one.p_adjusted)}: {difference_text(one.deltas[high], whole)} in "
            f"{high} but {difference_text(one.deltas[low], whole)} in {low}."
        )
    if len(shown) > MAX_NAMED_SLICES:
        more = counted(len(shown) - MAX_NAMED_SLICES, "other difference")
        lines.append(f"{more} too (in the JSON, slice_tests).")
    return [*lines, f"Whether a difference depends on {tag} is tested by {how}."]


def _is_shown(test: RankingSliceTest, whole: FittedRanking) -> bool:
    return test.p_adjusted < 1 - whole.confidence


def _model_sentence(whole: FittedRanking, slices: Sequence[FittedRanking]) -> list[str]:
    if all(part.fitted == whole.fitted for part in slices):
        return []
    return [
        f"All slices are by the linear model, so that they can be compared: for one of them the "
        f"{whole.fitted} model has no finite estimate."
    ]
