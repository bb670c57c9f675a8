"""Which units to label next: more often those about which a proxy's scores differ most, each with a
known probability, so that an estimate from the labels stays right on average.

A unit's size is the spread of its scores (over systems) plus the mean spread, so that no unit is left
without a chance. Units are drawn with probabilities proportional to size, in a random order, at equal
steps of the cumulated probabilities (Madow 1949).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats


def inclusion_probabilities(spreads: Floats, budget: int) -> Floats:
    """Probabilities proportional to spread plus mean spread that add up to the budget; none above 1.

    >>> inclusion_probabilities(np.array([0.0, 1.0, 1.0, 2.0]), 2).tolist()
    [0.25, 0.5, 0.5, 0.75]
    """
    spreads = np.nan_to_num(np.asarray(spreads, dtype=np.float64))
    average = float(spreads.mean()) if len(spreads) else 0.0
    sizes = spreads + average if average > 0 else np.ones(len(spreads))
    found = np.zeros(len(sizes))
    certain = np.zeros(len(sizes), dtype=bool)
    if budget >= len(sizes):
        return np.ones(len(sizes))
    while True:
        rest = ~certain
        found[rest] = sizes[rest] * (budget - certain.sum()) / sizes[rest].sum()
        found[certain] = 1.0
        above = found > 1 + 1e-12
        if not above.any():
            return np.minimum(found, 1.0)
        certain |= above


def systematic_sample(probabilities: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """Places drawn with these probabilities, in order; as many as they add up to, rounded."""
    order = rng.permutation(len(probabilities))
    steps = np.floor(np.cumsum(probabilities[order]) + rng.random() + 1e-9)
    return np.sort(order[np.diff(steps, prepend=0.0) > 0])


def united_probabilities(before: Floats, now: Floats) -> Floats:
    """The probability of being drawn before, or else now.

    >>> united_probabilities(np.array([0.5]), np.array([0.5])).tolist()
    [0.75]
    """
    return np.asarray(before + (1 - before) * now)
