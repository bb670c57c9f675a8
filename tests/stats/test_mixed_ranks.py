"""Rank ranges and clusters by hand."""

from __future__ import annotations

import numpy as np
import pytest

from wellput.stats.mixed.contrasts import rank_clusters, rank_ranges

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
