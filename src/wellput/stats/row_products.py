"""The noun `RowProducts`: rows of a regression as products that can be added and taken away.

A least-squares fit needs only sums of products of (1, x, y) with each other. The fit without a system,
or an item, comes from the sums without its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class RowProducts:
    """Rows with y centered and x centered and scaled by its standard deviation. `products` has those
    of (1, x, y) with each other, shape (rows, k + 2, k + 2), `total` their sum."""

    y: Floats
    x: Floats
    mean: Floats
    scale: Floats
    y_mean: float
    products: Floats
    total: Floats

    @classmethod
    def of(cls, y: Floats, x: Floats) -> RowProducts:
        mean, spread = x.mean(axis=0), x.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        standard, centered = (x - mean) / scale, y - y.mean()
        row = np.column_stack([np.ones(len(y)), standard, centered])
        products = row[:, :, None] * row[:, None, :]
        total = products.sum(axis=0)
        return cls(centered, standard, mean, scale, float(y.mean()), products, total)

    def sums(self, unit_of: Places, n: int) -> Floats:
        """Summed over the rows of each of n units: (n, k + 2, k + 2)."""
        sums = np.zeros((n, *self.products.shape[1:]))
        order = np.argsort(unit_of, kind="stable")
        starts = np.flatnonzero(np.diff(unit_of[order], prepend=-1))
        sums[unit_of[order][starts]] = np.add.reduceat(self.products[order], starts, axis=0)
        return sums

    def without_each(self, unit_of: Places) -> Floats:
        """Summed over the rows of all units but one, in turn: (units, k + 2, k + 2)."""
        return self.total - self.sums(unit_of, int(unit_of.max()) + 1)

    def coefficients(
        self, sums: Floats, columns: Sequence[int], penalties: Floats | float = 0.0
    ) -> Floats:
        """Intercept and slopes, of the centered and scaled x, from sums of products: (…, 1 + columns).

        `penalties` are on the squared coefficients of x as it was given. NaN where a fit is singular.
        """
        places = [0, *(column + 1 for column in columns)]
        normal = sums[..., places, :][..., places]
        inner = np.arange(1, len(places))
        normal[..., inner, inner] += penalties / self.scale[list(columns)] ** 2
        right = sums[..., places, -1:]
        try:
            return np.asarray(np.linalg.solve(normal, right)[..., 0], dtype=np.float64)
        except np.linalg.LinAlgError:
            return np.full((*sums.shape[:-2], len(places)), np.nan)


def numbered(names: Sequence[str]) -> Places:
    """The place of each row's name among the different names."""
    return np.asarray(np.unique(np.asarray(names), return_inverse=True)[1], dtype=np.intp)
