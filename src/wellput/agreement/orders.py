"""`MetricOrder`: whether a metric orders the systems as people do.

Only pairs of systems that differ significantly for people count. A metric is right about such a pair
when the system that people prefer has the strictly better score (the pairwise accuracy of Kocmi et al.
2021, "To Ship or Not to Ship").
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.rankings.plain_ranking import RankedSystem, Ranking, listed
from wellput.core.errors import counted
from wellput.core.estimates import ScoreTable
from wellput.core.metric import is_sentinel

MAX_NAMED_METRICS = 4
"""A sentence names at most this many metrics. If there are more, it gives only their number."""
MAX_SYSTEMS_IN_ORDER = 50
MIN_MOSTLY_SHARE = 2 / 3
"""A metric with this share of right pairs "mostly" orders systems as people do; chance gives half."""


@dataclass(frozen=True, slots=True)
class MetricOrder:
    """How one metric orders the systems that were judged on one question: `systems`, the best first,
    with their `scores`.

    `pairs` counts the pairs of systems that differ significantly for people, `agreeing` the pairs among
    them that the metric orders as people do. `against` has the other pairs; the first system of each is
    the one that people prefer.
    """

    metric: str
    question: str
    systems: tuple[str, ...]
    scores: tuple[float, ...]
    pairs: int
    agreeing: int
    against: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The systems, best first, with `>` or, between equal scores, `=`. If there are many, only the
        first ones."""
        words = list(self.systems[:1])
        for place in range(1, min(len(self.systems), MAX_SYSTEMS_IN_ORDER)):
            sign = "=" if self.scores[place] == self.scores[place - 1] else ">"
            words += (sign, self.systems[place])
        if len(self.systems) > MAX_SYSTEMS_IN_ORDER:
            words.append(f"… ({len(self.systems) - MAX_SYSTEMS_IN_ORDER:,} more)")
        return " ".join(words)

    @property
    def overrated(self) -> str | None:
        """The system that the metric most often puts before a system that people prefer."""
        counts = Counter(other for _, other in self.against)
        return max(self.systems, key=lambda s: counts[s]) if counts else None


def misplaced(row: RankedSystem, order: MetricOrder) -> int:
    """How many places the metric ranks a system above (positive) or below (negative) the range of ranks
    that the system may have by people's judgments; 0 if it is in this range, or has no score."""
    if row.system not in order.systems:
        return 0
    rank = order.systems.index(row.system) + 1
    return max(row.rank_low - rank, 0) + min(row.rank_high - rank, 0)


def metric_orders(
    tables: Mapping[str, ScoreTable], rankings: Sequence[Ranking]
) -> list[MetricOrder]:
    """One order for each question and metric. There is none for sentinels (metrics such as `random`,
    for comparison), and none for metrics of which neither high nor low scores are better."""
    return [
        _order(table, ranking)
        for ranking in rankings
        for table in tables.values()
        if table.higher_is_better is not None and not is_sentinel(table.scorer)
    ]


def orders_on_items(
    tables: Mapping[str, ScoreTable], ranking: Ranking, items: NDArray[np.bool_]
) -> Iterator[MetricOrder]:
    """How the metrics order the systems by their scores on the items where `items` is true."""
    for name, table in tables.items():  # one copy at a time: a table may be large
        table_of_items = table if items.all() else table.of_items(items)
        yield from metric_orders({name: table_of_items}, [ranking])


def _order(table: ScoreTable, ranking: Ranking) -> MetricOrder:
    """One metric's order of the systems, compared with people's ranking."""
    sign = 1.0 if table.higher_is_better else -1.0
    scores = dict(zip(table.systems, table.system_scores.tolist(), strict=True))
    scored_systems = [
        r.system for r in ranking.systems if not math.isnan(scores.get(r.system, math.nan))
    ]
    have_scores = set(scored_systems).issuperset  # a function
    ordered = sorted(scored_systems, key=lambda system: -sign * scores[system])
    decided = [
        difference.systems
        for difference in ranking.differences
        if difference.is_real and have_scores(difference.systems)
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
    """A paragraph: whether the metrics order the systems of one question as people do, and which system
    the metric that agrees least ranks too high."""
    compared = [order for order in orders if order.question == ranking.question and order.systems]
    if not compared or len(ranking.systems) < 2:
        return ""
    who = ranking.who  # such as "people" or "machine judges"
    if not any(order.pairs for order in compared):
        if any(difference.is_real for difference in ranking.differences):
            return f"The metrics have no scores for two systems that {who} tell apart."
        if ranking.refusal:
            claim_of_people = f"Whether {who} tell systems apart could not be tested"
            return f"{claim_of_people}, so the metrics' orders are not compared with theirs."
        claim_of_people = f"{who.capitalize()} tell no two systems apart"
        return f"{claim_of_people}, so no metric can be right or wrong about them."
    compared = [order for order in compared if order.pairs]
    compared.sort(key=lambda order: (-order.agreeing / order.pairs, order.metric))
    always_right = [order for order in compared if not order.against]
    mostly_right = [
        order
        for order in compared
        if order.against and order.agreeing >= MIN_MOSTLY_SHARE * order.pairs
    ]
    less_right = [order for order in compared if order.agreeing < MIN_MOSTLY_SHARE * order.pairs]
    parts = []
    if always_right:
        names = _named(always_right, len(compared))
        n = always_right[0].pairs
        are_all_pairs = n == len(ranking.differences) and _have_equally_many_pairs(always_right)
        parts.append(
            f"{names} {_verb('order', always_right)} these systems as {who} do"
            if are_all_pairs
            else f"{names} {_verb('put', always_right)} {_told_apart(always_right, ranking)} "
            "in the same order"
        )
    if mostly_right:
        verb = _verb("do" if always_right else "order", mostly_right)
        count = _counts(mostly_right, with_pairs=True)
        parts.append(
            f"{_named(mostly_right, len(compared))} mostly {verb}"
            f"{'' if always_right else f' the systems as {who} do'} ({count})"
        )
    if len(less_right) == len(compared) > 1:
        no_metric = (
            "Neither metric" if len(compared) == 2 else f"None of the {len(compared)} metrics"
        )
        count = _counts(less_right, with_pairs=True)
        parts.append(f"{no_metric} orders the systems as {who} do ({count})")
    elif less_right:
        claim = "not" if parts else f"not order the systems as {who} do"
        count = _counts(
            less_right,
            with_pairs=not mostly_right
            or not _have_equally_many_pairs([*mostly_right, *less_right]),
        )
        parts.append(
            f"{_named(less_right, len(compared))} {_verb('do', less_right)} {claim} ({count})"
        )
    return (
        f"{'; '.join(parts)}{_missed(compared, ranking)}{_overrating_metrics(compared, ranking)}."
    )


def _named(orders: Sequence[MetricOrder], n_all: int) -> str:
    """The metrics' names, or their number if they are too many. `n_all` is the number of all
    metrics."""
    names = [order.metric for order in orders]
    if len(names) == n_all > 1:
        return "Both metrics" if n_all == 2 else f"All {n_all} metrics"
    if len(names) > MAX_NAMED_METRICS:
        return f"{len(names)} of {n_all} metrics"
    return listed(names)


def _verb(verb: str, orders: Sequence[MetricOrder]) -> str:
    return {"do": "does", "order": "orders", "put": "puts"}[verb] if len(orders) == 1 else verb


def _have_equally_many_pairs(orders: Sequence[MetricOrder]) -> bool:
    """Whether all these metrics are compared on equally many pairs. A metric that has no score for some
    system is compared on fewer."""
    return len({order.pairs for order in orders}) == 1


def _told_apart(orders: Sequence[MetricOrder], ranking: Ranking) -> str:
    """Words for the pairs that these metrics order without an error: `the 3 pairs that people tell
    apart`."""
    n = orders[0].pairs
    if not _have_equally_many_pairs(orders):
        return f"the pairs that {ranking.who} tell apart and they have scores for"
    pairs = "the one pair" if n == 1 else f"the {n} pairs"
    are_all_told_apart = n == sum(difference.is_real for difference in ranking.differences)
    it_has = "it has" if len(orders) == 1 else "they have"
    scored = "" if are_all_told_apart else f" and {it_has} scores for"
    return f"{pairs} that {ranking.who} tell apart{scored}"


def _counts(orders: Sequence[MetricOrder], *, with_pairs: bool) -> str:
    """How many pairs each metric orders as people do: `15, 14 and 14 of 18 pairs`."""
    if not _have_equally_many_pairs(orders):
        if len(orders) > MAX_NAMED_METRICS:
            shares = sorted(order.agreeing / order.pairs for order in orders)
            return f"{shares[0]:.0%} to {shares[-1]:.0%} of the pairs that each has scores for"
        shares_of_pairs = [f"{order.agreeing} of {order.pairs}" for order in orders[:-1]]
        last = f"{orders[-1].agreeing} of {counted(orders[-1].pairs, 'pair')}"
        return listed([*shares_of_pairs, last])
    counts = [str(order.agreeing) for order in orders]
    if len(set(counts)) == 1 and len(counts) > 1:
        counts = [f"{counts[0]} each"]
    elif len(counts) > MAX_NAMED_METRICS:
        counts = [f"{counts[-1]} to {counts[0]}"]
    counts_in_words = listed(counts)
    return (
        f"{counts_in_words} of {counted(orders[0].pairs, 'pair')}"
        if with_pairs
        else counts_in_words
    )


def _missed(orders: Sequence[MetricOrder], ranking: Ranking) -> str:
    """Which metrics do not put the one leading system first."""
    if len(ranking.leaders) > 1:
        return ""
    first = ranking.leaders[0]
    missing = [order for order in orders if order.systems[0] != first]
    if not missing or missing == [orders[-1]]:
        return ""  # `_overrating_metrics` is about the last metric
    if len(missing) == len(orders):
        none = {1: orders[0].metric, 2: "Neither"}.get(len(orders), "None of them")
        return f". {none} {'does not put' if len(orders) == 1 else 'puts'} {first} first"
    return f". {_named(missing, len(orders))} {_verb('do', missing)} not put {first} first"


def _overrating_metrics(orders: Sequence[MetricOrder], ranking: Ranking) -> str:
    """Which system the metric that agrees least ranks too high, and which other metrics give that
    system the same rank."""
    system = orders[-1].overrated
    if system is None:
        return ""
    row = next(row for row in ranking.systems if row.system == system)
    rank = orders[-1].systems.index(system) + 1
    if rank >= row.rank_low:
        return ""
    fooled = [o for o in orders if system in o.systems and o.systems.index(system) + 1 == rank]
    n = len(ranking.systems)
    is_one = len(fooled) == 1
    return (
        f". {_named(fooled, len(orders))} {'is' if is_one else 'are'} fooled by {system}: "
        f"{'it ranks' if is_one else 'they rank'} {system} {_place(rank, rank, n)}, "
        f"{ranking.who} rank it {_place(row.rank_low, row.rank_high, n)}"
    )


def _place(low: int, high: int, n: int) -> str:
    """A rank, or a range of ranks, in words.

    >>> _place(1, 1, 7), _place(7, 7, 7), _place(5, 7, 7)
    ('first', 'last', '5 to 7 of 7')
    """
    if low < high:
        return f"{low} to {high} of {n}"
    return "first" if low == 1 else "last" if low == n else f"{low} of {n}"
