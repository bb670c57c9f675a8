"""Which metrics really differ in how far they agree with people: every pair, corrected for many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from wellput.agree.result import Coefficient, Difference, Level
from wellput.core.table import Estimate
from wellput.stats.comparison import CORRECTIONS, Correction

Compare = Callable[[str, str], Estimate]


def compare_pairs(
    metrics: Sequence[str],
    compare: Compare,
    *,
    question: str,
    level: Level,
    coefficient: Coefficient,
    test: str,
    correction: Correction,
    on_progress: Callable[[int], None] | None = None,
) -> list[Difference]:
    """`compare(a, b)` gives value(a) − value(b) with its p-value; one `Difference` a pair."""
    pairs = list(combinations(metrics, 2))
    estimates: list[Estimate] = []
    for a, b in pairs:
        estimates.append(compare(a, b))
        if on_progress is not None:
            on_progress(1)
    p_values = np.array(
        [np.nan if estimate.p_value is None else estimate.p_value for estimate in estimates]
    )
    adjusted = CORRECTIONS[correction](p_values)
    return [
        Difference(pair, question, level, coefficient, estimate.value, float(p), float(q), test)
        for pair, estimate, p, q in zip(pairs, estimates, p_values, adjusted, strict=True)
    ]
