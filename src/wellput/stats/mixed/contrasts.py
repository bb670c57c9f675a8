"""Differences of systems under a mixed model: how sure they are, and which ranks they allow.

`contrast_effects` gives contrasts of fixed effects with Satterthwaite's degrees of freedom. A
contrast's variance is itself an estimate, since it rests on estimated variance components. Its spread
follows from the components' covariance by the delta method, and is that of a chi-square with 2 ·
variance² / spread degrees of freedom (Satterthwaite 1946; Fai & Cornelius 1996).

`rank_ranges` says between which ranks each system lies, from the differences that are surely real. A
system's rank lies between one more than the number of systems surely better and the number of systems
not surely worse (Mogstad et al. 2024). If the differences hold together with some confidence, as
Holm's correction makes them, so do these ranges.

`difference_variances` has what the mixed model of a ranking (`linear`) gives, in closed form, where
every judge rated both systems on every item. With the first system's rating minus the second's as the
value of a judge and an item, restricted likelihood estimates a judge's and an item's part of the
spread by mean squares. A part that would be negative is 0: its mean square is then pooled with the
residual's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.stats.mixed.equations import Floats

Places: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Values of contrasts of fixed effects, standard errors, degrees of freedom (∞: normal).

    `covariance` is that of the effects, on which the errors rest.
    """

    values: Floats
    errors: Floats
    freedom: Floats
    covariance: Floats


@dataclass(frozen=True, eq=False)
class VarianceSpread:
    """How the covariance of effects depends on variance parameters, and how sure these are.

    `slopes` (k, p, p) has the derivative of the covariance in each parameter, `covariance` (k, k) is
    that of the parameters' estimates. With no parameters the variances are known.
    """

    slopes: Floats
    covariance: Floats


def contrast_effects(
    weights: Floats, effects: Floats, covariance: Floats, spread: VarianceSpread
) -> Contrasts:
    """Contrasts, one for each row of `weights`, which may leave out the last effects."""
    weights = np.atleast_2d(np.asarray(weights, np.float64))
    weights = np.pad(weights, ((0, 0), (0, len(effects) - weights.shape[1])))

    def quadratic(matrix: Floats) -> Floats:
        return np.asarray(((weights @ matrix) * weights).sum(axis=1))

    return _with_freedom(weights @ effects, covariance, spread, quadratic)


def contrast_pairs(
    first: Places, second: Places, effects: Floats, covariance: Floats, spread: VarianceSpread
) -> Contrasts:
    """The first effect minus the second, of many pairs: `contrast_effects` with 1 and −1."""

    def quadratic(matrix: Floats) -> Floats:
        diagonal = np.diag(matrix)
        between = matrix[first, second] + matrix[second, first]
        return np.asarray(diagonal[first] + diagonal[second] - between)

    return _with_freedom(effects[first] - effects[second], covariance, spread, quadratic)


def _with_freedom(
    values: Floats,
    covariance: Floats,
    spread: VarianceSpread,
    quadratic: Callable[[Floats], Floats],
) -> Contrasts:
    """`quadratic` is w'Mw of every contrast w."""
    variances = quadratic(covariance)
    slopes = np.zeros((len(values), len(spread.slopes)))
    for k, slope in enumerate(spread.slopes):
        slopes[:, k] = quadratic(slope)
    spreads = np.einsum("ki,ij,kj->k", slopes, spread.covariance, slopes)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.where(spreads > 0, 2 * variances**2 / spreads, np.inf)
    return Contrasts(values, np.sqrt(variances), freedom, covariance)


def rank_ranges(better: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lowest and highest rank (1 is best) of each system, by who is surely better than whom."""
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def rank_clusters(estimates: Floats, better: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Each system's cluster, 1 the best, as WMT draws them: every system of a cluster is surely better
    than every system of the clusters below it."""
    order = np.argsort(-np.asarray(estimates), kind="stable")
    clusters = np.ones(len(order), np.int64)
    for place in range(1, len(order)):
        is_divided = bool(better[np.ix_(order[:place], order[place:])].all())
        clusters[order[place]] = clusters[order[place - 1]] + is_divided
    return clusters


MIN_ITEMS_FOR_FREEDOM = 10
"""With fewer items, a difference has at most (items − 1) degrees of freedom: where the variance of
items is estimated as 0, the model would count every judgment."""
MIN_JUDGES_FOR_FREEDOM = 4
"""With fewer judges, their tastes are often estimated as 0 by chance. So a difference has at most
(judges − 1) degrees of freedom, which is cautious."""


def difference_variances(
    by_judge: Floats, by_item: Floats, residual: Floats, n_judges: int, n_items: int
) -> tuple[Floats, Floats]:
    """The variance of the mean difference and its Satterthwaite degrees of freedom, for many panels.

    `by_judge`, `by_item` and `residual` are mean squares of the differences. The residual's has twice
    the (judges − 1)(items − 1) degrees of freedom of the differences, because the sums of the two
    ratings say as much about it.
    """
    free_judge, free_item = n_judges - 1, n_items - 1
    free_residual = 2 * free_judge * free_item
    # The smaller of the two is pooled first.
    is_judge_smaller = by_judge < by_item
    small, large = np.minimum(by_judge, by_item), np.maximum(by_judge, by_item)
    free_small = np.where(is_judge_smaller, free_judge, free_item)
    free_large = np.where(is_judge_smaller, free_item, free_judge)
    once = _pooled(residual, free_residual, small, free_small)
    twice = _pooled(once, free_residual + free_small, large, free_large)
    has_small, has_large = small > residual, large > once
    total = np.where(has_small, small + large - residual, np.where(has_large, large, twice))
    spread = small**2 / free_small + large**2 / free_large + residual**2 / free_residual
    freedom = np.where(
        has_small,
        total**2 / spread,
        np.where(has_large, free_large, free_residual + free_judge + free_item),
    )
    if n_judges < MIN_JUDGES_FOR_FREEDOM:
        freedom = np.minimum(freedom, free_judge)
    if n_items < MIN_ITEMS_FOR_FREEDOM:
        freedom = np.minimum(freedom, free_item)
    return total / (n_judges * n_items), freedom


def _pooled(square: Floats, freedom: Floats | int, other: Floats, other_freedom: Floats) -> Floats:
    total = square * freedom + other * other_freedom
    return np.asarray(total / (freedom + other_freedom), dtype=np.float64)
