"""Which metrics really differ in their agreement with people?

`MetricComparison`: all pairs of metrics, each tested, with p-values corrected for the number of pairs.

Fisher's interval and Williams' test are here as well. Unlike resampling, both assume that the scores of
metrics and people follow a joint normal distribution and that points are independent. The mean scores
of systems meet these assumptions better than scores of segments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from wellput.core.errors import InputError, did_you_mean
from wellput.core.estimates import Estimate, undefined
from wellput.core.metric import Floats
from wellput.core.options import check_number
from wellput.stats.corrections import CORRECTIONS, Correction
from wellput.stats.correlation import (
    OLD_DEFAULTS,
    Correlation,
    common_cells,
    correlate,
    takes_old_keywords,
)
from wellput.stats.correlation_intervals import CorrelationDifferences, correlation_difference
from wellput.stats.correlation_resampling import (
    Alternative,
    boot_difference,
    check_alternative,
    perm_both,
    perm_cells,
    perm_inputs,
    perm_systems,
)

Numbers = TypeVar("Numbers", float, Floats)


def fisher(
    r: float,
    n: int,
    confidence: float = 0.95,
    *,
    coefficient: Literal["pearson", "spearman", "kendall"] = "pearson",
) -> Estimate:
    """The interval of a correlation of n points by Fisher's transformation.

    Spearman's and Kendall's coefficients have the variances of Bonett & Wright (2000). The interval is
    NaN for a perfect correlation, and with fewer points than the formula needs.
    """
    check_number("confidence", confidence)
    from scipy.special import ndtri

    points_lost, scale = {
        "pearson": (3, 1.0),
        "spearman": (3, float(np.sqrt(1 + r**2 / 2))),
        "kendall": (4, float(np.sqrt(0.437))),
    }[coefficient]
    low = high = float("nan")
    if n > points_lost and abs(r) < 1:
        half_width = float(ndtri((1 + confidence) / 2)) * scale / np.sqrt(n - points_lost)
        low, high = (float(np.tanh(np.arctanh(r) + side * half_width)) for side in (-1, 1))
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

    1 stands for people, 2 and 3 for the metrics: the value is r12 - r13, and `r23` is the correlation
    between the metrics. See Steiger (1980), Graham & Baldwin (2014). `df` are the degrees of freedom
    of t; the default is n - 3, as in both papers. The output published with Graham & Baldwin's program
    matches n - 2; the reason is unknown.

    >>> round(williams(0.9, 0.6, 0.7, 20, alternative="greater").p_value, 4)
    0.0012
    """
    check_alternative(alternative)
    if n < 4:
        return undefined("Williams' test needs four points", has_p_value=True)
    variance = williams_variance(r12, r13, r23, n)
    if not variance > 1e-12:  # 0, except for rounding
        return undefined("the correlations leave no variance to test with", has_p_value=True)
    t = (r12 - r13) * float(np.sqrt((n - 1) * (1 + r23) / variance))
    df = n - 3 if df is None else df
    from scipy.special import stdtr

    tails = {"two-sided": 2 * stdtr(df, -abs(t)), "greater": stdtr(df, -t), "less": stdtr(df, t)}
    return Estimate(
        value=r12 - r13,
        p_value=float(tails[alternative]),
        method=f"Williams' test, t({df}) = {t:.4f}",
        n=n,
    )


def williams_variance(r12: Numbers, r13: Numbers, r23: Numbers, n: int) -> Numbers:
    """The denominator of Williams' t: t² = (r12 - r13)² (n - 1) (1 + r23) / variance."""
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    return 2 * (n - 1) / (n - 3) * determinant + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3


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

    The test needs one correlation of n points, not an average: use it for systems
    (`Correlation("system")`) or, where cells are independent, for pooled cells. Correlations keep their
    sign, unlike in WMT's scripts and nlpstats.
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


CorrelationTest: TypeAlias = Literal[
    "jackknife",
    "perm-both",
    "perm-systems",
    "perm-inputs",
    "perm-cells",
    "boot-both",
    "boot-systems",
    "boot-inputs",
    "williams",
]

CORRELATION_TESTS: dict[CorrelationTest, Callable[..., Estimate]] = {
    "jackknife": correlation_difference,
    "perm-both": perm_both,
    "perm-systems": perm_systems,
    "perm-inputs": perm_inputs,
    "perm-cells": perm_cells,
    "boot-both": partial(boot_difference, resample="both"),
    "boot-systems": partial(boot_difference, resample="systems"),
    "boot-inputs": partial(boot_difference, resample="items"),
    "williams": williams_test,
}
TESTS_OF_SINGLE_ITEMS: tuple[CorrelationTest, ...] = (
    "perm-both",
    "perm-inputs",
    "perm-cells",
    "boot-both",
    "boot-inputs",
)
"""Tests that exchange or draw single items or cells, and so assume that items are independent."""
TESTS_WITHOUT_DRAWS: tuple[CorrelationTest, ...] = ("jackknife", "williams")
"""Tests that use no random numbers."""


@dataclass(frozen=True, eq=False)
class MetricComparison:
    """All pairs of metrics, in the order of `metrics`.

    `agreement` holds each metric's agreement with people. `differences[a, b]` is the agreement of
    metric a minus that of metric b. `p_values` (metrics × metrics) are two-sided, symmetric, and NaN on
    the diagonal and where a test was not possible; `adjusted` has them corrected for the number of
    pairs. `estimates` has the pairs (a, b), a < b.
    """

    metrics: tuple[str, ...]
    agreement: tuple[Estimate, ...]
    estimates: dict[tuple[int, int], Estimate]
    differences: Floats
    p_values: Floats
    adjusted: Floats


@takes_old_keywords(OLD_DEFAULTS)
def compare_all(
    metrics: Mapping[str, Floats],
    z: Floats,
    correlation: Correlation = Correlation(),
    *,
    test: CorrelationTest = "jackknife",
    correction: Correction = "holm",
    n_resamples: int = 1000,
    seed: int = 12345,
    threads: int = 1,
    on_progress: Callable[[int], None] | None = None,
) -> MetricComparison:
    """The difference of every two metrics' agreement with `z`, tested.

    `on_progress` is called with 1 after every pair. A pair uses the cells that both metrics have.
    `jackknife` leaves systems and items out, and its interval and p hold for other systems and other
    items; the other tests are common in the literature (see `correlation_resampling`). The smallest
    p-value of m resamples is 1 / (m + 1), and a correction multiplies it by up to the number of pairs:
    20 metrics make 190 pairs, which need about 10,000 resamples to show any difference at .05.
    """
    for name, known in ((test, CORRELATION_TESTS), (correction, CORRECTIONS)):
        if name not in known:
            hint = did_you_mean(name, list(known))
            raise InputError(f"{name!r} is none of {', '.join(known)}.{hint}")
    names = tuple(metrics)
    scores = [metrics[name] for name in names]
    compare = _comparison(scores, z, correlation, test, n_resamples, seed, threads)
    estimates: dict[tuple[int, int], Estimate] = {}
    differences, p_values = np.zeros((len(names),) * 2), np.full((len(names),) * 2, np.nan)
    for a, b in combinations(range(len(names)), 2):
        estimate = compare(a, b)
        estimates[a, b] = estimate
        differences[a, b], differences[b, a] = estimate.value, -estimate.value
        p_values[a, b] = p_values[b, a] = np.nan if estimate.p_value is None else estimate.p_value
        if on_progress is not None:
            on_progress(1)
    upper = np.triu_indices(len(names), 1)
    adjusted = np.full_like(p_values, np.nan)
    adjusted[upper] = CORRECTIONS[correction](p_values[upper])
    adjusted.T[upper] = adjusted[upper]
    return MetricComparison(
        metrics=names,
        agreement=tuple(correlate(x, z, correlation) for x in scores),
        estimates=estimates,
        differences=differences,
        p_values=p_values,
        adjusted=adjusted,
    )


def _comparison(
    scores: Sequence[Floats],
    z: Floats,
    correlation: Correlation,
    test: CorrelationTest,
    n_resamples: int,
    seed: int,
    threads: int,
) -> Callable[[int, int], Estimate]:
    """The test of two metrics, given by their places."""
    if test == "jackknife":
        return CorrelationDifferences(scores, z, correlation).between
    compare = partial(CORRELATION_TESTS[test], correlation=correlation)
    if test not in TESTS_WITHOUT_DRAWS:
        compare = partial(compare, n_resamples=n_resamples, seed=seed, threads=threads)
    return lambda a, b: compare(scores[a], scores[b], z)
