"""Means and slopes of clustered values, against formulas and an outside fit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wellput.stats.clusters import ClusteredMeans, adjusted_slope


def test_singleton_clusters_give_the_t_interval() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.array([3.0, 5, 4, 7, 1, 2])
    means = ClusteredMeans.of(
        values, groups=np.zeros(6, np.intp), clusters=np.arange(6), n_groups=1
    )
    found = means.mean(0)
    expected = stats.ttest_1samp(values, 0)
    bounds = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((bounds.low, bounds.high))
    assert found.p_value == pytest.approx(expected.pvalue)


def test_a_contrast_of_paired_values_is_the_paired_t_test() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 15)) + rng.normal(size=15)
    means = ClusteredMeans.of(
        np.concatenate([a, b]),
        groups=np.repeat([0, 1], 15),
        clusters=np.tile(np.arange(15), 2),
        n_groups=2,
    )
    found = means.contrast(np.array([1.0, -1.0]))
    assert found.p_value == pytest.approx(stats.ttest_rel(a, b).pvalue)


def test_four_clusters_give_no_interval() -> None:
    means = ClusteredMeans.of(
        np.arange(4.0), groups=np.zeros(4, np.intp), clusters=np.arange(4), n_groups=1
    )
    assert means.mean(0).low is None


def test_a_slope_equals_least_squares_and_its_error_the_jackknife() -> None:
    rng = np.random.default_rng(2)
    n = 40
    clusters = np.repeat(np.arange(20), 2)
    x, z = rng.normal(size=(2, n))
    y = 2 * x + 3 * z + rng.normal(size=n)
    others = np.column_stack([np.ones(n), z])
    found = adjusted_slope(y, x, others, clusters)
    full = np.linalg.lstsq(np.column_stack([x, others]), y, rcond=None)[0]
    assert found.value == pytest.approx(full[0])
    without = []
    for cluster in range(20):
        kept = clusters != cluster
        design = np.column_stack([x, others])[kept]
        without.append(np.linalg.lstsq(design, y[kept], rcond=None)[0][0])
    jackknife = math.sqrt(19 / 20 * ((np.array(without) - np.mean(without)) ** 2).sum())
    assert found.low is not None
    error = (found.value - found.low) / 2.093024  # t with 19 df
    assert error == pytest.approx(jackknife, rel=1e-6)


def test_a_slope_that_others_explain_is_undefined() -> None:
    x = np.repeat([0.0, 1.0], 5)
    found = adjusted_slope(np.arange(10.0), x, np.column_stack([1 - x, x]), np.arange(10))
    assert math.isnan(found.value)
