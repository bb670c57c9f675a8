"""How far a figure of two crossed kinds of units, such as judges × items, holds for other units.

The noun is `LeftOut`: a figure computed again without each system, without each item and without each
cell. Its variance for other systems and other items is that of a two-way jackknife, V(systems) +
V(items) − V(cells), as Cameron, Gelbach & Miller (2011) add and subtract it, and not less than the
greater of the first two.

Satterthwaite's degrees of freedom are too many where units are few (three judges: type I up to .07);
in their place is the geometric mean of his and those of the smaller number of units, if that is less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wellput.core.counted import counted
from wellput.core.generalize import Generalize
from wellput.core.metric import Floats

MIN_UNITS = 4
"""Fewer systems, or items, say nothing about others."""
MIN_UNITS_FOR_SATTERTHWAITE = 3


def crossed_variance(
    rows: float, columns: float, cells: float, n_rows: int, n_columns: int
) -> tuple[float, float]:
    """The variance of a figure and its degrees of freedom, from the variances when rows, columns and
    single cells are left out; at least two rows and two columns."""
    variances, freedoms = crossed_variances(
        np.array(rows), np.array(columns), np.array(cells), n_rows, n_columns
    )
    return float(variances), float(freedoms)


def crossed_variances(
    rows: Floats, columns: Floats, cells: Floats, n_rows: int, n_columns: int
) -> tuple[Floats, Floats]:
    """The same of many figures at once."""
    variances = np.maximum(rows + columns - cells, np.maximum(rows, columns))
    fewest = min(n_rows, n_columns) - 1.0
    freedoms = np.full(np.shape(variances), fewest)
    if fewest >= MIN_UNITS_FOR_SATTERTHWAITE - 1:
        spread = rows**2 / (n_rows - 1) + columns**2 / (n_columns - 1)
        satterthwaite = np.divide(variances**2, spread, out=freedoms.copy(), where=spread > 0)
        freedoms = np.minimum(satterthwaite, np.sqrt(fewest * satterthwaite))
    return variances, freedoms


@dataclass(frozen=True, eq=False)
class LeftOut:
    """A figure without each system, each item, each cell: last axis the units, NaN where undefined."""

    systems: Floats
    items: Floats
    cells: Floats

    def __sub__(self, other: LeftOut) -> LeftOut:
        return LeftOut(
            self.systems - other.systems, self.items - other.items, self.cells - other.cells
        )

    def of(self, place: int) -> LeftOut:
        """One figure among several."""
        return LeftOut(self.systems[place], self.items[place], self.cells[place])

    def too_few(self, generalize: Generalize) -> str:
        """Why there is no interval, or nothing where there can be one."""
        counts = {"system": self.systems.shape[-1], "item": self.items.shape[-1]}
        for unit, n in counts.items():
            if generalize in (f"{unit}s", "both") and n < MIN_UNITS:
                return f"{counted(n, unit)} cannot show how others differ, it takes {MIN_UNITS}"
        return ""

    def freedom(self, generalize: Generalize) -> float:
        """Degrees of freedom of several figures together: of the smaller number of units."""
        systems, items = self.systems.shape[-1], self.items.shape[-1]
        units = {"systems": systems, "items": items, "both": min(systems, items)}
        return float(units[generalize] - 1)

    def error(self, generalize: Generalize) -> float:
        """The standard error of one figure; NaN where there are too few units to tell, or leaving one
        of them out leaves the figure undefined."""
        if self.too_few(generalize):
            return math.nan
        return math.sqrt(self.variance(generalize)[0])

    def variance(self, generalize: Generalize) -> tuple[float, float]:
        """Of one figure, with its own degrees of freedom; NaN where it is undefined without a unit."""
        systems, items = _variance(self.systems), _variance(self.items)
        n_systems, n_items = self.systems.shape[-1], self.items.shape[-1]
        if generalize == "systems":
            return systems, n_systems - 1.0
        if generalize == "items":
            return items, n_items - 1.0
        return crossed_variance(systems, items, _variance(self.cells), n_systems, n_items)

    def covariances(self, generalize: Generalize) -> list[Floats]:
        """Those of several figures, one of which is the widest: of one figure the largest is the
        square of its error. None where there are too few units, or a figure is undefined."""
        if self.too_few(generalize):
            return []
        systems, items = _covariance(self.systems), _covariance(self.items)
        if generalize != "both":
            found = [systems if generalize == "systems" else items]
        else:
            found = [systems, items, systems + items - _covariance(self.cells)]
        return found if all(np.isfinite(one).all() for one in found) else []


def _variance(without: Floats) -> float:
    n = without.shape[-1]
    if not np.isfinite(without).all():
        return math.nan
    return float((n - 1) / n * np.square(without - without.mean()).sum())


def _covariance(without: Floats) -> Floats:
    n = without.shape[-1]
    apart = without - without.mean(axis=-1, keepdims=True)
    return np.asarray((n - 1) / n * apart @ apart.T, dtype=np.float64)
