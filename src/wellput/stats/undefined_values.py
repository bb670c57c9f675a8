"""Values that cannot be computed: they are NaN, never 0, and an Estimate says why.

Nothing can be told from values that are all equal, or from none: `is_constant`, `ratios` and
`present_means` find such cases.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wellput.core.estimates import Estimate
from wellput.core.metric import Floats

NAN = float("nan")

CONSTANT_SPREAD_SHARE = 1e-12
"""Values that differ by less than this share of the largest are equal: means of equal ratings may be
rounded differently."""


def undefined(
    reason: str, *, n: int | None = None, seed: int | None = None, has_p_value: bool = False
) -> Estimate:
    """NaN, with the reason in place of the method.

    >>> undefined("there are no ratings").method
    'undefined: there are no ratings'
    """
    p_value = NAN if has_p_value else None
    return Estimate(NAN, p_value=p_value, method=f"undefined: {reason}", n=n, seed=seed)


def is_constant(values: Floats) -> bool:
    """Whether all values are equal, up to rounding."""
    return not len(values) or float(np.ptp(values)) <= CONSTANT_SPREAD_SHARE * float(
        np.abs(values).max()
    )


def ratios(parts: Floats, wholes: Floats | NDArray[np.int64]) -> Floats:
    """parts / wholes, NaN where a whole is 0.

    >>> ratios(np.array([1.0, 0.0]), np.array([2, 0]))
    array([0.5, nan])
    """
    result: Floats = np.full(np.shape(parts), NAN)
    return np.divide(parts, wholes, out=result, where=np.asarray(wholes) > 0)


def present_means(values: Floats, *, axis: int) -> Floats:
    """The mean along an axis of the values that are not NaN, NaN where there is none."""
    return ratios(np.nansum(values, axis=axis), (~np.isnan(values)).sum(axis=axis))
