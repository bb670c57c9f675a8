"""Standard errors of a figure of two crossed kinds of units, such as systems × items, for other units.

A *figure* is any number computed from a table, such as a correlation of two tables; a *cell* is one
entry, such as the score of one system on one item. `TwoWayJackknife` is a figure without each system,
without each item and without each cell; `TableFigure` is a figure of a table of systems × items
together with these. The variance for other systems and other items is V(systems) + V(items) − V(cells),
as in Cameron, Gelbach & Miller (2011), but at least the greater of the first two.

Satterthwaite's degrees of freedom are too many where there are few units (with three judges, tests at
.05 reject up to .07 of true null hypotheses). So they are replaced by the geometric mean of themselves
and one less than the smaller number of units, if this mean is less. Where few units have large effects,
as with skewed scores, the variance is less certain than with normal effects, so the observed kurtosis
of the effects reduces the degrees of freedom (without that, with 20 skewed systems, tests at .05 reject
.09 of true null hypotheses).

Nothing is drawn at random. docs/results/agreement_calibration.md measures the intervals, from 4 systems
on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wellput.core.clusters import Clusters
from wellput.core.errors import counted
from wellput.core.estimates import Estimate, Generalize, holds_for_words
from wellput.core.metric import Floats
from wellput.stats.student import IDENTITY, ROUNDING_ERROR, Scale, student_estimate

if TYPE_CHECKING:
    from wellput.stats.clusters import ClusteredItems

MIN_UNITS = 4
"""With fewer systems, or items, there is no interval."""
MIN_UNITS_FOR_SATTERTHWAITE = 3
"""With fewer units of one kind, the degrees of freedom are one less than their number."""


def crossed_variance(
    rows: float, columns: float, cells: float, row_freedom: float, column_freedom: float
) -> tuple[float, float]:
    """The variance of a figure and its degrees of freedom, from the variances of leaving out rows,
    columns and single cells, and the degrees of freedom of the variances of rows and columns. NaN where
    there is only one row or column."""
    fewest = min(row_freedom, column_freedom)
    if fewest < 1:
        return math.nan, fewest
    variance = max(rows + columns - cells, rows, columns)
    spread_of_variance = rows**2 / row_freedom + columns**2 / column_freedom
    if fewest < MIN_UNITS_FOR_SATTERTHWAITE - 1 or not spread_of_variance > 0:
        return variance, fewest
    satterthwaite = variance**2 / spread_of_variance
    return variance, min(satterthwaite, math.sqrt(fewest * satterthwaite))


@dataclass(frozen=True, eq=False)
class TwoWayJackknife:
    """A figure without each system, each item, each cell: units on the last axis, NaN where
    undefined."""

    systems: Floats
    items: Floats
    cells: Floats
    item_freedom: float | None = None
    """Degrees of freedom of clusters that replace items. None: one less than the number of items."""
    unit: str = "item"
    """The word for an item, or for the cluster that replaces items, in messages."""

    def __sub__(self, other: TwoWayJackknife) -> TwoWayJackknife:
        return TwoWayJackknife(
            self.systems - other.systems, self.items - other.items, self.cells - other.cells
        )

    def at(self, place: int) -> TwoWayJackknife:
        """The figure at this place, where there are several on the first axis."""
        return TwoWayJackknife(self.systems[place], self.items[place], self.cells[place])

    def why_too_few(self, generalize: Generalize) -> str:
        """Why there are too few units for an interval; empty where there are enough."""
        counts = {"systems": self.systems.shape[-1], "items": self.items.shape[-1]}
        words = {"systems": "system", "items": self.unit}
        for units, n in counts.items():
            if generalize in (units, "both") and n < MIN_UNITS:
                number = counted(n, words[units])
                return f"{number} cannot show how others differ, it takes {MIN_UNITS}"
        return ""

    def freedom(self, generalize: Generalize) -> float:
        """Degrees of freedom of several figures together: one less than the smaller number of units."""
        systems, items = self.systems.shape[-1], self.items.shape[-1]
        units = {"systems": systems, "items": items, "both": min(systems, items)}
        return float(units[generalize] - 1)

    def error(self, generalize: Generalize) -> float:
        """The standard error of one figure; NaN where there are too few units, or where the figure is
        undefined without one of them."""
        if self.why_too_few(generalize):
            return math.nan
        return math.sqrt(self.variance(generalize)[0])

    def variance(self, generalize: Generalize) -> tuple[float, float]:
        """The variance of one figure and its degrees of freedom; NaN where it is undefined without a
        unit."""
        systems, items = jackknife_variance(self.systems), jackknife_variance(self.items)
        of_systems, of_items = jackknife_freedom(self.systems), jackknife_freedom(self.items)
        if self.item_freedom is not None:
            of_items = min(of_items, self.item_freedom)
        if generalize == "systems":
            return systems, of_systems
        if generalize == "items":
            return items, of_items
        return crossed_variance(
            systems, items, jackknife_variance(self.cells), of_systems, of_items
        )

    def covariances(self, generalize: Generalize) -> list[Floats]:
        """Covariance matrices of several figures, of which a test takes the one with the largest
        p-value; for a single figure, the largest is the square of its error. Empty where there are too
        few units, or where a figure is undefined."""
        if self.why_too_few(generalize):
            return []
        systems, items = _covariance(self.systems), _covariance(self.items)
        if generalize != "both":
            matrices = [systems if generalize == "systems" else items]
        else:
            matrices = [systems, items, systems + items - _covariance(self.cells)]
        return matrices if all(np.isfinite(matrix).all() for matrix in matrices) else []


def jackknife_variance(without: Floats) -> float:
    """The variance of a figure from its values without each unit (Efron & Tibshirani 1993, ch. 11); NaN
    where there are fewer than two units, or the figure is undefined without one of them."""
    n = len(without)
    if n < 2 or not np.isfinite(without).all():
        return math.nan
    return float((n - 1) / n * np.square(without - without.mean()).sum())


def jackknife_freedom(without: Floats) -> float:
    """Degrees of freedom of `jackknife_variance`: one less than the number of units where their effects
    look normally distributed, fewer where a few units have much larger effects. A variance of n values
    with the kurtosis k is as uncertain as one of normal values with 2 / (2 / (n − 1) + (k − 3) / n)
    degrees of freedom."""
    n = len(without)
    if not jackknife_variance(without) > 0:
        return n - 1.0
    squares = np.square(without - without.mean())
    surplus = float(np.square(squares / squares.sum()).sum()) - 3 / n
    return max(1.0, 2 / (2 / (n - 1) + max(surplus, 0.0)))


def _covariance(without: Floats) -> Floats:
    """The jackknife's covariance matrix of several figures, from their values without each unit."""
    n = without.shape[-1]
    deviations = without - without.mean(axis=-1, keepdims=True)
    return np.asarray((n - 1) / n * deviations @ deviations.T, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class LeftOutClusters:
    """A figure of a table without each cluster of its items (`wholes`), and without each system's cells
    in the cluster (`cells`, systems × clusters). Clusters are in the order of their codes. Where
    nothing is left out, the entry is the figure itself."""

    wholes: Floats
    cells: Floats

    def __neg__(self) -> LeftOutClusters:
        return LeftOutClusters(-self.wholes, -self.cells)

    def __sub__(self, other: LeftOutClusters) -> LeftOutClusters:
        return LeftOutClusters(self.wholes - other.wholes, self.cells - other.cells)


@dataclass(frozen=True, eq=False)
class TableFigure:
    """A figure of a table (`value`, NaN where undefined), and the figure without each system, item and
    cell. `cells` is systems × items. Where a cell is not `present`, or an item has no cells, the entry
    is the figure itself. Where items have `clusters`, whole clusters are left out instead of items:
    `left_out` has the figure without each cluster. Where `left_out` is None, this is approximated from
    the changes by the cluster's items one by one, made a little larger because fewer items remain."""

    value: float
    systems: Floats
    items: Floats
    cells: Floats
    present: NDArray[np.bool_]
    clusters: Clusters | None = None
    left_out: LeftOutClusters | None = None

    def __neg__(self) -> TableFigure:
        return TableFigure(
            -self.value,
            -self.systems,
            -self.items,
            -self.cells,
            self.present,
            self.clusters,
            None if self.left_out is None else -self.left_out,
        )

    def __sub__(self, other: TableFigure) -> TableFigure:
        left_out = None
        if self.left_out is not None and other.left_out is not None:
            left_out = self.left_out - other.left_out
        return TableFigure(
            self.value - other.value,
            self.systems - other.systems,
            self.items - other.items,
            self.cells - other.cells,
            self.present & other.present,
            self.clusters,
            left_out,
        )

    @classmethod
    def mean(cls, figures: Sequence[TableFigure]) -> TableFigure:
        """The mean of several figures of one table, such as one for each document."""
        return cls(
            float(np.mean([figure.value for figure in figures])),
            np.mean([figure.systems for figure in figures], axis=0),
            np.mean([figure.items for figure in figures], axis=0),
            np.mean([figure.cells for figure in figures], axis=0),
            np.logical_or.reduce([figure.present for figure in figures]),
        )

    @property
    def n_systems(self) -> int:
        """How many systems have a cell."""
        return int(self.present.any(axis=1).sum())

    def estimate(
        self,
        *,
        generalize: Generalize = "both",
        null: float | None = 0.0,
        scale: Scale = IDENTITY,
        confidence: float = 0.95,
        n: int | None = None,
    ) -> Estimate:
        """The figure with its interval and p-value; where there are none, `method` says why."""
        if abs(self.value) >= 1 - ROUNDING_ERROR and scale is not IDENTITY:
            return self._without_interval("it is perfect, so no spread is seen", null, n)
        with np.errstate(divide="ignore", invalid="ignore"):
            without = self._without(scale)
        if reason := without.why_too_few(generalize):
            return self._without_interval(reason, null, n)
        variance, freedom = without.variance(generalize)
        if not (math.isfinite(variance) and variance > ROUNDING_ERROR**2):
            reason = "it is the same, or undefined, when single systems or items are left out"
            return self._without_interval(reason, null, n)
        return student_estimate(
            self.value,
            math.sqrt(variance),
            freedom,
            null=null,
            confidence=confidence,
            scale=scale,
            method=f"jackknife, {freedom:.1f} df, for {holds_for_words(generalize, self.clusters)}",
            n=n,
        )

    def _without(self, scale: Scale) -> TwoWayJackknife:
        """The figure without each system, item (or cluster of items) and cell, on a scale."""
        has_system, has_item = self.present.any(axis=1), self.present.any(axis=0)
        systems = scale.forward(self.systems[has_system])
        items = scale.forward(self.items[has_item])
        if self.clusters is None:
            return TwoWayJackknife(systems, items, scale.forward(self.cells[self.present]))
        from wellput.stats.clusters import ClusteredItems  # that module uses this one

        codes = self.clusters.codes[has_item]
        clusters = ClusteredItems.of(codes)
        cell_counts = clusters.sums(self.present[:, has_item].T.astype(np.float64)).T
        if self.left_out is None:
            wholes, cells = self._approximately_without(clusters, scale, cell_counts)
        else:
            used = np.unique(codes)
            wholes = scale.forward(self.left_out.wholes[used])
            cells = scale.forward(self.left_out.cells[:, used])
        influences = items - float(scale.forward(np.array(self.value)))
        is_measured = len(clusters.sizes) > 1 and np.isfinite(influences).all()
        return TwoWayJackknife(
            systems,
            wholes,
            cells[cell_counts > 0],
            clusters.freedom(influences) if is_measured else 0.0,
            self.clusters.unit,
        )

    def _approximately_without(
        self, clusters: ClusteredItems, scale: Scale, cell_counts: Floats
    ) -> tuple[Floats, Floats]:
        """The figure without each cluster, and without each system's cells in a cluster, on a scale.
        `cell_counts` (systems × clusters) is the number of these cells."""
        value = float(scale.forward(np.array(self.value)))
        present = self.present[:, self.present.any(axis=0)]
        n, n_cells = present.shape[1], float(present.sum())
        by_item = scale.forward(self.items[self.present.any(axis=0)]) - value
        by_cell = scale.forward(self.cells[:, self.present.any(axis=0)]) - value
        n_left = n - clusters.sizes.astype(np.float64)
        factor = (n - 1) / np.where(n_left > 0, n_left, np.nan)
        cells = clusters.sums(np.where(present, by_cell, 0.0).T).T
        return (
            value + clusters.sums(by_item) * factor,
            value + cells * (n_cells - 1) / np.maximum(n_cells - cell_counts, 1.0),
        )

    def _without_interval(self, reason: str, null: float | None, n: int | None) -> Estimate:
        return Estimate(self.value, method=f"no interval: {reason}", n=n, null=null)
