"""Cross-validation against fits written out by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, cross_val_predict

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.regression import ols, ridge
from wellput.stats.validation import leave_one_out, out_of_fold, prediction_r

NAMES = ["a", "b"]


def rows(seed: int, n: int = 24) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    return x @ np.array([1.0, -0.5]) + rng.normal(size=n), x


def least_squares(y: Floats, x: Floats) -> Callable[[Floats], Floats]:
    return ols(y, x, NAMES).predict


def test_leave_one_out_equals_brute_force() -> None:
    y, x = rows(1)
    brute = [
        float(ols(np.delete(y, i), np.delete(x, i, axis=0), NAMES).predict(x[i]))
        for i in range(len(y))
    ]
    np.testing.assert_allclose(leave_one_out(ols(y, x, NAMES), y), brute, rtol=1e-9)
    np.testing.assert_allclose(out_of_fold(y, x, least_squares, range(len(y))), brute, rtol=1e-9)


def test_leave_one_out_is_undefined_where_a_row_decides_alone() -> None:
    y, x = rows(2)
    x[:, 1] = 0
    x[3, 1] = 1
    assert list(np.flatnonzero(np.isnan(leave_one_out(ols(y, x, NAMES), y)))) == [3]
    # The fold without it has a constant predictor and cannot be fitted either.
    assert list(np.flatnonzero(np.isnan(out_of_fold(y, x, least_squares, range(24))))) == [3]


def test_leave_one_out_of_ridge_with_few_rows() -> None:
    y, x = rows(3, 5)
    assert np.isfinite(leave_one_out(ridge(y, x, NAMES), y)).all()


def test_groups_equal_scikit_learn() -> None:
    y, x = rows(4)
    groups = [f"item {i % 6}" for i in range(24)]
    expected = cross_val_predict(LinearRegression(), x, y, groups=groups, cv=LeaveOneGroupOut())
    np.testing.assert_allclose(out_of_fold(y, x, least_squares, groups), expected, rtol=1e-9)
    folds = cross_val_predict(LinearRegression(), x, y, groups=groups, cv=GroupKFold(6))
    np.testing.assert_allclose(out_of_fold(y, x, least_squares, groups, folds=6), folds, rtol=1e-9)


def test_no_group_is_both_learned_from_and_predicted() -> None:
    y, x = rows(5, 40)
    groups = [i % 20 for i in range(40)]
    x[:, 0] = np.repeat(np.arange(20), 2)[np.argsort(np.argsort(groups, kind="stable"))]
    seen: list[tuple[set[float], int]] = []

    def watch(y: Floats, x: Floats) -> Callable[[Floats], Floats]:
        seen.append((set(x[:, 0]), len(y)))
        learned = set(x[:, 0])

        def predict(held: Floats) -> Floats:
            assert not learned & set(held[:, 0])
            return np.zeros(len(held))

        return predict

    assert not out_of_fold(y, x, watch, groups, folds=5, seed=7).any()
    assert len(seen) == 5
    assert {n for _, n in seen} == {32}  # 4 groups of 2 held out each time


def test_the_seed_deals_the_folds() -> None:
    y, x = rows(6, 40)
    one, same, other = (
        out_of_fold(y, x, least_squares, range(40), folds=4, seed=seed) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other)


def test_bad_folds() -> None:
    y, x = rows(7)
    with pytest.raises(InputError, match="at least two groups"):
        out_of_fold(y, x, least_squares, ["A"] * 24)
    with pytest.raises(InputError, match="at least two folds"):
        out_of_fold(y, x, least_squares, range(24), folds=1)


def test_prediction_r() -> None:
    y = np.array([1.0, 2, 3, 4, np.nan])
    r, n = prediction_r(y, np.array([2.0, 4, np.nan, 8, 1]))
    assert r == pytest.approx(1.0)
    assert n == 3
    assert np.isnan(prediction_r(y, np.ones(5))[0])
    assert np.isnan(prediction_r(y[:2], y[:2])[0])
