"""Intervals and p-values from standard errors. An interval and its p-value come from the same error, so
that they cannot contradict each other.

`student_estimate` makes both by Student's t, on the scale of the error (such as Fisher's z for a
correlation) and with the degrees of freedom of the error.

`CautiousStudent` is for differences that may be skewed. If values are skewed, their mean and
its standard error are correlated, and t is skewed in the opposite direction: a sample that happens to
have none of the few large differences has a mean that is too small and an error that is far too small.
Hall's transformation (1992) removes this skewness from t, to the first order. Where tails are heavy,
though, it gives small p-values too often. Neither Student's t nor Hall's is right everywhere, so both
are used: the p-value is the larger one, and the interval contains the intervals of both (measured in
docs/results/calibration.md).

`welch_test` says whether several independent means are equal (Welch 1951). Unlike the usual analysis of
variance it does not assume that the groups have the same spread or size: each mean is weighted by its
precision. It needs only the means, their standard errors and the errors' degrees of freedom, so it also
serves for differences whose errors come from a jackknife over items or clusters.

`anytime_half_widths` and `anytime_p_values` stay valid however often one looks at the results while
judgments are collected. They use the normal-mixture boundary (Robbins 1970; Howard et al. 2021, eq.
14): with information I = 1 / error² and a prior N(0, τ²) of the true value, |estimate − truth| stays
within

    √((I + ρ) log((I + ρ) / (ρ α²))) / I,   ρ = 1 / τ²

at all times together with probability 1 − α. This is exact for sums of independent normal steps, and
approximate, with enough data, for the estimates of a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from wellput.core.estimates import Estimate
from wellput.core.metric import Floats


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale on which errors are symmetric: `forward` takes values to it, `backward` takes them
    back."""

    forward: Callable[[Floats], Floats]
    backward: Callable[[Floats], Floats]


ROUNDING_ERROR = 1e-12
"""Coefficients this close to each other are equal: their sums were only rounded differently."""


def _fisher_z(correlations: Floats) -> Floats:
    """Infinite for a perfect correlation, also if it was rounded to a little less than 1."""
    is_perfect = np.abs(correlations) >= 1 - ROUNDING_ERROR
    return np.arctanh(np.where(is_perfect, np.sign(correlations), correlations))


IDENTITY = Scale(np.asarray, np.asarray)
FISHER_Z = Scale(_fisher_z, np.tanh)
"""For correlations, from −1 to 1."""
LOGIT = Scale(lambda share: _fisher_z(2 * share - 1), lambda z: (np.tanh(z) + 1) / 2)
"""For shares, from 0 to 1: half the log of the odds, which is Fisher's z of 2 · share − 1."""


def scale_of_pairs(pairs: int, *, is_share: bool) -> Scale:
    """Fisher's z for a coefficient that counts this many pairs. With few pairs the coefficient may be
    1, where z is infinite. So it is first moved a little towards chance, as if one more pair were half
    right. `is_share`: the coefficient is a share, from 0 to 1; otherwise it goes from −1 to 1."""
    shrinkage = pairs / (pairs + 1)
    base = LOGIT if is_share else FISHER_Z
    middle = 0.5 if is_share else 0.0
    return Scale(
        lambda values: base.forward(middle + shrinkage * (values - middle)),
        lambda z: np.clip(
            middle + (base.backward(z) - middle) / shrinkage, 0.0 if is_share else -1.0, 1.0
        ),
    )


def student_estimate(
    value: float,
    error: float,
    freedom: float,
    *,
    null: float | None = 0.0,
    confidence: float = 0.95,
    scale: Scale = IDENTITY,
    method: str = "",
    n: int | None = None,
    seed: int | None = None,
) -> Estimate:
    """`value` with its interval, and the two-sided p-value that the truth is `null`.

    `error` is the standard error on the `scale`, `freedom` its degrees of freedom. Without a positive
    error there is neither interval nor p-value.
    """
    if not (error > 0 and freedom > 0 and math.isfinite(error)):
        return Estimate(value, method=method, n=n, seed=seed, null=null)
    from scipy.special import stdtr, stdtrit  # imported late: SciPy takes long to load

    center = float(scale.forward(np.array(value)))
    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * error
    low, high = (float(scale.backward(np.array(center + side))) for side in (-reach, reach))
    p_value = None
    if null is not None:
        distance = abs(center - float(scale.forward(np.array(null))))
        p_value = 2 * float(stdtr(freedom, -distance / error))
    return Estimate(value, low, high, p_value, method, n, seed, null)


HALL_SLOPE = 1 / 3
HALL_SHIFT = 1 / 6
"""The two constants of Hall's transformation (`hall_transformed`)."""


@dataclass(frozen=True, slots=True)
class CautiousStudent:
    """A value with its standard `error` and degrees of `freedom`. `skew` is the skewness of the n
    values averaged, divided by the root of n; with 0 all figures are Student's."""

    value: float
    error: float
    freedom: float
    skew: float = 0.0

    def estimate(self, *, confidence: float, n: int, method: str) -> Estimate:
        """The value with its interval, and the two-sided p-value that the truth is 0."""
        from scipy.special import stdtr, stdtrit  # imported late: SciPy takes long to load

        critical = float(stdtrit(self.freedom, (1 + confidence) / 2))
        t_at_low = max(critical, hall_untransformed(critical, self.skew))
        t_at_high = min(-critical, hall_untransformed(-critical, self.skew))
        t = self.value / self.error
        smaller_t = min(abs(t), abs(hall_transformed(t, self.skew)))
        return Estimate(
            self.value,
            self.value - t_at_low * self.error,
            self.value - t_at_high * self.error,
            2 * float(stdtr(self.freedom, -smaller_t)),
            method=method,
            n=n,
            null=0.0,
        )

    def equivalence_p(self, margin: float) -> float:
        """The p-value that the truth is `margin` or more away from 0, on either side, by two one-sided
        tests (Schuirmann 1987). It is below α exactly where the 1 − 2α interval lies within ±margin."""
        from scipy.special import stdtr

        too_low, too_high = ((self.value + side) / self.error for side in (margin, -margin))
        statistics = (
            -too_low,
            -hall_transformed(too_low, self.skew),
            too_high,
            hall_transformed(too_high, self.skew),
        )
        return max(float(stdtr(self.freedom, statistic)) for statistic in statistics)


FloatOrFloats = TypeVar("FloatOrFloats", float, Floats)


def hall_transformed(t: FloatOrFloats, skew: FloatOrFloats) -> FloatOrFloats:
    """Hall's monotone transformation of t, which removes its skewness.

    >>> hall_transformed(2.0, 0.0), round(hall_transformed(2.0, 0.3), 3)
    (2.0, 2.477)
    """
    bend = HALL_SLOPE * skew
    return t + bend * t**2 + bend**2 * t**3 / 3 + HALL_SHIFT * skew


def hall_untransformed(x: float, skew: float) -> float:
    """The t whose transformation is `x`.

    >>> round(hall_untransformed(hall_transformed(2.0, 0.3), 0.3), 12)
    2.0
    """
    bend = HALL_SLOPE * skew
    if abs(bend) < 1e-9:  # the formula below would divide 0 by 0
        return x - HALL_SHIFT * skew - bend * x**2
    return (math.cbrt(1 + 3 * bend * (x - HALL_SHIFT * skew)) - 1) / bend


@dataclass(frozen=True, slots=True)
class EqualityTest:
    """The F statistic, its two degrees of freedom, and the p-value that all means are equal."""

    statistic: float
    freedom: tuple[float, float]
    p_value: float


def welch_test(means: Floats, errors: Floats, freedom: Floats) -> EqualityTest:
    """Tests that two or more means are equal; every error and degree of freedom must be above 0.

    With two means it is Welch's t test:

    >>> import numpy as np
    >>> found = welch_test(np.array([1.0, 3.0]), np.array([0.6, 0.8]), np.array([9.0, 9.0]))
    >>> round(found.statistic, 6), found.freedom[0]
    (4.0, 1)
    """
    from scipy.special import fdtrc  # imported late: SciPy takes long to load

    k = len(means)
    weights = 1 / errors**2
    total = weights.sum()
    center = (weights * means).sum() / total
    uncertainty = ((1 - weights / total) ** 2 / freedom).sum()
    between = (weights * (means - center) ** 2).sum() / (k - 1)
    statistic = between / (1 + 2 * (k - 2) / (k**2 - 1) * uncertainty)
    freedom_within = (k**2 - 1) / (3 * uncertainty)
    p_value = float(fdtrc(k - 1, freedom_within, statistic))
    return EqualityTest(float(statistic), (k - 1, float(freedom_within)), p_value)


def anytime_half_widths(errors: Floats, *, alpha: float, prior_sd: float) -> Floats:
    """Half the width of the interval around each estimate, from the estimates' standard errors;
    `prior_sd` is τ above.

    >>> errors = np.array([1.0, 0.1])
    >>> (anytime_half_widths(errors, alpha=0.05, prior_sd=1.0) / errors).round(2).tolist()
    [3.66, 3.27]
    """
    information, rho = 1 / np.asarray(errors) ** 2, 1 / prior_sd**2
    total = information + rho
    return np.asarray(np.sqrt(total * np.log(total / (rho * alpha**2))) / information)


def anytime_p_values(values: Floats, errors: Floats, *, prior_sd: float) -> Floats:
    """For each estimate the smallest α whose interval does not contain 0, so p is below α exactly where
    the interval of `anytime_half_widths` excludes 0."""
    information, rho = 1 / np.asarray(errors) ** 2, 1 / prior_sd**2
    total = information + rho
    exponent = (information * np.asarray(values)) ** 2 / (2 * total)
    return np.asarray(np.minimum(1.0, np.sqrt(total / rho) * np.exp(-exponent)))


def normal_errors(values: Floats, errors: Floats, freedom: Floats) -> Floats:
    """Larger standard errors that allow for few degrees of freedom: value / error then has the p-value
    in the normal distribution that it had in Student's t."""
    from scipy.special import ndtri, stdtr

    t = np.maximum(np.abs(np.asarray(values)) / errors, 1e-8)  # not 0, so that t / z is defined
    z = -ndtri(stdtr(freedom, -t))
    return np.asarray(errors * t / np.maximum(z, 1e-8))
