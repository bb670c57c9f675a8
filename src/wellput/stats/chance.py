"""What a metric that knows nothing of quality would reach: the null distribution of a coefficient.

The metric's scores are kept, with their ties and with what systems and items have in common, but the
systems' rows and the items' columns are exchanged at random against people's. A correlation is then 0
on average; pairwise accuracies have a chance level of their own, which depends on the ties.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wellput.core.metric import Floats
from wellput.stats.correlation import Coefficient

ACCURACIES: tuple[Coefficient, ...] = ("acc-t", "spa")
"""The coefficients whose chance level is not 0."""
EXCHANGES = 200


@dataclass(frozen=True, slots=True)
class Chance:
    """The chance level, and the middle 95% of what chance gives; None where nothing is known."""

    null: float | None
    low: float | None = None
    high: float | None = None


def chance_of(
    figure: Callable[[Floats], float],
    scores: Floats,
    coefficient: Coefficient,
    *,
    exchanges: int = EXCHANGES,
    seed: int = 12345,
) -> Chance:
    """Of `figure(scores)`, a coefficient of scores (systems × items, or × documents) with people."""
    rng = np.random.default_rng(seed)
    n_systems, n_items = scores.shape
    found = np.array(
        [
            figure(scores[rng.permutation(n_systems)][:, rng.permutation(n_items)])
            for _ in range(exchanges)
        ]
    )
    found = found[np.isfinite(found)]
    null = None if coefficient in ACCURACIES else 0.0
    if len(found) < exchanges / 2:
        return Chance(null)
    low, high = np.quantile(found, [0.025, 0.975])
    return Chance(float(found.mean()) if null is None else null, float(low), float(high))
