"""Wilcoxon's two tests: of two samples (rank sum, or Mann–Whitney) and of pairs (signed rank).

They are SciPy's tests as Estimates. The p-values are two-sided, `value` is the statistic, and n counts
the values or pairs used. NaN values, and pairs with one, are left out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from wellput.core.errors import InputError
from wellput.core.estimates import Estimate, undefined

MAX_EXACT_SAMPLE = 8
"""Without ties, the rank sum test is exact up to this size of the smaller sample (as in SciPy)."""

MAX_EXACT_PAIRS = 50
"""Without ties and zeros, the signed rank test is exact up to this many pairs (as in SciPy)."""

MAX_PERMUTED_PAIRS = 13
"""With ties or zeros, the signed rank test tries all signs up to this many pairs (as in SciPy)."""


def rank_sum(x: ArrayLike, y: ArrayLike) -> Estimate:
    """Whether values of x tend to be greater or less than those of y. The value is U: the number of
    pairs, out of |x| · |y|, in which the value of x is greater (ties count half).

    p is exact for small samples without ties, otherwise from the normal distribution with corrections
    for ties and continuity.
    """
    from scipy.stats import mannwhitneyu

    a, b = (np.asarray(sample, dtype=np.float64).ravel() for sample in (x, y))
    a, b = a[~np.isnan(a)], b[~np.isnan(b)]
    n = len(a) + len(b)
    if not len(a) or not len(b):
        return undefined("a sample is empty", n=n)
    distinct = len(np.unique(np.concatenate([a, b])))
    if distinct == 1:
        return undefined("all values are equal", n=n)
    is_exact = min(len(a), len(b)) <= MAX_EXACT_SAMPLE and distinct == n
    test = mannwhitneyu(a, b, method="exact" if is_exact else "asymptotic")
    return Estimate(
        float(test.statistic),
        p_value=float(test.pvalue),
        method=f"Wilcoxon rank sum, {'exact' if is_exact else 'normal with tie correction'}",
        n=n,
    )


def signed_rank(x: ArrayLike, y: ArrayLike) -> Estimate:
    """Whether differences x − y of pairs are centered at 0. The value is the smaller of two sums: the
    ranks of the positive differences, and those of the negative.

    Pairs without a difference are left out, as Wilcoxon did. p is exact for few pairs, otherwise from
    the normal distribution with a correction for ties.
    """
    from scipy.stats import wilcoxon

    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(
            f"Pairs need arrays of one length; these have shapes {a.shape} and {b.shape}."
        )
    differences = (a - b)[~(np.isnan(a) | np.isnan(b))]
    n = len(differences)
    nonzero = np.abs(differences[differences != 0])
    if not len(nonzero):
        return undefined("no pair differs", n=n)
    test = wilcoxon(differences)
    if len(np.unique(nonzero)) == n <= MAX_EXACT_PAIRS:
        distribution = "exact"
    else:
        distribution = (
            "exact by permutation" if n <= MAX_PERMUTED_PAIRS else "normal with tie correction"
        )
    return Estimate(
        float(test.statistic),
        p_value=float(test.pvalue),
        method=f"Wilcoxon signed rank, {distribution}",
        n=len(nonzero),
    )
