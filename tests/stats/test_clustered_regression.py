"""Clustered coefficients against statsmodels: fits without each unit, and its clustered variance."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import f as fisher_f
from scipy.stats import t as student

from wellput.core.clusters import Places
from wellput.core.estimates import Generalize
from wellput.core.metric import Floats
from wellput.stats.clustered_regression import (
    ClusteredCoefficients,
    clustered_coefficients,
    squared_distance,
)


class Data:
    def __init__(self, systems: int, items: int, *, k: int = 2, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.system = np.repeat(np.arange(systems), items)
        self.item = np.tile(np.arange(items), systems)
        shared = [
            rng.normal(size=(systems, 1))
            + rng.normal(size=(1, items))
            + rng.normal(size=(systems, items))
            for _ in range(k + 1)
        ]
        self.x = np.column_stack([part.ravel() * 10 + 1000 for part in shared[:-1]])
        self.y = self.x @ np.full(k, 0.02) + shared[-1].ravel()

    def fit(self, generalize: Generalize) -> ClusteredCoefficients:
        names = [[f"{unit:03}" for unit in units] for units in (self.system, self.item)]
        return clustered_coefficients(
            self.y, self.x, systems=names[0], items=names[1], generalize=generalize
        )


def theirs(y: Floats, x: Floats) -> Floats:
    return np.asarray(sm.OLS(y, sm.add_constant(x)).fit().params)


def jackknife(data: Data, units: Places) -> Floats:
    """The covariance of fits without each unit."""
    found = [theirs(data.y[units != one], data.x[units != one]) for one in np.unique(units)]
    apart = np.array(found) - np.mean(found, axis=0)
    return np.asarray((len(found) - 1) / len(found) * apart.T @ apart)


def test_errors_are_those_of_fits_by_statsmodels() -> None:
    data = Data(5, 8, seed=1)
    by_system, by_item = jackknife(data, data.system), jackknife(data, data.item)
    by_cell = jackknife(data, np.arange(40))
    both = np.max([by_system + by_item - by_cell, by_system, by_item], axis=0)
    for generalize, expected, freedom in (
        ("systems", by_system, 4),
        ("items", by_item, 7),
        ("both", both, 4),
    ):
        found = data.fit(generalize)  # type: ignore[arg-type]
        errors = [found.intercept_error, *found.errors]
        np.testing.assert_allclose(errors, np.sqrt(np.diag(expected)), rtol=1e-6)
        reach = student.ppf(0.975, freedom) * errors[1]
        first = found.coefficients[0]
        assert first.value == pytest.approx(theirs(data.y, data.x)[1])
        assert first.low == pytest.approx(first.value - reach)
        assert first.p_value == pytest.approx(
            2 * student.sf(abs(first.value / errors[1]), freedom), rel=1e-5
        )


def test_the_variance_is_near_that_of_statsmodels_where_there_are_many_units() -> None:
    data = Data(60, 60, k=1, seed=2)
    groups = np.column_stack([data.system, data.item])
    model = sm.OLS(data.y, sm.add_constant(data.x))
    expected = model.fit(cov_type="cluster", cov_kwds={"groups": groups}).bse[1]
    assert data.fit("both").errors[0] == pytest.approx(expected, rel=0.05)
    by_item = model.fit(cov_type="cluster", cov_kwds={"groups": data.item}).bse[1]
    assert data.fit("items").errors[0] == pytest.approx(by_item, rel=0.05)


def test_all_coefficients_together() -> None:
    data = Data(6, 30, seed=3)
    slopes = theirs(data.y, data.x)[1:]
    covariance = jackknife(data, data.item)[1:, 1:]
    squared = slopes @ np.linalg.solve(covariance, slopes)
    # Hotelling: T² (29 - 1) / (2 · 29) is F with 2 and 28 degrees of freedom.
    expected = fisher_f.sf(squared * 28 / (2 * 29), 2, 28)
    assert data.fit("items").p_value == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("generalize", ["items", "systems", "both"])
@pytest.mark.parametrize("seed", range(4))
def test_for_one_coefficient_both_p_values_are_the_same(generalize: Generalize, seed: int) -> None:
    found = Data(5, 12, k=1, seed=seed).fit(generalize)
    assert found.p_value == pytest.approx(found.coefficients[0].p_value)


def test_more_predictors_than_systems_have_no_joint_p_value() -> None:
    found = Data(4, 30, k=4, seed=4).fit("both")
    assert np.isnan(found.p_value)
    assert all(one.p_value is not None for one in found.coefficients)


@pytest.mark.parametrize("apart", [0.0, 1e-14, 1e-11])
def test_slopes_that_move_together_have_no_distance_from_0(apart: float) -> None:
    together = np.array([[4.0, 2.0], [2.0, 1.0 + apart]])
    assert squared_distance(np.array([1.0, 2.0]), together) is None
    assert squared_distance(np.array([1.0, 2.0]), np.zeros((2, 2))) is None
    # Errors of very different sizes are no sign of slopes that move together: 1²/1 + 2²/10⁻²⁰.
    found = squared_distance(np.array([1.0, 2e-10]), np.diag([1.0, 1e-20]))
    assert found == pytest.approx(5)


def test_three_systems_say_nothing_about_others() -> None:
    data = Data(3, 30, seed=5)
    found = data.fit("both")
    assert found.reason == "3 systems cannot show how others differ, it takes 4"
    assert all(one.low is None and one.p_value is None for one in found.coefficients)
    assert np.isnan(found.p_value)
    assert data.fit("items").coefficients[0].low is not None


def test_a_coefficient_that_depends_on_one_system() -> None:
    data = Data(5, 10, k=1, seed=6)
    data.x[:, 0] = (data.system == 2).astype(float)
    found = data.fit("both")
    assert found.coefficients[0].low is None
    assert found.reason == "a coefficient depends on a single system or item"


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "items"), [(4, 30), (8, 40)])
def test_a_predictor_that_explains_nothing_is_seldom_found(systems: int, items: int) -> None:
    studies = 600
    found = 0
    for seed in range(studies):
        data = Data(systems, items, k=1, seed=seed)
        rng = np.random.default_rng([seed, 1])
        data.y = (
            rng.normal(size=(systems, 1))
            + rng.normal(size=(1, items))
            + rng.normal(size=(systems, items))
        ).ravel()
        p_value = data.fit("both").coefficients[0].p_value
        found += p_value is not None and p_value < 0.05
    assert found / studies < 0.05 + 3 * np.sqrt(0.05 * 0.95 / studies)


@pytest.mark.parametrize("seed", range(4))
def test_a_predictor_that_only_one_system_has_gives_no_interval(seed: int) -> None:
    """Without this system the predictor is constant. Its coefficient there was a quotient of rounding
    errors, which depends on the order of the rows."""
    data = Data(5, 8, k=2)
    is_of_first = (data.system == 0) & (data.item % 2 == 0)
    x = np.column_stack([data.x[:, 0], np.where(is_of_first, 0.3, 0.1)])
    order = np.random.default_rng(seed).permutation(len(data.y))
    found = clustered_coefficients(
        data.y[order],
        x[order],
        systems=data.system[order].astype(str).tolist(),
        items=data.item[order].astype(str).tolist(),
    )
    assert np.isfinite(found.coefficients[1].value)
    assert [one.low for one in found.coefficients] == [None, None]
    assert np.isnan(found.p_value)
