"""How far a metric's scores go along with people's.

Everything here takes systems × items arrays: `x` (and `y`) a metric's scores, `z` human scores, NaN
where a cell is missing; a cell counts when all arrays have it. Orient metrics so that higher is
better: correlations keep their sign. A *group* is what one coefficient is taken over:

- level `segment`, average `none`: all cells pooled;
- level `segment`, average `item`: the systems of one item, averaged over items;
- level `segment`, average `system`: the items of one system, averaged over systems;
- level `system`: the systems' mean scores (average does not apply).

Groups in which the coefficient is undefined are left out of an average; when it is undefined
altogether the value is NaN and `method` says why.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError, did_you_mean
from wellput.core.metric import Floats
from wellput.core.table import Estimate

Level: TypeAlias = Literal["segment", "system"]
Average: TypeAlias = Literal["none", "item", "system"]
Coefficient: TypeAlias = Literal["pearson", "spearman", "kendall", "kendall-c", "acc-t", "spa"]

TITLES: dict[Coefficient, str] = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau-b",
    "kendall-c": "Kendall's tau-c",
    "acc-t": "pairwise accuracy",
    "spa": "soft pairwise accuracy",
}
MOST_PAIRS = 50_000_000
"""Tie calibration holds the pairs of all groups in memory, 16 bytes each."""
MOST_RESAMPLED_PAIRS = 5_000_000_000
"""Some three minutes of one core, for each metric."""


def correlate(
    x: Floats,
    z: Floats,
    *,
    level: Level = "segment",
    average: Average = "none",
    coefficient: Coefficient = "pearson",
) -> Estimate:
    """The agreement of metric scores with human scores.

    `kendall` is tau-b; `acc-t` is pairwise accuracy with ties calibrated (Deutsch et al. 2023: metric
    scores at most epsilon apart are tied, epsilon chosen for the greatest accuracy and named in
    `method`); `spa` is soft pairwise accuracy (`wellput.stats.soft_accuracy`), at system level only.

    n is the number of points, or of groups averaged; the p-value is SciPy's two-sided one that there
    is no association, and None for averages and accuracies. Points of one system or item are not
    independent, so that the p-value of pooled cells is too small.

    >>> metric = np.array([[0.1, 0.4, 0.3], [0.2, 0.5, 0.9]])
    >>> human = np.array([[1.0, 2.0, 2.0], [3.0, 4.0, 5.0]])
    >>> correlate(metric, human, coefficient="kendall").value
    0.6900655593423543
    """
    if coefficient == "spa":
        from wellput.stats.soft_accuracy import spa

        if level != "system":
            raise InputError("Soft pairwise accuracy compares systems: ask for it at system level.")
        return spa(x, z)
    x, z = common_cells(x, z)
    grouping = grouping_of(level, average, coefficient)
    refuse_too_many_pairs(x, grouping, coefficient)
    if grouping == "means":
        x, z = system_means(x)[:, None], system_means(z)[:, None]
        grouping = "pooled"
    value, groups, epsilon = _native.bootstrapped_correlations(
        x, z, grouping, coefficient, "both", 0, 0, 1
    )[0]
    reason = why_undefined(x, z, grouping, coefficient)
    if reason or np.isnan(value):
        return undefined(reason or "no correlation within any group")
    method = f"{TITLES[coefficient]}, {_over(level, average)}"
    if coefficient == "acc-t":
        method += f", ties within {epsilon:.6g}"
    pooled = grouping == "pooled"
    return Estimate(
        value=float(value),
        p_value=_p_value(x, z, coefficient) if pooled else None,
        method=method,
        n=int(np.isfinite(x).sum()) if pooled else int(groups),
    )


def tie_threshold(
    x: Floats, z: Floats, *, level: Level = "segment", average: Average = "item"
) -> float:
    """The epsilon of `acc-t`: metric scores at most this far apart are tied. NaN when undefined."""
    x, z = common_cells(x, z)
    grouping = grouping_of(level, average, "acc-t")
    refuse_too_many_pairs(x, grouping, "acc-t")
    value, _, epsilon = _native.bootstrapped_correlations(x, z, grouping, "acc-t", "both", 0, 0, 1)[
        0
    ]
    return float("nan") if np.isnan(value) else float(epsilon)


def common_cells(*scores: Floats) -> list[Floats]:
    """The arrays as float64, NaN wherever one of them is NaN."""
    arrays = [np.asarray(array, dtype=np.float64) for array in scores]
    if any(array.ndim != 2 or array.shape != arrays[0].shape for array in arrays):
        shapes = ", ".join(" × ".join(map(str, array.shape)) for array in arrays)
        raise InputError(
            f"Scores to compare are systems × items arrays of one shape; these are {shapes}."
        )
    if any(np.isinf(array).any() for array in arrays):
        raise InputError("Scores to compare must be finite numbers, or NaN where one is missing.")
    missing = np.logical_or.reduce([np.isnan(array) for array in arrays])
    return [np.where(missing, np.nan, array) for array in arrays]


def grouping_of(level: Level, average: Average, coefficient: Coefficient) -> str:
    """The kernels' name for what one coefficient is taken over; checks the three names."""
    for name, known in ((level, Level), (average, Average), (coefficient, Coefficient)):
        if name not in get_args(known):
            choices = ", ".join(get_args(known))
            hint = did_you_mean(name, get_args(known))
            raise InputError(f"{name!r} is none of {choices}.{hint}")
    if level == "system":
        return "means"
    return "pooled" if average == "none" else average


def system_means(scores: Floats) -> Floats:
    """Each system's mean over the cells it has, NaN where it has none."""
    counts = np.isfinite(scores).sum(axis=1)
    sums: Floats = np.nansum(scores, axis=1)
    means = np.full(len(sums), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def why_undefined(x: Floats, z: Floats, grouping: str, coefficient: Coefficient) -> str:
    """Why no correlation of these common cells can mean anything, or the empty string."""
    if grouping == "means":
        x, z = system_means(x)[:, None], system_means(z)[:, None]
    present = np.isfinite(x)
    if not present.any():
        return "no cell has both scores"
    sizes = _group_sizes(present, grouping)
    least = 2 if coefficient in ("acc-t", "spa") else 3
    if sizes.max() < least:
        unit = {"item": "systems", "system": "items"}.get(grouping, "points")
        return f"fewer than {'two' if least == 2 else 'three'} {unit}"
    if coefficient in ("acc-t", "spa"):
        return ""
    axis = {"item": 0, "system": 1}.get(grouping)
    for scores, name in ((x, "the metric is constant"), (z, "the human scores are constant")):
        low = np.min(scores, axis=axis, where=present, initial=np.inf)
        high = np.max(scores, axis=axis, where=present, initial=-np.inf)
        if not np.any(low < high):
            return name if axis is None else f"{name} within every {grouping}"
    return ""


def undefined(reason: str, *, seed: int | None = None, has_p_value: bool = False) -> Estimate:
    """An Estimate of NaN that says why."""
    p_value = float("nan") if has_p_value else None
    return Estimate(value=float("nan"), p_value=p_value, method=f"undefined: {reason}", seed=seed)


def refuse_too_many_pairs(
    x: Floats, grouping: str, coefficient: Coefficient, *, n_resamples: int = 0
) -> None:
    """Tie calibration looks at all pairs of every group, in every resample anew."""
    if coefficient != "acc-t":
        return
    sizes = _group_sizes(np.isfinite(x), grouping)
    pairs = int((sizes * (sizes - 1) // 2).sum())
    if pairs > MOST_PAIRS:
        raise InputError(
            f"Tie calibration would compare {pairs:,} pairs; more than {MOST_PAIRS:,} do not fit. "
            f"Average by item, or give fewer items."
        )
    if pairs * n_resamples > MOST_RESAMPLED_PAIRS:
        raise InputError(
            f"Tie calibration would compare {pairs:,} pairs in each of {n_resamples:,} resamples; that "
            f"takes too long. Average by item, or take {MOST_RESAMPLED_PAIRS // pairs:,} resamples or "
            "fewer."
        )


def _group_sizes(present: NDArray[np.bool_], grouping: str) -> NDArray[np.int64]:
    if grouping == "means":
        return np.array([present.any(axis=1).sum()], dtype=np.int64)
    if grouping == "pooled":
        return np.array([present.sum()], dtype=np.int64)
    return np.asarray(present.sum(axis=0 if grouping == "item" else 1), dtype=np.int64)


def _over(level: Level, average: Average) -> str:
    if level == "system":
        return "of systems"
    return "of segments" if average == "none" else f"of segments, averaged by {average}"


def _p_value(x: Floats, z: Floats, coefficient: Coefficient) -> float | None:
    if coefficient == "acc-t":
        return None
    from scipy import stats  # 0.7 s to import

    present = np.isfinite(x)
    tests = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "kendall": stats.kendalltau,
        "kendall-c": stats.kendalltau,  # the same test of no association
    }
    return float(tests[coefficient](x[present], z[present]).pvalue)
