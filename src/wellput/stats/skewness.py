"""Student's t where what is averaged may be skewed: the more cautious of t and of t corrected.

Of skewed values a mean and its standard error are correlated, and t is skewed the other way: a sample
that happens to have none of the few large differences has a mean that is too small and an error that is
far too small. Hall's transformation (1992) takes that skewness out of t, to the first order. Where
tails are heavy it makes small p-values too often: neither is right everywhere. So a difference is taken
for real where both say so, and the interval has all that one of them holds possible
(docs/results/calibration.md measures it).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from wellput.core.table import Estimate

SLOPE = 1 / 3
SHIFT = 1 / 6
"""Of Hall's transformation of a mean."""


@dataclass(frozen=True, slots=True)
class CautiousStudent:
    """A value with its standard `error` and degrees of `freedom`. `skew` is the skewness of the n
    values averaged, over the root of n; with 0 everything is Student's."""

    value: float
    error: float
    freedom: float
    skew: float = 0.0

    def estimate(self, *, confidence: float, n: int, method: str) -> Estimate:
        """The value with its interval, and the two-sided p-value that the truth is 0."""
        from scipy.special import stdtr, stdtrit  # imported late: SciPy takes long to load

        critical = float(stdtrit(self.freedom, (1 + confidence) / 2))
        below = max(critical, untransformed(critical, self.skew))
        above = min(-critical, untransformed(-critical, self.skew))
        t = self.value / self.error
        least = min(abs(t), abs(transformed(t, self.skew)))
        return Estimate(
            self.value,
            self.value - below * self.error,
            self.value - above * self.error,
            2 * float(stdtr(self.freedom, -least)),
            method=method,
            n=n,
            null=0.0,
        )

    def equivalence_p(self, margin: float) -> float:
        """The p-value that the truth is `margin` or more away from 0, on either side, by two one-sided
        tests (Schuirmann 1987). It is below α just where the 1 − 2α interval lies within ±margin."""
        from scipy.special import stdtr

        too_low, too_high = ((self.value + side) / self.error for side in (margin, -margin))
        statistics = (
            -too_low,
            -transformed(too_low, self.skew),
            too_high,
            transformed(too_high, self.skew),
        )
        return max(float(stdtr(self.freedom, statistic)) for statistic in statistics)


def transformed(t: float, skew: float) -> float:
    """Hall's monotone transformation of t, which takes the skewness out of it.

    >>> transformed(2.0, 0.0), round(transformed(2.0, 0.3), 3)
    (2.0, 2.477)
    """
    bend = SLOPE * skew
    return t + bend * t**2 + bend**2 * t**3 / 3 + SHIFT * skew


def untransformed(x: float, skew: float) -> float:
    """The t of which `x` is the transformation.

    >>> round(untransformed(transformed(2.0, 0.3), 0.3), 12)
    2.0
    """
    bend = SLOPE * skew
    if abs(bend) < 1e-9:  # the formula below would divide 0 by 0
        return x - SHIFT * skew - bend * x**2
    return (math.cbrt(1 + 3 * bend * (x - SHIFT * skew)) - 1) / bend
