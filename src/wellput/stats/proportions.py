"""Shares of items that are right: one share, and the difference of two systems' shares.

A share has Wilson's interval (1927), or the exact one (Clopper & Pearson 1934) where there are few
items. Both have a width even where all or none of the items are *hits* (right).

`DifferenceOfShares` is the difference of two systems' shares. Only the items where exactly one system
is right say which is better. The p-value of the null hypothesis that the shares are equal is McNemar's
(1947): exact, by the binomial distribution, where few items differ, else by the score test, without
continuity correction. The interval has the differences that the score test does not reject (Tango
1998). It is adjusted so that it contains 0 exactly where McNemar's p-value is at least
1 − confidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from wellput.core.errors import InputError
from wellput.core.estimates import Bounds, Estimate
from wellput.core.metric import Floats
from wellput.core.options import MAX_WHOLE, checks_options


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
    end_scores = score(np.array([[0.0, 1.0], [1.0, 1.0]]))
    value = float(score(statistics.sum(axis=0)))
    return bool(
        end_scores[0] == 0 and end_scores[1] == 1 and math.isclose(value, float(hits.mean()))
    )


MIN_ITEMS_FOR_WILSON = 30
"""With fewer items a share has the exact interval."""
MIN_DIFFERING_FOR_SCORE_TEST = 25
"""Where the systems differ on fewer items, McNemar's test is exact."""
MAX_ITEMS_FOR_SUM = 1000
"""For more items the terms of the binomial distribution overflow."""


def share_interval(hits: int, n: int, *, confidence: float = 0.95) -> Estimate:
    """A share with its interval: exact for few items, else Wilson's.

    >>> share_interval(10, 10).method, share_interval(100, 100).method
    ('exact', 'wilson')
    """
    interval = wilson if n >= MIN_ITEMS_FOR_WILSON else clopper_pearson
    return interval(hits, n, confidence=confidence)


def _counts(hits: float, n: float) -> tuple[int, int]:
    """The two numbers as integers; raises InputError unless they are whole numbers that make a
    share."""
    are_whole = all(isinstance(x, int | np.integer) or float(x).is_integer() for x in (hits, n))
    if not (are_whole and 0 <= hits <= n and 1 <= n <= MAX_WHOLE):
        raise InputError(
            f"{hits} of {n} is no share: both must be whole numbers, 0 ≤ hits ≤ n ≤ {MAX_WHOLE:,}."
        )
    return int(hits), int(n)


@checks_options
def clopper_pearson(hits: int, n: int, *, confidence: float = 0.95) -> Estimate:
    """A share with the exact interval: the shares that neither of the two one-sided binomial tests
    rejects. It contains the true share at least as often as it claims.

    >>> all_of_ten = clopper_pearson(10, 10)
    >>> round(all_of_ten.low, 3), all_of_ten.high
    (0.692, 1.0)
    """
    hits, n = _counts(hits, n)
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else _share_with_tail(n - hits, n, tail)
    high = 1.0 if hits == n else 1 - _share_with_tail(hits, n, tail)
    return Estimate(hits / n, low, high, method="exact", n=n)


def _share_with_tail(misses: int, n: int, tail: float) -> float:
    """The share of hits under which at most this many misses have the probability `tail`."""
    below, above = 0.0, 1.0
    for _ in range(BISECTION_STEPS):
        middle = (below + above) / 2
        if _binomial_cdf(misses, n, 1 - middle) < tail:
            below = middle
        else:
            above = middle
    return (below + above) / 2


def _binomial_cdf(k: int, n: int, share: float) -> float:
    """The probability of at most k hits in n items, where `share` is that of one hit."""
    if n > MAX_ITEMS_FOR_SUM:
        from scipy.special import betainc  # imported late: SciPy takes long to load

        return float(betainc(n - k, k + 1, 1 - share))
    return math.fsum(math.comb(n, i) * share**i * (1 - share) ** (n - i) for i in range(k + 1))


@checks_options
def wilson(hits: int, n: int, *, confidence: float = 0.95) -> Estimate:
    """A share with Wilson's interval (1927): the shares that the score test does not reject.

    >>> none_of_fifty = wilson(0, 50)
    >>> none_of_fifty.low, round(none_of_fifty.high, 3)
    (0.0, 0.071)
    """
    hits, n = _counts(hits, n)
    share = hits / n
    low, high = wilson_bounds(share, n, z=NormalDist().inv_cdf((1 + confidence) / 2))
    low = 0.0 if hits == 0 else max(0.0, low)
    high = 1.0 if hits == n else min(1.0, high)
    return Estimate(share, low, high, method="wilson", n=n)


def wilson_bounds(share: float, n: float, *, z: float) -> tuple[float, float]:
    """Wilson's interval of a share of n items, for bounds that are z standard errors away. Rounding may
    move a bound slightly below 0 or above 1."""
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return center - reach, center + reach


NORMAL = NormalDist()
BISECTION_STEPS = 60
"""How often the range of a bound is halved: enough for every digit of a number between −1 and 1."""


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
        if self.is_exact:
            fewer, differing = min(self.only_a, self.only_b), self.only_a + self.only_b
            return min(1.0, 2 * _binomial_cdf(fewer, differing, 0.5))
        return min(1.0, 2 * NORMAL.cdf(-abs(self._statistic(0.0))))

    @property
    def is_exact(self) -> bool:
        """Whether so few items differ that the p-value is exact."""
        return self.only_a + self.only_b < MIN_DIFFERING_FOR_SCORE_TEST

    @property
    def estimate(self) -> Estimate:
        """The difference with its interval and p-value.

        >>> found = DifferenceOfShares(only_a=9, only_b=1, n=30).estimate
        >>> [round(x, 3) for x in (found.value, found.low, found.high, found.p_value)]
        [0.267, 0.072, 0.457, 0.021]
        """
        low, high = self._interval
        return Estimate(
            value=(self.only_a - self.only_b) / self.n,
            low=low,
            high=high,
            p_value=self.p_value,
            method="exact mcnemar" if self.is_exact else "mcnemar",
            n=self.n,
            null=0.0,
        )

    @property
    def smoothed_and_error(self) -> tuple[float, float]:
        """The difference and its standard error after half an item is added to each of the four
        outcomes (Agresti & Min 2005), so that there is an error even where no item differs.

        >>> [round(x, 3) for x in DifferenceOfShares(only_a=0, only_b=0, n=8).smoothed_and_error]
        [0.0, 0.1]
        """
        n, differing = self.n + 2, self.only_a + self.only_b + 1
        value = (self.only_a - self.only_b) / n
        return value, math.sqrt(differing / n - value**2) / math.sqrt(n)

    @property
    def _interval(self) -> tuple[float, float]:
        """Tango's interval, adjusted so that it contains 0 exactly where p is at least
        1 − confidence."""
        critical = NORMAL.inv_cdf((1 + self.confidence) / 2)
        low, high = map(self._difference_with_statistic, (critical, -critical))
        if self.p_value >= 1 - self.confidence:
            return min(low, 0.0), max(high, 0.0)
        if self.only_a > self.only_b:
            return max(low, math.nextafter(0.0, 1.0)), high
        return low, min(high, math.nextafter(0.0, -1.0))

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
        # The most likely share x of items on which only b is right, given the difference: the larger
        # root of 2n · x² + linear · x + constant.
        linear = -a - b + (2 * n - a + b) * difference
        constant = -b * difference * (1 - difference)
        share = (math.sqrt(max(0.0, linear**2 - 8 * n * constant)) - linear) / (4 * n)
        variance = n * (2 * share + difference * (1 - difference))
        if variance <= 0:
            return 0.0 if excess == 0 else math.copysign(math.inf, excess)
        return excess / math.sqrt(variance)

    def _difference_with_statistic(self, statistic: float) -> float:
        """The true difference for which the score statistic has this value."""
        below, above = -1.0, 1.0
        for _ in range(BISECTION_STEPS):
            middle = (below + above) / 2
            if self._statistic(middle) > statistic:
                below = middle
            else:
                above = middle
        return (below + above) / 2
