"""How far a figure from a table of systems × items holds for other systems and other items.

The noun is `LeftOut`: the figure, and the same figure without each system, each item and each cell. Its
variance is that of a two-way jackknife, V(systems) + V(items) − V(cells), and not less than the greater
of the first two (Cameron, Gelbach & Miller 2011 subtract in the same way), with Satterthwaite's degrees
of freedom. Nothing is drawn at random. How well it keeps its word, from 4 systems on, is measured in
docs/results/agreement_calibration.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput.core.generalize import WORDS, Generalize
from wellput.core.metric import Floats
from wellput.core.table import Estimate
from wellput.stats.student import IDENTITY, Scale, student_estimate

MIN_SYSTEMS = 4
"""With fewer systems no interval can claim to hold for others: there is none."""
MIN_UNITS_FOR_SATTERTHWAITE = 3


@dataclass(frozen=True, eq=False)
class LeftOut:
    """A figure, and the same without each of the systems, of the items and of the cells; NaN where it
    is undefined. `cells` is systems × items, with the figure itself where a cell is missing: nothing
    changes without it. So is `items` for an item without cells."""

    value: float
    systems: Floats
    items: Floats
    cells: Floats

    def __sub__(self, other: LeftOut) -> LeftOut:
        return LeftOut(
            self.value - other.value,
            self.systems - other.systems,
            self.items - other.items,
            self.cells - other.cells,
        )

    @classmethod
    def mean(cls, figures: Sequence[LeftOut]) -> LeftOut:
        """The mean of figures of one table, such as one for each document."""
        return cls(
            float(np.mean([one.value for one in figures])),
            np.mean([one.systems for one in figures], axis=0),
            np.mean([one.items for one in figures], axis=0),
            np.mean([one.cells for one in figures], axis=0),
        )

    def estimate(
        self,
        *,
        present: NDArray[np.bool_],
        generalize: Generalize = "both",
        null: float | None = 0.0,
        scale: Scale = IDENTITY,
        confidence: float = 0.95,
        n: int | None = None,
    ) -> Estimate:
        """The figure with its interval and p-value; where there are none, `method` says why.

        `present` is True for the cells that the figure is made of.
        """
        if abs(self.value) == 1 and scale is not IDENTITY:
            return Estimate(
                self.value, method="no interval: nothing departs from it", n=n, null=null
            )
        n_systems, n_items = int(present.any(axis=1).sum()), int(present.any(axis=0).sum())
        if generalize != "items" and n_systems < MIN_SYSTEMS:
            return Estimate(self.value, method=too_few_systems(n_systems), n=n, null=null)
        with np.errstate(divide="ignore"):
            systems, items, cells = (
                _variance(scale.forward(values))
                for values in (
                    self.systems[present.any(axis=1)],
                    self.items[present.any(axis=0)],
                    self.cells[present],
                )
            )
        if generalize == "systems" or n_items < 2:
            variance, freedom = systems, n_systems - 1.0
        elif generalize == "items":
            variance, freedom = items, n_items - 1.0
        else:
            variance, freedom = two_way_variance(systems, items, cells, n_systems, n_items)
        if not (math.isfinite(variance) and variance > 0):
            reason = "the figure is the same or undefined when single systems or items are left out"
            return Estimate(self.value, method=f"no interval: {reason}", n=n, null=null)
        return student_estimate(
            self.value,
            math.sqrt(variance),
            freedom,
            null=null,
            confidence=confidence,
            scale=scale,
            method=f"jackknife, {freedom:.1f} df, for {WORDS[generalize]}",
            n=n,
        )


def two_way_variance(
    rows: float, columns: float, cells: float, n_rows: int, n_columns: int
) -> tuple[float, float]:
    """The variance over two crossed kinds of units, and its degrees of freedom."""
    variance = max(rows + columns - cells, rows, columns)
    fewest = min(n_rows, n_columns)
    if fewest < MIN_UNITS_FOR_SATTERTHWAITE or not variance > 0:
        return variance, fewest - 1.0
    spread = rows**2 / (n_rows - 1) + columns**2 / (n_columns - 1)
    return variance, variance**2 / spread


def too_few_systems(n_systems: int) -> str:
    """Why there is no interval for other systems."""
    return f"no interval: {n_systems} systems say nothing of others, it takes {MIN_SYSTEMS}"


def _variance(without: Floats) -> float:
    """Of the jackknife; NaN where a value is undefined."""
    n = len(without)
    if n < 2 or not np.isfinite(without).all():
        return math.nan
    return float((n - 1) / n * ((without - without.mean()) ** 2).sum())
