"""Systems' effects, turned from the latent scale (log odds) to the scale on which people judged: the
share of yes, the mean grade, the win rate.

These are expectations over judges and items like those of the study: shares are averaged over the
random effects. Shares computed for the average judge and item would be too extreme.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    n_effects = len(fitted.effects)
    parameters = np.concatenate([fitted.effects, fitted.shape])

    def values(at: Floats) -> Floats:
        return expectations(fitted, at[:n_systems], at[n_effects:], grades)

    slopes = np.zeros((n_systems, len(parameters)))
    for k in (*range(n_systems), *range(n_effects, len(parameters))):
        move = np.zeros(len(parameters))
        move[k] = DERIVATIVE_STEP
        slopes[:, k] = (values(parameters + move) - values(parameters - move)) / (
            2 * DERIVATIVE_STEP
        )
    return OnScale(values(parameters), slopes @ fitted.restricted_covariance @ slopes.T)


def expectations(
    fitted: LaplaceMixed, effects: Floats, shape: Floats, grades: Floats | None
) -> Floats:
    """The expectation of each system, from the systems' effects and the family's shape parameters."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(QUADRATURE_NODES)
    weights = weights / weights.sum()
    spread = float(np.sqrt(sum(fitted.components.values())))
    if fitted.family == "binary":
        return np.asarray(expit(effects[:, None] + spread * nodes) @ weights)
    if fitted.family == "ordinal" and grades is not None:
        # The lowest grade plus, for each step between grades, its height times the chance to be above.
        latent = effects[:, None] + spread * nodes
        above = expit(latent[:, :, None] - shape) @ np.diff(np.asarray(grades, np.float64))
        return np.asarray(grades[0] + above @ weights)
    # Both systems of a choice have random effects of their own.
    latent = effects[:, None, None] - effects[:, None] + np.sqrt(2) * spread * nodes
    points = expit(latent) if not len(shape) else _points_with_ties(latent, float(shape[0]))
    won = points @ weights
    np.fill_diagonal(won, 0.0)
    return np.asarray(won.sum(axis=1) / (len(effects) - 1))


def _points_with_ties(latent: Floats, log_ties: float) -> Floats:
    """The expected points of the first system in Davidson's model: 1 for a win, a half for a tie."""
    sums = np.logaddexp(np.logaddexp(latent / 2, -latent / 2), log_ties)
    return np.asarray(np.exp(latent / 2 - sums) + np.exp(log_ties - sums) / 2)
