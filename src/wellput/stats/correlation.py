"""How far a metric's scores correlate with people's.

All functions take systems × items arrays: `x` (and `y`) are metrics' scores, `z` human scores, NaN
where a cell is missing. A cell counts when all arrays have it. Negate metrics where lower is better:
correlations keep their sign.

`Correlation` says which correlation is meant. Estimates, intervals and tests all take one,
with the same default, so that a test is about the number that was estimated. A *group* is the set of
points that one coefficient is computed from, such as the systems' scores on one item. Groups where the
coefficient is undefined are left out of an average. Where all are undefined, the value is NaN and
`method` says why.

The old keywords level=, average= and coefficient= still work, with a DeprecationWarning that says what
to write instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError, did_you_mean
from wellput.core.estimates import Estimate, Generalize, present_means, undefined
from wellput.core.metric import Floats
from wellput.core.options import checks_options, size_problem

P = ParamSpec("P")
R = TypeVar("R")
OLD_KEYWORDS = ("level", "average", "coefficient")


def takes_old_keywords(defaults: Correlation) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Lets a function that takes a `correlation` be called with the old keywords as well.

    `defaults` are the function's old defaults of these keywords, so that an old call still gives the
    old figure.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> R:
            old = {name: kwargs.pop(name) for name in OLD_KEYWORDS if name in kwargs}
            if old:
                correlation = replace(defaults, **old)
                warnings.warn(
                    f"{function.__name__}() takes one correlation instead of "
                    f"{', '.join(f'{name}=' for name in old)}: pass correlation={correlation!r}.",
                    DeprecationWarning,
                    stacklevel=2,
                )
                return cast("Callable[..., R]", function)(*args, correlation=correlation, **kwargs)
            return function(*args, **kwargs)

        return cast("Callable[P, R]", call)

    return decorate


CorrelationLevel: TypeAlias = Literal["segment", "system"]
CorrelationAverage: TypeAlias = Literal["none", "item", "system"]
Coefficient: TypeAlias = Literal["pearson", "spearman", "kendall", "kendall-c", "acc-t", "spa"]
Grouping: TypeAlias = Literal["pooled", "item", "system", "means"]

COEFFICIENTS: tuple[Coefficient, ...] = get_args(Coefficient)
ACCURACY_COEFFICIENTS: tuple[Coefficient, ...] = ("acc-t", "spa")
"""The coefficients whose chance level is not 0."""
COEFFICIENT_TITLES: dict[Coefficient, str] = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau-b",
    "kendall-c": "Kendall's tau-c",
    "acc-t": "pairwise accuracy",
    "spa": "soft pairwise accuracy",
}
MAX_PAIRS = 50_000_000
"""Tie calibration (`acc-t`) keeps at most this many pairs of all groups in memory, 16 bytes each."""
MAX_RESAMPLED_PAIRS = 5_000_000_000
"""The most pairs that are compared over all resamples: this takes about three minutes on one core, for
each metric."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """Which correlation: between what, averaged how, and by which coefficient.

    - level `segment`, average `none`: over all cells, pooled;
    - level `segment`, average `item`: over the systems of one item, averaged over items;
    - level `segment`, average `system`: over the items of one system, averaged over systems;
    - level `system`: over the systems' mean scores; `average` is ignored.

    `kendall` is tau-b, `kendall-c` is tau-c. `acc-t` is pairwise accuracy with tie calibration (Deutsch
    et al. 2023): metric scores at most epsilon apart are tied, and epsilon is the one that gives the
    greatest accuracy. `spa` is soft pairwise accuracy (`wellput.stats.soft_accuracy`), at system level
    only.

    >>> Correlation(average="item", coefficient="kendall").title
    "Kendall's tau-b of segments, averaged by item"
    """

    level: CorrelationLevel = "segment"
    average: CorrelationAverage = "none"
    coefficient: Coefficient = "pearson"

    def __post_init__(self) -> None:
        for field, known in (
            ("level", get_args(CorrelationLevel)),
            ("average", get_args(CorrelationAverage)),
            ("coefficient", COEFFICIENTS),
        ):
            name = getattr(self, field)
            if name not in known:
                hint = did_you_mean(str(name), known)
                raise InputError(f"{field}={name!r} is none of {', '.join(known)}.{hint}")
        if self.coefficient == "spa" and self.level != "system":
            raise InputError("Soft pairwise accuracy compares systems: it needs level='system'.")

    @property
    def grouping(self) -> Grouping:
        """The groups of points that coefficients are computed from, as the native code names them."""
        if self.level == "system":
            return "means"
        return "pooled" if self.average == "none" else self.average

    @property
    def is_averaged(self) -> bool:
        """Whether the value is a mean: of one coefficient for each item, or for each system."""
        return self.grouping in ("item", "system")

    @property
    def title(self) -> str:
        """The correlation in words, such as "Pearson's r of segments"."""
        averaging = f", averaged by {self.average}" if self.is_averaged else ""
        return f"{COEFFICIENT_TITLES[self.coefficient]} of {self.level}s{averaging}"


OLD_DEFAULTS = Correlation(average="item", coefficient="kendall")
"""What level=, average= and coefficient= used to be by default in tests and bootstraps."""


@takes_old_keywords(Correlation())
@checks_options
def correlate(
    x: Floats,
    z: Floats,
    correlation: Correlation = Correlation(),
    *,
    generalize: Generalize = "both",
    confidence: float = 0.95,
) -> Estimate:
    """The agreement of metric scores with human scores, with its interval and the p-value that there is
    no association. Accuracies (`acc-t`, `spa`) have no p-value, because by chance they are not 0.

    n is the number of points, or of groups averaged. `method` names the correlation, the epsilon of
    `acc-t`, and how the interval was made, or why there is none. SciPy's p-value assumes independent
    points, but points of one system or item are not independent. So interval and p-value come from a
    two-way jackknife (leaving out systems, items and cells) and hold for what `generalize` says: other
    systems, other items, or both.

    >>> metric = np.array([[0.1, 0.4, 0.3], [0.2, 0.5, 0.9]])
    >>> human = np.array([[1.0, 2.0, 2.0], [3.0, 4.0, 5.0]])
    >>> correlate(metric, human, Correlation(coefficient="kendall")).value
    0.6900655593423543
    """
    from wellput.stats.correlation_intervals import (
        correlation_with_interval,  # which builds on this module
    )

    return correlation_with_interval(
        x, z, correlation, generalize=generalize, confidence=confidence
    )


def correlation_value(x: Floats, z: Floats, correlation: Correlation = Correlation()) -> Estimate:
    """As `correlate`, without interval and p-value."""
    if correlation.coefficient == "spa":
        from wellput.stats.soft_accuracy import spa

        return spa(x, z)
    x, z = common_cells(x, z)
    refuse_too_many_pairs(x, correlation)
    grouping = correlation.grouping
    if grouping == "means":
        x, z = system_means(x)[:, None], system_means(z)[:, None]
        grouping = "pooled"
    # With 0 resamples the result has one row: the correlation itself.
    value, groups, epsilon = _native.bootstrapped_correlations(
        x, z, grouping, correlation.coefficient, "both", 0, 0, 1
    )[0]
    reason = why_undefined(x, z, correlation)
    if reason or np.isnan(value):
        return undefined(reason or "no correlation within any group")
    is_calibrated = correlation.coefficient == "acc-t"
    return Estimate(
        value=float(value),
        method=correlation.title + (f", ties within {epsilon:.6g}" if is_calibrated else ""),
        n=int(groups) if correlation.is_averaged else int(np.isfinite(x).sum()),
    )


@takes_old_keywords(Correlation(average="item"))
def tie_threshold(x: Floats, z: Floats, correlation: Correlation = Correlation()) -> float:
    """The epsilon of `acc-t`: metric scores at most this far apart are tied. NaN when undefined.

    `correlation` gives the level and the average; its coefficient is ignored.
    """
    x, z = common_cells(x, z)
    calibrated = replace(correlation, coefficient="acc-t")
    refuse_too_many_pairs(x, calibrated)
    value, _, epsilon = _native.bootstrapped_correlations(
        x, z, calibrated.grouping, "acc-t", "both", 0, 0, 1
    )[0]
    return float("nan") if np.isnan(value) else float(epsilon)


def common_cells(*scores: Floats) -> list[Floats]:
    """The arrays as float64, NaN wherever one of them is NaN."""
    arrays = [np.asarray(array, dtype=np.float64) for array in scores]
    if any(array.ndim != 2 or array.shape != arrays[0].shape for array in arrays):
        shapes = ", ".join(" × ".join(map(str, array.shape)) for array in arrays)
        raise InputError(
            f"Scores to compare must be systems × items arrays of one shape; these are {shapes}."
        )
    if any(np.isinf(array).any() for array in arrays):
        raise InputError("Scores to compare must be finite numbers, or NaN where one is missing.")
    for array in arrays:
        # Only the largest score is checked: some scores may be tiny, but not all.
        if wrong := size_problem(float(np.nanmax(np.abs(array), initial=0.0)), "score"):
            raise InputError(f"Scores cannot be compared: {wrong}.")
    missing = np.logical_or.reduce([np.isnan(array) for array in arrays])
    return [np.where(missing, np.nan, array) for array in arrays]


def system_means(scores: Floats) -> Floats:
    """Each system's mean over the cells it has, NaN where it has none."""
    return present_means(scores, axis=1)


def why_undefined(x: Floats, z: Floats, correlation: Correlation) -> str:
    """Why this correlation of common cells is undefined, or the empty string."""
    grouping, is_accuracy = correlation.grouping, correlation.coefficient in ACCURACY_COEFFICIENTS
    if grouping == "means":
        x, z = system_means(x)[:, None], system_means(z)[:, None]
    present = np.isfinite(x)
    if not present.any():
        return "no cell has both scores"
    sizes = _group_sizes(present, grouping)
    least = 2 if is_accuracy else 3
    if sizes.max() < least:
        unit = {"item": "systems", "system": "items"}.get(grouping, "points")
        return f"fewer than {'two' if least == 2 else 'three'} {unit}"
    if is_accuracy:
        return ""
    axis = {"item": 0, "system": 1}.get(grouping)
    for scores, reason in ((x, "the metric is constant"), (z, "the human scores are constant")):
        low = np.min(scores, axis=axis, where=present, initial=np.inf)
        high = np.max(scores, axis=axis, where=present, initial=-np.inf)
        if not np.any(low < high):
            return reason if axis is None else f"{reason} within every {grouping}"
    return ""


def refuse_too_many_pairs(x: Floats, correlation: Correlation, *, n_resamples: int = 0) -> None:
    """Raises InputError where tie calibration (`acc-t`) would need too much memory or time: it compares
    all pairs of every group, in every resample again."""
    if correlation.coefficient != "acc-t":
        return
    sizes = _group_sizes(np.isfinite(x), correlation.grouping)
    pairs = int((sizes * (sizes - 1) // 2).sum())
    if pairs > MAX_PAIRS:
        raise InputError(
            f"Tie calibration would compare {pairs:,} pairs; memory allows {MAX_PAIRS:,}. "
            f"Average by item, or give fewer items."
        )
    if pairs * n_resamples > MAX_RESAMPLED_PAIRS:
        raise InputError(
            f"Tie calibration would compare {pairs:,} pairs in each of {n_resamples:,} resamples; that "
            f"takes too long. Average by item, or take {MAX_RESAMPLED_PAIRS // pairs:,} resamples or "
            "fewer."
        )


def _group_sizes(present: NDArray[np.bool_], grouping: Grouping) -> NDArray[np.int64]:
    """The number of points in each group; `present` (systems × items) marks the cells with scores."""
    if grouping == "means":
        return np.array([present.any(axis=1).sum()], dtype=np.int64)
    if grouping == "pooled":
        return np.array([present.sum()], dtype=np.int64)
    return np.asarray(present.sum(axis=0 if grouping == "item" else 1), dtype=np.int64)
