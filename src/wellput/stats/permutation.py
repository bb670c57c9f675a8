"""Does one metric agree better with people than another? Permutation tests of Deutsch et al. (2021).

If two metrics were equally good it would not matter which of them gave which score. So scores of
the two are exchanged at random, each metric standardized first (mean 0, standard deviation 1 over
all common cells), and p is the share of exchanges in which the correlations differ as much as they
do. What is exchanged decides what the conclusion holds for:

- `perm_systems`: all scores of a system; new systems, these items;
- `perm_inputs`: all scores of an item; new items, these systems;
- `perm_both`: systems, then items (a cell exchanged twice is back), as in nlpstats; new systems and
  new items;
- `perm_cells`: every cell by itself, as mt-metrics-eval's PermutationSigDiff does.

All but `perm_systems` take a metric's errors for independent between the outputs of a system. Where
a metric likes or dislikes whole systems they find differences between equally good metrics far too
often (docs/results/agreement_calibration.md).

>>> rng = np.random.default_rng(1)
>>> human = rng.normal(size=(8, 50))
>>> good, poor = human + rng.normal(size=(2, 8, 50)) * [[[1]], [[3]]]
>>> perm_both(good, poor, human, n_resamples=999).p_value
0.001
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
    refuse_too_many_pairs,
    undefined,
    why_undefined,
)
from wellput.stats.old_keywords import takes_old_keywords
from wellput.stats.resampling import ROUNDING

Alternative: TypeAlias = Literal["two-sided", "greater"]
Exchanged: TypeAlias = Literal["systems", "items", "both", "cells"]


class PermutationOptions(TypedDict, total=False):
    """The options of `permutation_test` but what is exchanged."""

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
    """`permutation_test` exchanging systems and items."""
    return permutation_test(x, y, z, correlation, exchanged="both", **options)


@takes_old_keywords(OLD_DEFAULTS)
def perm_systems(
    x: Floats,
    y: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    **options: Unpack[PermutationOptions],
) -> Estimate:
    """`permutation_test` exchanging systems."""
    return permutation_test(x, y, z, correlation, exchanged="systems", **options)


@takes_old_keywords(OLD_DEFAULTS)
def perm_inputs(
    x: Floats,
    y: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    **options: Unpack[PermutationOptions],
) -> Estimate:
    """`permutation_test` exchanging items."""
    return permutation_test(x, y, z, correlation, exchanged="items", **options)


@takes_old_keywords(OLD_DEFAULTS)
def perm_cells(
    x: Floats,
    y: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    **options: Unpack[PermutationOptions],
) -> Estimate:
    """`permutation_test` exchanging cells."""
    return permutation_test(x, y, z, correlation, exchanged="cells", **options)


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
    """The difference of two metrics' agreement with `z`, x's minus y's, and its p-value.

    n is as in `correlate`. Resamples without a defined difference count as evidence for chance.
    `alternative="greater"` asks whether x agrees better. With `acc-t` the tie threshold is
    calibrated anew in every resample.
    """
    check_resampling(n_resamples, seed)
    if correlation.coefficient == "spa":
        raise InputError(
            "Soft pairwise accuracy is itself a permutation test: use acc-t or kendall."
        )
    if alternative not in ("two-sided", "greater"):
        raise InputError(f"An alternative is two-sided or greater, not {alternative!r}.")
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
    rounding = ROUNDING * float(np.abs(correlations[0]).max())
    if alternative == "two-sided":
        p_value = share(np.abs(by_chance), abs(observed) - rounding)
    else:
        p_value = share(by_chance, observed - rounding)
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


def share(by_chance: Floats, observed: float) -> float:
    """(b + 1) / (m + 1) with b the resamples at least as extreme, or undefined, out of m."""
    return float((np.count_nonzero(~(by_chance < observed)) + 1) / (len(by_chance) + 1))


def check_resampling(n_resamples: int, seed: int) -> None:
    """Refuses what no kernel could draw."""
    if n_resamples < 1:
        raise InputError(f"At least one resample is needed, not {n_resamples}.")
    if not 0 <= seed < 2**64:
        raise InputError(f"A seed is a whole number from 0 to 2^64 - 1, not {seed}.")


def _points(x: Floats, grouping: str) -> int:
    present = np.isfinite(x)
    return int(present.sum() if grouping == "pooled" else present.any(axis=1).sum())
