"""Shares: how many of n items have what was looked for, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from wellput.core.metric import Floats
from wellput.core.table import Bounds, Estimate


def is_share(
    statistics: Floats, score: Callable[[Floats], Floats], bounds: Bounds = (None, None)
) -> bool:
    """Whether a score is the share of rows that are (1, 1) among rows (0 or 1, 1). A score that may lie
    outside 0 and 1, such as a length, is none, even if all items happen to have 0 or 1."""
    if bounds not in ((None, None), (0.0, 1.0)):
        return False
    if statistics.ndim != 2 or statistics.shape[1] != 2 or not len(statistics):
        return False
    hits, ones = statistics[:, 0], statistics[:, 1]
    if not ((ones == 1).all() and ((hits == 0) | (hits == 1)).all()):
        return False
    ends = score(np.array([[0.0, 1.0], [1.0, 1.0]]))
    value = float(score(statistics.sum(axis=0)))
    return bool(ends[0] == 0 and ends[1] == 1 and math.isclose(value, float(hits.mean())))


def wilson(hits: int, n: int, *, confidence: float = 0.95) -> Estimate:
    """A share with Wilson's interval (1927): the shares that the score test does not reject. It has a
    width also where all or none of the items are hits.

    >>> none_of_fifty = wilson(0, 50)
    >>> none_of_fifty.low, round(none_of_fifty.high, 3)
    (0.0, 0.071)
    """
    share = hits / n
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if hits == 0 else max(0.0, center - reach)
    high = 1.0 if hits == n else min(1.0, center + reach)
    return Estimate(share, low, high, method="Wilson", n=n)
