"""A correlation with people: its interval, and the difference of two correlations.

Tables are systems × items; a *cell* is the score of one system on one item; a *cluster* is a set of
items, such as the sentences of a document.

Intervals come from the correlation without each system, each item and each cell (`TableFigure`).
Native code leaves single cells out without computing the correlation again. Leaving out an item of a
pooled rank correlation is approximated by the sum of the changes of its cells; the error is about as
large as the item's share of the data. Leaving out a cluster is approximated for pooled rank
correlations, for rank correlations averaged by system, and for soft pairwise accuracy (`spa`).
Everything else is exact: Pearson's coefficient is a function of six sums, so a cluster's sums are
subtracted; from a mean over items, the cluster's items are removed. The coefficient `acc-t`, the share
of pairs in the right order, counts small differences as ties. Its threshold stays the one for all data:
it maximizes the share, so a slightly different threshold would hardly matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.clusters import Clusters
from wellput.core.estimates import Estimate, Generalize, ratios, undefined
from wellput.core.metric import Floats
from wellput.core.options import checks_options
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
from wellput.stats.two_way_jackknife import LeftOutClusters, TableFigure

MAX_SYSTEMS_RECOMPUTED = 1_000
"""With more systems, the correlation without a system is not computed again from the other systems: the
system's sums are subtracted (Pearson), or the changes from leaving out its single cells are added up
(ranks)."""
ROUNDING_SHARE_OF_SQUARES = 1e-12
"""A sum of squares below this share of the whole is a rounding error: the scores are constant."""


def pooled_pearson_without_clusters(
    x: Floats, z: Floats, codes: NDArray[np.intp]
) -> LeftOutClusters:
    """Pearson's coefficient of all cells without each cluster (`wholes`), and without one system's
    cells of a cluster (`cells`). x and z are systems × items with the same cells, NaN elsewhere;
    `codes` has the number of each item's cluster, from 0.

    >>> x, z = np.array([[1.0, 2.0, 4.0, 3.0]]), np.array([[1.0, 2.0, 3.0, 5.0]])
    >>> pooled_pearson_without_clusters(x, z, np.array([0, 1, 1, 2])).wholes.round(3)
    array([0.327, 1.   , 0.982])
    """
    by_cell = _pearson_sums(x, z, codes)
    total = by_cell.sum(axis=(1, 2), keepdims=True)
    return LeftOutClusters(
        _pearson(total[:, 0] - by_cell.sum(axis=1), total[:, 0]), _pearson(total - by_cell, total)
    )


def system_pearson_without_clusters(
    x: Floats, z: Floats, codes: NDArray[np.intp]
) -> LeftOutClusters:
    """As `pooled_pearson_without_clusters`, for the mean over systems of Pearson's coefficient of each
    system's cells, where it is defined."""
    by_cell = _pearson_sums(x, z, codes)
    of_systems = by_cell.sum(axis=2, keepdims=True)
    whole = _pearson(of_systems, of_systems)
    without = _pearson(of_systems - by_cell, of_systems)
    is_defined, still_defined = np.isfinite(whole), np.isfinite(without)
    replaced = np.nansum(whole) - np.nan_to_num(whole) + np.nan_to_num(without)
    return LeftOutClusters(
        ratios(np.nansum(without, axis=0), still_defined.sum(axis=0)),
        ratios(replaced, is_defined.sum() - is_defined + still_defined.astype(np.float64)),
    )


def item_mean_without_clusters(
    coefficients: Floats, without: Floats, codes: NDArray[np.intp]
) -> LeftOutClusters:
    """The mean over items of a coefficient, without each cluster of items. `coefficients` has that of
    each item over systems, `without` (systems × items) the same without one system; NaN where
    undefined. `codes` has the number of each item's cluster."""
    sums = sums_by_cluster(np.nan_to_num(coefficients)[None], codes)
    counts = _counts(coefficients[None], codes)
    without_sums = sums_by_cluster(np.nan_to_num(without), codes)
    without_counts = _counts(without, codes)
    return LeftOutClusters(
        ratios(sums.sum() - sums[0], counts.sum() - counts[0]),
        ratios(sums.sum() - sums + without_sums, counts.sum() - counts + without_counts),
    )


def _pearson_sums(x: Floats, z: Floats, codes: NDArray[np.intp]) -> Floats:
    """n, Σx, Σz, Σx², Σz², Σxz of each system and cluster (6, systems, clusters). Scores are centered
    first, to lose fewer digits."""
    present = np.isfinite(x)
    x, z = (np.where(present, scores - np.nanmean(scores), 0.0) for scores in (x, z))
    return np.stack(
        [sums_by_cluster(values, codes) for values in (present, x, z, x * x, z * z, x * z)]
    )


def _pearson(sums: Floats, whole: Floats) -> Floats:
    """Pearson's coefficient from the six sums of `_pearson_sums` (first axis), NaN where undefined;
    `whole` are the sums of all data, to see what is a rounding error."""
    n, sum_x, sum_z, xx, zz, xz = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        squares_x, squares_z = xx - sum_x**2 / n, zz - sum_z**2 / n
        varies = (squares_x > ROUNDING_SHARE_OF_SQUARES * whole[3]) & (
            squares_z > ROUNDING_SHARE_OF_SQUARES * whole[4]
        )
        coefficients: Floats = (xz - sum_x * sum_z / n) / np.sqrt(
            np.where(varies, squares_x * squares_z, np.nan)
        )
    return coefficients


def sums_by_cluster(values: Floats | NDArray[np.bool_], codes: NDArray[np.intp]) -> Floats:
    """The sums of the columns of `values` (rows × items) with the same code: rows × clusters."""
    order = np.argsort(codes, kind="stable")
    used, starts = np.unique(codes[order], return_index=True)
    sums = np.zeros((len(values), int(codes.max(initial=-1)) + 1))
    if len(used):
        sums[:, used] = np.add.reduceat(values[:, order].astype(np.float64), starts, axis=1)
    return sums


def _counts(values: Floats, codes: NDArray[np.intp]) -> Floats:
    """The number of values that are not NaN, by row and cluster as in `sums_by_cluster`."""
    return sums_by_cluster(np.isfinite(values), codes)


def leave_out(
    x: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    clusters: Clusters | None = None,
) -> TableFigure:
    """The correlation of x and z (systems × items, NaN where a cell is missing) without each system,
    item and cell; at system level, that of the systems' means. Where items have `clusters`, also
    without each cluster, if that can be computed exactly.

    >>> x = np.array([[1.0, 2.0, 4.0], [2.0, 3.0, 5.0]])
    >>> leave_out(x, np.array([[1.0, 2.0, 3.0], [3.0, 3.0, 4.0]])).systems.round(3)
    array([0.945, 0.982])
    """
    x, z = common_cells(x, z)
    figure = _leave_out(x, z, correlation)
    if clusters is None:
        return figure
    left_out = _without_clusters(x, z, correlation, clusters.codes)
    return replace(figure, clusters=clusters, left_out=left_out)


def _leave_out(x: Floats, z: Floats, correlation: Correlation) -> TableFigure:
    """`leave_out` of common cells, without clusters."""
    if correlation.coefficient == "spa":
        return spa_leave_one_out(x, z)
    if correlation.level == "system":
        return leave_out_of_means(x, z, correlation.coefficient)
    epsilon = _epsilon(x, z, correlation)
    if correlation.grouping == "item":
        return _grouped(x, z, correlation.coefficient, epsilon)
    if correlation.grouping == "system":
        transposed = _grouped(x.T, z.T, correlation.coefficient, epsilon)
        return TableFigure(
            transposed.value,
            transposed.items,
            transposed.systems,
            transposed.cells.T,
            transposed.present.T,
        )
    return _pooled(x, z, correlation.coefficient, epsilon)


def _epsilon(x: Floats, z: Floats, correlation: Correlation) -> float:
    """The tie threshold of `acc-t`; other coefficients have none, so 0."""
    return tie_threshold(x, z, correlation) if correlation.coefficient == "acc-t" else 0.0


def _without_clusters(
    x: Floats, z: Floats, correlation: Correlation, codes: NDArray[np.intp]
) -> LeftOutClusters | None:
    """The correlation without each cluster; None where it can only be approximated, from the
    correlations without each item."""
    if correlation.coefficient == "spa":
        return None
    if correlation.level == "system":
        x_means, z_means = (_means_without_clusters(scores, codes) for scores in (x, z))
        present = sums_by_cluster(np.isfinite(x), codes) > 0
        # A cluster takes the place of an item.
        figure = leave_out_of_scores(x_means, z_means, present, correlation.coefficient)
        return LeftOutClusters(figure.items, figure.cells)
    if correlation.grouping == "item":
        return item_mean_without_clusters(
            *_coefficients_of_items(x, z, correlation.coefficient, _epsilon(x, z, correlation)),
            codes,
        )
    if correlation.coefficient != "pearson":
        return None
    if correlation.grouping == "system":
        return system_pearson_without_clusters(x, z, codes)
    return pooled_pearson_without_clusters(x, z, codes)


def correlation_with_interval(
    x: Floats, z: Floats, correlation: Correlation, *, generalize: Generalize, confidence: float
) -> Estimate:
    """The estimate that `correlate` returns."""
    estimate = correlation_value(x, z, correlation)
    if np.isnan(estimate.value):
        return estimate
    x, z = common_cells(x, z)
    is_share = correlation.coefficient in ACCURACY_COEFFICIENTS
    with_interval = leave_out(x, z, correlation).estimate(
        generalize=generalize,
        null=None if is_share else 0.0,
        scale=scale_of(correlation, int(np.isfinite(x).any(axis=1).sum())),
        confidence=confidence,
    )
    return replace(
        with_interval,
        value=estimate.value,
        method=f"{estimate.method}; {with_interval.method}",
        n=estimate.n,
    )


@takes_old_keywords(Correlation())
@checks_options
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
    differences = CorrelationDifferences([x, y], z, correlation, generalize, confidence)
    return differences.between(0, 1)


@dataclass(frozen=True, eq=False)
class CorrelationDifferences:
    """`correlation_difference` of any two of several metrics with people's scores `z`. A metric's
    correlations without each unit are computed once for each set of cells."""

    metrics: Sequence[Floats]
    z: Floats
    correlation: Correlation = Correlation()
    generalize: Generalize = "both"
    confidence: float = 0.95
    _left_out: dict[tuple[int, bytes], TableFigure | str] = field(default_factory=dict)

    def between(self, a: int, b: int) -> Estimate:
        """The agreement of metric a minus that of metric b."""
        x, y, z = common_cells(self.metrics[a], self.metrics[b], self.z)
        cells = np.isfinite(x).tobytes()
        figures = self._leave_out(a, x, z, cells), self._leave_out(b, y, z, cells)
        for figure_or_reason in figures:
            if isinstance(figure_or_reason, str):
                return undefined(figure_or_reason, has_p_value=True)
        first, second = cast("tuple[TableFigure, TableFigure]", figures)
        estimate = (first - second).estimate(
            generalize=self.generalize,
            confidence=self.confidence,
            n=int(np.isfinite(x).sum()),
        )
        return replace(estimate, method=f"{self.correlation.title}; {estimate.method}")

    def _leave_out(self, metric: int, x: Floats, z: Floats, cells: bytes) -> TableFigure | str:
        """The correlation of the metric on these cells without each unit (system, item, cell), or why
        it is undefined."""
        if (metric, cells) not in self._left_out:
            reason = why_undefined(x, z, self.correlation)
            self._left_out[metric, cells] = reason or leave_out(x, z, self.correlation)
        return self._left_out[metric, cells]


def scale_of(correlation: Correlation, n_systems: int) -> Scale:
    """The scale on which the coefficient's errors are symmetric. Coefficients that count pairs of
    systems need a scale that allows for few pairs."""
    is_share = correlation.coefficient in ACCURACY_COEFFICIENTS
    if correlation.level == "segment" or correlation.coefficient in ("pearson", "spa"):
        return LOGIT if is_share else FISHER_Z
    return scale_of_pairs(n_systems * (n_systems - 1) // 2, is_share=is_share)


def _pooled(x: Floats, z: Floats, coefficient: Coefficient, epsilon: float) -> TableFigure:
    """The coefficient of all cells, without each system, item and cell."""
    values, without = _native.left_out_correlations(x, z, "pooled", coefficient, epsilon)
    value = float(values[0, 0])
    cells = np.where(np.isfinite(x), without, value)
    systems = np.full(len(x), value)
    judged = np.flatnonzero(np.isfinite(x).any(axis=1))
    if len(judged) <= MAX_SYSTEMS_RECOMPUTED:
        for system in judged:
            others = np.delete(x, system, axis=0), np.delete(z, system, axis=0)
            without_system, _ = _native.left_out_correlations(
                *others, "pooled", coefficient, epsilon
            )
            systems[system] = without_system[0, 0]
    elif coefficient == "pearson":  # each system as a cluster: rows and columns change places
        systems = pooled_pearson_without_clusters(x.T, z.T, np.arange(len(x))).wholes
    else:
        systems = value + (cells - value).sum(axis=1)
    items = value + (cells - value).sum(axis=0)
    if coefficient == "pearson":
        items = pooled_pearson_without_clusters(x, z, np.arange(x.shape[1])).wholes
    return TableFigure(value, systems, items, cells, np.isfinite(x))


def _coefficients_of_items(
    x: Floats, z: Floats, coefficient: Coefficient, epsilon: float
) -> tuple[Floats, Floats]:
    """Each item's coefficient over systems, and the same without each system (systems × items); NaN
    where undefined."""
    x, z = np.ascontiguousarray(x), np.ascontiguousarray(z)
    values, without = _native.left_out_correlations(x, z, "item", coefficient, epsilon)
    return values[0], np.where(np.isfinite(x), without, values[0])


def _grouped(x: Floats, z: Floats, coefficient: Coefficient, epsilon: float) -> TableFigure:
    """The mean of the columns' coefficients, without each row, column and cell. Columns where the
    coefficient is undefined are left out."""
    coefficients, without = _coefficients_of_items(x, z, coefficient, epsilon)
    rows = ratios(np.nansum(without, axis=1), np.isfinite(without).sum(axis=1))
    columns = item_mean_without_clusters(coefficients, without, np.arange(len(coefficients)))
    is_defined = np.isfinite(coefficients)
    value = float(coefficients[is_defined].mean()) if is_defined.any() else float("nan")
    return TableFigure(value, rows, columns.wholes, columns.cells, np.isfinite(x))


def leave_out_of_means(x: Floats, z: Floats, coefficient: Coefficient) -> TableFigure:
    """The coefficient of the systems' mean scores, without each system, item and cell."""
    item_codes = np.arange(x.shape[1])
    x_means, z_means = (_means_without_clusters(scores, item_codes) for scores in (x, z))
    return leave_out_of_scores(x_means, z_means, np.isfinite(x), coefficient)


def leave_out_of_scores(
    x: tuple[Floats, Floats],
    z: tuple[Floats, Floats],
    present: NDArray[np.bool_],
    coefficient: Coefficient,
) -> TableFigure:
    """As `leave_out_of_means`, for systems' scores that are computed from items in any way: x and z are
    pairs of the scores (systems) and the scores without each item (items, systems). `present`
    (systems × items) says which system has which item."""
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
    if n_systems <= MAX_SYSTEMS_RECOMPUTED:
        others = ~np.eye(n_systems, dtype=bool)
        rows_x = np.broadcast_to(x_all, (n_systems, n_systems))[others].reshape(n_systems, -1)
        rows_z = np.broadcast_to(z_all, (n_systems, n_systems))[others].reshape(n_systems, -1)
        systems[judged] = row_correlations(rows_x, rows_z, coefficient, epsilon)
    else:
        systems[judged] = _native.left_out_correlations(
            x_all[None], z_all[None], "system", coefficient, epsilon
        )[1][0]
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
    by_row, _ = _native.left_out_correlations(
        np.ascontiguousarray(x), np.ascontiguousarray(z), "system", coefficient, epsilon
    )
    values: Floats = by_row[0]
    return values


def _means_without_clusters(scores: Floats, codes: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """The systems' means (systems), and the same without each cluster (clusters, systems)."""
    counts, sums = np.isfinite(scores), np.nan_to_num(scores)
    left_counts, left_sums = (
        values.sum(axis=1) - sums_by_cluster(values, codes).T for values in (counts, sums)
    )
    return system_means(scores), ratios(left_sums, left_counts)
