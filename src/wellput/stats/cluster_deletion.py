"""A correlation of two tables without each cluster of items, computed exactly.

Tables are systems × items; a cluster is a set of columns, such as the sentences of a document.
Pearson's coefficient is a function of six sums, so a cluster is left out by subtracting its own. A
mean over items of a coefficient loses the cluster's items. Pooled rank correlations have no such short
way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats
from wellput.stats.two_way_jackknife import LeftOutClusters
from wellput.stats.undefined_values import ratios

ROUNDING = 1e-12
"""A share of the squares that is only rounding: what is left does not vary."""


def pooled_pearson_without_clusters(
    x: Floats, z: Floats, codes: NDArray[np.intp]
) -> LeftOutClusters:
    """Pearson's coefficient of all cells; x and z have the same cells, NaN elsewhere. `codes` count the
    items' clusters from 0.

    >>> x, z = np.array([[1.0, 2.0, 4.0, 3.0]]), np.array([[1.0, 2.0, 3.0, 5.0]])
    >>> pooled_pearson_without_clusters(x, z, np.array([0, 1, 1, 2])).wholes.round(3)
    array([0.327, 1.   , 0.982])
    """
    by_cell = _pearson_sums(x, z, codes)
    total = by_cell.sum(axis=(1, 2), keepdims=True)
    return LeftOutClusters(
        _pearson(total[:, 0] - by_cell.sum(axis=1), total[:, 0]), _pearson(total - by_cell, total)
    )


def system_pearson_without_clusters(
    x: Floats, z: Floats, codes: NDArray[np.intp]
) -> LeftOutClusters:
    """The mean over systems of Pearson's coefficient of a system's cells, where it is defined."""
    by_cell = _pearson_sums(x, z, codes)
    of_systems = by_cell.sum(axis=2, keepdims=True)
    whole = _pearson(of_systems, of_systems)
    without = _pearson(of_systems - by_cell, of_systems)
    is_there, still_there = np.isfinite(whole), np.isfinite(without)
    replaced = np.nansum(whole) - np.nan_to_num(whole) + np.nan_to_num(without)
    return LeftOutClusters(
        ratios(np.nansum(without, axis=0), still_there.sum(axis=0)),
        ratios(replaced, is_there.sum() - is_there + still_there.astype(np.float64)),
    )


def item_mean_without_clusters(
    groups: Floats, without: Floats, codes: NDArray[np.intp]
) -> LeftOutClusters:
    """The mean over items of a coefficient over systems. `groups` are the items' coefficients,
    `without` (systems × items) those without one system; NaN where undefined."""
    sums, counts = sums_by_cluster(np.nan_to_num(groups)[None], codes), _counts(groups[None], codes)
    part, part_counts = sums_by_cluster(np.nan_to_num(without), codes), _counts(without, codes)
    return LeftOutClusters(
        ratios(sums.sum() - sums[0], counts.sum() - counts[0]),
        ratios(sums.sum() - sums + part, counts.sum() - counts + part_counts),
    )


def _pearson_sums(x: Floats, z: Floats, codes: NDArray[np.intp]) -> Floats:
    """n, Σx, Σz, Σx², Σz², Σxz of each system and cluster (6, systems, clusters). Scores are centered
    first, to lose fewer digits."""
    present = np.isfinite(x)
    x, z = (np.where(present, scores - np.nanmean(scores), 0.0) for scores in (x, z))
    return np.stack(
        [sums_by_cluster(values, codes) for values in (present, x, z, x * x, z * z, x * z)]
    )


def _pearson(sums: Floats, whole: Floats) -> Floats:
    """The coefficient of sums (6 first), NaN where undefined; `whole` are the sums from which others
    were subtracted."""
    n, sum_x, sum_z, xx, zz, xz = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        of_x, of_z = xx - sum_x**2 / n, zz - sum_z**2 / n
        varies = (of_x > ROUNDING * whole[3]) & (of_z > ROUNDING * whole[4])
        found: Floats = (xz - sum_x * sum_z / n) / np.sqrt(np.where(varies, of_x * of_z, np.nan))
    return found


def sums_by_cluster(values: Floats | NDArray[np.bool_], codes: NDArray[np.intp]) -> Floats:
    """The sums of columns with the same code."""
    order = np.argsort(codes, kind="stable")
    used, starts = np.unique(codes[order], return_index=True)
    sums = np.zeros((len(values), int(codes.max(initial=-1)) + 1))
    if len(used):
        sums[:, used] = np.add.reduceat(values[:, order].astype(np.float64), starts, axis=1)
    return sums


def _counts(values: Floats, codes: NDArray[np.intp]) -> Floats:
    return sums_by_cluster(np.isfinite(values), codes)
