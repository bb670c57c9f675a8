"""Intervals and p-values that hold however often one looks while judgments come in.

The normal-mixture boundary (Robbins 1970; Howard et al. 2021, eq. 14): with information I = 1 / error²
and a prior N(0, τ²) of the true value, |estimate − truth| stays within

    √((I + ρ) log((I + ρ) / (ρ α²))) / I,   ρ = 1 / τ²

at all times together with probability 1 − α. It holds for sums of independent normal steps, so for the
estimates of a model asymptotically.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

Floats = NDArray[np.float64]


def anytime_half_widths(errors: Floats, *, alpha: float, prior_sd: float) -> Floats:
    """Half the width of each interval.

    >>> errors = np.array([1.0, 0.1])
    >>> (anytime_half_widths(errors, alpha=0.05, prior_sd=1.0) / errors).round(2).tolist()
    [3.66, 3.27]
    """
    information, rho = 1 / np.asarray(errors) ** 2, 1 / prior_sd**2
    total = information + rho
    return np.asarray(np.sqrt(total * np.log(total / (rho * alpha**2))) / information)


def anytime_p_values(values: Floats, errors: Floats, *, prior_sd: float) -> Floats:
    """The least α whose interval excludes 0: below α just where `anytime_half_widths` does."""
    information, rho = 1 / np.asarray(errors) ** 2, 1 / prior_sd**2
    total = information + rho
    exponent = (information * np.asarray(values)) ** 2 / (2 * total)
    return np.asarray(np.minimum(1.0, np.sqrt(total / rho) * np.exp(-exponent)))


def normal_errors(values: Floats, errors: Floats, freedom: Floats) -> Floats:
    """Standard errors as if they were known: such that value / error has the normal p-value that
    Student's t gives it with these degrees of freedom."""
    t = np.maximum(np.abs(np.asarray(values)) / errors, 1e-8)
    z = -ndtri(stdtr(freedom, -t))
    return np.asarray(errors * t / np.maximum(z, 1e-8))
