"""Parts of the error of a mean, by hand and by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from wellput.stats.clusters import error_parts, variances_of_means


def test_items_and_samples_by_hand() -> None:
    # Samples (0, 2), (4, 6), (2, 4): each sum of squares is 2, one degree of freedom: the variance
    # is 2, and 1 for a mean of two. Means 1, 5, 3 have the variance 4; 4 − 1 = 3 come from items.
    variances = variances_of_means(np.array([2.0, 2.0, 2.0]), np.array([2.0, 2.0, 2.0]))
    assert variances.tolist() == [1.0, 1.0, 1.0]
    parts = error_parts(np.array([1.0, 5.0, 3.0]), variances, None)
    assert parts is not None
    assert (parts.item, parts.sample) == pytest.approx((1.0, 1 / 3))
    assert parts.total == pytest.approx(np.var([1, 5, 3], ddof=1) / 3)
    assert parts.shares() == pytest.approx({"item": 0.75, "sample": 0.25})


def test_clusters_and_items_by_hand() -> None:
    # Clusters (1, 3) and (7, 9): within 4 / 2 = 2, between 36 / 1; (36 − 2) / 2 = 17 for clusters. The
    # mean has 17 · (2² + 2²) / 4² = 8.5 from clusters and 2 / 4 from items.
    parts = error_parts(np.array([1.0, 3.0, 7.0, 9.0]), None, np.array([0, 0, 1, 1]))
    assert parts is not None
    assert (parts.cluster, parts.item, parts.sample) == pytest.approx((8.5, 0.5, None))
    assert type(parts.cluster) is float  # not NumPy's, whose repr would be in the dictionary


def test_without_repeated_samples_nothing_can_be_split() -> None:
    variances = variances_of_means(np.zeros(3), np.ones(3))
    assert error_parts(np.array([1.0, 2.0, 3.0]), variances, None) is None


def test_parts_are_unbiased() -> None:
    """Planted variances 2 (documents), 1 (items), 3 (samples), with unequal numbers."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(300):
        sizes = rng.integers(1, 9, 25)
        codes = np.repeat(np.arange(25), sizes)
        n = len(codes)
        truth = rng.normal(0, 2**0.5, 25)[codes] + rng.normal(size=n)
        counts = rng.integers(1, 5, n).astype(float)
        samples = [truth[i] + rng.normal(0, 3**0.5, int(counts[i])) for i in range(n)]
        means = np.array([own.mean() for own in samples])
        squares = np.array([((own - own.mean()) ** 2).sum() for own in samples])
        parts = error_parts(means, variances_of_means(squares, counts), codes)
        assert parts is not None and parts.cluster is not None and parts.sample is not None
        found.append(
            [
                parts.cluster * n**2 / (sizes**2).sum(),
                parts.item * n,
                parts.sample * n / (1 / counts).mean(),
            ]
        )
    assert np.mean(found, axis=0) == pytest.approx([2, 1, 3], rel=0.12)
