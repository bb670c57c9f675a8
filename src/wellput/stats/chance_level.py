"""`ChanceLevel`: what a metric that knows nothing about quality would reach, the null distribution of a
coefficient of agreement with people.

An *exchange* puts the rows (systems) and the columns (items) of the metric's scores in a random order;
people's scores stay where they are. Ties within the metric, and what its scores of one system or one
item have in common, are kept. A correlation is then 0 on average. The chance level of a pairwise
accuracy depends on the ties.
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
"""How many exchanges a chance level is computed from."""


@dataclass(frozen=True, slots=True)
class ChanceLevel:
    """The mean of what chance gives (`null`, exactly 0 for correlations), and its middle 95% (`low` to
    `high`); None where unknown."""

    null: float | None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, by_chance: Floats, coefficient: Coefficient) -> ChanceLevel:
        """From the values of the coefficient, one for each exchange, NaN where undefined."""
        defined = by_chance[np.isfinite(by_chance)]
        null = None if coefficient in ACCURACY_COEFFICIENTS else 0.0
        if len(defined) < len(by_chance) / 2:
            return cls(null)
        low, high = np.quantile(defined, [0.025, 0.975])
        return cls(float(defined.mean()) if null is None else null, float(low), float(high))


def chance_level_of_segments(
    x: Floats,
    z: Floats,
    correlation: Correlation,
    *,
    exchanges: int = CHANCE_EXCHANGES,
    seed: int = 12345,
    threads: int = 1,
) -> ChanceLevel:
    """The chance level of a correlation of segment scores: a metric's, x, with people's, z; both are
    systems × items.

    >>> scores = np.random.default_rng(1).normal(size=(2, 6, 30))
    >>> chance_level_of_segments(*scores, Correlation()).null
    0.0
    """
    x, z = common_cells(x, z)
    by_chance = _native.exchanged_correlations(
        x, z, correlation.grouping, correlation.coefficient, exchanges, seed, threads
    )
    return ChanceLevel.of(by_chance[0], correlation.coefficient)  # a matrix of one row


def chance_level_of(
    figure: Callable[[Floats], float],
    scores: Floats,
    coefficient: Coefficient,
    *,
    exchanges: int = CHANCE_EXCHANGES,
    seed: int = 12345,
) -> ChanceLevel:
    """The chance level of `figure(scores)`: a function that returns any coefficient of a metric's
    scores (systems × items, or systems × documents) with people's."""
    rng = np.random.default_rng(seed)
    n_systems, n_items = scores.shape
    by_chance = [
        figure(scores[rng.permutation(n_systems)][:, rng.permutation(n_items)])
        for _ in range(exchanges)
    ]
    return ChanceLevel.of(np.array(by_chance), coefficient)
