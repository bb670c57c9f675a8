"""Every metric against every other: which of them differ really?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from wellput.core.errors import InputError, did_you_mean
from wellput.core.metric import Floats
from wellput.core.table import Estimate
from wellput.stats.corrections import benjamini_hochberg, bonferroni, holm
from wellput.stats.correlation import OLD_DEFAULTS, Correlation, correlate
from wellput.stats.correlation_bootstrap import boot_difference
from wellput.stats.dependent_correlations import williams_test
from wellput.stats.left_out import correlation_difference
from wellput.stats.old_keywords import takes_old_keywords
from wellput.stats.permutation import perm_both, perm_cells, perm_inputs, perm_systems

Test: TypeAlias = Literal[
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
Correction: TypeAlias = Literal["holm", "bh", "bonferroni", "none"]

TESTS: dict[Test, Callable[..., Estimate]] = {
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
DRAW_NOTHING: tuple[Test, ...] = ("jackknife", "williams")
CORRECTIONS: dict[Correction, Callable[[Floats], Floats]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
    "bonferroni": bonferroni,
    "none": np.array,
}


@dataclass(frozen=True, eq=False)
class Comparison:
    """All pairs of metrics, in the order of `metrics`.

    `agreement` holds each metric's own agreement. `differences[a, b]` is the row's minus the
    column's; p-values are two-sided, symmetric, NaN on the diagonal and where a test was not
    possible; `adjusted` allows for there being many of them. `estimates` has the pairs (a, b), a < b.
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
    test: Test = "jackknife",
    correction: Correction = "holm",
    n_resamples: int = 1000,
    seed: int = 12345,
    threads: int = 1,
    on_progress: Callable[[int], None] | None = None,
) -> Comparison:
    """The difference of every two metrics' agreement with `z`, tested.

    `on_progress` is called with 1 after every pair. A pair uses the cells that both metrics have.
    `jackknife` takes interval and p from leaving systems and items out, for other systems and other
    items; the other tests are those of the literature. No p-value of m resamples is below 1 / (m + 1),
    and a correction multiplies it by up to the number of pairs: 20 metrics make 190 pairs, which need
    some 10,000 resamples to show anything at .05.
    """
    for name, known in ((test, TESTS), (correction, CORRECTIONS)):
        if name not in known:
            hint = did_you_mean(name, list(known))
            raise InputError(f"{name!r} is none of {', '.join(known)}.{hint}")
    names = tuple(metrics)
    scores = [metrics[name] for name in names]
    compare = partial(TESTS[test], correlation=correlation)
    if test not in DRAW_NOTHING:
        compare = partial(compare, n_resamples=n_resamples, seed=seed, threads=threads)
    estimates: dict[tuple[int, int], Estimate] = {}
    differences, p_values = np.zeros((len(names),) * 2), np.full((len(names),) * 2, np.nan)
    for a, b in combinations(range(len(names)), 2):
        estimate = compare(scores[a], scores[b], z)
        estimates[a, b] = estimate
        differences[a, b], differences[b, a] = estimate.value, -estimate.value
        p_values[a, b] = p_values[b, a] = np.nan if estimate.p_value is None else estimate.p_value
        if on_progress is not None:
            on_progress(1)
    upper = np.triu_indices(len(names), 1)
    adjusted = np.full_like(p_values, np.nan)
    adjusted[upper] = CORRECTIONS[correction](p_values[upper])
    adjusted.T[upper] = adjusted[upper]
    return Comparison(
        metrics=names,
        agreement=tuple(correlate(x, z, correlation) for x in scores),
        estimates=estimates,
        differences=differences,
        p_values=p_values,
        adjusted=adjusted,
    )
