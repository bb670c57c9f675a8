"""Soft pairwise accuracy (Thompson, Mathur, Deutsch & Khayrallah 2024).

For every pair of systems there are two permutation tests, one of the metric's scores and one of
people's; each p-value says how strong the evidence is that the first system is better. The accuracy is
the mean over pairs of 1 - |p of the metric - p of people|. This is 1 where both give the same evidence,
strong or weak, and 0 where both give the strongest evidence for opposite orders.

If two systems are equally good, it does not matter which of them gave which output of an item. So a
test exchanges the two scores of an item at random, which flips the sign of their difference. Both tests
of a pair exchange the scores of the same items.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from wellput.core.estimates import Estimate, largest_size, present_means, ratios, undefined
from wellput.core.metric import Floats
from wellput.stats.correlation import common_cells
from wellput.stats.resampling import RELATIVE_ROUNDING, check_resampling
from wellput.stats.two_way_jackknife import TableFigure

REFERENCE_SEED = 4
"""The seed of mt-metrics-eval."""
MAX_DRAWN_SIGNS = 1 << 24
"""The most random signs in memory at once, 4 bytes each."""


def spa(x: Floats, z: Floats, *, n_resamples: int = 1000, seed: int = REFERENCE_SEED) -> Estimate:
    """Soft pairwise accuracy of metric scores `x` against human scores `z`, systems × items.

    The value lies between 0 and 1; n is the number of pairs of systems. A pair uses the items that both
    systems have; a pair without any is left out. With the default options, the value is that of
    mt-metrics-eval, which draws the exchanges with this seed and adds scores in single precision. One
    case differs: two systems with the same scores everywhere have p = 1/2 here, in either order. In
    mt-metrics-eval they have p = 1, so that the order of the systems matters.
    """
    check_resampling(n_resamples, seed)
    x, z = common_cells(x, z)
    is_used = np.isfinite(x)
    x, z = (scores[is_used.any(axis=1)][:, is_used.any(axis=0)] for scores in (x, z))
    first, second = np.triu_indices(len(x), 1)
    shared = (np.isfinite(x[first]) & np.isfinite(x[second])).any(axis=1)
    if not shared.any():
        return undefined("fewer than two systems with a common item", seed=seed)
    p_metric, p_human = (
        pairwise_p_values(scores, n_resamples=n_resamples, seed=seed) for scores in (x, z)
    )
    return Estimate(
        value=float(1 - np.mean(np.abs(p_human - p_metric)[shared])),
        method=f"soft pairwise accuracy, {n_resamples} resamples",
        n=int(shared.sum()),
        seed=seed,
    )


def pairwise_p_values(scores: Floats, *, n_resamples: int, seed: int) -> Floats:
    """A one-sided p-value for each pair of systems (rows of `scores`, with an item in each column): how
    often the first leads by at least as much as observed, if the two scores of each item are exchanged
    at random. Items where one of the two scores is NaN are left out.

    p is the plain share of exchanges, without the usual 1 added to numerator and denominator: the soft
    accuracy is defined so, and may use p = 0.
    """
    first, second = np.triu_indices(len(scores), 1)
    single = _in_single_precision(scores)
    is_complete = bool(np.isfinite(single).all())
    rows = single if is_complete else np.nan_to_num(single[first] - single[second])
    totals = rows.sum(axis=1)
    leads = totals[first] - totals[second] if is_complete else totals
    counts = np.zeros(len(first), np.int64)
    for signs in _random_signs(n_resamples, scores.shape[1], seed):
        sums = np.matmul(signs, rows.T)
        by_chance = sums[:, first] - sums[:, second] if is_complete else sums
        counts += np.count_nonzero(by_chance >= leads, axis=0)
    differs = np.nan_to_num(scores[first] - scores[second]).any(axis=1)
    return np.where(differs, counts / n_resamples, 0.5)


def _in_single_precision(scores: Floats) -> NDArray[np.float32]:
    """The scores in single precision, all multiplied by the power of two that makes the largest about
    1. This changes no digit; otherwise 1e39 would become infinite, and 1e-46 would become 0."""
    scaled = np.ldexp(scores, -np.frexp(largest_size(scores))[1])
    return np.ascontiguousarray(scaled, np.float32)


def _random_signs(n_resamples: int, n_items: int, seed: int) -> Iterator[NDArray[np.float32]]:
    """+1 and -1 (resamples, items), drawn as mt-metrics-eval does, in blocks that fit into memory."""
    rng = np.random.default_rng(seed)
    n_rows = max(1, MAX_DRAWN_SIGNS // n_items)
    for start in range(0, n_resamples, n_rows):
        signs = rng.random((min(n_rows, n_resamples - start), n_items), np.float32)
        yield 2 * np.rint(signs) - 1


def spa_by_normal_curve(x: Floats, z: Floats) -> float:
    """Only the value of `spa_leave_one_out`, computed much faster; NaN where no two systems share an
    item."""
    x, z = common_cells(x, z)
    present = np.isfinite(x).astype(np.float64)
    first, second = np.triu_indices(len(x), 1)
    shared = (present @ present.T)[first, second] > 0
    if not shared.any():
        return float("nan")
    p_metric, p_human = (
        _normal_p_values_of_pairs(scores, present)[first, second] for scores in (x, z)
    )
    return float(1 - np.mean(np.abs(p_metric - p_human)[shared]))


def _normal_p_values_of_pairs(scores: Floats, present: Floats) -> Floats:
    """The one-sided p-value of each system (row) against each other (column)."""
    from scipy.special import ndtr  # imported late: SciPy takes long to load

    # Subtracting an item's mean from its scores does not change differences, but squares lose fewer
    # digits.
    filled = np.nan_to_num(scores - present_means(scores, axis=0))
    sums = filled @ present.T
    squares = (filled**2) @ present.T
    variances = squares + squares.T - 2 * filled @ filled.T
    leads = sums - sums.T
    is_apart = variances > RELATIVE_ROUNDING * (squares + squares.T)
    ratio = np.divide(
        leads, np.sqrt(np.where(is_apart, variances, 1.0)), out=np.zeros_like(leads), where=is_apart
    )
    p_values: Floats = ndtr(-ratio)
    return p_values


def spa_leave_one_out(x: Floats, z: Floats, value: float | None = None) -> TableFigure:
    """Soft pairwise accuracy without each system, without each item, and without each cell (the score
    of one system on one item). If `value` is given, all are shifted by one number, so that the accuracy
    with all systems and items is `value`.

    Here p-values come from the normal distribution, not from random exchanges, whose noise would hide
    the small change that one item makes. The variance of this distribution is the sum of the squared
    differences: the exact variance of a sum whose signs are flipped at random.
    """
    x, z = common_cells(x, z)
    n_systems, n_items = x.shape
    pairs = list(combinations(range(n_systems), 2))
    total, n_pairs = 0.0, 0
    systems, system_counts = np.zeros(n_systems), np.zeros(n_systems)
    items, cells = np.zeros(n_items), np.zeros((n_systems, n_items))
    for a, b in pairs:
        metric_differences, human_differences = x[a] - x[b], z[a] - z[b]
        is_shared = np.isfinite(metric_differences)
        if not is_shared.any():
            continue
        p_metric, p_metric_without = _normal_p_values(np.nan_to_num(metric_differences))
        p_human, p_human_without = _normal_p_values(np.nan_to_num(human_differences))
        accuracy = 1 - abs(p_metric - p_human)
        accuracies_without = 1 - np.abs(p_metric_without - p_human_without)
        changes = np.where(is_shared, accuracies_without - accuracy, 0.0)
        total, n_pairs = total + accuracy, n_pairs + 1
        for system in (a, b):
            systems[system] += accuracy
            system_counts[system] += 1
            cells[system] += changes
        items += changes
    if not n_pairs:
        undefined_systems = np.full(n_systems, np.nan)
        return TableFigure(
            np.nan,
            undefined_systems,
            np.full(n_items, np.nan),
            np.full(x.shape, np.nan),
            np.isfinite(x),
        )
    mean = total / n_pairs
    center = mean if value is None else value
    without = ratios(total - systems, n_pairs - system_counts)
    return TableFigure(
        center,
        center + without - mean,
        center + items / n_pairs,
        center + cells / n_pairs,
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
