"""Whether several means are equal, each with a standard error of its own: Welch's analysis of variance.

Means of independent groups are weighted by their precision (Welch 1951). Unlike the usual analysis of
variance it does not assume that the groups have the same spread or size. It needs no more than the
means, their standard errors and the errors' degrees of freedom, so it also serves for differences whose
errors come from a jackknife over items or clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

from wellput.core.metric import Floats


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
    spread = ((1 - weights / total) ** 2 / freedom).sum()
    between = (weights * (means - center) ** 2).sum() / (k - 1)
    statistic = between / (1 + 2 * (k - 2) / (k**2 - 1) * spread)
    within = (k**2 - 1) / (3 * spread)
    return EqualityTest(
        float(statistic), (k - 1, float(within)), float(fdtrc(k - 1, within, statistic))
    )
