"""Regression against statsmodels and scikit-learn."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler
from statsmodels.stats.outliers_influence import variance_inflation_factor

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.regression import ols, ridge, variance_inflation
from wellput.stats.stepwise_regression import stepwise

NAMES = ("a", "b", "c", "d", "e", "f")


def rows(seed: int, n: int, k: int, *, scale: float = 1.0) -> tuple[Floats, Floats]:
    """A linear relation with noise; predictors have different scales, and some are correlated."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, k))
    if k > 1:
        x[:, 1] += 0.8 * x[:, 0]
    y = x @ rng.normal(size=k) + rng.normal(scale=0.7, size=n) + 2
    return y, x * 10.0 ** rng.integers(-2, 3, size=k) * scale + rng.normal(size=k)


@pytest.mark.parametrize(("n", "k"), [(4, 2), (24, 1), (24, 4), (300, 6)])
@pytest.mark.parametrize("seed", range(3))
def test_every_figure_equals_statsmodels(seed: int, n: int, k: int) -> None:
    y, x = rows(seed, n, k)
    ours, theirs = ols(y, x, NAMES[:k]), sm.OLS(y, sm.add_constant(x)).fit()
    assert ours.intercept == pytest.approx(theirs.params[0], rel=1e-9)
    np.testing.assert_allclose(ours.coefficients, theirs.params[1:], rtol=1e-9)
    np.testing.assert_allclose(ours.standard_errors, theirs.bse[1:], rtol=1e-9)
    assert ours.intercept_error == pytest.approx(theirs.bse[0], rel=1e-9)
    np.testing.assert_allclose(ours.t_values, theirs.tvalues[1:], rtol=1e-8)
    np.testing.assert_allclose(ours.p_values, theirs.pvalues[1:], rtol=1e-7)
    assert ours.r_squared == pytest.approx(theirs.rsquared, rel=1e-10)
    assert ours.adjusted_r_squared == pytest.approx(theirs.rsquared_adj, rel=1e-9)
    assert ours.f == pytest.approx(theirs.fvalue, rel=1e-8)
    assert ours.f_p_value == pytest.approx(theirs.f_pvalue, rel=1e-7)
    assert ours.aic == pytest.approx(theirs.aic, rel=1e-10)
    np.testing.assert_allclose(ours.predict(x), theirs.fittedvalues, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_influence_equals_statsmodels(seed: int) -> None:
    y, x = rows(seed, 24, 3)
    influence = sm.OLS(y, sm.add_constant(x)).fit().get_influence()
    model = ols(y, x, NAMES[:3])
    np.testing.assert_allclose(model.leverages, influence.hat_matrix_diag, rtol=1e-9)
    np.testing.assert_allclose(
        model.studentized, influence.resid_studentized_external, rtol=1e-8, atol=1e-12
    )
    np.testing.assert_allclose(model.cooks_distances, influence.cooks_distance[0], rtol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_variance_inflation_equals_statsmodels(seed: int) -> None:
    _, x = rows(seed, 40, 4)
    design = sm.add_constant(x)
    expected = [variance_inflation_factor(design, place) for place in range(1, 5)]
    np.testing.assert_allclose(variance_inflation(x), expected, rtol=1e-8)


@pytest.mark.parametrize("penalty", [0.01, 1.0, 50.0])
@pytest.mark.parametrize(("n", "k"), [(24, 4), (5, 6)])
def test_ridge_equals_scikit_learn_on_standardized_predictors(
    penalty: float, n: int, k: int
) -> None:
    y, x = rows(1, n, k)
    ours = ridge(y, x, NAMES[:k], penalty=penalty)
    scaler = StandardScaler().fit(x)
    theirs = Ridge(alpha=penalty).fit(scaler.transform(x), y)
    np.testing.assert_allclose(ours.predict(x), theirs.predict(scaler.transform(x)), rtol=1e-9)
    np.testing.assert_allclose(ours.coefficients, theirs.coef_ / scaler.scale_, rtol=1e-8)
    assert ours.penalty == penalty


@pytest.mark.heavy
def test_ridge_takes_the_penalty_with_the_smallest_error_on_rows_left_out() -> None:
    y, x = rows(5, 20, 3)

    def brute_force(penalty: float) -> float:
        # Standardized by the whole sample, as the shortcut does; then each row really left out.
        standard = (x - x.mean(axis=0)) / x.std(axis=0)
        errors = [
            y[i]
            - Ridge(alpha=penalty)
            .fit(np.delete(standard, i, axis=0), np.delete(y, i))
            .predict(standard[[i]])[0]
            for i in range(len(y))
        ]
        return float(np.square(errors).sum())

    grid = 20 * 10.0 ** np.linspace(-4, 2, 61)
    assert ridge(y, x, NAMES[:3]).penalty == pytest.approx(min(grid, key=brute_force))


def test_ridge_says_nothing_about_significance() -> None:
    model = ridge(*rows(1, 24, 2), NAMES[:2])
    for figures in (model.standard_errors, model.t_values, model.p_values, model.aic, model.f):
        assert np.isnan(figures).all()


def test_a_line_by_hand() -> None:
    # x 0 1 2 3, y 1 2 2 4: means 1.5 and 2.25, Sxx 5, Sxy 4.5, slope .9, intercept .9; residuals
    # .1 .2 -.7 .4 with squares .7; Syy 4.75, R² = 1 - .7/4.75; s² = .35, se = sqrt(.35/5).
    model = ols(np.array([1.0, 2, 2, 4]), np.array([[0.0], [1], [2], [3]]), ["x"])
    assert (model.intercept, model.coefficients[0]) == pytest.approx((0.9, 0.9))
    assert model.r_squared == pytest.approx(1 - 0.7 / 4.75)
    assert model.standard_errors[0] == pytest.approx((0.35 / 5) ** 0.5)
    assert model.f == pytest.approx(0.81 / (0.35 / 5))  # t² = .9² / (.35/5)


def test_large_offsets_do_not_hurt() -> None:
    y, x = rows(2, 30, 2)
    plain, moved = ols(y, x, NAMES[:2]), ols(y + 1e6, x + 1e7, NAMES[:2])
    np.testing.assert_allclose(moved.coefficients, plain.coefficients, rtol=1e-6)
    np.testing.assert_allclose(moved.p_values, plain.p_values, rtol=1e-5)


@given(
    seed=st.integers(0, 10_000),
    factor=st.floats(-100, 100).filter(lambda f: abs(f) > 0.01),
    shift=st.floats(-100, 100),
)
@settings(max_examples=50, deadline=None)
def test_units_of_a_predictor_do_not_matter(seed: int, factor: float, shift: float) -> None:
    y, x = rows(seed, 15, 2)
    changed = x.copy()
    changed[:, 0] = changed[:, 0] * factor + shift
    one, other = ols(y, x, NAMES[:2]), ols(y, changed, NAMES[:2])
    np.testing.assert_allclose(other.coefficients[0] * factor, one.coefficients[0], rtol=1e-6)
    np.testing.assert_allclose(other.p_values, one.p_values, rtol=1e-6)
    assert other.r_squared == pytest.approx(one.r_squared, rel=1e-9)
    np.testing.assert_allclose(other.studentized, one.studentized, rtol=1e-6, atol=1e-9)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_residuals_are_orthogonal_to_the_predictors(seed: int) -> None:
    y, x = rows(seed, 12, 3)
    model = ols(y, x, NAMES[:3])
    np.testing.assert_allclose(y - model.predict(x), model.residuals, atol=1e-8)
    assert abs(model.residuals.sum()) < 1e-8
    np.testing.assert_allclose(model.residuals @ (x / np.abs(x).max(axis=0)), 0, atol=1e-8)
    assert model.leverages.sum() == pytest.approx(4)


# --- bad input --------------------------------------------------------------------------------


def test_rows_that_are_not_finite_are_left_out_and_counted() -> None:
    y, x = rows(3, 20, 2)
    holed_y, holed_x = y.copy(), x.copy()
    holed_y[0], holed_x[1, 1], holed_x[2, 0] = np.nan, np.nan, np.inf
    model = ols(holed_y, holed_x, NAMES[:2])
    assert (model.n, model.left_out) == (17, 3)
    np.testing.assert_allclose(model.coefficients, ols(y[3:], x[3:], NAMES[:2]).coefficients)


@pytest.mark.parametrize("n", [3, 4, 6])
def test_more_predictors_than_rows(n: int) -> None:
    y, x = rows(4, n, 5)
    with pytest.raises(InputError, match=rf"need at least 7 rows; there are {n}"):
        ols(y, x, NAMES[:5])
    assert np.isfinite(ridge(y, x, NAMES[:5]).coefficients).all()


def test_a_perfect_predictor_has_no_p_values() -> None:
    _, x = rows(6, 20, 2)
    model = ols(3 * x[:, 0] - 1, x, NAMES[:2])
    assert model.is_exact
    np.testing.assert_allclose(model.coefficients, [3, 0], atol=1e-9)
    assert model.r_squared == pytest.approx(1)
    for figures in (model.p_values, model.standard_errors, model.f, model.f_p_value, model.aic):
        assert np.isnan(figures).all()
    assert np.isnan(model.studentized).all()
    assert np.isnan(model.cooks_distances).all()
    assert "determine the judgments" in model.warnings[-1]


@pytest.mark.parametrize("fit", [ols, ridge])
def test_judgments_or_predictors_that_do_not_vary(fit: object) -> None:
    assert callable(fit)
    y, x = rows(7, 20, 3)
    with pytest.raises(InputError, match="All judgments are equal"):
        fit(np.full(20, 0.1) + 1e-17, x, NAMES[:3])
    x[:, 1] = 4.2
    with pytest.raises(InputError, match="b is the same in every row"):
        fit(y, x, NAMES[:3])
    x[:, 2] = 0.0
    with pytest.raises(InputError, match="b, c are each the same"):
        fit(y, x, NAMES[:3])
    with pytest.raises(InputError, match=r"at least [35].* rows; there are 2"):
        fit(y[:2], x[:2], NAMES[:3])


def test_a_combination_is_named_with_its_parts() -> None:
    y, x = rows(8, 20, 4)
    x[:, 3] = 2 * x[:, 0] - x[:, 2] + 5
    with pytest.raises(InputError, match=r"d is a combination of a, c: leave one"):
        ols(y, x, NAMES[:4])
    inflation = ridge(y, x, NAMES[:4]).variance_inflation
    assert np.isinf(inflation[[0, 2, 3]]).all()
    assert np.isfinite(inflation[1])


def test_collinear_predictors_are_warned_of() -> None:
    rng = np.random.default_rng(9)
    y, x = rows(9, 50, 3)
    x[:, 2] = x[:, 0] + rng.normal(scale=0.1 * x[:, 0].std(), size=50)
    warnings = " ".join(ols(y, x, NAMES[:3]).warnings)
    assert "a is nearly a combination" in warnings
    assert "c is nearly a combination" in warnings


def test_a_row_that_alone_determines_a_coefficient_has_no_studentized_residual() -> None:
    y, x = rows(10, 12, 2)
    x[:, 1] = 0.0
    x[4, 1] = 1.0
    model = ols(y, x, NAMES[:2])
    assert list(np.flatnonzero(np.isnan(model.studentized))) == [4]


@pytest.mark.parametrize("penalty", [0.0, -1.0, float("nan"), float("inf")])
def test_a_penalty_must_be_above_zero(penalty: float) -> None:
    y, x = rows(1, 10, 2)
    with pytest.raises(InputError, match="above 0"):
        ridge(y, x, NAMES[:2], penalty=penalty)


@pytest.mark.parametrize("fit", [ols, ridge, partial(stepwise, by="aic")])
@pytest.mark.parametrize(
    ("y_size", "x_size", "shape", "names", "message"),
    [
        (1e-200, 1, (10, 2), "ab", "judgment: .* too small"),
        (1e200, 1, (10, 2), "ab", "judgment: .* too large"),
        (1, 1e200, (10, 2), "ab", "a: .* too large"),
        (1, 1e-200, (10, 2), "ab", "a: .* too small"),
        (1, 1, (9, 2), "ab", "these have shapes"),
        (1, 1, (10,), "a", "these have shapes"),
        (1, 1, (10, 2), "a", "needs a name"),
    ],
)
def test_what_no_regression_can_be_fitted_to_is_refused(
    fit: Any, y_size: float, x_size: float, shape: tuple[int, ...], names: str, message: str
) -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(InputError, match=message):
        fit(y_size * rng.normal(size=10), x_size * rng.normal(size=shape), list(names))
