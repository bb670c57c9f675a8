"""A correlation with people: its interval, the difference of two correlations, and the chance level.

Intervals come from the correlation without each system, each item and each cell (`TableFigure`).
A kernel leaves single cells out without computing the correlation again. Leaving out an item of a
pooled rank correlation is approximated by the sum of the changes of its cells; the error is of the
order of the item's share of the data. Everything else is exact. The tie threshold of `acc-t` is kept:
at the threshold with the greatest accuracy, small changes of it change nothing.

`ChanceLevel` is what a metric that knows nothing about quality would reach: the null
distribution of a coefficient. The metric's scores keep their ties and what they share by system and by
item, but the systems' rows and the items' columns are exchanged at random against people's. A
correlation is then 0 on average. The chance level of a pairwise accuracy depends on the ties.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.estimates import Estimate, Generalize
from wellput.core.metric import Floats
from wellput.stats.correlation import (
    ACCURACY_COEFFICIENTS,
    Coefficient,
    Correlation,
    common_cells,
    correlation_value,
    system_means,
    takes_old_keywords,
    tie_threshold,
    why_undefined,
)
from wellput.stats.soft_accuracy import spa_leave_one_out
from wellput.stats.student import FISHER_Z, LOGIT, Scale, scale_of_pairs
from wellput.stats.two_way_jackknife import TableFigure
from wellput.stats.undefined_values import ratios, undefined

CHANCE_EXCHANGES = 200


@dataclass(frozen=True, slots=True)
class ChanceLevel:
    """The chance level, and the middle 95% of what chance gives; None where it is unknown."""

    null: float | None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, found: Floats, coefficient: Coefficient) -> ChanceLevel:
        """From the coefficients of exchanges, NaN where undefined."""
        defined = found[np.isfinite(found)]
        null = None if coefficient in ACCURACY_COEFFICIENTS else 0.0
        if len(defined) < len(found) / 2:
            return cls(null)
        low, high = np.quantile(defined, [0.025, 0.975])
        return cls(float(defined.mean()) if null is None else null, float(low), float(high))


def chance_of_segments(
    x: Floats,
    z: Floats,
    correlation: Correlation,
    *,
    exchanges: int = CHANCE_EXCHANGES,
    seed: int = 12345,
    threads: int = 1,
) -> ChanceLevel:
    """The chance level of a correlation of segment scores x with z, systems × items.

    >>> scores = np.random.default_rng(1).normal(size=(2, 6, 30))
    >>> chance_of_segments(*scores, Correlation()).null
    0.0
    """
    x, z = common_cells(x, z)
    found = _native.exchanged_correlations(
        x, z, correlation.grouping, correlation.coefficient, exchanges, seed, threads
    )
    return ChanceLevel.of(found[0], correlation.coefficient)


def chance_of(
    figure: Callable[[Floats], float],
    scores: Floats,
    coefficient: Coefficient,
    *,
    exchanges: int = CHANCE_EXCHANGES,
    seed: int = 12345,
) -> ChanceLevel:
    """The chance level of `figure(scores)`, any coefficient of scores (systems × items or documents)
    with people's."""
    rng = np.random.default_rng(seed)
    n_systems, n_items = scores.shape
    found = [
        figure(scores[rng.permutation(n_systems)][:, rng.permutation(n_items)])
        for _ in range(exchanges)
    ]
    return ChanceLevel.of(np.array(found), coefficient)


def leave_out(x: Floats, z: Floats, correlation: Correlation = Correlation()) -> TableFigure:
    """The correlation of x and z (systems × items, NaN where a cell is missing) without each system,
    item and cell; at system level, that of the systems' means.

    >>> x = np.array([[1.0, 2.0, 4.0], [2.0, 3.0, 5.0]])
    >>> leave_out(x, np.array([[1.0, 2.0, 3.0], [3.0, 3.0, 4.0]])).systems.round(3)
    array([0.945, 0.982])
    """
    x, z = common_cells(x, z)
    if correlation.coefficient == "spa":
        return spa_leave_one_out(x, z)
    if correlation.level == "system":
        return leave_out_of_means(x, z, correlation.coefficient)
    epsilon = tie_threshold(x, z, correlation) if correlation.coefficient == "acc-t" else 0.0
    if correlation.grouping == "item":
        return _grouped(x, z, correlation.coefficient, epsilon)
    if correlation.grouping == "system":
        turned = _grouped(x.T, z.T, correlation.coefficient, epsilon)
        return TableFigure(
            turned.value, turned.items, turned.systems, turned.cells.T, turned.present.T
        )
    return _pooled(x, z, correlation.coefficient, epsilon)


def correlation_with_interval(
    x: Floats, z: Floats, correlation: Correlation, *, generalize: Generalize, confidence: float
) -> Estimate:
    """The estimate that `correlate` returns."""
    found = correlation_value(x, z, correlation)
    if np.isnan(found.value):
        return found
    x, z = common_cells(x, z)
    is_share = correlation.coefficient in ACCURACY_COEFFICIENTS
    inferred = leave_out(x, z, correlation).estimate(
        generalize=generalize,
        null=None if is_share else 0.0,
        scale=scale_of(correlation, int(np.isfinite(x).any(axis=1).sum())),
        confidence=confidence,
    )
    return replace(
        inferred, value=found.value, method=f"{found.method}; {inferred.method}", n=found.n
    )


@takes_old_keywords(Correlation())
def correlation_difference(
    x: Floats,
    y: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    *,
    generalize: Generalize = "both",
    confidence: float = 0.95,
) -> Estimate:
    """The difference of two metrics' agreement with `z`, x's minus y's, on the cells that all have,
    with its interval and the p-value that there is no difference.

    >>> rng = np.random.default_rng(1)
    >>> human = rng.normal(size=(8, 50))
    >>> good, poor = human + rng.normal(size=(2, 8, 50)) * [[[1]], [[3]]]
    >>> correlation_difference(good, poor, human).p_value < 0.001
    True
    """
    x, y, z = common_cells(x, y, z)
    for scores in (x, y):
        if reason := why_undefined(scores, z, correlation):
            return undefined(reason, has_p_value=True)
    difference = leave_out(x, z, correlation) - leave_out(y, z, correlation)
    found = difference.estimate(
        generalize=generalize,
        confidence=confidence,
        n=int(np.isfinite(x).sum()),
    )
    return replace(found, method=f"{correlation.title}; {found.method}")


def scale_of(correlation: Correlation, n_systems: int) -> Scale:
    """The scale on which the coefficient's errors are symmetric. Coefficients that count pairs of a few
    systems need one that allows for few pairs."""
    is_share = correlation.coefficient in ACCURACY_COEFFICIENTS
    if correlation.level == "segment" or correlation.coefficient in ("pearson", "spa"):
        return LOGIT if is_share else FISHER_Z
    return scale_of_pairs(n_systems * (n_systems - 1) // 2, is_share=is_share)


def _pooled(x: Floats, z: Floats, coefficient: Coefficient, epsilon: float) -> TableFigure:
    values, without = _native.left_out_correlations(x, z, "pooled", coefficient, epsilon)
    value = float(values[0, 0])
    cells = np.where(np.isfinite(x), without, value)
    systems = np.full(len(x), value)
    for system in np.flatnonzero(np.isfinite(x).any(axis=1)):
        others = np.delete(x, system, axis=0), np.delete(z, system, axis=0)
        systems[system] = _native.left_out_correlations(*others, "pooled", coefficient, epsilon)[0][
            0, 0
        ]
    items = value + (cells - value).sum(axis=0)
    if coefficient == "pearson":
        items = _pearson_without_items(x, z)
    return TableFigure(value, systems, items, cells, np.isfinite(x))


def _pearson_without_items(x: Floats, z: Floats) -> Floats:
    present = np.isfinite(x)
    x, z = (np.where(present, scores - np.nanmean(scores), 0.0) for scores in (x, z))
    n, sum_x, sum_z, xx, zz, xz = (
        values.sum() - values.sum(axis=0) for values in (present, x, z, x * x, z * z, x * z)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = (xx - sum_x**2 / n) * (zz - sum_z**2 / n)
        without: Floats = (xz - sum_x * sum_z / n) / np.sqrt(np.where(squares > 0, squares, np.nan))
    return without


def _grouped(x: Floats, z: Floats, coefficient: Coefficient, epsilon: float) -> TableFigure:
    """The mean of the columns' coefficients; columns where it is undefined are left out."""
    x, z = np.ascontiguousarray(x), np.ascontiguousarray(z)
    values, without = _native.left_out_correlations(x, z, "item", coefficient, epsilon)
    groups = values[0]
    without = np.where(np.isfinite(x), without, groups)
    is_defined = np.isfinite(groups)
    total, n = float(groups[is_defined].sum()), int(is_defined.sum())
    rows = ratios(np.nansum(without, axis=1), np.isfinite(without).sum(axis=1))
    columns = ratios(total - np.nan_to_num(groups), n - is_defined)
    left = np.isfinite(without)
    cells = ratios(
        total - np.nan_to_num(groups) + np.nan_to_num(without), n - is_defined.astype(float) + left
    )
    value = total / n if n else float("nan")
    return TableFigure(value, rows, columns, cells, np.isfinite(x))


def leave_out_of_means(x: Floats, z: Floats, coefficient: Coefficient) -> TableFigure:
    """The coefficient of the systems' mean scores, without each system, item and cell."""
    return leave_out_of_scores(
        _means_without_items(x), _means_without_items(z), np.isfinite(x), coefficient
    )


def leave_out_of_scores(
    x: tuple[Floats, Floats],
    z: tuple[Floats, Floats],
    present: NDArray[np.bool_],
    coefficient: Coefficient,
) -> TableFigure:
    """The same for systems' scores that are computed from items in any way: x and z are pairs of the
    scores (systems) and the scores without each item (items, systems). `present` (systems × items) says
    which system has which item."""
    judged = present.any(axis=1)
    (x_all, x_items), (z_all, z_items) = (
        (scores[judged], without[:, judged]) for scores, without in (x, z)
    )
    epsilon = 0.0
    if coefficient == "acc-t":
        epsilon = tie_threshold(x_all[:, None], z_all[:, None], Correlation())
    value = row_correlations(x_all[None], z_all[None], coefficient, epsilon)[0]
    n_systems, n_items = int(judged.sum()), present.shape[1]
    systems, cells = np.full(present.shape[0], value), np.full(present.shape, value)
    others = ~np.eye(n_systems, dtype=bool)
    rows_x = np.broadcast_to(x_all, (n_systems, n_systems))[others].reshape(n_systems, -1)
    rows_z = np.broadcast_to(z_all, (n_systems, n_systems))[others].reshape(n_systems, -1)
    systems[judged] = row_correlations(rows_x, rows_z, coefficient, epsilon)
    for place, system in enumerate(np.flatnonzero(judged)):
        rows_x, rows_z = np.tile(x_all, (n_items, 1)), np.tile(z_all, (n_items, 1))
        rows_x[:, place], rows_z[:, place] = x_items[:, place], z_items[:, place]
        cells[system] = row_correlations(rows_x, rows_z, coefficient, epsilon)
    items = row_correlations(x_items, z_items, coefficient, epsilon)
    return TableFigure(float(value), systems, items, np.where(present, cells, value), present)


def row_correlations(
    x: Floats, z: Floats, coefficient: Coefficient, epsilon: float = 0.0
) -> Floats:
    """The coefficient of each row of x with the same row of z, NaN where undefined."""
    found, _ = _native.left_out_correlations(
        np.ascontiguousarray(x), np.ascontiguousarray(z), "system", coefficient, epsilon
    )
    values: Floats = found[0]
    return values


def _means_without_items(scores: Floats) -> tuple[Floats, Floats]:
    counts, sums = np.isfinite(scores).sum(axis=1), np.nansum(scores, axis=1)
    left = (counts[:, None] - np.isfinite(scores)).T.astype(np.float64)
    return system_means(scores), ratios((sums[:, None] - np.nan_to_num(scores)).T, left)
