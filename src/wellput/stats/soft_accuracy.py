"""Soft pairwise accuracy (Thompson, Mathur, Deutsch & Khayrallah 2024).

For every pair of systems a permutation test asks, once of the metric's scores and once of people's,
how sure one can be that the first system is better. A pair counts 1 - |p of the metric - p of people|:
right when both are sure of the same order or both are unsure, wrong when they are sure of opposite
orders. Both tests of a pair see the same exchanges.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from wellput import _native
from wellput.core.metric import Floats
from wellput.core.table import Estimate
from wellput.stats.correlation import common_cells, undefined
from wellput.stats.permutation import check_resampling
from wellput.stats.resampling import ROUNDING


def spa(
    x: Floats, z: Floats, *, n_resamples: int = 1000, seed: int = 12345, threads: int = 1
) -> Estimate:
    """Soft pairwise accuracy of metric scores `x` against human scores `z`, systems × items.

    Between 0 and 1; n is the number of pairs of systems. A pair uses the items that both systems
    have; one without any is left out. Exactly equal systems have p = 1 whichever comes first, as in
    mt-metrics-eval, so with ties the order of systems matters.
    """
    check_resampling(n_resamples, seed)
    x, z = common_cells(x, z)
    pairs = list(combinations(range(len(x)), 2))
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    shared = (np.isfinite(x[first]) & np.isfinite(x[second])).any(axis=1)
    if not shared.any():
        return undefined("fewer than two systems with a common item", seed=seed)
    p_metric, p_human = (
        pairwise_p_values(
            scores[first] - scores[second], n_resamples=n_resamples, seed=seed, threads=threads
        )
        for scores in (x, z)
    )
    return Estimate(
        value=float(1 - np.abs(p_metric - p_human)[shared].mean()),
        method=f"soft pairwise accuracy, {n_resamples} resamples",
        n=int(shared.sum()),
        seed=seed,
    )


def pairwise_p_values(
    differences: Floats, *, n_resamples: int, seed: int, threads: int = 1
) -> Floats:
    """One-sided p-values that the sums of the rows of (pairs, items) differences are above 0, when
    every difference may as well have the other sign. NaN cells are passed over."""
    rows = np.ascontiguousarray(np.nan_to_num(differences).T)
    observed = rows.sum(axis=0)
    by_chance = observed - 2 * _native.swap_sums(rows, n_resamples, seed, threads)
    enough = observed - ROUNDING * np.abs(rows).sum(axis=0)
    p_values: Floats = (np.count_nonzero(by_chance >= enough, axis=0) + 1) / (n_resamples + 1)
    return p_values
