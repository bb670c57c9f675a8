"""The noun `TableFigure`: a figure of a table of systems × items, such as a correlation of two of them,
and the same figure without each system, each item and each cell.

Nothing is drawn at random. How well its intervals keep their word, from 4 systems on, is measured in
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
from wellput.stats.two_way import LeftOut


@dataclass(frozen=True, eq=False)
class TableFigure:
    """NaN where it is undefined. `cells` is systems × items, with the figure itself where a cell
    is not among the `present`: nothing changes without it. So is `items` for an item without cells."""

    value: float
    systems: Floats
    items: Floats
    cells: Floats
    present: NDArray[np.bool_]

    def __neg__(self) -> TableFigure:
        return TableFigure(-self.value, -self.systems, -self.items, -self.cells, self.present)

    def __sub__(self, other: TableFigure) -> TableFigure:
        return TableFigure(
            self.value - other.value,
            self.systems - other.systems,
            self.items - other.items,
            self.cells - other.cells,
            self.present & other.present,
        )

    @classmethod
    def mean(cls, figures: Sequence[TableFigure]) -> TableFigure:
        """The mean of figures of one table, such as one for each document."""
        return cls(
            float(np.mean([one.value for one in figures])),
            np.mean([one.systems for one in figures], axis=0),
            np.mean([one.items for one in figures], axis=0),
            np.mean([one.cells for one in figures], axis=0),
            np.logical_or.reduce([one.present for one in figures]),
        )

    @property
    def n_systems(self) -> int:
        """Those with a cell."""
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
        if abs(self.value) == 1 and scale is not IDENTITY:
            return self._without_interval("nothing departs from it", null, n)
        with np.errstate(divide="ignore", invalid="ignore"):
            without = LeftOut(
                scale.forward(self.systems[self.present.any(axis=1)]),
                scale.forward(self.items[self.present.any(axis=0)]),
                scale.forward(self.cells[self.present]),
            )
        if reason := without.too_few(generalize):
            return self._without_interval(reason, null, n)
        variance, freedom = without.variance(generalize)
        if not (math.isfinite(variance) and variance > 0):
            reason = "it is the same, or undefined, when single systems or items are left out"
            return self._without_interval(reason, null, n)
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

    def _without_interval(self, reason: str, null: float | None, n: int | None) -> Estimate:
        return Estimate(self.value, method=f"no interval: {reason}", n=n, null=null)
