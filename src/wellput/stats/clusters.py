"""Standard errors that leave out whole clusters of items, with degrees of freedom for unequal sizes.

Items of one document (or one prompt, one user) resemble each other, so n items say less than n
independent ones. Leaving out one cluster at a time measures the error whatever the dependence within
clusters is (the cluster jackknife; MacKinnon, Nielsen & Webb 2023). Its square is a sum over clusters.
Where one cluster is much larger than the others it rests on few of them, and one less than the number
of clusters would be too many degrees of freedom. Satterthwaite's degrees of freedom follow from sizes
(Bell & McCaffrey 2002), with the correlation within clusters estimated from the data as in Imbens &
Kolesár (2016). For clusters of equal size they are one less than the number of clusters.
docs/results/cluster_calibration.md measures the intervals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput.core.estimates import Bounds, Estimate
from wellput.core.metric import Floats
from wellput.stats.jackknife import (
    PairedDifference,
    ScoreFunction,
    WithoutItems,
    difference_of,
    interval_of,
    scores_without_items,
)
from wellput.stats.proportions import is_share, wilson_bounds


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredItems:
    """Items and their clusters: `codes` from 0 on, each used; `sizes` are the numbers of items."""

    codes: NDArray[np.intp]
    sizes: NDArray[np.intp]

    @classmethod
    def of(cls, codes: NDArray[np.intp]) -> ClusteredItems:
        _, renumbered, sizes = np.unique(codes, return_inverse=True, return_counts=True)
        return cls(renumbered.astype(np.intp), sizes.astype(np.intp))

    def sums(self, rows: Floats) -> Floats:
        """The sum of the items' rows in each cluster."""
        columns = rows.reshape(len(rows), -1).T
        summed = [np.bincount(self.codes, column, len(self.sizes)) for column in columns]
        stacked: Floats = np.stack(summed, axis=-1).astype(np.float64)
        return stacked.reshape(len(self.sizes), *rows.shape[1:])

    def freedom(self, influences: Floats, among: NDArray[np.bool_] | None = None) -> float:
        """The degrees of freedom of the clusters `among` (default: all), from what each item
        contributes."""
        if among is None or among.all():
            return clustered_freedom(self.sizes, intraclass_correlation(influences, self))
        kept = among[self.codes]
        return ClusteredItems.of(self.codes[kept]).freedom(influences[kept])


def clustered_freedom(sizes: NDArray[np.intp], correlation: float) -> float:
    """Satterthwaite's degrees of freedom of the cluster jackknife of a mean, where items of a cluster
    have this correlation.

    >>> clustered_freedom(np.array([3, 3, 3, 3]), 0.5)
    3.0
    >>> round(clustered_freedom(np.array([40, 1, 1, 1]), 0.0), 1)
    1.1
    """
    if len(sizes) < 2:
        return 0.0
    size = sizes.astype(np.float64)
    total = size.sum()
    spread = size * (1 + (size - 1) * correlation)
    # The squared error is a quadratic form of the clusters' sums, whose variances are `spread`. The
    # form is a diagonal matrix plus one of rank two, so its traces are sums over clusters.
    weight = (total - size) ** -2.0
    shared = size * weight / total
    rest = float((size**2 * weight).sum()) / total**2
    all_spread, once, twice = spread.sum(), (shared * spread).sum(), (shared**2 * spread).sum()
    trace = (spread * (weight - 2 * shared + rest)).sum()
    trace_of_square = (
        rest**2 * all_spread**2
        + 2 * all_spread * twice
        - 4 * rest * all_spread * once
        + 2 * once**2
        + (weight * (weight + 2 * (rest - 2 * shared)) * spread**2).sum()
    )
    return min(float(trace**2 / trace_of_square), len(sizes) - 1.0)


def intraclass_correlation(values: Floats, clusters: ClusteredItems) -> float:
    """The correlation of two items of a cluster, by the analysis of variance for unequal sizes; from 0
    to 1, and 0 where every cluster is one item."""
    n, n_clusters, sizes = len(values), len(clusters.sizes), clusters.sizes
    if n == n_clusters or n_clusters < 2:
        return 0.0
    means = clusters.sums(values) / sizes
    between = float((sizes * (means - values.mean()) ** 2).sum()) / (n_clusters - 1)
    within = float(((values - means[clusters.codes]) ** 2).sum()) / (n - n_clusters)
    usual_size = (n - (sizes**2).sum() / n) / (n_clusters - 1)
    whole = between + (usual_size - 1) * within
    return float(np.clip((between - within) / whole, 0.0, 1.0)) if whole > 0 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class WithoutClusters:
    """A system's score without each cluster, and without each item."""

    clusters: WithoutItems
    items: WithoutItems


def scores_without_clusters(
    statistics: Floats, score: ScoreFunction, clusters: ClusteredItems
) -> WithoutClusters:
    return WithoutClusters(
        scores_without_items(clusters.sums(statistics), score),
        scores_without_items(statistics, score),
    )


def clustered_interval(
    statistics: Floats,
    score: ScoreFunction,
    clusters: ClusteredItems,
    *,
    confidence: float = 0.95,
    bounds: Bounds = (None, None),
) -> Estimate:
    """The score of all items with its interval, for other clusters. A share of hits has Wilson's
    interval, for the number of independent items that would have the same error."""
    found = scores_without_clusters(statistics, score, clusters)
    influences = found.items.scores
    if is_share(statistics, score, bounds):
        return _share(found, clusters, influences, statistics[:, 0], confidence)
    return interval_of(
        found.clusters,
        freedom=clusters.freedom(influences, found.clusters.counts),
        n=len(statistics),
        confidence=confidence,
        bounds=bounds,
        method="cluster jackknife",
    )


def _share(
    found: WithoutClusters,
    clusters: ClusteredItems,
    influences: Floats,
    hits: Floats,
    confidence: float,
) -> Estimate:
    """Where all or none are hits no error is seen: then every cluster counts as one item."""
    share, n = found.clusters.value, len(influences)
    error = found.clusters.error
    freedom = clusters.freedom(influences)
    # Where hits (or misses) are rare, the error rests on the few clusters that have any. In simulations
    # (tests/stats/test_clustered_shares.py) one more than their number gives intervals that hold.
    rare = clusters.sums(hits if share < 0.5 else 1 - hits) > 0
    if rare.any():
        freedom = min(freedom, float(rare.sum()) + 1)
    if not freedom > 0:
        return Estimate(share, method="wilson, clustered", n=n)
    from scipy.special import stdtrit  # imported late: SciPy takes long to load

    independent = share * (1 - share) / error**2 if error > 0 else float(len(clusters.sizes))
    low, high = wilson_bounds(
        share, min(independent, n), z=float(stdtrit(freedom, (1 + confidence) / 2))
    )
    low = 0.0 if share == 0 else max(0.0, low)
    high = 1.0 if share == 1 else min(1.0, high)
    return Estimate(share, low, high, method="wilson, clustered", n=n)


def clustered_difference(
    a: WithoutClusters,
    b: WithoutClusters,
    is_different: NDArray[np.bool_],
    clusters: ClusteredItems,
    *,
    confidence: float = 0.95,
) -> PairedDifference:
    """The difference of two scores on the same items, with its interval and p-value for other clusters.
    `is_different` says on which items the systems differ."""
    among = np.bincount(clusters.codes, is_different, len(clusters.sizes)) > 0
    differing = int(among.sum())
    freedom = (
        clusters.freedom(a.items.scores - b.items.scores, among) if differing > 1 else math.nan
    )
    return difference_of(
        a.clusters,
        b.clusters,
        differing,
        confidence=confidence,
        freedom=freedom,
        n=int((a.items.counts | b.items.counts).size),
        method="cluster jackknife",
    )
