"""Correlations of points that are independent: Fisher's interval and Williams' test.

Both assume what resampling does not: bivariate normal scores, and points that know nothing of each
other. That suits one mean score for each system, less so segments.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.core.table import Estimate
from wellput.stats.correlation import Correlation, common_cells, correlate, undefined
from wellput.stats.old_keywords import takes_old_keywords
from wellput.stats.permutation import Alternative


def fisher(
    r: float,
    n: int,
    confidence: float = 0.95,
    *,
    coefficient: Literal["pearson", "spearman", "kendall"] = "pearson",
) -> Estimate:
    """The interval of a correlation of n points by Fisher's transformation.

    For Spearman's and Kendall's coefficients with the variances of Bonett & Wright (2000). The
    interval is NaN with fewer points than the formula needs, and for a perfect correlation.
    """
    if not 0 < confidence < 1:
        raise InputError(f"A confidence lies between 0 and 1, {confidence} does not.")
    from scipy.special import ndtri

    lost, scale = {
        "pearson": (3, 1.0),
        "spearman": (3, float(np.sqrt(1 + r**2 / 2))),
        "kendall": (4, float(np.sqrt(0.437))),
    }[coefficient]
    low = high = float("nan")
    if n > lost and abs(r) < 1:
        half = float(ndtri((1 + confidence) / 2)) * scale / np.sqrt(n - lost)
        low, high = (float(np.tanh(np.arctanh(r) + side * half)) for side in (-1, 1))
    return Estimate(value=r, low=low, high=high, method="Fisher's transformation", n=n)


def williams(
    r12: float,
    r13: float,
    r23: float,
    n: int,
    *,
    alternative: Alternative = "two-sided",
    df: int | None = None,
) -> Estimate:
    """Williams' test (1959) that two correlations with one variable, over the same n points, are equal.

    1 stands for people, 2 and 3 for the metrics: the value is r12 - r13, `r23` the correlation
    between the metrics. See Steiger (1980), Graham & Baldwin (2014). `df` are the degrees of freedom
    of t: n - 3, as both have it, unless given; the output published with the latter's program comes
    out with n - 2, we do not know why.

    >>> round(williams(0.9, 0.6, 0.7, 20, alternative="greater").p_value, 4)
    0.0012
    """
    if n < 4:
        return undefined("Williams' test needs four points", has_p_value=True)
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    variance = 2 * (n - 1) / (n - 3) * determinant + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    if not variance > 1e-12:
        return undefined("the correlations leave no variance to test with", has_p_value=True)
    t = (r12 - r13) * float(np.sqrt((n - 1) * (1 + r23) / variance))
    df = n - 3 if df is None else df
    from scipy.special import stdtr

    p_value = 2 * stdtr(df, -abs(t)) if alternative == "two-sided" else stdtr(df, -t)
    return Estimate(
        value=r12 - r13, p_value=float(p_value), method=f"Williams' test, t({df}) = {t:.4f}", n=n
    )


@takes_old_keywords(Correlation("system"))
def williams_test(
    x: Floats,
    y: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    *,
    alternative: Alternative = "two-sided",
) -> Estimate:
    """`williams` for two metrics and human scores, systems × items arrays.

    Averaged correlations are no correlations of n points: the test is for systems
    (`Correlation("system")`) or, where cells are independent, for pooled cells.
    Unlike in WMT's scripts and nlpstats correlations keep their sign.
    """
    if correlation.is_averaged:
        raise InputError("Williams' test is for one correlation, not for an average over groups.")
    x, y, z = common_cells(x, y, z)
    estimates = [correlate(a, b, correlation) for a, b in ((x, z), (y, z), (x, y))]
    for estimate in estimates:
        if np.isnan(estimate.value):
            return undefined(estimate.method.removeprefix("undefined: "), has_p_value=True)
    r12, r13, r23 = (estimate.value for estimate in estimates)
    return williams(r12, r13, r23, estimates[0].n or 0, alternative=alternative)
