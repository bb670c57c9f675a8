"""Which metrics really differ in how far they agree with people: every pair, corrected for many.

No p-value of m resamples is below 1 / (m + 1), and a correction multiplies it by up to the number of
pairs: 15 metrics make 105 pairs, of which 1000 resamples could never show one to differ. So the pairs
that look different are tested again with enough resamples for the correction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from wellput.agreement.orders import is_sentinel
from wellput.agreement.result import AgreementLevel, MetricDifference
from wellput.core.estimates import Estimate
from wellput.core.work import OnPhase, ignore_phase
from wellput.stats.corrections import CORRECTIONS, Correction, resamples_needed
from wellput.stats.correlation import Coefficient

CompareMetrics = Callable[[str, str, int], Estimate]
"""Two metrics and a number of resamples to value(a) − value(b) with its p-value."""


@dataclass(frozen=True, slots=True)
class PairTest:
    """How metrics are compared. `n_resamples` is None for a test that draws nothing."""

    name: str
    compare: CompareMetrics
    n_resamples: int | None
    correction: Correction
    alpha: float

    def resamples_needed(self, pairs: int) -> int | None:
        """Of a pair that looks different, so that the correction for all pairs can confirm it."""
        if self.n_resamples is None or self.correction == "none":
            return self.n_resamples
        return resamples_needed(self.n_resamples, tests=pairs, alpha=self.alpha)


def compare_pairs(
    metrics: Sequence[str],
    test: PairTest,
    *,
    question: str,
    level: AgreementLevel,
    coefficient: Coefficient,
    on_phase: OnPhase = ignore_phase,
) -> list[MetricDifference]:
    """One `MetricDifference` a pair. A pair that looks different at first must do so again to count.

    p is corrected for all pairs of metrics, and apart from them for all pairs with a sentinel.
    """
    pairs = list(combinations(metrics, 2))
    first = test.n_resamples or 0
    needed = test.resamples_needed(len(pairs)) or 0
    estimates: list[Estimate] = []
    on_pair = on_phase("comparing metrics", len(pairs))
    for a, b in pairs:
        estimate = test.compare(a, b, first)
        if needed > first and _p_value(estimate) < test.alpha:
            estimate = test.compare(a, b, needed)
        estimates.append(estimate)
        on_pair(1)
    p_values = np.array([_p_value(estimate) for estimate in estimates])
    adjusted = np.full(len(pairs), np.nan)
    families = np.array([sum(is_sentinel(metric) for metric in pair) for pair in pairs])
    for family in np.unique(families):
        inside = families == family
        adjusted[inside] = CORRECTIONS[test.correction](p_values[inside])
    return [
        MetricDifference(
            metrics=pair,
            question=question,
            level=level,
            coefficient=coefficient,
            delta=estimate.value,
            p_value=float(p),
            p_adjusted=float(q),
            test=test.name,
            low=estimate.low,
            high=estimate.high,
        )
        for pair, estimate, p, q in zip(pairs, estimates, p_values, adjusted, strict=True)
    ]


def _p_value(estimate: Estimate) -> float:
    return float("nan") if estimate.p_value is None else estimate.p_value
