"""Contrasts of fixed effects with Satterthwaite's degrees of freedom.

A contrast's variance is itself an estimate, since it rests on estimated variance components. Its
spread follows from the components' covariance by the delta method, and is that of a chi-square with
2 · variance² / spread degrees of freedom (Satterthwaite 1946; Fai & Cornelius 1996).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wellput.stats.mixed.equations import Floats


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
    """Contrasts, one a row of `weights`, which may leave out the last effects."""
    weights = np.atleast_2d(np.asarray(weights, np.float64))
    weights = np.pad(weights, ((0, 0), (0, len(effects) - weights.shape[1])))
    variances = _quadratic(weights, covariance)
    slopes = np.zeros((len(weights), len(spread.slopes)))
    for k, slope in enumerate(spread.slopes):
        slopes[:, k] = _quadratic(weights, slope)
    spreads = np.einsum("ki,ij,kj->k", slopes, spread.covariance, slopes)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.where(spreads > 0, 2 * variances**2 / spreads, np.inf)
    return Contrasts(weights @ effects, np.sqrt(variances), freedom, covariance)


def _quadratic(weights: Floats, matrix: Floats) -> Floats:
    return np.asarray(((weights @ matrix) * weights).sum(axis=1))
