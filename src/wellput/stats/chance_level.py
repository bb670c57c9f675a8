"""`ChanceLevel`: what a metric that knows nothing about quality would reach, the null
distribution of a coefficient. The metric's scores keep their ties and what they share by system and by
item, but the systems' rows and the items' columns are exchanged at random against people's. A
correlation is then 0 on average. The chance level of a pairwise accuracy depends on the ties.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wellput import _native
from wellput.core.metric import Floats
from wellput.stats.correlation import (
    ACCURACY_COEFFICIENTS,
    Coefficient,
    Correlation,
    common_cells,
)

CHANCE_EXCHANGES = 200


@dataclass(frozen=True, slots=True)
class ChanceLevel:
    """The chance level, and the middle 95% of what chance gives; None where it is unknown."""

    null: float | None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, found: Floats, coefficient: Coefficient) -> ChanceLevel:
        """From the coefficients of exchanges, NaN where undefined."""
        defined = found[np.isfinite(found)]
        null = None if coefficient in ACCURACY_COEFFICIENTS else 0.0
        if len(defined) < len(found) / 2:
            return cls(null)
        low, high = np.quantile(defined, [0.025, 0.975])
        return cls(float(defined.mean()) if null is None else null, float(low), float(high))


def chance_of_segments(
    x: Floats,
    z: Floats,
    correlation: Correlation,
    *,
    exchanges: int = CHANCE_EXCHANGES,
    seed: int = 12345,
    threads: int = 1,
) -> ChanceLevel:
    """The chance level of a correlation of segment scores x with z, systems × items.

    >>> scores = np.random.default_rng(1).normal(size=(2, 6, 30))
    >>> chance_of_segments(*scores, Correlation()).null
    0.0
    """
    x, z = common_cells(x, z)
    found = _native.exchanged_correlations(
        x, z, correlation.grouping, correlation.coefficient, exchanges, seed, threads
    )
    return ChanceLevel.of(found[0], correlation.coefficient)


def chance_of(
    figure: Callable[[Floats], float],
    scores: Floats,
    coefficient: Coefficient,
    *,
    exchanges: int = CHANCE_EXCHANGES,
    seed: int = 12345,
) -> ChanceLevel:
    """The chance level of `figure(scores)`, any coefficient of scores (systems × items or documents)
    with people's."""
    rng = np.random.default_rng(seed)
    n_systems, n_items = scores.shape
    found = [
        figure(scores[rng.permutation(n_systems)][:, rng.permutation(n_items)])
        for _ in range(exchanges)
    ]
    return ChanceLevel.of(np.array(found), coefficient)
