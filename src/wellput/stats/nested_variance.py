"""Where the error of a mean comes from: clusters, items within them, and samples within items.

`ErrorParts` are the parts of the variance of a mean over items, so they add up to it. They are
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

from wellput.core.metric import Floats
from wellput.stats.clusters import ClusteredItems


@dataclass(frozen=True, slots=True)
class ErrorParts:
    """The parts of the variance of a mean; `cluster` and `sample` are None where there are none."""

    item: float
    sample: float | None = None
    cluster: float | None = None

    @property
    def total(self) -> float:
        return self.item + (self.sample or 0.0) + (self.cluster or 0.0)

    def shares(self) -> dict[str, float]:
        """Each part divided by the whole; NaN where nothing varies."""
        parts = {"cluster": self.cluster, "item": self.item, "sample": self.sample}
        total = self.total or math.nan
        return {name: part / total for name, part in parts.items() if part is not None}


def error_parts(
    values: Floats, sample_variances: Floats | None, codes: NDArray[np.intp] | None
) -> ErrorParts | None:
    """The parts of the error of the mean of `values`, one for each item. `sample_variances` are the
    variances of these values that come from samples, `codes` the items' clusters. None for fewer than
    two items, or where samples are not repeated.

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
    usual_size = (n - (sizes**2).sum() / n) / (n_clusters - 1)
    own = max(0.0, (between - within) / usual_size)
    return ErrorParts(
        max(0.0, within - from_samples) / n, sample, own * float((sizes**2).sum()) / n**2
    )


def variances_of_means(squares: Floats, counts: Floats) -> Floats:
    """The variance of each item's mean over its samples, from the sums of squared differences within
    items and the numbers of samples; the samples of all items are taken to vary alike. NaN where no
    item has two samples."""
    repeats = float(np.maximum(counts - 1, 0).sum())
    variance = float(squares.sum()) / repeats if repeats > 0 else math.nan
    return np.asarray(variance / np.maximum(counts, 1), dtype=np.float64)
