"""Leaving out whole clusters of items, against computing the figure again without their cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wellput.core.clusters import Clusters
from wellput.stats.correlation import Correlation, correlation_value
from wellput.stats.correlation_intervals import leave_out, sums_by_cluster

CODES = np.array([0, 2, 1, 0, 2, 2, 3, 1, 4, 4, 0, 3])
EXACT = (
    Correlation(),
    Correlation(average="system"),
    Correlation(average="item"),
    Correlation(average="item", coefficient="kendall"),
    Correlation("system"),
    Correlation("system", coefficient="kendall"),
)


def tables() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(2, 6, len(CODES))) + rng.normal(size=(6, len(CODES)))
    z[2, 4] = x[5, 0] = np.nan
    z[3, np.isin(CODES, [4])] = np.nan  # a system without any cell in a cluster
    return x, z


def again_without(
    x: np.ndarray, z: np.ndarray, cells: np.ndarray, correlation: Correlation
) -> float:
    return correlation_value(
        np.where(cells, np.nan, x), np.where(cells, np.nan, z), correlation
    ).value


@pytest.mark.parametrize("correlation", EXACT, ids=str)
def test_the_figure_without_each_cluster_is_computed_again(correlation: Correlation) -> None:
    x, z = tables()
    found = leave_out(x, z, correlation, Clusters("document", CODES)).left_out
    assert found is not None
    for cluster in range(CODES.max() + 1):
        inside = np.broadcast_to(cluster == CODES, x.shape)
        expected = again_without(x, z, inside, correlation)
        assert found.wholes[cluster] == pytest.approx(expected, abs=1e-12)
        for system in range(len(x)):
            own = inside & (np.arange(len(x)) == system)[:, None]
            expected = again_without(x, z, own, correlation)
            assert found.cells[system, cluster] == pytest.approx(expected, abs=1e-12)


def test_what_is_left_without_variance_has_no_correlation() -> None:
    x = np.array([[1.3, 2.9, 0.1, 0.1, 0.1]])
    z = np.array([[4.0, 1.0, 2.0, 7.0, 3.0]])
    found = leave_out(x, z, Correlation(), Clusters("document", np.array([0, 0, 1, 1, 2]))).left_out
    assert found is not None
    assert np.isnan(found.wholes[0])
    assert np.isfinite(found.wholes[1:]).all()


def test_clusters_of_one_item_each_give_the_interval_of_items() -> None:
    x, z = tables()
    alone = leave_out(x, z, Correlation())
    clustered = leave_out(x, z, Correlation(), Clusters("document", np.arange(len(CODES))))
    for generalize in ("both", "items"):
        a, b = alone.estimate(generalize=generalize), clustered.estimate(generalize=generalize)
        assert (a.low, a.high, a.p_value) == pytest.approx((b.low, b.high, b.p_value))


def test_a_difference_of_exact_figures_is_exact_and_signs_turn() -> None:
    x, z = tables()
    clusters = Clusters("document", CODES)
    one, other = leave_out(x, z, Correlation(), clusters), leave_out(-x, z, Correlation(), clusters)
    difference = one - other
    assert difference.left_out is not None and one.left_out is not None
    np.testing.assert_allclose(difference.left_out.wholes, 2 * one.left_out.wholes)
    assert (-one).estimate().low == pytest.approx(-(one.estimate().high or 0))
    approximated = replace(other, left_out=None)
    assert (one - approximated).left_out is None


def test_sums_by_cluster_by_hand() -> None:
    found = sums_by_cluster(np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]]), np.array([2, 0, 2]))
    np.testing.assert_array_equal(found, [[2, 0, 5], [16, 0, 40]])
