"""p-values corrected for many tests.

Each function takes the p-values of one family of tests and returns corrected ones in the same order:
compare them with the significance level as if there were a single test. A NaN (a test that could not be
made) stays NaN and does not count as a test.

>>> holm(np.array([0.01, 0.04, 0.03]))
array([0.03, 0.06, 0.06])
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats

Correction: TypeAlias = Literal["holm", "bh", "bonferroni", "none"]

ROUNDING = 1e-9
"""A p-value may be larger than 1 by this much, from rounding."""
P_VALUE_MARGIN = 2
"""There are enough resamples for the smallest possible corrected p-value to be the significance level
divided by this."""


def resamples_needed(n_resamples: int, *, tests: int, alpha: float) -> int:
    """How many resamples it takes, at least `n_resamples`, for a p-value that is corrected for this
    many tests to fall below `alpha`.

    The smallest p-value of m resamples is 1 / (m + 1), and a correction multiplies it by up to the
    number of tests.

    >>> resamples_needed(1000, tests=15, alpha=0.05), resamples_needed(1000, tests=66, alpha=0.05)
    (1000, 2640)
    """
    # For a level close to 0 the quotient is infinite, which has no integer.
    return max(n_resamples, math.ceil(min(P_VALUE_MARGIN * tests / alpha, sys.maxsize)))


def bonferroni(p_values: Floats) -> Floats:
    """p times the number of tests: the chance of any false rejection stays below the level."""
    return _adjusted(p_values, lambda ordered: ordered * len(ordered))


def holm(p_values: Floats) -> Floats:
    """Holm's step-down procedure (1979): the same guarantee as Bonferroni's, with as much power or
    more."""

    def adjust(ordered: Floats) -> Floats:
        return np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))

    return _adjusted(p_values, adjust)


def benjamini_hochberg(p_values: Floats) -> Floats:
    """Benjamini & Hochberg's step-up procedure (1995): the expected share of false rejections among
    all rejections stays below the level, for independent or positively dependent tests."""

    def adjust(ordered: Floats) -> Floats:
        m = len(ordered)
        raw = ordered * m / np.arange(1, m + 1)
        return np.minimum.accumulate(raw[::-1])[::-1]

    return _adjusted(p_values, adjust)


def benjamini_yekutieli(p_values: Floats) -> Floats:
    """Benjamini & Yekutieli's procedure (2001): the guarantee of Benjamini & Hochberg's for tests that
    depend on each other in any way.

    >>> benjamini_yekutieli(np.array([0.01, 0.04])).round(3)
    array([0.03, 0.06])
    """

    def adjust(ordered: Floats) -> Floats:
        places = np.arange(1, len(ordered) + 1)
        raw = ordered * len(ordered) * (1 / places).sum() / places
        return np.minimum.accumulate(raw[::-1])[::-1]

    return _adjusted(p_values, adjust)


def _adjusted(p_values: Floats, adjust: Callable[[Floats], Floats]) -> Floats:
    """Applies `adjust` to the defined p-values in ascending order."""
    p_values = np.asarray(p_values, dtype=np.float64)
    if p_values.ndim != 1 or (p_values < 0).any() or (p_values > 1 + ROUNDING).any():
        raise InputError("p-values must be a row of numbers from 0 to 1, NaN for a test not made.")
    defined = np.flatnonzero(~np.isnan(p_values))
    order = defined[np.argsort(p_values[defined], kind="stable")]
    result = np.full(p_values.shape, np.nan)
    result[order] = np.minimum(adjust(p_values[order]), 1.0)
    return result


CORRECTIONS: dict[Correction, Callable[[Floats], Floats]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
    "bonferroni": bonferroni,
    "none": np.array,
}
