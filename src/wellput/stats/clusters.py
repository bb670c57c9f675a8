"""Standard errors of figures whose items come in clusters, and the parts of such an error.

Items of one document (or one prompt, one user) resemble each other, so n items say less than n
independent ones. Leaving out one cluster at a time measures the error whatever the dependence within
clusters is (the cluster jackknife; MacKinnon, Nielsen & Webb 2023). The squared error is a sum over
clusters. Where one cluster is much larger than the others, the sum rests on few of them, and one less
than the number of clusters would be too many degrees of freedom. Satterthwaite's degrees of freedom
follow from the clusters' sizes (Bell & McCaffrey 2002), with the correlation within clusters estimated
from the data as in Imbens & Kolesár (2016). For clusters of equal size they are one less than the
number of clusters. docs/results/cluster_calibration.md measures how often the intervals hold.

`ClusteredMeans` has means of several groups, and contrasts of them (weighted sums, such as a
difference of two); `adjusted_slope` is the slope of a regression that holds other columns fixed. Their
variances come from the sums that each cluster adds to a figure, so values of one cluster may depend on
each other in any way. They have one degree of freedom less than there are clusters.

`ErrorParts` says where the error of a mean comes from: clusters, items within them, and samples within
items. These are the parts of the variance of a mean over items, so they add up to it. They are
estimated by the analysis of variance of nested effects with unequal numbers (Searle, Casella &
McCulloch 1992, ch. 3); a negative estimate is 0. They say what more data would bring: the part of
samples is halved by twice as many samples of each item, the parts of samples and items by twice as many
items of each cluster, all parts by twice as many clusters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput.core.clusters import Places
from wellput.core.estimates import Bounds, Estimate, largest_size, ratios, undefined
from wellput.core.metric import Floats
from wellput.stats.jackknife import (
    PairedDifference,
    ScoreFunction,
    WithoutItems,
    jackknife_difference,
    jackknife_interval,
    scores_without_items,
)
from wellput.stats.proportions import is_share, wilson_bounds
from wellput.stats.student import student_estimate


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredItems:
    """Items and their clusters: `codes` has the number of each item's cluster, from 0 and without
    gaps; `sizes` has the number of items of each cluster."""

    codes: NDArray[np.intp]
    sizes: NDArray[np.intp]

    @classmethod
    def of(cls, codes: NDArray[np.intp]) -> ClusteredItems:
        """From one integer for each item, equal for items of one cluster; they may have gaps."""
        _, renumbered, sizes = np.unique(codes, return_inverse=True, return_counts=True)
        return cls(renumbered.astype(np.intp), sizes.astype(np.intp))

    def sums(self, rows: Floats) -> Floats:
        """The sum of the items' rows in each cluster."""
        columns = rows.reshape(len(rows), math.prod(rows.shape[1:])).T
        summed = [np.bincount(self.codes, column, len(self.sizes)) for column in columns]
        stacked: Floats = np.stack(summed, axis=-1).astype(np.float64)
        return stacked.reshape(len(self.sizes), *rows.shape[1:])

    def freedom(self, influences: Floats, among: NDArray[np.bool_] | None = None) -> float:
        """The degrees of freedom of the clusters that `among` marks (default: all). `influences` has,
        for each item, how far it moves the score, or the score without it (the two differ by a sign and
        a constant, which do not matter here). The correlation within clusters is estimated from
        them."""
        if among is None or among.all():
            return clustered_freedom(self.sizes, intraclass_correlation(influences, self))
        is_among = among[self.codes]
        return ClusteredItems.of(self.codes[is_among]).freedom(influences[is_among])


def clustered_freedom(sizes: NDArray[np.intp], correlation: float) -> float:
    """Satterthwaite's degrees of freedom of the cluster jackknife of a mean, where items of a cluster
    have this correlation.

    >>> clustered_freedom(np.array([3, 3, 3, 3]), 0.5)
    3.0
    >>> round(clustered_freedom(np.array([40, 1, 1, 1]), 0.0), 1)
    1.0
    """
    if len(sizes) < 2:
        return 0.0
    size = sizes.astype(np.float64)
    total = size.sum()
    spread = size * (1 + (size - 1) * correlation)
    # The squared error is a quadratic form of the clusters' sums, whose variances are `spread`. Its
    # matrix is diag(weight) - shared 1ᵀ - 1 sharedᵀ + constant 1 1ᵀ, so traces are sums over clusters.
    weight = (total - size) ** -2.0
    shared = size * weight / total
    constant = float((size**2 * weight).sum()) / total**2
    total_spread, shared_spread, shared_squared_spread = (
        spread.sum(),
        (shared * spread).sum(),
        (shared**2 * spread).sum(),
    )
    trace = (spread * (weight - 2 * shared + constant)).sum()
    trace_of_square = (
        constant**2 * total_spread**2
        + 2 * total_spread * shared_squared_spread
        - 4 * constant * total_spread * shared_spread
        + 2 * shared_spread**2
        + (weight * (weight + 2 * (constant - 2 * shared)) * spread**2).sum()
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
    typical_size = (n - (sizes**2).sum() / n) / (n_clusters - 1)
    whole = between + (typical_size - 1) * within
    return float(np.clip((between - within) / whole, 0.0, 1.0)) if whole > 0 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class WithoutClusters:
    """A system's score without each cluster (in `clusters` a cluster takes the place of an item), and
    without each item."""

    clusters: WithoutItems
    items: WithoutItems


def scores_without_clusters(
    statistics: Floats, score: ScoreFunction, clusters: ClusteredItems
) -> WithoutClusters:
    """From a system's statistics, one row per item, and the function that makes a score of their
    sum."""
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
    """The score of all items with its interval, which holds for other clusters. If the score is
    a share of hits (0 or 1 for each item), the interval is Wilson's, computed with the number of
    independent items that would give the same error."""
    without = scores_without_clusters(statistics, score, clusters)
    influences = without.items.scores
    if is_share(statistics, score, bounds):
        return _share_interval(without, clusters, influences, statistics[:, 0], confidence)
    return jackknife_interval(
        without.clusters,
        freedom=clusters.freedom(influences, without.clusters.contributes),
        n=len(statistics),
        confidence=confidence,
        bounds=bounds,
        method="cluster jackknife",
    )


def _share_interval(
    without: WithoutClusters,
    clusters: ClusteredItems,
    influences: Floats,
    hits: Floats,
    confidence: float,
) -> Estimate:
    """The share of hits (1 for a hit, 0 for a miss) with its interval. Where all items are hits, or
    none, the jackknife sees no error: then every cluster counts as one item."""
    share, n = without.clusters.value, len(influences)
    error = without.clusters.error
    freedom = clusters.freedom(influences)
    # Where hits (or misses) are rare, the error rests on the few clusters that have any. In simulations
    # (tests/stats/test_clustered_shares.py), one degree of freedom more than the number of these
    # clusters gives intervals that hold.
    has_rare = clusters.sums(hits if share < 0.5 else 1 - hits) > 0
    if has_rare.any():
        freedom = min(freedom, float(has_rare.sum()) + 1)
    if not freedom > 0:
        return Estimate(share, method="wilson, clustered", n=n)
    from scipy.special import stdtrit  # imported late: SciPy takes long to load

    # How many independent items would give the same error.
    n_independent = share * (1 - share) / error**2 if error > 0 else float(len(clusters.sizes))
    low, high = wilson_bounds(
        share, min(n_independent, n), z=float(stdtrit(freedom, (1 + confidence) / 2))
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
    """The difference of two scores on the same items, a's minus b's. Its interval and p-value hold for
    other clusters. `is_different` says on which items the systems differ."""
    has_differing = np.bincount(clusters.codes, is_different, len(clusters.sizes)) > 0
    n_differing = int(has_differing.sum())
    freedom = (
        clusters.freedom(a.items.scores - b.items.scores, has_differing)
        if n_differing > 1
        else math.nan
    )
    return jackknife_difference(
        a.clusters,
        b.clusters,
        n_differing,
        confidence=confidence,
        freedom=freedom,
        n=len(clusters.codes),
        method="cluster jackknife",
    )


MIN_CLUSTERS = 5
"""With fewer clusters there is no interval. Messages call them items, because each item is a cluster by
default."""
MIN_RELATIVE_ERROR = 1e-10
"""A standard error this small, relative to the largest number of the data, is rounding: the clusters
do not differ."""
ALL_EQUAL_REASON = "no interval: all differences are equal"


@dataclass(frozen=True, eq=False)
class ClusteredMeans:
    """`means` of groups of values; `counts`, the number of values in each group; and `influences`
    (clusters × groups): what each cluster adds to the error of each mean."""

    means: Floats
    influences: Floats
    counts: Floats
    cluster_counts: Floats
    """The number of values of each cluster in each group: clusters × groups."""
    largest_value: float
    """The largest absolute number of the data; rounding is relative to it."""

    @classmethod
    def of(
        cls,
        values: Floats,
        *,
        groups: Places,
        clusters: Places,
        n_groups: int,
        largest_value: float | None = None,
    ) -> ClusteredMeans:
        """`groups` and `clusters` have the number of each value's group and cluster, from 0. Where the
        values are differences, `largest_value` is the largest absolute value of the numbers that were
        subtracted; by default, of `values`."""
        n_clusters = int(clusters.max(initial=-1)) + 1
        counts = np.bincount(groups, minlength=n_groups).astype(np.float64)
        means = ratios(np.bincount(groups, values, minlength=n_groups).astype(np.float64), counts)
        influences = np.zeros((n_clusters, n_groups))
        np.add.at(influences, (clusters, groups), (values - means[groups]) / counts[groups])
        cluster_counts = np.zeros((n_clusters, n_groups))
        np.add.at(cluster_counts, (clusters, groups), 1.0)
        if largest_value is None:
            largest_value = largest_size(values)
        return cls(means, influences, counts, cluster_counts, largest_value)

    def contrast(self, weights: Floats, *, confidence: float = 0.95, method: str = "") -> Estimate:
        """The weighted sum of the means, with the p-value that it is 0. Where all clusters have the
        same sum there is no interval; the p-value is then that of a sign test in which all clusters
        have the same sign."""
        used = weights != 0
        value = float(self.means[used] @ weights[used])
        sums = self.influences[:, used] @ weights[used]
        n = int(self.cluster_counts[:, used].any(axis=1).sum())
        count = int(self.counts[used].sum())
        if n < MIN_CLUSTERS:
            return Estimate(value, method=f"no interval: fewer than {MIN_CLUSTERS} items", n=count)
        error = math.sqrt(n / (n - 1) * float(sums @ sums))
        if error <= MIN_RELATIVE_ERROR * self.largest_value:
            is_zero = abs(value) <= MIN_RELATIVE_ERROR * self.largest_value
            p_value = 1.0 if is_zero else 2.0 ** (1 - n)
            return Estimate(
                value, p_value=p_value, method=f"{ALL_EQUAL_REASON}; sign test", n=count, null=0.0
            )
        return student_estimate(value, error, n - 1, confidence=confidence, method=method, n=count)

    def mean(self, group: int | np.intp, *, confidence: float = 0.95, method: str = "") -> Estimate:
        """The mean of one group."""
        weights = np.zeros(len(self.means))
        weights[group] = 1.0
        return self.contrast(weights, confidence=confidence, method=method)


def adjusted_slope(
    y: Floats,
    x: Floats,
    others: Floats,
    clusters: Places,
    *,
    confidence: float = 0.95,
    method: str = "",
) -> Estimate:
    """The slope of y on x in a least-squares fit that also has the columns `others` (rows × k), with
    the p-value that it is 0. Its variance is the jackknife's, from the slopes without each cluster;
    `clusters` has the number of each row's cluster, from 0.

    >>> x = np.arange(12.0)
    >>> found = adjusted_slope(3 * x + 5, x, np.ones((12, 1)), np.arange(12))
    >>> round(found.value, 9)
    3.0
    """
    n = int(clusters.max(initial=-1)) + 1
    if n < MIN_CLUSTERS:
        return undefined(f"it needs {MIN_CLUSTERS} items", n=len(y))
    basis = _basis(others)
    x_residuals = x - basis @ (basis.T @ x)
    total = float(x_residuals @ x_residuals)
    if total <= 1e-12 * max(float(x @ x), 1e-300):
        # The columns `others` explain x completely (up to rounding). In the message, "it" is the effect
        # of x; `others` of most callers tell the systems apart.
        return undefined("it cannot be told apart from differences between systems", n=len(y))
    slope = float(x_residuals @ y) / total
    y_residuals = y - basis @ (basis.T @ y) - slope * x_residuals
    design = np.column_stack([basis, x_residuals / math.sqrt(total)])
    order = np.argsort(clusters, kind="stable")
    rows_by_cluster = np.split(order, np.flatnonzero(np.diff(clusters[order])) + 1)
    shifts = np.array(
        [
            _shift(x_residuals[rows], y_residuals[rows], design[rows]) / total
            for rows in rows_by_cluster
        ]
    )
    error = math.sqrt((n - 1) / n * float(((shifts - shifts.mean()) ** 2).sum()))
    return student_estimate(slope, error, n - 1, confidence=confidence, method=method, n=len(y))


def _basis(columns: Floats) -> Floats:
    """Orthonormal columns that span the same space as `columns` (rows × k)."""
    if not columns.shape[1]:
        return columns
    left_vectors, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    # A column that is a combination of others has the size 0, except for rounding.
    return np.asarray(left_vectors[:, sizes > 1e-10 * max(float(sizes.max()), 1e-300)])


def _shift(x_residuals: Floats, y_residuals: Floats, design: Floats) -> float:
    """What the slope loses without these rows, times the sum of squares of the x residuals of all rows.
    `design` has these rows of the orthonormal columns. If one of the columns other than x is 0 outside
    these rows, the fit without the rows does not have this column; the pseudoinverse gives the slope of
    that fit, too."""
    unexplained = np.eye(len(x_residuals)) - design @ design.T
    return float(
        x_residuals @ (np.linalg.pinv(unexplained, rcond=1e-8, hermitian=True) @ y_residuals)
    )


@dataclass(frozen=True, slots=True)
class ErrorParts:
    """The parts of the variance of a mean, in squared units of the mean; `cluster` and `sample` are
    None where there are none."""

    item: float
    sample: float | None = None
    cluster: float | None = None

    @property
    def total(self) -> float:
        return self.item + (self.sample or 0.0) + (self.cluster or 0.0)

    def shares(self) -> dict[str, float]:
        """Each part divided by the total; NaN where nothing varies."""
        parts = {"cluster": self.cluster, "item": self.item, "sample": self.sample}
        total = self.total or math.nan
        return {name: part / total for name, part in parts.items() if part is not None}


def error_parts(
    values: Floats, sample_variances: Floats | None, codes: NDArray[np.intp] | None
) -> ErrorParts | None:
    """The parts of the variance of the mean of `values`, one value for each item. `sample_variances`
    has the part of each value's variance that comes from samples, None if items have no samples;
    `codes` has the number of each item's cluster, None without clusters. The result is None for fewer
    than two items, or where `sample_variances` has NaN (no item has several samples).

    >>> parts = error_parts(np.array([1.0, 3.0, 5.0, 7.0]), np.full(4, 2.0), None)
    >>> round(parts.item, 3), parts.sample, round(parts.total, 3)
    (1.167, 0.5, 1.667)
    """
    n = len(values)
    if n < 2 or (sample_variances is not None and not np.isfinite(sample_variances).all()):
        return None
    from_samples = 0.0 if sample_variances is None else float(sample_variances.mean())
    sample = None if sample_variances is None else from_samples / n
    if codes is None:
        spread = float(values.var(ddof=1))
        return ErrorParts(max(0.0, spread - from_samples) / n, sample)
    clusters = ClusteredItems.of(codes)
    sizes, n_clusters = clusters.sizes, len(clusters.sizes)
    if n_clusters < 2 or n_clusters == n:
        spread = float(values.var(ddof=1))
        return ErrorParts(max(0.0, spread - from_samples) / n, sample)
    means = clusters.sums(values) / sizes
    within = float(((values - means[clusters.codes]) ** 2).sum()) / (n - n_clusters)
    between = float((sizes * (means - values.mean()) ** 2).sum()) / (n_clusters - 1)
    typical_size = (n - float((sizes**2).sum()) / n) / (n_clusters - 1)
    cluster_variance = max(0.0, (between - within) / typical_size)
    return ErrorParts(
        max(0.0, within - from_samples) / n,
        sample,
        cluster_variance * float((sizes**2).sum()) / n**2,
    )


def variances_of_means(squares: Floats, counts: Floats) -> Floats:
    """The variance of each item's mean over its samples, from the sum of squared differences from this
    mean and the number of samples, for each item; the samples of all items are taken to have one
    variance. NaN where no item has two samples."""
    repeats = float(np.maximum(counts - 1, 0).sum())
    variance = float(squares.sum()) / repeats if repeats > 0 else math.nan
    return np.asarray(variance / np.maximum(counts, 1), dtype=np.float64)
