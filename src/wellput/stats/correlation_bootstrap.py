"""Intervals of a metric's agreement with people, by drawing systems or items with replacement.

The resampling of Deutsch et al. (2021), as in nlpstats: what is drawn anew decides what the interval
allows for: other systems (`boot_systems`), other items (`boot_inputs`), or other systems and items
(`boot_both`). A system drawn twice is two points that tie in everything. How often the intervals
hold the truth is measured in docs/results/agreement_calibration.md.

Undefined resamples are left out of an interval, which is itself undefined when they are more than
the share that it leaves outside. With one seed all metrics see the same draws, so replicates of two
metrics are paired.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict, Unpack

import numpy as np

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.core.table import Estimate
from wellput.stats.correlation import (
    OLD_DEFAULTS,
    Correlation,
    common_cells,
    correlate,
    refuse_too_many_pairs,
    undefined,
    why_undefined,
)
from wellput.stats.old_keywords import takes_old_keywords
from wellput.stats.permutation import Alternative, check_resampling, share
from wellput.stats.resampling import percentile_interval

Drawn: TypeAlias = Literal["systems", "items", "both"]


class BootstrapOptions(TypedDict, total=False):
    """The options of `bootstrap_correlation` but what is drawn."""

    confidence: float
    n_resamples: int
    seed: int
    threads: int


@takes_old_keywords(OLD_DEFAULTS)
def boot_both(
    x: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    **options: Unpack[BootstrapOptions],
) -> Estimate:
    """`bootstrap_correlation` drawing systems and items."""
    return bootstrap_correlation(x, z, correlation, drawn="both", **options)


@takes_old_keywords(OLD_DEFAULTS)
def boot_systems(
    x: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    **options: Unpack[BootstrapOptions],
) -> Estimate:
    """`bootstrap_correlation` drawing systems."""
    return bootstrap_correlation(x, z, correlation, drawn="systems", **options)


@takes_old_keywords(OLD_DEFAULTS)
def boot_inputs(
    x: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    **options: Unpack[BootstrapOptions],
) -> Estimate:
    """`bootstrap_correlation` drawing items."""
    return bootstrap_correlation(x, z, correlation, drawn="items", **options)


@takes_old_keywords(OLD_DEFAULTS)
def bootstrap_correlation(
    x: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    *,
    drawn: Drawn = "both",
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 12345,
    threads: int = 1,
) -> Estimate:
    """The agreement as `correlate` gives it, with a percentile interval."""
    x, z = common_cells(x, z)
    estimate = correlate(x, z, correlation)
    if np.isnan(estimate.value):
        return undefined(estimate.method.removeprefix("undefined: "), seed=seed)
    replicates = correlation_replicates(
        x,
        z,
        correlation,
        drawn=drawn,
        n_resamples=n_resamples,
        seed=seed,
        threads=threads,
    )
    low, high = percentile_interval(replicates, confidence=confidence)
    return Estimate(
        value=estimate.value,
        low=low,
        high=high,
        p_value=estimate.p_value,
        method=f"{estimate.method}, drawing {drawn}, {n_resamples} resamples",
        n=estimate.n,
        seed=seed,
    )


@takes_old_keywords(OLD_DEFAULTS)
def boot_difference(
    x: Floats,
    y: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    *,
    resample: Drawn = "both",
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 12345,
    threads: int = 1,
) -> Estimate:
    """The difference of two metrics' agreement with `z`, x's minus y's: interval and p-value.

    p is the smallest 1 - confidence at which the percentile interval leaves out 0; for
    `alternative="greater"` the share of resamples in which x does not agree better than y.
    """
    x, y, z = common_cells(x, y, z)
    for scores in (x, y):
        if reason := why_undefined(scores, z, correlation):
            return undefined(reason, seed=seed, has_p_value=True)
    replicates = [
        correlation_replicates(
            scores,
            z,
            correlation,
            drawn=resample,
            n_resamples=n_resamples,
            seed=seed,
            threads=threads,
        )
        for scores in (x, y)
    ]
    estimates = [correlate(scores, z, correlation) for scores in (x, y)]
    differences = replicates[0] - replicates[1]
    low, high = percentile_interval(differences, confidence=confidence)
    return Estimate(
        value=estimates[0].value - estimates[1].value,
        low=low,
        high=high,
        p_value=sign_p_value(differences, alternative),
        method=f"{correlation.title}, drawing {resample}, {n_resamples} resamples",
        n=estimates[0].n,
        seed=seed,
    )


def sign_p_value(differences: Floats, alternative: Alternative) -> float:
    """How often chance turns the sign of a difference; undefined resamples count as turned."""
    not_greater = share(-differences, 0.0)
    if alternative == "greater":
        return not_greater
    return min(1.0, 2 * min(not_greater, share(differences, 0.0)))


@takes_old_keywords(Correlation())
def correlation_replicates(
    x: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    *,
    drawn: Drawn,
    n_resamples: int,
    seed: int,
    threads: int = 1,
) -> Floats:
    """The correlation in each resample of common cells, NaN where undefined."""
    check_resampling(n_resamples, seed)
    if correlation.coefficient == "spa":
        raise InputError(
            "Soft pairwise accuracy is itself resampled: it has no bootstrap interval."
        )
    refuse_too_many_pairs(x, correlation, n_resamples=n_resamples)
    table = _native.bootstrapped_correlations(
        x, z, correlation.grouping, correlation.coefficient, drawn, n_resamples, seed, threads
    )
    return table[1:, 0]
