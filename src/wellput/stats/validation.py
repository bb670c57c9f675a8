"""How well a linear model does on systems, items, or both, that it has not seen.

`HeldOut`: Pearson's r between judgments and scores by models that have not seen the
sentence's system, its item, or either. A model scores *all* rows, its scores are standardized over
them (mean 0, standard deviation 1), and those of the rows it has not seen are kept. Plain predictions
would be wrong: each contains the mean of the rows learned from, which is lower the higher the rows left
out are, so that r would be far below 0 where there is nothing to predict. Standardizing uses no
judgment of the rows left out, and r is then 0 on average where there is nothing to predict.

For the interval, systems and items are left out one by one and all models are fitted again, because the
models of other folds learned from them, too. The choices of a model (predictors, the penalty of a ridge
regression) are kept. Single cells are left out without a new fit, which makes the interval a little
wider.
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
"""The interval of r generalizes to the units that the models have not seen."""


@dataclass(frozen=True, eq=False)
class RegressionColumns:
    """Which columns of x a model uses, and the penalty on the square of each coefficient."""

    columns: Sequence[int]
    penalties: Floats


Learn: TypeAlias = Callable[[Floats, Floats], RegressionColumns]
"""Chooses a model from rows (y, x); raises InputError where it cannot."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """`scores` are the rows' scores by models that have not seen them, NaN where no model was
    fitted."""

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
            method=z.too_few(generalize) or "two-way jackknife",
            n=self.n,
        )

    def minus(self, other: HeldOut) -> Estimate:
        """How much higher r is than the r of other models on the same rows."""
        generalize = GENERALIZES_TO[self.unseen]
        apart = self.without - other.without
        return student_estimate(
            self.r - other.r,
            apart.error(generalize),
            apart.freedom(generalize),
            method=apart.too_few(generalize) or "two-way jackknife",
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
    """Items go into at most `folds` folds at random. Each system is a fold of its own; but where
    systems and items are left out together, systems go into at most `folds` folds, too."""
    rows = RowProducts.of(y, x)
    system_of, item_of = sorted_places_of(systems), sorted_places_of(items)
    grid = _Grid.of(system_of, item_of, unseen, folds, seed)
    scores = np.full(len(y), np.nan)
    by_system = _UnitSums.of(rows, system_of, grid.systems, grid.items)
    by_item = _UnitSums.of(rows, item_of, grid.items, grid.systems)
    systems_moments = np.zeros((len(by_system.sums), 6))
    items_moments = np.zeros((len(by_item.sums), 6))
    tried = 0
    for fold_of_systems, fold_of_items in grid.folds():
        held, seen = grid.rows(fold_of_systems, fold_of_items)
        if not held.any():
            continue
        tried += 1
        try:
            model = learn(y[seen], x[seen])
        except InputError:
            continue
        slopes = _standard_slopes(rows, model, rows.products[seen].sum(axis=0))
        scores[held] = rows.x[held][:, list(model.columns)] @ slopes
        systems_moments += by_system.moments(rows, model, fold_of_systems, fold_of_items)
        items_moments += by_item.moments(rows, model, fold_of_items, fold_of_systems)
    there = np.isfinite(scores)
    moments = _moments(rows.y[there], scores[there])
    total = moments.sum(axis=0)
    without = TwoWayJackknife(_r(systems_moments), _r(items_moments), _r(total - moments))
    return HeldOut(unseen, scores, float(_r(total)), int(there.sum()), tried, without)


def leave_one_out_r(y: Floats, x: Floats, model: RegressionColumns) -> tuple[float, int]:
    """r of the rows' scores, each by the model fitted without that row; and the number of rows."""
    rows = RowProducts.of(y, x)
    slopes = _standard_slopes(rows, model, rows.total - rows.products)
    scores = (slopes * rows.x[:, list(model.columns)]).sum(axis=1)
    there = np.isfinite(scores)
    total = _moments(rows.y[there], scores[there]).sum(axis=0)
    return float(_r(total)), int(there.sum())


def _standard_slopes(rows: RowProducts, model: RegressionColumns, sums: Floats) -> Floats:
    """The slopes of a fit to rows with these summed products, scaled so that the scores of all rows
    have standard deviation 1 (their mean is 0); NaN where there is no fit, or all scores are
    equal."""
    slopes = rows.coefficients(sums, model.columns, model.penalties)[..., 1:]
    places = [column + 1 for column in model.columns]
    squares = rows.total[places][:, places]
    variance = np.einsum("...i,ij,...j->...", slopes, squares, slopes) / len(rows.y)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(slopes / np.sqrt(variance)[..., None], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Axis:
    """The folds of the rows by their systems, or by their items. `is_split`: these units are left out;
    otherwise there is one fold, and models see it."""

    is_split: bool
    fold_of: Places

    @property
    def n(self) -> int:
        return int(self.fold_of.max()) + 1

    def held(self, fold: int) -> NDArray[np.bool_]:
        return np.asarray(self.fold_of == fold)

    def seen(self, fold: int) -> NDArray[np.bool_]:
        return ~self.held(fold) if self.is_split else self.held(fold)


@dataclass(frozen=True, eq=False)
class _Grid:
    """Which rows a fold of systems and a fold of items hold out, and which rows models learn from."""

    systems: _Axis
    items: _Axis

    @classmethod
    def of(cls, system_of: Places, item_of: Places, unseen: Unseen, folds: int, seed: int) -> _Grid:
        by_system, by_item = unseen != "item", unseen != "system"
        rng = np.random.default_rng(seed)
        n_items, n_systems = int(item_of.max()) + 1, int(system_of.max()) + 1
        item_fold = rng.permutation(n_items) % (folds if by_item else 1)
        most = folds if by_item else n_systems
        system_fold = rng.permutation(n_systems) % (most if by_system else 1)
        return cls(_Axis(by_system, system_fold[system_of]), _Axis(by_item, item_fold[item_of]))

    def folds(self) -> Iterator[tuple[int, int]]:
        return product(range(self.systems.n), range(self.items.n))

    def rows(self, system: int, item: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The rows held out, and the rows seen."""
        held = self.systems.held(system) & self.items.held(item)
        return held, self.systems.seen(system) & self.items.seen(item)


@dataclass(frozen=True, eq=False)
class _UnitSums:
    """The fits and scores without each unit (a system, or an item). `sums` are the sums of the products
    of its rows, by the fold of the other axis: (units, other folds, k + 2, k + 2)."""

    own: _Axis
    other: _Axis
    sums: Floats

    @classmethod
    def of(cls, rows: RowProducts, unit_of: Places, own: _Axis, other: _Axis) -> _UnitSums:
        n = int(unit_of.max()) + 1
        fold_of_unit = np.zeros(n, dtype=np.intp)
        fold_of_unit[unit_of] = own.fold_of
        sums = rows.sums(unit_of * other.n + other.fold_of, n * other.n)
        shaped = sums.reshape(n, other.n, *sums.shape[1:])
        return cls(_Axis(own.is_split, fold_of_unit), other, shaped)

    def moments(self, rows: RowProducts, model: RegressionColumns, own: int, other: int) -> Floats:
        """The moments of the rows that this fold holds out, without each unit's rows: (units, 6)."""
        all_folds, this_fold = self.sums.sum(axis=1), self.sums[:, other]
        learned = all_folds - this_fold if self.other.is_split else this_fold
        seen = _without_each(learned, self.own.seen(own))
        held = _without_each(this_fold, self.own.held(own))
        slopes = _standard_slopes(rows, model, seen)
        inner = [column + 1 for column in model.columns]
        squares = held[:, inner, :][:, :, inner]
        return np.column_stack(
            [
                held[:, 0, 0],
                held[:, 0, -1],
                (slopes * held[:, 0, inner]).sum(axis=1),
                held[:, -1, -1],
                np.einsum("ui,uij,uj->u", slopes, squares, slopes),
                (slopes * held[:, inner, -1]).sum(axis=1),
            ]
        )


def _without_each(sums: Floats, units: NDArray[np.bool_]) -> Floats:
    """The sums over these units, without each unit."""
    counted = np.where(units[:, None, None], sums, 0.0)
    return np.asarray(counted.sum(axis=0) - counted, dtype=np.float64)


def _moments(y: Floats, scores: Floats) -> Floats:
    """The terms whose sums give r, one row each: (rows, 6)."""
    return np.column_stack([np.ones(len(y)), y, scores, y**2, scores**2, y * scores])


def _r(moments: Floats) -> Floats:
    """Pearson's r from the sums (…, 6); NaN where there are fewer than three rows or no spread."""
    n, y, s, yy, ss, ys = np.moveaxis(moments, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt((n * yy - y**2) * (n * ss - s**2))
        r = np.where((n >= 3) & (spread > 1e-9 * n**2), (n * ys - y * s) / spread, np.nan)
    return np.clip(r, -1, 1)
