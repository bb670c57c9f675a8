"""Shares of items that are right: one share, and the difference of two systems' shares.

A share has Wilson's interval (1927). `DifferenceOfShares` is the difference of two systems' shares:
only the items where exactly one system is right count. It is tested by the score test. The p-value of
the null hypothesis that the shares are equal is McNemar's (1947, without correction). The interval,
which has the differences that the test does not reject, is Tango's (1998).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from wellput.core.estimates import Bounds, Estimate
from wellput.core.metric import Floats


def is_share(
    statistics: Floats, score: Callable[[Floats], Floats], bounds: Bounds = (None, None)
) -> bool:
    """Whether a score is a share of hits. Then each item's row of statistics is (hit, 1), where hit is
    1 or 0, and the score is the mean of the hits. A score that may lie outside 0 and 1, such as a
    length, is not a share, even if all items happen to have 0 or 1."""
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
    """A share with Wilson's interval (1927): the shares that the score test does not reject. The
    interval has a width even where all or none of the items are hits.

    >>> none_of_fifty = wilson(0, 50)
    >>> none_of_fifty.low, round(none_of_fifty.high, 3)
    (0.0, 0.071)
    """
    share = hits / n
    low, high = wilson_bounds(share, n, z=NormalDist().inv_cdf((1 + confidence) / 2))
    low = 0.0 if hits == 0 else max(0.0, low)
    high = 1.0 if hits == n else min(1.0, high)
    return Estimate(share, low, high, method="Wilson", n=n)


def wilson_bounds(share: float, n: float, *, z: float) -> tuple[float, float]:
    """Wilson's interval of a share of n, z standard errors wide on either side. At a share of 0 or 1
    rounding may take a bound a little beyond it."""
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return center - reach, center + reach


NORMAL = NormalDist()
BISECTION_STEPS = 60
"""Halvings of the range of a bound: enough for every digit of a number between −1 and 1."""


@dataclass(frozen=True, slots=True)
class DifferenceOfShares:
    """share(a) − share(b): only a is right on `only_a` of `n` items, only b on `only_b`."""

    only_a: int
    only_b: int
    n: int
    confidence: float = 0.95

    @classmethod
    def of(cls, a: Floats, b: Floats, confidence: float = 0.95) -> DifferenceOfShares:
        """From two rows of 1 (right) and 0 (wrong) on the same items."""
        ahead = a - b
        only_a, only_b = (int(np.count_nonzero(which)) for which in (ahead > 0, ahead < 0))
        return cls(only_a, only_b, len(ahead), confidence)

    @property
    def p_value(self) -> float:
        """The two-sided p-value of the null hypothesis that the true shares are equal."""
        return min(1.0, 2 * NORMAL.cdf(-abs(self._statistic(0.0))))

    @property
    def estimate(self) -> Estimate:
        """
        >>> found = DifferenceOfShares(only_a=9, only_b=1, n=30).estimate
        >>> [round(x, 3) for x in (found.value, found.low, found.high, found.p_value)]
        [0.267, 0.072, 0.457, 0.011]
        """
        critical = NORMAL.inv_cdf((1 + self.confidence) / 2)
        return Estimate(
            value=(self.only_a - self.only_b) / self.n,
            low=self._difference_with_statistic(critical),
            high=self._difference_with_statistic(-critical),
            p_value=self.p_value,
            method="score test",
            n=self.n,
            null=0.0,
        )

    def equivalence_p(self, margin: float) -> float:
        """The p-value of the null hypothesis that the true difference is `margin` or more away from 0,
        on either side."""
        if margin >= 1:
            return 0.0
        return max(NORMAL.cdf(-self._statistic(-margin)), NORMAL.cdf(self._statistic(margin)))

    def _statistic(self, difference: float) -> float:
        """The score statistic for a true difference; it falls as the difference grows."""
        n, a, b = self.n, self.only_a, self.only_b
        excess = a - b - n * difference
        # The most likely share of items where only b is right, given the difference.
        linear = -a - b + (2 * n - a + b) * difference
        constant = -b * difference * (1 - difference)
        share = (math.sqrt(max(0.0, linear**2 - 8 * n * constant)) - linear) / (4 * n)
        variance = n * (2 * share + difference * (1 - difference))
        if variance <= 0:
            return 0.0 if excess == 0 else math.copysign(math.inf, excess)
        return excess / math.sqrt(variance)

    def _difference_with_statistic(self, statistic: float) -> float:
        """The difference that has this statistic."""
        below, above = -1.0, 1.0
        for _ in range(BISECTION_STEPS):
            middle = (below + above) / 2
            if self._statistic(middle) > statistic:
                below = middle
            else:
                above = middle
        return (below + above) / 2
