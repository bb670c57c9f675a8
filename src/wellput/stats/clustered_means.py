"""Means and slopes of values that come in clusters, such as the outputs for one item.

All variances come from the sums that each cluster adds to a figure, so values of one cluster may depend
on each other in any way. Degrees of freedom are the clusters less one.

- `ClusteredMeans`: means of several groups, and contrasts of them.
- `adjusted_slope`: a regression's slope, with other columns taken out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.stats.places import Places
from wellput.stats.student import student_estimate
from wellput.stats.undefined_values import ratios, undefined

MIN_CLUSTERS = 5
"""Fewer clusters give no interval."""
MIN_RELATIVE_ERROR = 1e-10
"""A standard error this small is rounding: the clusters do not differ."""
ALL_EQUAL = "no interval: all differences are equal"


@dataclass(frozen=True, eq=False)
class ClusteredMeans:
    """`means` of groups, and `influences` (clusters × groups): what each cluster adds to the error of
    each mean."""

    means: Floats
    influences: Floats
    counts: Floats
    cluster_counts: Floats
    """Values of each cluster in each group: clusters × groups."""

    @classmethod
    def of(
        cls, values: Floats, *, groups: Places, clusters: Places, n_groups: int
    ) -> ClusteredMeans:
        """From one entry for each value: its group and its cluster."""
        n_clusters = int(clusters.max(initial=-1)) + 1
        counts = np.bincount(groups, minlength=n_groups).astype(np.float64)
        means = ratios(np.bincount(groups, values, minlength=n_groups).astype(np.float64), counts)
        influences = np.zeros((n_clusters, n_groups))
        np.add.at(influences, (clusters, groups), (values - means[groups]) / counts[groups])
        cluster_counts = np.zeros((n_clusters, n_groups))
        np.add.at(cluster_counts, (clusters, groups), 1.0)
        return cls(means, influences, counts, cluster_counts)

    def contrast(self, weights: Floats, *, confidence: float = 0.95, method: str = "") -> Estimate:
        """The weighted sum of the means, with the p-value that it is 0. Where no cluster differs from
        the others there is no interval; the p-value is then that of the sign test, for which all
        clusters are on the same side."""
        used = weights != 0
        value = float(self.means[used] @ weights[used])
        sums = self.influences[:, used] @ weights[used]
        n = int(self.cluster_counts[:, used].any(axis=1).sum())
        count = int(self.counts[used].sum())
        if n < MIN_CLUSTERS:
            return Estimate(value, method=f"no interval: fewer than {MIN_CLUSTERS} items", n=count)
        error = math.sqrt(n / (n - 1) * float(sums @ sums))
        if error <= MIN_RELATIVE_ERROR * max(1.0, abs(value)):
            is_zero = abs(value) <= MIN_RELATIVE_ERROR
            p_value = 1.0 if is_zero else 2.0 ** (1 - n)
            return Estimate(
                value, p_value=p_value, method=f"{ALL_EQUAL}; sign test", n=count, null=0.0
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
    the p-value that it is 0. The variance is that of the slopes without each cluster.

    >>> x = np.arange(12.0)
    >>> found = adjusted_slope(3 * x + 5, x, np.ones((12, 1)), np.arange(12))
    >>> round(found.value, 9)
    3.0
    """
    n = int(clusters.max(initial=-1)) + 1
    if n < MIN_CLUSTERS:
        return undefined(f"it needs {MIN_CLUSTERS} items", n=len(y))
    basis = _basis(others)
    own = x - basis @ (basis.T @ x)
    total = float(own @ own)
    if total <= 1e-12 * max(float(x @ x), 1e-300):
        return undefined("it cannot be told apart from differences between systems", n=len(y))
    slope = float(own @ y) / total
    rest = y - basis @ (basis.T @ y) - slope * own
    hat = np.column_stack([basis, own / math.sqrt(total)])
    order = np.argsort(clusters, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(clusters[order])) + 1)
    shifts = np.array([_shift(own[rows], rest[rows], hat[rows]) / total for rows in parts])
    error = math.sqrt((n - 1) / n * float(((shifts - shifts.mean()) ** 2).sum()))
    return student_estimate(slope, error, n - 1, confidence=confidence, method=method, n=len(y))


def _basis(columns: Floats) -> Floats:
    """Orthonormal columns that span the same space."""
    if not columns.shape[1]:
        return columns
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, sizes > 1e-10 * max(float(sizes.max()), 1e-300)])


def _shift(own: Floats, rest: Floats, hat: Floats) -> float:
    """What the slope loses without these rows, times the sum of squares of x. Where a column belongs to
    these rows alone it is left as it is."""
    inside = np.eye(len(own)) - hat @ hat.T
    return float(own @ (np.linalg.pinv(inside, rcond=1e-8, hermitian=True) @ rest))
