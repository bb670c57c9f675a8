"""Permutation tests and bootstraps of a metric's agreement with people (Deutsch et al. 2021).

Scores are tables of systems (rows) × items (columns); a *cell* is the score of one system on one item.
In all functions `x` has the scores of a metric, `y` the scores of a second metric, and `z` people's
scores. Only *common* cells are used: the cells that all tables have; NaN is a missing score.

**Permutation** (`perm_…`): does one metric agree better with people than another? If two metrics
are equally good, it does not matter which of them gave which score. So each metric is standardized
(mean 0, standard deviation 1 over all common cells), scores of the two are exchanged at random, and p
is the share of exchanges in which the correlations differ at least as much as the observed ones. What
the conclusion holds for depends on what is exchanged:

- `perm_systems` exchanges all scores of a system: the conclusion holds for new systems, but only these
  items;
- `perm_inputs` exchanges all scores of an item: it holds for new items, but only these systems;
- `perm_both` exchanges systems, then items, as nlpstats does (a cell exchanged twice is back in its
  place): it holds for new systems and new items;
- `perm_cells` exchanges every cell by itself, as mt-metrics-eval's PermutationSigDiff does.

All except `perm_systems` assume that a metric's errors on the outputs of one system are independent.
Where a metric favors or disfavors whole systems, they find differences between equally good metrics far
too often (docs/results/agreement_calibration.md).

**Bootstrap** (`boot_…`), as in nlpstats: units are drawn with replacement. The interval holds for other
systems (`boot_systems`), other items (`boot_inputs`), or both (`boot_both`). A system drawn twice is
two points that are tied everywhere. Resamples in which the correlation is undefined are left out; where
their share is larger than 1 - confidence, the interval is undefined. With one seed all metrics get the
same draws, so replicates (the correlations of the resamples) of two metrics are paired.

>>> rng = np.random.default_rng(1)
>>> human = rng.normal(size=(8, 50))
>>> good, poor = human + rng.normal(size=(2, 8, 50)) * [[[1]], [[3]]]
>>> perm_both(good, poor, human, n_resamples=999).p_value
0.001
"""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict, Unpack, get_args

import numpy as np

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.estimates import Estimate, undefined
from wellput.core.metric import Floats
from wellput.core.options import checks_options
from wellput.stats.correlation import (
    OLD_DEFAULTS,
    Correlation,
    common_cells,
    correlate,
    refuse_too_many_pairs,
    takes_old_keywords,
    why_undefined,
)
from wellput.stats.resampling import (
    RELATIVE_ROUNDING,
    check_resampling,
    percentile_interval,
    resampling_p_value,
)

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
Exchanged: TypeAlias = Literal["systems", "items", "both", "cells"]


class PermutationOptions(TypedDict, total=False):
    """The options of `permutation_test`, except what is exchanged."""

    alternative: Alternative
    n_resamples: int
    seed: int
    threads: int


@takes_old_keywords(OLD_DEFAULTS)
def perm_both(
    x: Floats,
    y: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    **options: Unpack[PermutationOptions],
) -> Estimate:
    """`permutation_test` of metrics `x` and `y` against people `z`, exchanging systems and items."""
    return permutation_test(x, y, z, correlation, exchanged="both", **options)


@takes_old_keywords(OLD_DEFAULTS)
def perm_systems(
    x: Floats,
    y: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    **options: Unpack[PermutationOptions],
) -> Estimate:
    """`permutation_test` of metrics `x` and `y` against people `z`, exchanging systems."""
    return permutation_test(x, y, z, correlation, exchanged="systems", **options)


@takes_old_keywords(OLD_DEFAULTS)
def perm_inputs(
    x: Floats,
    y: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    **options: Unpack[PermutationOptions],
) -> Estimate:
    """`permutation_test` of metrics `x` and `y` against people `z`, exchanging items."""
    return permutation_test(x, y, z, correlation, exchanged="items", **options)


@takes_old_keywords(OLD_DEFAULTS)
def perm_cells(
    x: Floats,
    y: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    **options: Unpack[PermutationOptions],
) -> Estimate:
    """`permutation_test` of metrics `x` and `y` against people `z`, exchanging cells."""
    return permutation_test(x, y, z, correlation, exchanged="cells", **options)


def check_alternative(alternative: str) -> None:
    """Raises InputError unless it is one of `Alternative`."""
    if alternative not in get_args(Alternative):
        known = ", ".join(get_args(Alternative))
        raise InputError(f"alternative={alternative!r} is none of {known}.")


@takes_old_keywords(OLD_DEFAULTS)
def permutation_test(
    x: Floats,
    y: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    *,
    exchanged: Exchanged = "both",
    alternative: Alternative = "two-sided",
    n_resamples: int = 1000,
    seed: int = 12345,
    threads: int = 1,
) -> Estimate:
    """The difference of two metrics' agreement with people, x's minus y's, and its p-value.

    `x` and `y` have the scores of the two metrics, `z` those of people, all as systems × items. n is as
    in `correlate`. Resamples where the difference is undefined count as extreme: they raise p.
    `alternative="greater"` asks whether x agrees better, `"less"` whether y does. The coefficient
    `acc-t` is the share of pairs that the metric orders as people do, where differences of the metric
    up to a threshold are ties; the threshold that gives the highest share is chosen again in every
    resample.
    """
    check_resampling(n_resamples, seed)
    if correlation.coefficient == "spa":
        raise InputError(
            "Soft pairwise accuracy cannot be tested by permutation: it is already computed from "
            "permutation tests. Use acc-t or kendall."
        )
    check_alternative(alternative)
    grouping, coefficient = correlation.grouping, correlation.coefficient
    x, y, z = common_cells(x, y, z)
    refuse_too_many_pairs(x, correlation, n_resamples=n_resamples)
    for scores in (x, y):
        if reason := why_undefined(scores, z, correlation):
            return undefined(reason, seed=seed, has_p_value=True)
    correlations = _native.permuted_correlations(
        standardized(x),
        standardized(y),
        z,
        grouping,
        coefficient,
        exchanged,
        n_resamples,
        seed,
        threads,
    )
    differences = correlations[:, 0] - correlations[:, 1]
    observed, by_chance = differences[0], differences[1:]
    if np.isnan(observed):
        return undefined("no correlation within any group", seed=seed, has_p_value=True)
    rounding = RELATIVE_ROUNDING * float(np.abs(correlations[0]).max())
    if alternative == "two-sided":
        p_value = resampling_p_value(np.abs(by_chance), abs(observed) - rounding)
    elif alternative == "greater":
        p_value = resampling_p_value(by_chance, observed - rounding)
    else:
        p_value = resampling_p_value(-by_chance, -observed - rounding)
    # Without resamples, the kernel returns one row, of the data: its correlation and its number of
    # groups.
    groups = _native.bootstrapped_correlations(x, z, grouping, coefficient, "both", 0, 0, 1)[0, 1]
    return Estimate(
        value=float(observed),
        p_value=p_value,
        method=f"{correlation.title}, exchanging {exchanged}, {n_resamples} resamples",
        n=int(groups) if correlation.is_averaged else _points(x, grouping),
        seed=seed,
    )


def standardized(scores: Floats) -> Floats:
    """Mean 0 and standard deviation 1 over all cells; constant scores become 0."""
    centered = scores - np.nanmean(scores)
    deviation = float(np.sqrt(np.nanmean(centered**2)))
    return centered / deviation if deviation > 0 else centered


def _points(x: Floats, grouping: str) -> int:
    """The number of cells, or of systems where their means are correlated."""
    present = np.isfinite(x)
    return int(present.sum() if grouping == "pooled" else present.any(axis=1).sum())


Drawn: TypeAlias = Literal["systems", "items", "both"]


class BootstrapOptions(TypedDict, total=False):
    """The options of `bootstrap_correlation`, except what is drawn."""

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
    """`bootstrap_correlation` of a metric `x` and people `z`, drawing systems and items."""
    return bootstrap_correlation(x, z, correlation, drawn="both", **options)


@takes_old_keywords(OLD_DEFAULTS)
def boot_systems(
    x: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    **options: Unpack[BootstrapOptions],
) -> Estimate:
    """`bootstrap_correlation` of a metric `x` and people `z`, drawing systems."""
    return bootstrap_correlation(x, z, correlation, drawn="systems", **options)


@takes_old_keywords(OLD_DEFAULTS)
def boot_inputs(
    x: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    **options: Unpack[BootstrapOptions],
) -> Estimate:
    """`bootstrap_correlation` of a metric `x` and people `z`, drawing items."""
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
    """The agreement of a metric (`x`) with people (`z`), both as systems × items, as `correlate` gives
    it, with a percentile interval."""
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
@checks_options
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
    """The difference of two metrics' agreement with people, x's minus y's: interval and p-value.

    `x` and `y` have the scores of the two metrics, `z` those of people, all as systems × items.

    p is the smallest 1 - confidence whose percentile interval does not contain 0. With
    `alternative="greater"` it is the share of resamples in which x does not agree better than y, with
    `"less"` the share in which y does not agree better than x.
    """
    check_alternative(alternative)
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
    """The p-value from the share of resampled differences that are not greater than 0, or not less than
    0; an undefined difference is neither greater nor less."""
    not_greater = resampling_p_value(-differences, 0.0)
    not_less = resampling_p_value(differences, 0.0)
    if alternative == "greater":
        return not_greater
    return not_less if alternative == "less" else min(1.0, 2 * min(not_greater, not_less))


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
    """The correlation of a metric (`x`) with people (`z`), both as systems × items with the same cells,
    in each resample; NaN where undefined."""
    check_resampling(n_resamples, seed)
    if correlation.coefficient == "spa":
        raise InputError(
            "Soft pairwise accuracy has no bootstrap interval, because it is itself resampled."
        )
    refuse_too_many_pairs(x, correlation, n_resamples=n_resamples)
    rows = _native.bootstrapped_correlations(
        x, z, correlation.grouping, correlation.coefficient, drawn, n_resamples, seed, threads
    )
    return rows[1:, 0]  # row 0 is the data itself; column 0 has the correlations
