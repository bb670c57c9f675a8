"""Rank ranges and clusters by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from wellput.stats.mixed.contrasts import (
    VarianceSpread,
    contrast_effects,
    contrast_pairs,
    rank_clusters,
    rank_ranges,
)

# A is surely better than all but B, B than D; C and D than none.
BETTER = np.array(
    [
        [False, False, True, True],
        [False, False, False, True],
        [False, False, False, False],
        [False, False, False, False],
    ]
)


def test_rank_ranges() -> None:
    low, high = rank_ranges(BETTER)
    np.testing.assert_array_equal(low, [1, 1, 2, 3])
    np.testing.assert_array_equal(high, [2, 3, 4, 4])


def test_clusters_divide_all_above_from_all_below() -> None:
    estimates = np.array([4.0, 3.0, 2.0, 1.0])
    np.testing.assert_array_equal(rank_clusters(estimates, BETTER), [1, 1, 1, 1])
    divided = BETTER.copy()
    divided[1, 2] = True  # now both A and B are better than both C and D
    np.testing.assert_array_equal(rank_clusters(estimates, divided), [1, 1, 2, 2])
    np.testing.assert_array_equal(rank_clusters(estimates[::-1], divided[::-1, ::-1]), [2, 2, 1, 1])


@pytest.mark.parametrize("n", [2, 5])
def test_nobody_is_better(n: int) -> None:
    nobody = np.zeros((n, n), np.bool_)
    low, high = rank_ranges(nobody)
    assert set(low) == {1} and set(high) == {n}
    assert set(rank_clusters(np.linspace(0, 1, n), nobody)) == {1}


def test_pairs_are_contrasts_of_one_and_minus_one() -> None:
    rng = np.random.default_rng(1)

    def covariance(n: int) -> NDArray[np.float64]:
        root = rng.normal(size=(n, n))
        return np.asarray(root @ root.T)

    effects, own = rng.normal(size=5), covariance(5)  # four systems and a covariate
    spread = VarianceSpread(np.stack([covariance(5), covariance(5)]), covariance(2))
    first, second = np.triu_indices(4, 1)
    weights = np.eye(4)[first] - np.eye(4)[second]
    expected = contrast_effects(weights, effects, own, spread)
    found = contrast_pairs(first, second, effects, own, spread)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-12)
    np.testing.assert_allclose(found.errors, expected.errors, rtol=1e-12)
    np.testing.assert_allclose(found.freedom, expected.freedom, rtol=1e-10)
