"""Correlations without each system, item and cell, against computing each of them again."""

from __future__ import annotations

from collections.abc import Callable
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.core.metric import Floats
from wellput.stats.correlation import Correlation, common_cells, correlate, correlation_value
from wellput.stats.correlation_intervals import correlation_difference, leave_out
from wellput.stats.soft_accuracy import spa, spa_leave_one_out
from wellput.stats.two_way_jackknife import TableFigure

LEVELS = [("segment", "none"), ("segment", "item"), ("segment", "system"), ("system", "none")]
COEFFICIENTS = ["pearson", "spearman", "kendall", "kendall-c"]
CORRELATIONS = [
    Correlation(level, average, coefficient)  # type: ignore[arg-type]
    for level, average in LEVELS
    for coefficient in COEFFICIENTS
]


def scores(seed: int, *, n_systems: int = 5, n_items: int = 8) -> tuple[Floats, Floats]:
    """Scores with ties and missing cells."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 6, size=(n_systems, n_items)).astype(float)
    z = x + rng.integers(0, 5, size=x.shape)
    x[rng.random(x.shape) < 0.1] = np.nan
    left_x, left_z = common_cells(x, z.astype(float))
    return left_x, left_z


def by_hand(x: Floats, figure: Callable[[Floats], float]) -> TableFigure:
    """Every figure computed again without the unit."""

    def without(*place: int | slice) -> float:
        left = x.copy()
        left[place] = np.nan
        return figure(left)

    n_systems, n_items = x.shape
    return TableFigure(
        figure(x),
        np.array([without(system, slice(None)) for system in range(n_systems)]),
        np.array([without(slice(None), item) for item in range(n_items)]),
        np.array([[without(s, i) for i in range(n_items)] for s in range(n_systems)]),
        np.isfinite(x),
    )


@pytest.mark.parametrize("correlation", CORRELATIONS, ids=lambda c: c.title)
@given(seed=st.integers(0, 10**6))
def test_nothing_but_computing_it_again(correlation: Correlation, seed: int) -> None:
    x, z = scores(seed)
    found = leave_out(x, z, correlation)
    expected = by_hand(x, lambda left: correlation_value(left, z, correlation).value)
    np.testing.assert_allclose(found.value, expected.value, atol=1e-12)
    np.testing.assert_allclose(found.systems, expected.systems, atol=1e-12)
    np.testing.assert_allclose(found.cells, expected.cells, atol=1e-12)
    if correlation.grouping != "pooled" or correlation.coefficient == "pearson":
        np.testing.assert_allclose(found.items, expected.items, atol=1e-12)


MANY = "wellput.stats.correlation_intervals.MAX_SYSTEMS_RECOMPUTED"


@pytest.mark.parametrize("correlation", CORRELATIONS, ids=lambda c: c.title)
@given(seed=st.integers(0, 10**6))
def test_many_systems_are_left_out_without_computing_it_again(
    correlation: Correlation, seed: int
) -> None:
    x, z = scores(seed)
    expected = leave_out(x, z, correlation)
    with mock.patch(MANY, 1):
        found = leave_out(x, z, correlation)
    np.testing.assert_array_equal(found.cells, expected.cells)
    if correlation.grouping != "pooled" or correlation.coefficient == "pearson":
        np.testing.assert_allclose(found.systems, expected.systems, atol=1e-12)


@pytest.mark.parametrize("coefficient", ["spearman", "kendall", "kendall-c"])
def test_one_of_many_systems_changes_ranks_by_what_its_cells_change(coefficient: str) -> None:
    correlation = Correlation(coefficient=coefficient)  # type: ignore[arg-type]
    x, z = scores(3, n_systems=60, n_items=5)
    expected = leave_out(x, z, correlation)
    with mock.patch(MANY, 59):
        found = leave_out(x, z, correlation)
    changes, true_changes = found.systems - found.value, expected.systems - expected.value
    np.testing.assert_allclose(changes, true_changes, atol=0.002)
    assert np.corrcoef(changes, true_changes)[0, 1] > 0.98


@pytest.mark.parametrize("coefficient", ["spearman", "kendall", "kendall-c", "acc-t"])
def test_an_item_changes_a_pooled_coefficient_by_what_its_cells_change(coefficient: str) -> None:
    """Up to terms of the order of the squared share of one item in the data."""
    correlation = Correlation(coefficient=coefficient)  # type: ignore[arg-type]
    x, z = scores(3, n_items=60)
    found = leave_out(x, z, correlation)
    expected = by_hand(x, lambda left: correlation_value(left, z, correlation).value)
    changes, true_changes = found.items - found.value, expected.items - expected.value
    np.testing.assert_allclose(changes, true_changes, atol=0.002)
    assert np.corrcoef(changes, true_changes)[0, 1] > 0.98


@pytest.mark.parametrize(("level", "average"), LEVELS)
def test_the_tie_threshold_is_held(level: str, average: str) -> None:
    x, z = (
        np.array([[1.0, 2.0], [3.0, 4.0], [2.0, 6.0]]),
        np.array([[1.0, 1.0], [2.0, 2.0], [2.0, 3.0]]),
    )
    correlation = Correlation(level, average, "acc-t")  # type: ignore[arg-type]
    found = leave_out(x, z, correlation)
    assert found.value == correlation_value(x, z, correlation).value


def test_by_hand() -> None:
    # Two items of three systems, tau of the first 1, of the second 1/3 (one of three pairs wrong).
    # Without the first system: 1 and −1; the second: 1 and 1; the third: 1 and 1.
    x = np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0]])
    z = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    found = leave_out(x, z, Correlation(average="item", coefficient="kendall"))
    assert found.value == pytest.approx(2 / 3)
    assert found.systems == pytest.approx([0.0, 1.0, 1.0])
    assert found.items == pytest.approx([1 / 3, 1.0])
    assert found.cells == pytest.approx(np.array([[2 / 3, 0.0], [2 / 3, 1.0], [2 / 3, 1.0]]))


def test_soft_pairwise_accuracy_by_the_normal_curve() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(5, 60)) + np.linspace(0, 0.5, 5)[:, None]
    z = x + rng.normal(size=x.shape)
    found = spa_leave_one_out(x, z)
    assert found.value == pytest.approx(spa(x, z, n_resamples=5000).value, abs=0.01)
    expected = by_hand(x, lambda left: spa_leave_one_out(left, z).value)
    np.testing.assert_allclose(found.items, expected.items, atol=1e-12)
    np.testing.assert_allclose(found.cells, expected.cells, atol=1e-12)
    np.testing.assert_allclose(found.systems, expected.systems, atol=1e-12)


def test_the_order_of_tied_systems_does_not_matter_to_soft_pairwise_accuracy() -> None:
    rng = np.random.default_rng(2)
    z = rng.normal(size=(3, 20)) + np.array([[0.0], [0.4], [0.8]])
    x = np.stack([z[0], z[0], z[2]])  # the metric ties the first two
    order = [1, 0, 2]
    assert spa(x, z).value == pytest.approx(spa(x[order], z[order]).value, abs=0.003)


@pytest.mark.parametrize("n_systems", range(4, 12))
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_perfect_order_has_no_interval_however_it_is_rounded(
    n_systems: int, coefficient: str
) -> None:
    """Kendall's τ of 5, 6, 8 and 10 systems in the same order comes out as 1 − 1e-16."""
    people = np.arange(n_systems)[:, None] + np.zeros((n_systems, 20))
    found = correlate(2 * people, people, Correlation("system", coefficient=coefficient))  # type: ignore[arg-type]
    assert found.value == pytest.approx(1)
    assert (found.low, found.p_value) == (None, None)
    assert "it is perfect" in found.method


def test_metrics_that_differ_by_rounding_alone_are_not_told_apart() -> None:
    people = np.arange(5.0)[:, None] + np.zeros((5, 20))
    found = correlation_difference(
        people, people**2, people, Correlation("system", coefficient="kendall")
    )
    assert found.p_value is None
