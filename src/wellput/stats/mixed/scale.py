"""Systems' effects, turned from the latent scale (log odds) to the scale on which people judged: the
share of yes, the mean grade, the win rate.

These are expectations over judges and items like those of the study: shares are averaged over the
random effects. Shares computed for the average judge and item would be too extreme.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import expit

from wellput.core.errors import InputError
from wellput.stats.mixed.equations import Floats
from wellput.stats.mixed.laplace import LaplaceMixed

QUADRATURE_NODES = 61
"""Nodes of Gauss-Hermite quadrature: exact to 8 digits up to a latent standard deviation of 5."""
DERIVATIVE_STEP = 1e-5
"""How far a parameter is moved to compute a derivative by differences, in log odds."""


@dataclass(frozen=True, eq=False)
class OnScale:
    """Each system's expectation, and the covariance of these estimates (the delta method)."""

    values: Floats
    covariance: Floats

    @property
    def errors(self) -> Floats:
        return np.sqrt(np.diag(self.covariance))


def expected_values(
    fitted: LaplaceMixed, n_systems: int, *, grades: Floats | None = None
) -> OnScale:
    """What to expect of each system: P(yes), the mean of `grades` (ascending), or the share of
    comparisons won against the other systems, a tie being half a win. Covariates are taken to be 0.

    The variances of the random effects are taken as known.
    """
    if fitted.family == "ordinal" and (grades is None or len(grades) != len(fitted.shape) + 1):
        raise InputError(f"an ordinal model has {len(fitted.shape) + 1} grades: give their values")
    effects, shape = fitted.effects[:n_systems], fitted.shape
    n_effects = len(fitted.effects)
    slopes = np.zeros((n_systems, n_effects + len(shape)))
    if fitted.family in ("binary", "ordinal"):
        # A system's expectation depends on its own effect only, so all can be moved at once.
        own = _slope(lambda move: expectations_at(fitted, effects + move, shape, grades))
        slopes[:, :n_systems] = np.diag(own)
    else:
        ahead = _slope(lambda move: _shares_won(fitted, effects, shape, move)) / (n_systems - 1)
        slopes[:, :n_systems] = np.diag(ahead.sum(axis=1)) - ahead
    for k, direction in enumerate(np.eye(len(shape))):

        def moved(move: float, direction: Floats = direction) -> Floats:
            return expectations_at(fitted, effects, shape + move * direction, grades)

        slopes[:, n_effects + k] = _slope(moved)
    values = expectations_at(fitted, effects, shape, grades)
    return OnScale(values, slopes @ fitted.restricted_covariance @ slopes.T)


def _slope(function: Callable[[float], Floats]) -> Floats:
    """The derivative of a function at 0."""
    return (function(DERIVATIVE_STEP) - function(-DERIVATIVE_STEP)) / (2 * DERIVATIVE_STEP)


def expectations_at(
    fitted: LaplaceMixed, effects: Floats, shape: Floats, grades: Floats | None
) -> Floats:
    """The expectation of each system, from the systems' effects and the family's shape parameters."""
    nodes, weights = _quadrature()
    latent = effects[:, None] + _latent_deviation(fitted) * nodes
    if fitted.family == "binary":
        return np.asarray(expit(latent) @ weights)
    if fitted.family == "ordinal" and grades is not None:
        # The lowest grade plus, for each step between grades, its height times the chance to be above.
        above = expit(latent[:, :, None] - shape) @ np.diff(np.asarray(grades, np.float64))
        return np.asarray(grades[0] + above @ weights)
    won = _shares_won(fitted, effects, shape)
    return np.asarray(won.sum(axis=1) / (len(effects) - 1))


def _shares_won(fitted: LaplaceMixed, effects: Floats, shape: Floats, move: float = 0.0) -> Floats:
    """The share of comparisons that each system wins against each other one, and 0 against itself, if
    it were `move` further ahead."""
    won = np.array([share_won(fitted, effect - effects + move, shape) for effect in effects])
    np.fill_diagonal(won, 0.0)
    return won


def share_won(fitted: LaplaceMixed, ahead: Floats, shape: Floats) -> Floats:
    """The expected share of comparisons that a system wins against another, a tie being half a win, for
    each number of `ahead`: how far the first system's effect is above the second's."""
    nodes, weights = _quadrature()
    # Both systems of a choice have random effects of their own.
    latent = ahead[:, None] + np.sqrt(2) * _latent_deviation(fitted) * nodes
    points = expit(latent) if not len(shape) else _points_with_ties(latent, float(shape[0]))
    return np.asarray(points @ weights)


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """The nodes and weights of an expectation over a standard normal distribution."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(QUADRATURE_NODES)
    return nodes, weights / weights.sum()


def _latent_deviation(fitted: LaplaceMixed) -> float:
    """The standard deviation of all random effects together."""
    return float(np.sqrt(sum(fitted.components.values())))


def _points_with_ties(latent: Floats, log_ties: float) -> Floats:
    """The expected points of the first system in Davidson's model: 1 for a win, a half for a tie."""
    sums = np.logaddexp(np.logaddexp(latent / 2, -latent / 2), log_ties)
    return np.asarray(np.exp(latent / 2 - sums) + np.exp(log_ties - sums) / 2)
