"""Cross-validated r against fits by hand, and where there is nothing to predict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import LeaveOneGroupOut

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.validation import HeldOut, RegressionColumns, Unseen, held_out, leave_one_out_r

SEED = 12345


def least_squares(y: Floats, x: Floats) -> RegressionColumns:
    return RegressionColumns(range(x.shape[1]), np.zeros(x.shape[1]))


class Cells:
    """Judgments and predictors of systems × items; some cells are missing."""

    def __init__(
        self,
        n_systems: int,
        n_items: int,
        *,
        slopes: tuple[float, ...],
        seed: int,
        missing: int = 0,
    ) -> None:
        rng = np.random.default_rng(seed)

        def shared() -> Floats:
            parts = (
                rng.normal(size=(n_systems, 1)),
                rng.normal(size=(1, n_items)),
                rng.normal(size=(n_systems, n_items)),
            )
            return np.asarray(sum(0.6 * part for part in parts)).ravel()

        kept = np.sort(rng.permutation(n_systems * n_items)[missing:])
        x = np.column_stack([shared() for _ in slopes])
        self.y = (x @ np.array(slopes) + shared())[kept]
        self.x = x[kept]
        self.systems = [f"s{place // n_items:02}" for place in kept]
        self.items = [f"i{place % n_items:03}" for place in kept]

    def held_out(
        self,
        unseen: Unseen,
        *,
        folds: int = 10,
        learn: Callable[..., RegressionColumns] = least_squares,
    ) -> HeldOut:
        return held_out(
            self.y, self.x, systems=self.systems, items=self.items, learn=learn, unseen=unseen,
            folds=folds, seed=SEED,
        )  # fmt: skip

    def rows(self, rows: NDArray[np.bool_]) -> Cells:
        """Only these rows."""
        part = object.__new__(Cells)
        part.y, part.x = self.y[rows], self.x[rows]
        part.systems = [name for name, keep in zip(self.systems, rows, strict=True) if keep]
        part.items = [name for name, keep in zip(self.items, rows, strict=True) if keep]
        return part


def by_hand(
    data: Cells, all_x: Floats, splits: list[tuple[Any, Any]], penalty: float = 0.0
) -> Floats:
    """Scores of scikit-learn's fits, standardized over all rows of `all_x`."""
    scores = np.full(len(data.y), np.nan)
    for seen, held in splits:
        model = LinearRegression() if penalty == 0 else Ridge(alpha=penalty)
        slopes = model.fit(data.x[seen], data.y[seen]).coef_
        everywhere = all_x @ slopes
        scores[held] = (data.x[held] @ slopes - everywhere.mean()) / everywhere.std()
    return scores


def by_system(data: Cells) -> list[tuple[Any, Any]]:
    return list(LeaveOneGroupOut().split(data.x, groups=data.systems))


def test_scores_of_unseen_systems_are_those_of_scikit_learn() -> None:
    data = Cells(5, 8, slopes=(0.7, -0.4), seed=1, missing=6)
    found = data.held_out("system")
    expected = by_hand(data, data.x, by_system(data))
    np.testing.assert_allclose(found.scores, expected, rtol=1e-9)
    assert found.r == pytest.approx(np.corrcoef(data.y, expected)[0, 1])
    assert (found.n, found.folds) == (34, 5)


def test_scores_of_a_ridge_regression_are_those_of_scikit_learn() -> None:
    data = Cells(5, 8, slopes=(0.7, -0.4), seed=2)
    found = data.held_out("system", learn=lambda y, x: RegressionColumns([0, 1], np.full(2, 3.0)))
    np.testing.assert_allclose(
        found.scores, by_hand(data, data.x, by_system(data), penalty=3.0), rtol=1e-9
    )


def test_neither_the_system_nor_the_item_is_learned_from() -> None:
    data = Cells(12, 30, slopes=(0.5,), seed=3)
    systems, items = np.array(data.systems), np.array(data.items)
    learned: list[set[float]] = []

    def watch(y: Floats, x: Floats) -> RegressionColumns:
        learned.append(set(y.tolist()))
        return RegressionColumns([0], np.zeros(1))

    assert data.held_out("both", learn=watch).folds == 100
    for seen in learned:
        rows = np.array([value in seen for value in data.y])
        hidden = ~np.isin(systems, systems[rows]) & ~np.isin(items, items[rows])
        assert hidden.sum() > 0
        # A row is either learned from, held out, or neither: it shares an item or a system.
        assert rows.sum() == len(set(systems[rows])) * len(set(items[rows]))
    data.held_out("item", learn=watch)
    assert len(learned) == 110


def test_the_figures_without_a_unit_are_fits_without_it() -> None:
    data = Cells(6, 9, slopes=(0.7, 0.2), seed=4)
    found = data.held_out("system")
    for place, name in enumerate(sorted(set(data.systems))):
        rest = data.rows(np.array(data.systems) != name)
        scores = by_hand(rest, data.x, by_system(rest))
        assert found.without.systems[place] == pytest.approx(np.corrcoef(rest.y, scores)[0, 1])
    for place, name in enumerate(sorted(set(data.items))):
        rest = data.rows(np.array(data.items) != name)
        scores = by_hand(rest, data.x, by_system(rest))
        assert found.without.items[place] == pytest.approx(np.corrcoef(rest.y, scores)[0, 1])


def test_the_interval_worked_out() -> None:
    from scipy.stats import t

    found = Cells(6, 20, slopes=(0.8,), seed=5).held_out("both")
    z = [np.arctanh(part) for part in (
        found.without.systems, found.without.items, found.without.cells
    )]  # fmt: skip
    by_unit = [(len(one) - 1) * one.var() for one in z]
    variance = max(by_unit[0] + by_unit[1] - by_unit[2], by_unit[0], by_unit[1])
    reach = t.ppf(0.975, 5) * np.sqrt(variance)
    estimate = found.estimate
    assert estimate.low == pytest.approx(np.tanh(np.arctanh(found.r) - reach))
    assert estimate.high == pytest.approx(np.tanh(np.arctanh(found.r) + reach))


def test_leaving_out_single_rows() -> None:
    data = Cells(3, 8, slopes=(0.5, 0.5), seed=6)
    splits = [(np.delete(np.arange(24), row), np.array([row])) for row in range(24)]
    scores = by_hand(data, data.x, splits)
    r, n = leave_one_out_r(data.y, data.x, least_squares(data.y, data.x))
    assert n == 24
    assert r == pytest.approx(np.corrcoef(data.y, scores)[0, 1])


@pytest.mark.heavy
@pytest.mark.parametrize("unseen", ["sentence", "item", "system", "both"])
@pytest.mark.parametrize("predictors", [1, 3])
def test_r_is_0_on_average_where_there_is_nothing_to_predict(unseen: str, predictors: int) -> None:
    # Plain predictions, each with the mean of its fold, would correlate -0.1 to -0.4 here.
    studies = 300
    found = []
    for seed in range(studies):
        rng = np.random.default_rng([seed, predictors])
        y, x = rng.normal(size=60), rng.normal(size=(60, predictors))
        if unseen == "sentence":
            found.append(leave_one_out_r(y, x, least_squares(y, x))[0])
            continue
        data = object.__new__(Cells)
        data.y, data.x = y, x
        data.systems = [f"s{place // 10}" for place in range(60)]
        data.items = [f"i{place % 10}" for place in range(60)]
        found.append(data.held_out(unseen).r)  # type: ignore[arg-type]
    assert abs(np.mean(found)) < 3 * np.std(found) / np.sqrt(studies)


def test_no_gain_over_oneself() -> None:
    found = Cells(5, 12, slopes=(0.5, 0.5), seed=7).held_out("both")
    gain = found.minus(found)
    assert (gain.value, gain.low, gain.p_value) == (0, None, None)


def test_a_second_predictor_that_counts_is_a_gain() -> None:
    data = Cells(12, 30, slopes=(0.9, 0.9), seed=8)
    single = data.held_out("both", learn=lambda y, x: RegressionColumns([0], np.zeros(1)))
    gain = data.held_out("both").minus(single)
    assert gain.low is not None
    assert gain.low > 0


def test_few_systems_have_no_interval() -> None:
    data = Cells(3, 30, slopes=(0.8,), seed=9)
    for unseen in ("system", "both"):
        estimate = data.held_out(unseen).estimate
        assert (estimate.low, estimate.p_value) == (None, None)
        assert estimate.method == "3 systems cannot show how others differ, it takes 4"
    assert data.held_out("item").estimate.low is not None


def test_rows_without_a_model_have_no_score() -> None:
    data = Cells(5, 10, slopes=(0.8,), seed=10)

    def learn(y: Floats, x: Floats) -> RegressionColumns:
        if len({round(value, 12) for value in y} & {round(data.y[0], 12)}) == 0:
            raise InputError("no")
        return RegressionColumns([0], np.zeros(1))

    found = data.held_out("system", learn=learn)
    assert list(np.flatnonzero(np.isnan(found.scores))) == list(range(10))
    assert found.n == 40


def test_the_seed_decides_the_folds_of_items() -> None:
    data = Cells(4, 40, slopes=(0.5, 0.3), seed=11)
    one, same, other = (
        held_out(
            data.y, data.x, systems=data.systems, items=data.items, learn=least_squares,
            unseen="item", folds=4, seed=seed,
        ).scores
        for seed in (1, 1, 2)
    )  # fmt: skip
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_trainings_with_equal_judgments_give_no_interval() -> None:
    """Three of five systems always get a yes. Without two more, the trainings have equal judgments, and
    standardized scores would be rounding errors, which depend on the order of the rows."""
    rng = np.random.default_rng(3)
    systems, items = (codes.ravel() for codes in np.indices((5, 6)))
    y = np.isin(systems, (0, 1)).astype(float)
    x = (y + rng.normal(size=30))[:, None]
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(30)
        found = held_out(
            y[order],
            x[order],
            systems=[str(code) for code in systems[order]],
            items=[str(code) for code in items[order]],
            learn=least_squares,
            unseen="system",
            folds=5,
            seed=1,
        )
        assert np.isfinite(found.r)
        assert found.estimate.low is None
        assert found.estimate.p_value is None


@pytest.mark.parametrize("unit", [1.0, 0.1, 1 / 3])
@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [3, 0, 4, 2, 1]])
def test_a_covariance_of_zero_is_no_slope_in_any_unit_and_order(
    unit: float, order: list[int]
) -> None:
    """Without the last row, judgments and predictor have a covariance of 0. In tenths, rounding makes
    it ±1e-17: a slope of this size, divided by its own spread, would count as much as any other."""
    y = unit * np.array([1.0, 1.0, 2.0, 2.0, 9.0])[order]
    x = unit * np.array([[0.0], [1.0], [0.0], [1.0], [5.0]])[order]
    _, n = leave_one_out_r(y, x, RegressionColumns([0], np.zeros(1)))
    assert n == 4
