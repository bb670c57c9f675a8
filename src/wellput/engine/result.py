"""What scoring gives: scores, `Comparison`, and the `ScoreResult` that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from wellput.core.errors import InputError
from wellput.core.result import Result
from wellput.core.score import FEWEST_ITEMS, Score
from wellput.core.table import ScoreTable


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems under one metric: score of `a` − score of `b` on the `n` items both have.

    `p_adjusted` is Holm's, over all pairs of systems under this metric.
    """

    metric: str
    a: str
    b: str
    delta: float
    p_value: float
    p_adjusted: float
    n: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A run of rows that could not be evaluated and is in no score: which, and why."""

    partition: str
    reason: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Items that some metrics do not score: how many, the ids of the first, and why."""

    reason: str
    metrics: tuple[str, ...]
    n: int
    first: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class ScoreResult(Result):
    """Scores of all systems under all metrics, and what is needed to repeat them."""

    presented_by: ClassVar[str] = "wellput.reporting.score:score_report"

    items: int
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    scores: tuple[Score, ...]
    seed: int
    n_resamples: int
    confidence: float = 0.95
    test: str | None = None
    alpha: float = 0.05
    comparisons: tuple[Comparison, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    explanations: tuple[str, ...] = ()
    run: str | None = None
    left_out: tuple[LeftOut, ...] = ()
    tables: Mapping[str, ScoreTable] = field(default_factory=dict, repr=False)
    higher_is_better: Mapping[str, bool | None] = field(default_factory=dict, repr=False)

    def __getitem__(self, key: tuple[str, str]) -> Score:
        """`result["A", "bleu"]`"""
        for score in self.scores:
            if (score.system, score.metric) == key:
                return score
        raise InputError(
            f"No score of system {key[0]!r} under {key[1]!r}; there are systems "
            f"{', '.join(self.systems)} and metrics {', '.join(self.metrics)}."
        )

    def table(self, metric: str) -> ScoreTable:
        """Segment scores and statistics under one metric, systems × items."""
        if metric not in self.tables:
            raise InputError(f"No rows were kept for {metric!r}: score with keep_rows=True.")
        return self.tables[metric]

    def is_shown(self, p_value: float | None, n_items: int | None) -> bool:
        """Whether a test on so many items shows a difference."""
        return p_value is not None and p_value < self.alpha and (n_items or 0) >= FEWEST_ITEMS

    def beaten(self, metric: str) -> frozenset[str] | None:
        """The systems that another is shown to be better than: among all pairs where they were tested
        (by Holm's p), else by the tests against the baseline. None where nothing can be said."""
        is_better = self.higher_is_better[metric]
        tests: list[tuple[str, str, float, float | None, int]] = [
            (pair.a, pair.b, pair.delta, pair.p_adjusted, pair.n)
            for pair in self.comparisons
            if pair.metric == metric
        ]
        if not self.comparisons:
            tests = [
                (one.system, one.baseline, one.delta or 0.0, one.p_value, one.n_common or 0)
                for one in self.scores
                if one.metric == metric and one.baseline is not None
            ]
        if is_better is None or not tests or min(n for *_, n in tests) < FEWEST_ITEMS:
            return None
        shown = [(a, b, delta) for a, b, delta, p, n in tests if delta and self.is_shown(p, n)]
        return frozenset(b if (delta > 0) == is_better else a for a, b, delta in shown)

    @property
    def worse(self) -> tuple[Score, ...]:
        """The scores that are significantly worse than the baseline's."""
        return tuple(score for score in self.scores if score.is_worse)

    def records(self) -> list[dict[str, Any]]:
        """A record for each system under each metric."""
        return [{**asdict(score), "components": dict(score.components)} for score in self.scores]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput score`."""
        return {
            "items": self.items,
            "systems": list(self.systems),
            "scores": [asdict(score) for score in self.scores],
            "pairs": [asdict(comparison) for comparison in self.comparisons],
            "skipped": [asdict(skipped) for skipped in self.skipped],
            "left_out": [asdict(left_out) for left_out in self.left_out],
            "test": self.test,
            "alpha": self.alpha,
            "confidence": self.confidence,
            "resamples": self.n_resamples,
            "seed": self.seed,
        }
