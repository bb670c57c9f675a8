"""`PairMatrix`: every pair of systems, under each metric and by people's judgments.

The page draws the pairs as a table. Its rows and columns are the systems in the same order, best first:
above the diagonal, the system of the row comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wellput.agreement.rankings.plain_ranking import Ranking
from wellput.engine.result import ScoreResult
from wellput.reporting.html.answer import best_first, higher_is_better
from wellput.reporting.ranking import whom
from wellput.reporting.table import p_text


@dataclass(frozen=True)
class SystemPair:
    """Two systems and the difference of their scores, a's minus b's (`delta`), with its p-values and
    interval. `ahead` is 1 if a is significantly better, −1 if b is, 0 if no difference is
    shown, and None if they differ but the metric does not say which is better."""

    a: str
    b: str
    delta: float
    ahead: int | None
    p_value: float
    p_adjusted: float
    n: int | None = None
    low: float | None = None
    high: float | None = None
    p_is_bound: bool = False


@dataclass(frozen=True)
class ScorerPairs:
    """A metric or a question, the systems best first under it, and its pairs."""

    name: str
    order: Sequence[str]
    pairs: Sequence[SystemPair]
    metric: str | None = None
    question: str | None = None


@dataclass(frozen=True)
class PairMatrix:
    """`order` is the order of systems in the whole report."""

    order: Sequence[str]
    scorers: Sequence[ScorerPairs]
    units: str = "items"
    """Intervals and p-values of metrics hold for other units of this kind, such as documents."""

    def to_dict(self) -> dict[str, Any]:
        """The values as the scripts of the page read them; a system is its place in `systems`."""
        at = {system: place for place, system in enumerate(self.order)}
        return {
            "kind": "pairs",
            "name": "pairs",
            "title": "Every pair of systems",
            "units": self.units,
            "systems": list(self.order),
            "scorers": [
                {
                    "name": scorer.name,
                    "metric": scorer.metric,
                    "question": scorer.question,
                    "order": [at[system] for system in scorer.order],
                    "pairs": [
                        [
                            at[pair.a],
                            at[pair.b],
                            float(f"{pair.delta:.4g}"),
                            pair.ahead,
                            p_text(pair.p_value, is_bound=pair.p_is_bound),
                            p_text(pair.p_adjusted, is_bound=pair.p_is_bound),
                            pair.n,
                            _short(pair.low),
                            _short(pair.high),
                        ]
                        for pair in scorer.pairs
                    ],
                }
                for scorer in self.scorers
            ],
        }


def _short(value: float | None) -> float | None:
    """The number with four significant digits, so that the page is small."""
    return None if value is None else float(f"{value:.4g}")


def pair_matrix(
    result: ScoreResult, rankings: Sequence[Ranking], order: Sequence[str]
) -> PairMatrix:
    """The pairs by people's rankings that have tests, and under every metric."""
    scorers = [_by_people(ranking) for ranking in rankings if ranking.has_tests]
    scorers += [_by_metric(result, metric) for metric in result.metrics]
    units = "items" if result.clusters is None else result.clusters.words
    return PairMatrix(order, scorers, units)


def _by_people(ranking: Ranking) -> ScorerPairs:
    # The first system of a pair is the one that people prefer.
    pairs = [
        SystemPair(*pair.systems, pair.delta, int(pair.is_real), pair.p_value, pair.p_adjusted)
        for pair in ranking.differences
    ]
    order = [row.system for row in ranking.systems]
    return ScorerPairs(
        f"{whom(ranking)}: {ranking.question}", order, pairs, question=ranking.question
    )


def _by_metric(result: ScoreResult, metric: str) -> ScorerPairs:
    """The compared pairs under a metric. `ahead` is 1 or −1 if the first or the second system is
    better, 0 if this is not shown, None if the metric has no better direction."""
    higher_wins = higher_is_better(result, metric)
    pairs: list[SystemPair] = []
    for pair in result.comparisons:
        if pair.metric != metric:
            continue
        ahead: int | None = 0
        if result.is_significant(pair.p_adjusted, pair.n):
            ahead = None if higher_wins is None else 1 if (pair.delta > 0) == higher_wins else -1
        pairs.append(
            SystemPair(
                pair.a,
                pair.b,
                pair.delta,
                ahead,
                pair.p_value,
                pair.p_adjusted,
                pair.n,
                pair.low,
                pair.high,
                pair.p_is_bound,
            )
        )
    return ScorerPairs(metric, best_first(result, metric), pairs, metric=metric)
