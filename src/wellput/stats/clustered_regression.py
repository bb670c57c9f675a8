"""Coefficients of a regression on outputs that share systems and items.

The usual standard errors assume that rows are independent. Rows of the same system, or of the same
item, are not. This module has:

- `ClusteredCoefficients`: each coefficient with an interval and a p-value that hold for other systems
  and other items. They come from fits without each system, each item and each row
  (`two_way_jackknife`).
- `RowProducts`: for each row of data, the products of its numbers (1, x, y) with each other. A
  least-squares fit needs only the sums of these products, so the fit without a system, or an item,
  needs only the sums without its rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput.core.clusters import Places, sorted_places_of
from wellput.core.estimates import Estimate, Generalize
from wellput.core.metric import Floats
from wellput.stats.student import student_estimate
from wellput.stats.two_way_jackknife import TwoWayJackknife

MIN_EIGENVALUE = 1e-10
"""If an eigenvalue of a correlation matrix (of the columns, or of the slopes' errors) is smaller, the
columns or slopes are taken as linearly dependent."""

MIN_VARIANCE_SHARE = 1e-10
"""If a column's variance in the rows of a fit is a smaller share than this of its variance in all rows,
it is rounding: the column is constant in these rows. So is y, if this holds for its sum of squares."""


@dataclass(frozen=True, eq=False)
class RowProducts:
    """The rows of a regression of y on the k columns of x.

    `y` is centered, by `y_mean`; `x` (rows, k) is centered by `mean` and divided by `scale`, the
    columns' standard deviations. `products` are those of (1, x, y) with each other, shape
    (rows, k + 2, k + 2); `total` is their sum over the rows."""

    y: Floats
    x: Floats
    mean: Floats
    scale: Floats
    y_mean: float
    products: Floats
    total: Floats

    @classmethod
    def of(cls, y: Floats, x: Floats) -> RowProducts:
        """From y (rows) and x (rows, k) as they were observed."""
        mean, spread = x.mean(axis=0), x.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        standard, centered = (x - mean) / scale, y - y.mean()
        row = np.column_stack([np.ones(len(y)), standard, centered])
        products = row[:, :, None] * row[:, None, :]
        total = products.sum(axis=0)
        return cls(centered, standard, mean, scale, float(y.mean()), products, total)

    def sums(self, unit_of: Places, n: int) -> Floats:
        """The products summed over the rows of each of n units (systems or items): (n, k + 2, k + 2).
        `unit_of` has the number of each row's unit, from 0."""
        sums = np.zeros((n, *self.products.shape[1:]))
        order = np.argsort(unit_of, kind="stable")
        starts = np.flatnonzero(np.diff(unit_of[order], prepend=-1))
        sums[unit_of[order][starts]] = np.add.reduceat(self.products[order], starts, axis=0)
        return sums

    def without_each(self, unit_of: Places) -> Floats:
        """For each unit, the products summed over all rows except the unit's: (units, k + 2, k + 2)."""
        return self.total - self.sums(unit_of, int(unit_of.max()) + 1)

    def coefficients(
        self, sums: Floats, columns: Sequence[int], penalties: Floats | float = 0.0
    ) -> Floats:
        """The intercept and the slopes of the chosen `columns` of the centered and scaled x, from sums
        of products (…, k + 2, k + 2); the result is (…, 1 + number of columns).

        `penalties`, as in ridge regression, apply to the squared coefficients of the original x. NaN
        where the columns are constant or linearly dependent in the rows of a fit. Where y is constant,
        the slopes are 0.
        """
        places = [0, *(column + 1 for column in columns)]
        normal = sums[..., places, :][..., places]
        slope_places = np.arange(1, len(places))
        normal[..., slope_places, slope_places] += penalties / self.scale[list(columns)] ** 2
        is_singular = _are_dependent(normal)
        normal[is_singular] = np.eye(len(places))
        found = np.linalg.solve(normal, sums[..., places, -1:])[..., 0]
        n, y, yy = sums[..., 0, 0], sums[..., 0, -1], sums[..., -1, -1]
        is_y_constant = yy - y**2 / np.maximum(n, 1.0) <= MIN_VARIANCE_SHARE * self.total[-1, -1]
        found[..., 1:][is_y_constant] = 0.0
        found[is_singular] = np.nan
        return np.asarray(found, dtype=np.float64)


def _are_dependent(normal: Floats) -> NDArray[np.bool_]:
    """Whether the columns of each fit are constant or linearly dependent, from its normal equations
    (…, 1 + k, 1 + k), in which each column has about standard deviation 1 over all rows."""
    n, sums = normal[..., 0, 0], normal[..., 0, 1:]
    count = np.maximum(n, 1.0)[..., None]
    covariance = normal[..., 1:, 1:] / count[..., None]
    covariance -= (sums / count)[..., :, None] * (sums / count)[..., None, :]
    variances = np.diagonal(covariance, axis1=-2, axis2=-1)
    is_constant = (variances <= MIN_VARIANCE_SHARE).any(axis=-1) | (n < 1)
    scale = np.sqrt(np.where(variances > MIN_VARIANCE_SHARE, variances, 1.0))
    correlation = covariance / (scale[..., :, None] * scale[..., None, :])
    if not sums.shape[-1]:
        return np.asarray(is_constant)
    return np.asarray(is_constant | (np.linalg.eigvalsh(correlation)[..., 0] < MIN_EIGENVALUE))


@dataclass(frozen=True, eq=False)
class ClusteredCoefficients:
    """The intercept and the coefficients, their standard errors with `freedom` degrees of freedom, and
    the p-value that all coefficients are 0 (Hotelling's T²). Where there is no interval, `reason` says
    why, and errors and p are NaN."""

    generalize: Generalize
    intercept: Estimate
    intercept_error: float
    coefficients: tuple[Estimate, ...]
    errors: Floats
    freedom: float
    p_value: float
    reason: str = ""


def clustered_coefficients(
    y: Floats,
    x: Floats,
    *,
    systems: Sequence[str],
    items: Sequence[str],
    generalize: Generalize = "both",
) -> ClusteredCoefficients:
    """Least squares of y (n) on the columns of x (n, k); `systems` and `items` name the system and the
    item of each row. The intervals hold for what `generalize` says: other systems, items, or both."""
    rows = RowProducts.of(y, x)
    columns = range(x.shape[1])

    def fitted(sums: Floats) -> Floats:
        """(1 + k, …): the intercept first, then the coefficients of the original x."""
        scaled = rows.coefficients(sums, columns)
        slopes = scaled[..., 1:] / rows.scale
        intercept = rows.y_mean + scaled[..., 0] - slopes @ rows.mean
        return np.asarray([intercept, *np.moveaxis(slopes, -1, 0)], dtype=np.float64)

    values = fitted(rows.total)
    without = TwoWayJackknife(
        fitted(rows.without_each(sorted_places_of(systems))),
        fitted(rows.without_each(sorted_places_of(items))),
        fitted(rows.total - rows.products),
    )
    reason = without.why_too_few(generalize)
    freedom = without.freedom(generalize)
    errors = np.array([without.at(place).error(generalize) for place in range(len(values))])
    if not reason and not np.isfinite(errors).all():
        reason = "a coefficient depends on a single system or item"
    estimates = [
        student_estimate(
            float(value), float(error), freedom, method=reason or "two-way jackknife", n=len(y)
        )
        for value, error in zip(values, errors, strict=True)
    ]
    slopes_without = TwoWayJackknife(without.systems[1:], without.items[1:], without.cells[1:])
    return ClusteredCoefficients(
        generalize,
        estimates[0],
        float(errors[0]),
        tuple(estimates[1:]),
        errors[1:],
        freedom,
        _all_zero(values[1:], slopes_without.covariances(generalize), freedom),
        reason,
    )


def _all_zero(slopes: Floats, covariances: Sequence[Floats], freedom: float) -> float:
    """The p-value that all slopes are 0: the largest of the p-values that the covariance matrices (see
    `TwoWayJackknife.covariances`) give. NaN where there are more coefficients than degrees of freedom.
    For one coefficient it is the p-value of its t-test."""
    from scipy.special import fdtrc

    k = len(slopes)
    denominator_freedom = freedom - k + 1
    if not covariances or not k or denominator_freedom < 1:
        return math.nan
    p_values = [0.0]
    for covariance in covariances:
        t_squared = squared_distance(slopes, covariance)
        if t_squared is None:
            continue
        p_values.append(
            float(fdtrc(k, denominator_freedom, t_squared * denominator_freedom / (k * freedom)))
        )
    return max(p_values) if len(p_values) > 1 else math.nan


def squared_distance(slopes: Floats, covariance: Floats) -> float | None:
    """The squared distance of the slopes from 0 in units of their errors (Mahalanobis's). None where
    the matrix is not a covariance matrix, or where the slopes are linearly dependent."""
    with np.errstate(invalid="ignore"):
        errors = np.sqrt(np.diag(covariance))
    if not (errors > 0).all():
        return None
    eigenvalues, vectors = np.linalg.eigh(covariance / np.outer(errors, errors))
    if eigenvalues[0] <= MIN_EIGENVALUE:
        return None
    return float(((vectors.T @ (slopes / errors)) ** 2 / eigenvalues).sum())
