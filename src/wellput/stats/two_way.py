"""How far a figure made from systems × items holds for others: the two-way jackknife.

The noun is `LeftOut`: a figure computed again without each system, without each item and without each
cell. Its variance for other systems and other items is V(systems) + V(items) − V(cells), as Cameron,
Gelbach & Miller (2011) add and subtract it, and not less than the greater of the first two; Student's t
has one degree of freedom fewer than there are systems or items, whichever are fewer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wellput.core.generalize import Generalize
from wellput.core.metric import Floats

MIN_UNITS = 4
"""Fewer systems, or items, say nothing about others."""


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
                return f"{n} {unit}{'' if n == 1 else 's'} cannot show how other {unit}s differ"
        return ""

    def freedom(self, generalize: Generalize) -> float:
        """Degrees of freedom of the error."""
        systems, items = self.systems.shape[-1], self.items.shape[-1]
        units = {"systems": systems, "items": items, "both": min(systems, items)}
        return float(units[generalize] - 1)

    def error(self, generalize: Generalize) -> float:
        """The standard error of one figure; NaN where there are too few units to tell, or leaving one
        of them out leaves the figure undefined."""
        if self.too_few(generalize):
            return math.nan
        systems, items = _variance(self.systems), _variance(self.items)
        if generalize != "both":
            return math.sqrt(systems if generalize == "systems" else items)
        combined = systems + items - _variance(self.cells)
        return math.sqrt(max(combined, systems, items)) if np.isfinite(combined) else math.nan

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
    return float((n - 1) / n * np.square(without - without.mean()).sum())


def _covariance(without: Floats) -> Floats:
    n = without.shape[-1]
    apart = without - without.mean(axis=-1, keepdims=True)
    return np.asarray((n - 1) / n * apart @ apart.T, dtype=np.float64)
