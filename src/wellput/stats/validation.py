"""How well a linear model predicts judgments of systems, items, or both, that it was not trained on.

`HeldOut` has Pearson's r between judgments and predictions in cross-validation: the scores of a row
come from a model trained without the row's system, without its item, or without both. A model scores
*all* rows, its scores are standardized over all rows (mean 0, standard deviation 1), and those of the
rows held out are kept. Plain predictions would be wrong: each of them contains the mean of its training
rows, and this mean is low if the rows held out have high judgments. So r would be far below 0 for
predictors that say nothing about the judgments. Standardizing uses no judgment of the rows held out,
and r of such predictors is then 0 on average.

For the interval, systems and items are left out one by one and all models are fitted again, because
models of other folds were trained on them. The choices of a model (predictors, the penalty of a ridge
regression) are kept. Single rows (cells of the table systems × items) are left out without a new fit,
which makes the interval a little wider.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.clusters import Places, sorted_places_of
from wellput.core.errors import InputError
from wellput.core.estimates import Estimate, Generalize
from wellput.core.metric import Floats
from wellput.stats.clustered_regression import RowProducts
from wellput.stats.student import FISHER_Z, student_estimate
from wellput.stats.two_way_jackknife import TwoWayJackknife

Unseen: TypeAlias = Literal["item", "system", "both"]
GENERALIZES_TO: dict[Unseen, Generalize] = {"item": "items", "system": "systems", "both": "both"}
"""The interval of r holds for other units of the kind that the models were not trained on."""


@dataclass(frozen=True, eq=False)
class RegressionColumns:
    """Which columns of x a model uses, and the penalty on the square of each coefficient."""

    columns: Sequence[int]
    penalties: Floats


Learn: TypeAlias = Callable[[Floats, Floats], RegressionColumns]
"""A function that chooses a model from the training rows (y, x); it raises InputError where it
cannot."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """`scores` are the rows' scores by models that were not trained on them, NaN where no model was
    fitted. `r` is their correlation with the judgments over `n` rows, from `folds` folds. `without` has
    r when one system, one item or one row (cell) is left out, for each of them."""

    unseen: Unseen
    scores: Floats
    r: float
    n: int
    folds: int
    without: TwoWayJackknife

    @property
    def estimate(self) -> Estimate:
        """r with its interval and p-value, for other systems, other items or both."""
        generalize = GENERALIZES_TO[self.unseen]
        with np.errstate(divide="ignore", invalid="ignore"):
            z = TwoWayJackknife(
                np.arctanh(self.without.systems),
                np.arctanh(self.without.items),
                np.arctanh(self.without.cells),
            )
            error = z.error(generalize)
        return student_estimate(
            self.r,
            error,
            z.freedom(generalize),
            scale=FISHER_Z,
            method=z.why_too_few(generalize) or "two-way jackknife",
            n=self.n,
        )

    def minus(self, other: HeldOut) -> Estimate:
        """r minus the r of other models on the same rows, with interval and p-value."""
        generalize = GENERALIZES_TO[self.unseen]
        difference = self.without - other.without
        return student_estimate(
            self.r - other.r,
            difference.error(generalize),
            difference.freedom(generalize),
            method=difference.why_too_few(generalize) or "two-way jackknife",
            n=self.n,
        )


def held_out(
    y: Floats,
    x: Floats,
    *,
    systems: Sequence[str],
    items: Sequence[str],
    learn: Learn,
    unseen: Unseen,
    folds: int,
    seed: int,
) -> HeldOut:
    """Cross-validates the models that `learn` chooses, on judgments y (n) and predictors x (n, k);
    `systems` and `items` name those of each row, and `unseen` says what is held out.

    Items go into at most `folds` folds at random. Each system is a fold of its own; but where systems
    and items are held out together, systems go into at most `folds` folds, too."""
    rows = RowProducts.of(y, x)
    system_of, item_of = sorted_places_of(systems), sorted_places_of(items)
    grid = _Grid.of(system_of, item_of, unseen, folds, seed)
    scores = np.full(len(y), np.nan)
    by_system = _UnitSums.of(rows, system_of, grid.systems, grid.items)
    by_item = _UnitSums.of(rows, item_of, grid.items, grid.systems)
    systems_moments = np.zeros((len(by_system.sums), N_MOMENTS))
    items_moments = np.zeros((len(by_item.sums), N_MOMENTS))
    n_folds = 0
    for fold_of_systems, fold_of_items in grid.folds():
        is_held_out, is_training = grid.rows(fold_of_systems, fold_of_items)
        if not is_held_out.any():
            continue
        n_folds += 1
        try:
            model = learn(y[is_training], x[is_training])
        except InputError:
            continue
        slopes = _standard_slopes(rows, model, rows.products[is_training].sum(axis=0))
        scores[is_held_out] = rows.x[is_held_out][:, list(model.columns)] @ slopes
        systems_moments += by_system.moments(rows, model, fold_of_systems, fold_of_items)
        items_moments += by_item.moments(rows, model, fold_of_items, fold_of_systems)
    is_scored = np.isfinite(scores)
    moments = _moments(rows.y[is_scored], scores[is_scored])
    total = moments.sum(axis=0)
    without = TwoWayJackknife(_r(systems_moments), _r(items_moments), _r(total - moments))
    return HeldOut(unseen, scores, float(_r(total)), int(is_scored.sum()), n_folds, without)


def leave_one_out_r(y: Floats, x: Floats, model: RegressionColumns) -> tuple[float, int]:
    """r of the rows' scores, each by the model fitted without that row; and the number of rows."""
    rows = RowProducts.of(y, x)
    slopes = _standard_slopes(rows, model, rows.total - rows.products)
    scores = (slopes * rows.x[:, list(model.columns)]).sum(axis=1)
    is_scored = np.isfinite(scores)
    total = _moments(rows.y[is_scored], scores[is_scored]).sum(axis=0)
    return float(_r(total)), int(is_scored.sum())


MIN_EXPLAINED_SHARE = 1e-20
"""Where the variance of predicted values is a smaller share of the variance of the judgments, these
values differ by rounding only: judgments and predictors have a covariance of 0."""


def _standard_slopes(rows: RowProducts, model: RegressionColumns, sums: Floats) -> Floats:
    """The slopes of a fit to rows with these summed products, scaled so that the scores of all rows
    have standard deviation 1 (their mean is 0); NaN where there is no fit, or all scores are equal
    but for rounding."""
    slopes = rows.coefficients(sums, model.columns, model.penalties)[..., 1:]
    places = [column + 1 for column in model.columns]
    squares = rows.total[places][:, places]
    variance = np.einsum("...i,ij,...j->...", slopes, squares, slopes) / len(rows.y)
    variance = np.where(variance > MIN_EXPLAINED_SHARE * rows.y.var(), variance, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(slopes / np.sqrt(variance)[..., None], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Axis:
    """The folds of the rows by their systems, or by their items. `fold_of` has the number of each row's
    fold. If `is_held_out`, each fold is held out in turn, and models are trained on the other folds. If
    not, all rows are in one fold: models are trained on it, and predict it."""

    is_held_out: bool
    fold_of: Places

    @property
    def n(self) -> int:
        """The number of folds."""
        return int(self.fold_of.max()) + 1

    def is_in(self, fold: int) -> NDArray[np.bool_]:
        """Which rows this fold has."""
        return np.asarray(self.fold_of == fold)

    def is_training(self, fold: int) -> NDArray[np.bool_]:
        """Which rows the models that predict this fold are trained on."""
        return ~self.is_in(fold) if self.is_held_out else self.is_in(fold)


@dataclass(frozen=True, eq=False)
class _Grid:
    """Which rows are held out by a fold of systems and a fold of items together, and which rows the
    models are trained on."""

    systems: _Axis
    items: _Axis

    @classmethod
    def of(cls, system_of: Places, item_of: Places, unseen: Unseen, folds: int, seed: int) -> _Grid:
        """Random folds, from the numbers of each row's system and item; see `held_out`."""
        by_system, by_item = unseen != "item", unseen != "system"
        rng = np.random.default_rng(seed)
        n_items, n_systems = int(item_of.max()) + 1, int(system_of.max()) + 1
        item_fold = rng.permutation(n_items) % (folds if by_item else 1)
        n_system_folds = folds if by_item else n_systems
        system_fold = rng.permutation(n_systems) % (n_system_folds if by_system else 1)
        return cls(_Axis(by_system, system_fold[system_of]), _Axis(by_item, item_fold[item_of]))

    def folds(self) -> Iterator[tuple[int, int]]:
        return product(range(self.systems.n), range(self.items.n))

    def rows(
        self, fold_of_systems: int, fold_of_items: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The rows held out, and the rows that models are trained on."""
        held = self.systems.is_in(fold_of_systems) & self.items.is_in(fold_of_items)
        training = self.systems.is_training(fold_of_systems) & self.items.is_training(fold_of_items)
        return held, training


@dataclass(frozen=True, eq=False)
class _UnitSums:
    """Sums by unit (a system, or an item), from which the models and their r are computed that leave
    out one unit. `sums` has shape (units, folds of the other axis, k + 2, k + 2): the sums of
    `RowProducts` over the unit's rows in such a fold. The k + 2 are the constant, the k predictors,
    and y. `own` is the axis of these units, `other` the other one. `own.fold_of` has one entry for
    each unit, `other.fold_of` one for each row."""

    own: _Axis
    other: _Axis
    sums: Floats

    @classmethod
    def of(cls, rows: RowProducts, unit_of: Places, own: _Axis, other: _Axis) -> _UnitSums:
        """From the number of each row's unit. `own`, the axis of these units, here has the fold of each
        row, as `other` does."""
        n = int(unit_of.max()) + 1
        fold_of_unit = np.zeros(n, dtype=np.intp)
        fold_of_unit[unit_of] = own.fold_of
        sums = rows.sums(unit_of * other.n + other.fold_of, n * other.n)
        shaped = sums.reshape(n, other.n, *sums.shape[1:])
        return cls(_Axis(own.is_held_out, fold_of_unit), other, shaped)

    def moments(
        self, rows: RowProducts, model: RegressionColumns, own_fold: int, other_fold: int
    ) -> Floats:
        """For each unit, the moments of the rows that these two folds hold out together. The unit's
        rows are left out of the moments and of the fit of the model. The shape is (units,
        N_MOMENTS)."""
        all_folds, this_fold = self.sums.sum(axis=1), self.sums[:, other_fold]
        training_folds = all_folds - this_fold if self.other.is_held_out else this_fold
        training_sums = _leave_one_out_sums(training_folds, self.own.is_training(own_fold))
        held_sums = _leave_one_out_sums(this_fold, self.own.is_in(own_fold))
        slopes = _standard_slopes(rows, model, training_sums)
        inner = [column + 1 for column in model.columns]
        squares = held_sums[:, inner, :][:, :, inner]
        # The columns of `_moments`; a score is the sum of the slopes times the predictors.
        return np.column_stack(
            [
                held_sums[:, 0, 0],  # n
                held_sums[:, 0, -1],  # Σy
                (slopes * held_sums[:, 0, inner]).sum(axis=1),  # Σs
                held_sums[:, -1, -1],  # Σy²
                np.einsum("ui,uij,uj->u", slopes, squares, slopes),  # Σs²
                (slopes * held_sums[:, inner, -1]).sum(axis=1),  # Σys
            ]
        )


def _leave_one_out_sums(sums: Floats, is_included: NDArray[np.bool_]) -> Floats:
    """For each unit, the sum over all included units except itself."""
    included = np.where(is_included[:, None, None], sums, 0.0)
    return np.asarray(included.sum(axis=0) - included, dtype=np.float64)


N_MOMENTS = 6
"""The sums that give Pearson's r of judgments y and scores s: n, Σy, Σs, Σy², Σs² and Σys."""


def _moments(y: Floats, scores: Floats) -> Floats:
    """The terms that each row adds to the six sums: (rows, N_MOMENTS)."""
    return np.column_stack([np.ones(len(y)), y, scores, y**2, scores**2, y * scores])


def _r(moments: Floats) -> Floats:
    """Pearson's r from the sums (…, N_MOMENTS); NaN where there are fewer than three rows or no
    spread."""
    n, y, s, yy, ss, ys = np.moveaxis(moments, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt((n * yy - y**2) * (n * ss - s**2))
        # A smaller spread is rounding.
        r = np.where((n >= 3) & (spread > 1e-9 * n**2), (n * ys - y * s) / spread, np.nan)
    return np.clip(r, -1, 1)
