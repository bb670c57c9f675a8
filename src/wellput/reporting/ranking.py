"""Tables of whom people prefer, over all items (the *whole*) and in each *slice* (the items with one
value of a tag): systems best first, and how far each is behind the first.

`board_table`, the table of `wellput demo`, shows people and metrics side by side in 80 columns.

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
    EstimateScale,
    RankedSystem,
    Ranking,
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

DIFFERENCE_HEADINGS: dict[EstimateScale, str] = {
    "mean": "difference",
    "rate": "percentage points",
    "win rate": "share of the first",
}
MAX_PAIRS_SHOWN = 28
"""The number of pairs of 8 systems. With more systems, only neighbors in the ranking are shown."""
GAP_HEADINGS: dict[EstimateScale, str] = {
    "mean": "behind first",
    "rate": "percentage points behind first",
    "win rate": "against first",
}
"""The heading of the column that compares each system with the first, by the kind of estimate."""


def ranking_tables(rankings: Sequence[Ranking], orders: Sequence[MetricOrder] = ()) -> list[Table]:
    """A table for each question. Its notes say which system won, how many pairs of systems the metrics
    put in the same order, and what intervals and tests hold for."""
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
        gaps = {difference.systems[1]: difference for difference in ranking.differences_from_first}
        # A system that is chosen less often overall may still win against the first.
        if are_choices:
            first = ranking.systems[0].system
            gaps |= {
                difference.systems[0]: difference
                for difference in ranking.differences
                if difference.systems[1] == first
            }
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
    """How many judgments a system has, marked if it has far fewer than the others."""
    return f"{row.n:,} (few)" if row.system in ranking.rarely_judged else f"{row.n:,}"


def difference_text(delta: float, ranking: Ranking) -> str:
    """How far a system is ahead of another, with a sign; for choices, the share of the choices between
    the two that it won."""
    if ranking.model == "win rate":
        return shown_share(delta)
    text = shown_difference(delta, ranking)
    return text if text.startswith("−") else f"+{text}"


def difference_interval(difference: SystemDifference, ranking: Ranking) -> str:
    """The interval as `[low, high]`, a dash if there is none."""
    if difference.low is None or difference.high is None or math.isnan(difference.low):
        return "–"
    low, high = (difference_text(bound, ranking) for bound in (difference.low, difference.high))
    return f"[{low}, {high}]"


MIN_MARKED_RANKS = 2
"""A metric's rank is marked if it is at least this many ranks away from the ranks that the system may
have by people's judgments."""


def demo_report(demo: Any) -> Report:
    """People and metrics side by side, with the answer in words."""
    (ranking,) = demo.agreement.ranking
    table = board_table(ranking, demo.agreement.orders)
    return Report([table], demo.values(), CSV_COLUMNS, demo.records())


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
    """A metric's score and rank of a system, marked if the rank is far from people's."""
    if row.system not in order.systems:
        return "–"
    place = order.systems.index(row.system)
    score = order.scores[place]
    places_above = misplaced(row, order)
    mark = "" if abs(places_above) < MIN_MARKED_RANKS else "▲" if places_above > 0 else "▼"
    return f"{number(score, 1 if abs(score) >= 10 else 2)} ({place + 1}){mark}"


MAX_NAMED_SLICES = 8
"""At most this many slices are named in a sentence."""


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
        notes=reordering_sentences(whole, slices, tag),
        name="people by slice",
    )


def reordering_sentences(whole: Ranking, slices: Mapping[str, Ranking], tag: str) -> list[str]:
    """Sentences about the slices in which two systems are in another order than over all items: one for
    each slice for which a test shows it, and one that names the other slices. p-values are corrected
    over all slices."""
    tests = [(name, difference) for name, part in slices.items() for difference in part.differences]
    adjusted = holm(np.array([difference.p_value for _, difference in tests], float))
    n_tests = int(np.isfinite(adjusted).sum())
    p_values = {
        (name, frozenset(difference.systems)): float(p)
        for (name, difference), p in zip(tests, adjusted, strict=True)
    }
    sentences: list[str] = []
    may_be_chance: list[str] = []
    for name, part in slices.items():
        for ahead, behind in _reversed_pairs(whole, part):
            p = p_values.get((name, frozenset((ahead, behind))), float("nan"))
            if p < _alpha(part.differences):
                sentences.append(
                    f"{tag} {name} differs from the whole: there {whole.who} prefer {ahead} to "
                    f"{behind} on {whole.question} (p {p_with_relation(p)}, corrected for "
                    f"{counted(n_tests, 'difference')} of all slices)."
                )
            else:
                may_be_chance.append(f"{name} ({ahead} before {behind})")
    if may_be_chance:
        some = ", ".join(may_be_chance[:MAX_NAMED_SLICES])
        more = (
            f" and {len(may_be_chance) - MAX_NAMED_SLICES} more"
            if len(may_be_chance) > MAX_NAMED_SLICES
            else ""
        )
        also = "also " if sentences else ""
        sentences.append(
            f"For {whole.who} on {whole.question}, the order {also}differs from the whole in "
            f"{some}{more}; no test shows that this is more than chance."
        )
    return sentences


def _reversed_pairs(whole: Ranking, part: Ranking) -> list[tuple[str, str]]:
    """The pairs (a, b) where a is ahead of b in the slice, but behind b over all items."""
    overall, here = (
        {row.system: place for place, row in enumerate(ranking.systems)}
        for ranking in (whole, part)
    )
    in_both = [system for system in overall if system in here]
    return [(b, a) for a, b in combinations(in_both, 2) if here[b] < here[a]]


def _alpha(differences: Sequence[SystemDifference]) -> float:
    """The level of significance of these differences; 0 if there are none."""
    return differences[0].alpha if differences else 0.0


def slice_differences_table(
    whole: FittedRanking, slices: Sequence[FittedRanking], tests: Sequence[RankingSliceTest]
) -> Table:
    """The differences in each slice. The notes say which differences depend on the slice, and which
    slices have another order than the whole."""
    tag, _ = _tag_and_name(slices[0])
    shown = [(part, difference) for part in slices for difference in _shown_pairs(whole, part)]
    is_corrected = whole.correction == "holm"
    rows = [
        [
            _tag_and_name(part)[1],
            f"{difference.systems[0]} – {difference.systems[1]}",
            difference_text(difference.delta, whole),
            difference_interval(difference, whole),
            p_text(difference.p_value),
            *([p_text(difference.p_adjusted)] if is_corrected else ()),
        ]
        for part, difference in shown
    ]
    n_all = sum(len(part.differences) for part in slices)
    corrected = (
        [f"p (Holm): corrected for all {counted(n_all, 'difference')} of all slices."]
        if is_corrected
        else []
    )
    by_name = {_tag_and_name(part)[1]: part for part in slices}
    reordered = reordering_sentences(whole, by_name, tag)
    hidden = f" (neighbors in the whole; JSON has all {n_all:,})" if len(shown) < n_all else ""
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
        title=f"How far systems are apart, by {tag}: {whole.question}{hidden}",
        notes=[
            *_dependence_sentences(whole, slices, tests, tag),
            *(reordered or ["Every slice has the systems in the order of the whole."]),
            *_model_sentence(whole, slices),
            *corrected,
        ],
    )


def _tag_and_name(ranking: FittedRanking) -> tuple[str, str]:
    """The tag of the slice that is ranked, and the slice's name (the tag's value)."""
    ((tag, name),) = (ranking.by or {}).items()
    return tag, name


def _shown_pairs(whole: FittedRanking, part: FittedRanking) -> Iterator[SystemDifference]:
    """The differences of the slice to show: all pairs, or only neighbors if there are many. The
    system that is better over all items comes first."""
    order = [row.system for row in whole.systems]
    chosen = [difference.systems for difference in whole.differences]
    if len(chosen) > MAX_PAIRS_SHOWN and whole.against is None:
        chosen = list(pairwise(order))
    by_pair = {frozenset(difference.systems): difference for difference in part.differences}
    for pair in chosen:
        if (difference := by_pair.get(frozenset(pair))) is not None:
            yield difference if difference.systems == pair else difference.swapped


def _dependence_sentences(
    whole: FittedRanking,
    slices: Sequence[FittedRanking],
    tests: Sequence[RankingSliceTest],
    tag: str,
) -> list[str]:
    """Sentences about the pairs of systems whose difference is shown to depend on the slice, or a
    sentence that no pair's does."""
    if whole.sequential or len(slices) < 2:
        return []
    if not tests:
        return [
            f"The slices have too few judges or items to test whether differences depend on {tag}."
        ]
    corrected = f", corrected by Holm's method for {len(tests):,} tests" if len(tests) > 1 else ""
    method = f"Welch's analysis of variance of the slices' differences{corrected}"
    shown = sorted(
        (test for test in tests if _is_significant(test, whole)), key=lambda test: test.p_adjusted
    )
    if not shown:
        least = min(test.p_adjusted for test in tests)
        return [
            f"No difference between systems is shown to depend on {tag} (smallest p "
            f"{p_with_relation(least)}; {method})."
        ]
    lines = []
    for test in shown[:MAX_NAMED_SLICES]:
        low, high = (choose(test.deltas, key=test.deltas.__getitem__) for choose in (min, max))
        lines.append(
            f"How far {test.systems[0]} is ahead of {test.systems[1]} depends on {tag}, p "
            f"{p_with_relation(test.p_adjusted)}: {difference_text(test.deltas[high], whole)} in "
            f"{high} but {difference_text(test.deltas[low], whole)} in {low}."
        )
    if len(shown) > MAX_NAMED_SLICES:
        n_more = len(shown) - MAX_NAMED_SLICES
        lines.append(
            f"Other differences that depend on {tag}: {n_more} (in the JSON, slice_tests)."
        )
    return [*lines, f"Whether a difference depends on {tag} is tested by {method}."]


def _is_significant(test: RankingSliceTest, whole: FittedRanking) -> bool:
    """Whether the test is significant."""
    return test.p_adjusted < 1 - whole.confidence


def _model_sentence(whole: FittedRanking, slices: Sequence[FittedRanking]) -> list[str]:
    """A note if the slices have another model than the whole."""
    if all(part.fitted == whole.fitted for part in slices):
        return []
    return [
        f"All slices are by the linear model, so that they can be compared: for one of them the "
        f"{whole.fitted} model has no finite estimate."
    ]
