"""Differences of systems under a mixed model: how sure they are, and which ranks they allow.

`contrast_effects` gives *contrasts* of fixed effects (weighted sums, such as the difference of two
systems) with Satterthwaite's degrees of freedom. The variance of a contrast is itself an estimate,
because it is computed from estimated variances of judges, items and so on (*components*). The variance
of this estimate (its *spread*) follows from the components' covariance by the delta method. A
chi-square distribution with 2 · variance² / spread degrees of freedom has the same relative spread
(Satterthwaite 1946; Fai & Cornelius 1996).

`rank_ranges` says between which ranks each system lies, from the differences that are significant. A
system's rank lies between one more than the number of systems that are significantly better and the
number of systems that are not significantly worse, itself included (Mogstad et al. 2024). If Holm's
correction makes all differences hold together with 95% confidence, the ranges hold together with 95%
confidence too.

`difference_variances` gives the result of the mixed model of a ranking (`linear`) in closed form, where
every judge rated both systems on every item. Take the first system's rating minus the second's as the
value of a judge and an item. From mean squares, restricted likelihood estimates which parts of the
variance of these values come from judges, from items and from the residual. A part that would be
negative is 0: its mean square is then pooled with the residual's.
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

    `covariance` is that of the effects, from which the errors are computed.
    """

    values: Floats
    errors: Floats
    freedom: Floats
    covariance: Floats


@dataclass(frozen=True, eq=False)
class VarianceSpread:
    """How the covariance of p effects depends on k variance parameters, and how precisely these are
    estimated.

    `slopes` (k, p, p) has the derivative of the effects' covariance in each parameter, `covariance`
    (k, k) is the covariance of the parameters' estimates. Without parameters the variances are taken as
    known.
    """

    slopes: Floats
    covariance: Floats


def contrast_effects(
    weights: Floats, effects: Floats, covariance: Floats, spread: VarianceSpread
) -> Contrasts:
    """Contrasts, one for each row of `weights` (contrasts, effects). The row may be shorter than
    `effects`: the last effects then have weight 0."""
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
    """The contrasts with these values; `quadratic(M)` gives w'Mw for the weights w of each
    contrast."""
    variances = quadratic(covariance)
    slopes = np.zeros((len(values), len(spread.slopes)))
    for k, slope in enumerate(spread.slopes):
        slopes[:, k] = quadratic(slope)
    spreads = np.einsum("ki,ij,kj->k", slopes, spread.covariance, slopes)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.where(spreads > 0, 2 * variances**2 / spreads, np.inf)
    return Contrasts(values, np.sqrt(variances), freedom, covariance)


def rank_ranges(better: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The best and the worst possible rank (1 is best) of each system; `better[a, b]` says that system
    a is significantly better than b."""
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def rank_clusters(estimates: Floats, better: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Each system's cluster, 1 the best, as WMT draws them: every system of a cluster is significantly
    better than every system of the clusters below it; `better` is as in `rank_ranges`."""
    order = np.argsort(-np.asarray(estimates), kind="stable")
    clusters = np.ones(len(order), np.int64)
    for place in range(1, len(order)):
        is_divided = bool(better[np.ix_(order[:place], order[place:])].all())
        clusters[order[place]] = clusters[order[place - 1]] + is_divided
    return clusters


MIN_ITEMS_FOR_FREEDOM = 10
"""With fewer items, a difference has at most (items − 1) degrees of freedom. Otherwise, where the
variance of items is estimated as 0, the degrees of freedom would grow with the number of judgments."""
MIN_JUDGES_FOR_FREEDOM = 4
"""With fewer judges, the variance of what they prefer is often estimated as 0 by chance. So a
difference has at most (judges − 1) degrees of freedom, which is cautious."""


def difference_variances(
    by_judge: Floats, by_item: Floats, residual: Floats, n_judges: int, n_items: int
) -> tuple[Floats, Floats]:
    """The variance of the mean difference and its Satterthwaite degrees of freedom, for many panels at
    once (one entry of each array for each panel).

    `by_judge`, `by_item` and `residual` are mean squares of the differences. That of the residual has
    twice (judges − 1)(items − 1) degrees of freedom, because the sums of the two ratings say as much
    about it as their differences.
    """
    free_judge, free_item = n_judges - 1, n_items - 1
    free_residual = 2 * free_judge * free_item
    # A mean square below the residual's is pooled with it: the smaller one first, and then the larger,
    # if it is below the pooled one.
    is_judge_smaller = by_judge < by_item
    small, large = np.minimum(by_judge, by_item), np.maximum(by_judge, by_item)
    free_small = np.where(is_judge_smaller, free_judge, free_item)
    free_large = np.where(is_judge_smaller, free_item, free_judge)
    pooled_small = _pooled(residual, free_residual, small, free_small)
    pooled_both = _pooled(pooled_small, free_residual + free_small, large, free_large)
    # Which of the two are not pooled. If the smaller one is not, neither is the larger.
    has_small, has_large = small > residual, large > pooled_small
    total = np.where(has_small, small + large - residual, np.where(has_large, large, pooled_both))
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
    """The mean of two mean squares, weighted by their degrees of freedom."""
    total = square * freedom + other * other_freedom
    return np.asarray(total / (freedom + other_freedom), dtype=np.float64)
