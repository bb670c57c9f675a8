"""Do the metrics order the systems as people do? The noun `MetricOrder`.

Only the pairs of systems count that people tell apart significantly. A metric is right about such a
pair when the system that people prefer has the strictly better score (the pairwise accuracy of Kocmi et
al. 2021, "To ship or not to ship").
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wellput.agreement.ranking import RankedSystem, Ranking
from wellput.core.table import ScoreTable

SENTINELS = ("random", "length-only")
"""Metrics that are there to show the floor, not to praise a system."""
FEW_METRICS = 4
"""With more of them a sentence names the best and the worst only."""


@dataclass(frozen=True, slots=True)
class MetricOrder:
    """How one metric orders the systems that were judged on one question: best first, with their
    scores.

    `pairs` counts the pairs that people tell apart, `agreeing` those that the metric orders as people
    do; `against` holds the others, whom people prefer first.
    """

    metric: str
    question: str
    systems: tuple[str, ...]
    scores: tuple[float, ...]
    pairs: int
    agreeing: int
    against: tuple[tuple[str, str], ...]

    @property
    def overrated(self) -> str | None:
        """The system that the metric most often puts before one that people prefer to it."""
        counts = Counter(other for _, other in self.against)
        return max(self.systems, key=lambda s: counts[s]) if counts else None


def misplaced(row: RankedSystem, order: MetricOrder) -> int:
    """By how many places the metric ranks a system above (positive) or below (negative) the ranks that
    people's judgments leave open; 0 where it does not, or has no score for it."""
    if row.system not in order.systems:
        return 0
    rank = order.systems.index(row.system) + 1
    return max(row.rank_low - rank, 0) + min(row.rank_high - rank, 0)


def is_sentinel(metric: str) -> bool:
    """Whether the metric of this name, with options or without, is a sentinel."""
    return metric.partition(":")[0] in SENTINELS


def metric_orders(
    tables: Mapping[str, ScoreTable], rankings: Sequence[Ranking]
) -> list[MetricOrder]:
    """One order for each question and metric; a metric that calls nothing better has none."""
    return [
        _order(table, ranking)
        for ranking in rankings
        for table in tables.values()
        if table.higher_is_better is not None and not is_sentinel(table.scorer)
    ]


def _order(table: ScoreTable, ranking: Ranking) -> MetricOrder:
    sign = 1.0 if table.higher_is_better else -1.0
    scores = dict(zip(table.systems, table.system_scores.tolist(), strict=True))
    known = [r.system for r in ranking.systems if not math.isnan(scores.get(r.system, math.nan))]
    ordered = sorted(known, key=lambda system: -sign * scores[system])
    decided = [
        difference.systems
        for difference in ranking.differences
        if difference.is_real and set(difference.systems) <= set(known)
    ]
    against = tuple(
        (ahead, other) for ahead, other in decided if not sign * (scores[ahead] - scores[other]) > 0
    )
    return MetricOrder(
        metric=table.scorer,
        question=ranking.question,
        systems=tuple(ordered),
        scores=tuple(scores[system] for system in ordered),
        pairs=len(decided),
        agreeing=len(decided) - len(against),
        against=against,
    )


def order_sentence(orders: Sequence[MetricOrder], ranking: Ranking) -> str:
    """Whether the metrics order the systems of one question as people do, and what fools the one that
    agrees least."""
    own = [order for order in orders if order.question == ranking.question and order.systems]
    if not own or len(ranking.systems) < 2:
        return ""
    if not any(order.pairs for order in own):
        return "People tell no two systems apart, so no metric can be right or wrong about them."
    own.sort(key=lambda order: (-order.agreeing / max(order.pairs, 1), order.metric))
    best, worst = own[0], own[-1]
    if best.agreeing < best.pairs or worst.agreeing < worst.pairs:
        return f"{_shares(own)}{_fooled(worst, ranking)}"
    if len(own) == 1:
        return f"{best.metric} orders these systems as people do."
    names = "Both metrics" if len(own) == 2 else f"All {len(own)} metrics"
    return f"{names} order these systems as people do."


def _shares(own: Sequence[MetricOrder]) -> str:
    """How many pairs each metric orders as people do, best metric first."""
    if own[0].pairs == 1:
        return _shares_of_one(own)
    start = f"Of the {own[0].pairs} pairs of systems that people tell apart,"
    if len(own) <= FEW_METRICS:
        counts = [f"{order.metric} orders {order.agreeing}" for order in own[:1]]
        counts += [f"{order.metric} {order.agreeing}" for order in own[1:]]
        return f"{start} {', '.join(counts)} as people do."
    best, worst = own[0], own[-1]
    if best.agreeing == worst.agreeing:
        return f"{start} each of the {len(own)} metrics orders {best.agreeing} as people do."
    return (
        f"{start} the best of {len(own)} metrics, {best.metric}, orders {best.agreeing} as people do, "
        f"the worst, {worst.metric}, {worst.agreeing}."
    )


def _shares_of_one(own: Sequence[MetricOrder]) -> str:
    right = [order.metric for order in own if order.agreeing]
    wrong = [order.metric for order in own if not order.agreeing]
    the_pair = "the one pair of systems that people tell apart"
    if not right:
        return f"No metric orders {the_pair} as people do."
    return (
        f"{', '.join(right)} {'orders' if len(right) == 1 else 'order'} {the_pair} as people do; "
        f"{', '.join(wrong)} {'does' if len(wrong) == 1 else 'do'} not."
    )


def _fooled(worst: MetricOrder, ranking: Ranking) -> str:
    system = worst.overrated
    if system is None:
        return ""
    by_people = next(row.rank for row in ranking.systems if row.system == system)
    by_metric = worst.systems.index(system) + 1
    if by_metric >= by_people:
        return ""
    n = len(ranking.systems)
    return (
        f" {worst.metric} is fooled by {system}: it ranks it {_place(by_metric, n)}, "
        f"people {_place(by_people, n)}."
    )


def _place(rank: int, n: int) -> str:
    return "first" if rank == 1 else "last" if rank == n else f"{rank} of {n}"
