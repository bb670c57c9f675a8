"""Soft pairwise accuracy (Thompson, Mathur, Deutsch & Khayrallah 2024).

For every pair of systems there are two permutation tests, one of the metric's scores and one of
people's: how sure is it that the first system is better? A pair counts 1 - |p of the metric - p of
people|. This is 1 where both are sure of the same order, or equally unsure, and 0 where they are sure
of opposite orders.

If two systems are equally good, it does not matter which of them gave which output of an item. So a
test exchanges the two scores of an item at random, which flips the sign of their difference. Both tests
of a pair exchange the scores of the same items.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from wellput import _native
from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.stats.correlation import common_cells
from wellput.stats.resampling import RELATIVE_ROUNDING, check_resampling
from wellput.stats.two_way_jackknife import TableFigure
from wellput.stats.undefined_values import ratios, undefined


def spa(
    x: Floats, z: Floats, *, n_resamples: int = 1000, seed: int = 12345, threads: int = 1
) -> Estimate:
    """Soft pairwise accuracy of metric scores `x` against human scores `z`, systems × items.

    The value lies between 0 and 1; n is the number of pairs of systems. A pair uses the items that both
    systems have; a pair without any is left out. Exactly equal systems have p = 1/2 in either order. In
    mt-metrics-eval they have p = 1, so that the order of the systems matters there.
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
    """A one-sided p-value for each row of `differences` (pairs, items): how often the sum of the row is
    at least as large as the observed one, if the sign of every difference is flipped at random. NaN
    cells are skipped."""
    by_item = np.ascontiguousarray(np.nan_to_num(differences).T)
    observed = by_item.sum(axis=0)
    by_chance = observed - 2 * _native.swap_sums(by_item, n_resamples, seed, threads)
    threshold = observed - RELATIVE_ROUNDING * np.abs(by_item).sum(axis=0)
    p_values: Floats = (np.count_nonzero(by_chance >= threshold, axis=0) + 1) / (n_resamples + 1)
    return np.where(
        np.abs(observed) <= RELATIVE_ROUNDING * np.abs(by_item).sum(axis=0), 0.5, p_values
    )


def spa_leave_one_out(x: Floats, z: Floats, value: float | None = None) -> TableFigure:
    """Soft pairwise accuracy without each system, without each item, and without each cell (the score
    of one system on one item), all shifted so that the accuracy with everything is `value`, if given.

    Here p-values come from the normal distribution, not from random exchanges, whose noise would hide
    the small change that one item makes. Its variance is the sum of the squared differences: this is
    the exact variance of a sum whose signs are flipped at random.
    """
    x, z = common_cells(x, z)
    n_systems, n_items = x.shape
    pairs = list(combinations(range(n_systems), 2))
    sums, counts = 0.0, 0
    systems, system_counts = np.zeros(n_systems), np.zeros(n_systems)
    items, cells = np.zeros(n_items), np.zeros((n_systems, n_items))
    for a, b in pairs:
        of_metric, of_people = x[a] - x[b], z[a] - z[b]
        is_shared = np.isfinite(of_metric)
        if not is_shared.any():
            continue
        terms = [_normal_p_values(np.nan_to_num(rows)) for rows in (of_metric, of_people)]
        whole = 1 - abs(terms[0][0] - terms[1][0])
        changes = np.where(is_shared, 1 - np.abs(terms[0][1] - terms[1][1]) - whole, 0.0)
        sums, counts = sums + whole, counts + 1
        for system in (a, b):
            systems[system] += whole
            system_counts[system] += 1
            cells[system] += changes
        items += changes
    if not counts:
        nothing = np.full(n_systems, np.nan)
        return TableFigure(
            np.nan, nothing, np.full(n_items, np.nan), np.full(x.shape, np.nan), np.isfinite(x)
        )
    mean = sums / counts
    center = mean if value is None else value
    without = ratios(sums - systems, counts - system_counts)
    return TableFigure(
        center,
        center + without - mean,
        center + items / counts,
        center + cells / counts,
        np.isfinite(x),
    )


def _normal_p_values(differences: Floats) -> tuple[float, Floats]:
    """The one-sided p-value of all differences, and the p-values without each of them."""
    from scipy.special import ndtr  # imported late: SciPy takes long to load

    total, squares = differences.sum(), (differences**2).sum()
    sums = np.append(total, total - differences)
    variances = np.maximum(np.append(squares, squares - differences**2), 0)
    ratio = np.divide(sums, np.sqrt(variances), out=np.zeros_like(sums), where=variances > 0)
    p_values: Floats = ndtr(-ratio)
    return float(p_values[0]), p_values[1:]
