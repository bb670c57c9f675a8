"""Mixed models of yes or no, grades and choices, by the Laplace approximation.

The likelihood is integrated over the random effects as lme4::glmer (nAGQ = 1) and ordinal::clmm do
it: by a normal curve at the effects' mode (their most likely values). The mode is found by Newton's
method (penalized iteratively reweighted least squares). The gradient of the approximation is exact: it
includes the changes of the mode and of the weights. Standard errors come from the Hessian of the whole
approximation.

When maximum likelihood estimates variances, it takes the effects of systems as known, so with few
judges the variances are too small. For contrasts the variances are therefore estimated once more by
*restricted* likelihood, which integrates over the fixed effects too (as REML does in linear models).

θ is the standard deviation of a factor's random effects on the latent scale (log odds).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.stats.mixed.contrasts import (
    Contrasts,
    Places,
    VarianceSpread,
    contrast_effects,
    contrast_pairs,
)
from wellput.stats.mixed.equations import Floats, MixedDesign, MixedModel, part_with_smaller_core
from wellput.stats.mixed.families import ChoicesWithTies, Family, Grades, YesNo
from wellput.stats.mixed.likelihood import LaplaceLikelihood
from wellput.stats.mixed.matrices import hessian_by_differences, safely_positive
from wellput.stats.mixed.separation import require_connected, require_finite

FIRST_THETA = 0.5
SEARCH_END_SLOPE = 1e-3
"""The search ends where the likelihood's slope is below this, with each parameter in units of about one
standard error."""
ZERO_THETA = 1e-3
"""A smaller standard deviation on the latent scale is set to 0 if the likelihood rises towards 0."""
NEGLIGIBLE_THETA, NEGLIGIBLE_LIKELIHOOD = 0.1, 1e-3
"""A standard deviation below the first is also set to 0 if the log likelihood then falls by less than
the second. Where the likelihood is flat, the search may end a little above 0, and where it ends would
depend on the order of the judgments."""
MAX_THETA = 10.0
"""With a standard deviation of 10 in log odds, the factor alone decides the judgments."""
SUSPICIOUS_LATENT = 8.0
"""Log odds this large without random effects may be infinite: the fit then checks for separation."""
RUNAWAY_LATENT = 32.0
"""Where log odds become this large, the search stops before they overflow: they may be infinite."""
DERIVATIVE_STEP = 1e-3
"""How far parameters are moved for second derivatives, in units of their rough standard errors."""
LARGE_CORE = 1_500
"""The core columns are those of the equations that are solved together as one dense matrix; the others
are eliminated one by one (see `equations`). If there are more core columns than this, the search starts
from a fit to a part of the data, and standard errors take the variances as known."""
PART_CORE = 400
"""About how many core columns that part has."""


KNOWN_VARIANCES = VarianceSpread(np.zeros((0, 0, 0)), np.zeros((0, 0)))
"""Variances that are taken as known."""


@dataclass(frozen=True, eq=False)
class LaplaceMixed:
    """A fitted model on the latent scale (log odds).

    `effects` are those of systems, then of covariates; where only differences between systems count
    (grades, choices) the systems' mean is 0. `shape` are thresholds of grades, or log ν of ties;
    `covariance` is that of effects and shape together. `components` has each factor's variance,
    `modes` its predicted effects. `criterion` is −2 log likelihood, approximately. `latent` has each
    judgment's η, random effects included; `residuals` and `weights` are those of the linear model that
    has the same mode.
    """

    family: str
    effects: Floats
    shape: Floats
    covariance: Floats
    components: dict[str, float]
    modes: dict[str, Floats]
    criterion: float
    latent: Floats
    residuals: Floats
    weights: Floats
    evaluations: int
    restricted_covariance: Floats
    """The covariance of effects and shape, with the variances of restricted likelihood."""
    spread: VarianceSpread
    """How the effects' covariance depends on the standard deviations that are not 0, and how precisely
    restricted likelihood estimates these."""

    @property
    def n(self) -> int:
        return len(self.latent)

    def contrast(self, weights: Floats, *, is_restricted: bool = True) -> Contrasts:
        """Contrasts, one for each row of `weights` (k, systems) or (k, all effects).

        Without `is_restricted` the standard errors are those of glmer and clmm, with a normal
        distribution.
        """
        n = len(self.effects)
        covariance = self.restricted_covariance if is_restricted else self.covariance
        spread = self.spread if is_restricted else KNOWN_VARIANCES
        return contrast_effects(weights, self.effects, covariance[:n, :n], spread)

    def contrast_pairs(self, first: Places, second: Places) -> Contrasts:
        """How far the first system of each pair is ahead of the second."""
        n = len(self.effects)
        covariance = self.restricted_covariance[:n, :n]
        return contrast_pairs(first, second, self.effects, covariance, self.spread)


def fit_binary(values: Floats, design: MixedDesign) -> LaplaceMixed:
    """Fit answers 0 or 1 (n,); a system's effect is the log odds of 1."""
    values = np.asarray(values, np.float64)
    if design.is_choice or values.shape != (len(design),) or not np.isin(values, (0, 1)).all():
        raise InputError("a binary model needs ratings of 0 or 1, one for each judgment")
    return _fit(YesNo(values), design)


def fit_ordinal(values: Floats, design: MixedDesign) -> LaplaceMixed:
    """Fit grades (n,): any numbers whose order counts."""
    values = np.asarray(values, np.float64)
    if design.is_choice or values.shape != (len(design),) or not np.isfinite(values).all():
        raise InputError("an ordinal model needs one finite grade for each judgment")
    grades = np.unique(values, return_inverse=True)[1].astype(np.int64)
    if not grades.any():
        raise InputError("all values are equal: there is nothing to compare")
    return _fit(Grades(grades), design)


def fit_choices(values: Floats, design: MixedDesign) -> LaplaceMixed:
    """Fit choices (n,): 1 where the first system won, 0 where the second did, 0.5 for a tie.

    Without ties this is Bradley and Terry's model, with them Davidson's (1970).
    """
    values = np.asarray(values, np.float64)
    if not design.is_choice or values.shape != (len(design),):
        raise InputError("choices need two systems and one value for each judgment")
    if not np.isin(values, (0, 0.5, 1)).all():
        raise InputError("a choice is 1 (the first system), 0 (the second) or 0.5 (a tie)")
    if (values == 0.5).all():
        raise InputError("all choices are ties: there is nothing to compare")
    has_ties = bool((values == 0.5).any())
    family = (
        ChoicesWithTies(values)
        if has_ties
        else YesNo(values, fixes_first_system=True, name="bradley-terry")
    )
    return _fit(family, design)


def _fit(family: Family, design: MixedDesign) -> LaplaceMixed:
    """Fits the model after checking that its fixed effects can be estimated."""
    if design.n_systems < 2:
        raise InputError("there is only one system: there is nothing to compare")
    if design.is_choice:
        require_connected(design)
    model = MixedModel(design, fixes_first_system=family.fixes_first_system)
    model.check_fixed()
    return _Problem(model, family).fit()


class _Problem(LaplaceLikelihood):
    """The search for the parameters with the highest likelihood, and the result there."""

    def first_parameters(self) -> tuple[Floats, Floats, bool]:
        """The fixed effects and the shape of the model without random effects; the Hessian in them; and
        whether the search suggests that some of them may be infinite."""
        model, family = self.model, self.family
        columns = model.fixed_matrix()
        parameters = np.concatenate([np.zeros(model.n_fixed), family.first_shape()])

        def loss_and_slope(at: Floats) -> tuple[float, Floats]:
            eta, shape = columns @ at[: model.n_fixed], at[model.n_fixed :]
            terms = family.terms(eta, shape)
            zeros = np.zeros(len(eta))
            of_shape = family.shape_slope(eta, shape, zeros, zeros)
            return float(terms.losses.sum()), np.concatenate([columns.T @ terms.slopes, of_shape])

        def curvature(at: Floats) -> Floats:
            """The Hessian; that of the shape, which has few parameters, by differences."""
            eta, shape = columns @ at[: model.n_fixed], at[model.n_fixed :]
            hessian = np.zeros((len(at), len(at)))
            weights = family.terms(eta, shape).curvatures
            hessian[: model.n_fixed, : model.n_fixed] = columns.T @ (weights[:, None] * columns)
            for k in range(model.n_fixed, len(at)):
                move = np.zeros(len(at))
                move[k] = 1e-4
                hessian[k] = (loss_and_slope(at + move)[1] - loss_and_slope(at - move)[1]) / 2e-4
                hessian[:k, k] = hessian[k, :k]
            return hessian

        hessian = np.eye(len(parameters))
        is_suspicious = False
        for _ in range(50):
            value, gradient = loss_and_slope(parameters)
            hessian = curvature(parameters)
            step = -np.linalg.solve(safely_positive(hessian), gradient)
            if -gradient @ step < 1e-8:
                break
            size = 1.0
            while size > 1e-6 and not loss_and_slope(parameters + size * step)[0] <= value:
                size /= 2
            if size <= 1e-6:
                is_suspicious = True
                break
            parameters = parameters + size * step
            largest = float(np.abs(columns @ parameters[: model.n_fixed]).max())
            is_suspicious = largest > SUSPICIOUS_LATENT
            if largest > RUNAWAY_LATENT:
                break
        return parameters, safely_positive(hessian), is_suspicious

    def fit(self) -> LaplaceMixed:
        """The fitted model: first all parameters by L-BFGS, then θ that are 0 held there, then Newton
        steps."""
        first, hessian, is_suspicious = self.first_parameters()
        if is_suspicious:
            require_finite(self.family, self.model.fixed_matrix(), self.model.design)
        parameters = np.concatenate([self._first_thetas(), first])
        units = self._units(parameters, hessian)
        for _ in range(3):
            parameters = self._descend(parameters, units)
            is_zero, is_stuck = self._at_zero(parameters)
            if not is_stuck.any():
                break
            parameters[is_stuck] = FIRST_THETA / 2
        self._require_finite_thetas(parameters)
        if is_zero.any():
            parameters = self._descend(np.where(is_zero, 0.0, parameters), units, is_zero)
        if self.model.n_core > LARGE_CORE:
            rough = self.covariance_given(parameters)
            return self._result(parameters, rough, rough, KNOWN_VARIANCES)
        return self._polished(parameters, np.flatnonzero(~is_zero), units)

    def _first_thetas(self) -> Floats:
        """The θ to start from: `FIRST_THETA` for each, or in large designs those of a fit to a part of
        the data."""
        first = np.full(self.n_thetas, FIRST_THETA)
        rows = None
        if self.model.n_core > LARGE_CORE:
            rows = part_with_smaller_core(self.model.design, PART_CORE / self.model.n_core)
        if rows is None:
            return first
        design, family = self.model.design.rows(rows), self.family.rows(rows)
        part = _Problem(MixedModel(design, fixes_first_system=family.fixes_first_system), family)
        fixed, hessian, _ = part.first_parameters()
        start = np.concatenate([first, fixed])
        end = part._descend(start, part._units(start, hessian))
        theta_of = dict(zip(part.names, end[: self.n_thetas], strict=True))
        return np.asarray(np.clip([theta_of[name] for name in self.names], 0.05, 3.0), np.float64)

    def _polished(self, parameters: Floats, free: NDArray[np.int64], units: Floats) -> LaplaceMixed:
        """The result after Newton steps with the whole Hessian in the `free` parameters."""
        widths = DERIVATIVE_STEP * np.sqrt((units**2).sum(axis=1))
        for _ in range(3):
            hessian = hessian_by_differences(lambda at: self(at)[1], parameters, widths, free)
            if safely_positive(hessian) is not hessian:  # not positive definite
                rough = self.covariance_given(parameters)
                return self._result(parameters, rough, rough, KNOWN_VARIANCES)
            covariance = np.linalg.inv(hessian)
            step = -covariance @ self(parameters)[1][free]
            moved = parameters.copy()
            moved[free] += step
            if (moved[: self.n_thetas] < 0).any():
                break
            parameters = moved
            if (np.abs(step) <= 1e-3 * np.sqrt(np.diag(covariance))).all():
                break
        n_free_thetas = int((free < self.n_thetas).sum())
        fixed_covariance = np.asarray(covariance[n_free_thetas:, n_free_thetas:], np.float64)
        return self._result(
            parameters, fixed_covariance, *self._restricted(parameters, fixed_covariance)
        )

    def _restricted(self, parameters: Floats, covariance: Floats) -> tuple[Floats, VarianceSpread]:
        """The covariance of fixed effects and shape by restricted likelihood, and how it depends on the
        estimated θ."""
        free = np.flatnonzero(parameters[: self.n_thetas] > 0)
        if not len(free):
            return covariance, KNOWN_VARIANCES
        from scipy.optimize import minimize  # imported late: SciPy takes long to load

        start = parameters[free]
        likelihood, fixed_and_shape = self._with_all_systems(parameters[self.n_thetas :])

        def loss_and_slope(thetas: Floats) -> tuple[float, Floats]:
            at = np.concatenate([parameters[: self.n_thetas], fixed_and_shape])
            at[free] = thetas
            value, gradient = likelihood(at, is_restricted=True)
            return value, gradient[free]

        def in_shares_of_start(shares: Floats) -> tuple[float, Floats]:
            value, gradient = loss_and_slope(start * shares)
            return value, start * gradient

        search = minimize(
            in_shares_of_start, np.ones(len(free)), jac=True, method="L-BFGS-B",
            bounds=[(0.3, 3.0)] * len(free),
            options={"ftol": 1e-10, "gtol": 1e-3, "maxiter": 50},
        )  # fmt: skip
        thetas = start * search.x
        hessian = hessian_by_differences(lambda at: loss_and_slope(at)[1], thetas, 0.01 * thetas)
        at = parameters.copy()
        at[free] = thetas
        rough = self.covariance_given(at)
        slopes = np.stack([self.covariance_slope(at, k) for k in free])
        # Adds how much the covariance that takes θ as known changes from θ to the restricted θ.
        widened = covariance + rough - self.covariance_given(parameters)
        if safely_positive(widened) is not widened:  # not positive definite
            widened = rough
        of_thetas = np.asarray(np.linalg.inv(safely_positive(hessian)), np.float64)
        return widened, VarianceSpread(slopes, of_thetas)

    def _with_all_systems(self, fixed_and_shape: Floats) -> tuple[LaplaceLikelihood, Floats]:
        """The likelihood whose fixed effects are integrated out for the restricted likelihood, and
        `fixed_and_shape` as its parameters. For grades, it has an effect of every system.

        Thresholds of grades are held at their estimates. If the first system's effect were held at 0,
        too, the result would depend on which system is the first.
        """
        if not isinstance(self.family, Grades):
            return self, fixed_and_shape
        model = MixedModel(self.model.design, fixes_first_system=False)
        return LaplaceLikelihood(model, self.family), np.insert(fixed_and_shape, 0, 0.0)

    def _units(self, parameters: Floats, hessian: Floats) -> Floats:
        """A matrix whose columns are steps of about one standard error, nearly independent."""
        self(parameters)  # factors the equations, which `invert` needs
        diagonal = self.model.invert(random_only=True).diagonal
        units = np.zeros((len(parameters), len(parameters)))
        for k, place in enumerate(self.model.places.values()):
            # How much less the effects vary, given the data, than without data.
            share_known = 1 - float(diagonal[place].mean())
            units[k, k] = parameters[k] / np.sqrt(2 * self.levels[k]) / max(share_known, 0.05)
        units[self.n_thetas :, self.n_thetas :] = np.linalg.inv(np.linalg.cholesky(hessian)).T
        return units

    def _descend(
        self, start: Floats, units: Floats, is_zero: NDArray[np.bool_] | None = None
    ) -> Floats:
        """The parameters where L-BFGS ends, searching in the steps of `units` (see `_units`); θ stays
        at 0 or above, and at 0 where `is_zero`."""
        from scipy.optimize import minimize

        theta_units = np.diag(units)[: self.n_thetas]
        bounds: list[tuple[float | None, float | None]] = [
            (-start[k] / theta_units[k], None) for k in range(self.n_thetas)
        ]
        if is_zero is not None:
            bounds = [(0.0, 0.0) if is_zero[k] else bound for k, bound in enumerate(bounds)]
        bounds += [(None, None)] * (len(start) - self.n_thetas)

        def objective(x: Floats) -> tuple[float, Floats]:
            at = start + units @ x
            at[: self.n_thetas] = np.maximum(at[: self.n_thetas], 0.0)
            value, gradient = self(at)
            return value, units.T @ gradient

        search = minimize(
            objective, np.zeros(len(start)), jac=True, method="L-BFGS-B", bounds=bounds,
            options={"maxcor": 30, "ftol": 1e-15, "gtol": SEARCH_END_SLOPE, "maxiter": 300},
        )  # fmt: skip
        end = start + units @ search.x
        end[: self.n_thetas] = np.maximum(end[: self.n_thetas], 0.0)
        return np.asarray(end)

    def _at_zero(self, parameters: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Two masks: the θ that are 0 at the optimum or make no difference there; and the θ for which
        the search ended at 0 although the likelihood rises above 0. The slope at θ = 0 is always 0, so
        the slope a little above 0 decides."""
        is_zero = np.zeros(len(parameters), np.bool_)
        is_stuck = is_zero.copy()
        least = self(parameters)[0]
        for k in np.flatnonzero(parameters[: self.n_thetas] <= NEGLIGIBLE_THETA):
            probe = parameters.copy()
            if parameters[k] <= ZERO_THETA:
                probe[k] = ZERO_THETA
                is_zero[k] = self(probe)[1][k] > 0
                is_stuck[k] = not is_zero[k]
            else:
                probe[k] = 0.0
                is_zero[k] = self(probe)[0] - least < NEGLIGIBLE_LIKELIHOOD
        return is_zero, is_stuck

    def _require_finite_thetas(self, parameters: Floats) -> None:
        for name, theta in zip(self.names, parameters[: self.n_thetas], strict=True):
            if theta > MAX_THETA:
                raise InputError(
                    f"the judgments of each {name} nearly all agree: its variance has no finite "
                    f"estimate; leave the random effect {name} out or collect more judgments"
                )

    def _result(
        self, parameters: Floats, covariance: Floats, restricted: Floats, spread: VarianceSpread
    ) -> LaplaceMixed:
        """The fitted model at these parameters; the covariances are those of fixed effects and shape,
        by full and by restricted likelihood."""
        mode = self.mode(parameters)
        thetas, fixed, shape = self.split(parameters)
        theta_of_factor = dict(zip(self.names, thetas.tolist(), strict=True))
        natural, jacobian = self.family.natural_shape(shape)
        to_natural = np.eye(len(covariance))
        to_natural[len(fixed) :, len(fixed) :] = jacobian
        to_result = self._centering() @ to_natural
        joint = np.concatenate([fixed, natural])
        joint = self._centering() @ joint
        n_effects = len(joint) - len(natural)
        slopes = np.array([(to_result @ slope @ to_result.T) for slope in spread.slopes])
        slopes = slopes.reshape(len(slopes), len(joint), len(joint))[:, :n_effects, :n_effects]
        return LaplaceMixed(
            family=self.family.name,
            effects=joint[:n_effects],
            shape=joint[n_effects:],
            covariance=to_result @ covariance @ to_result.T,
            components={name: theta**2 for name, theta in theta_of_factor.items()},
            modes=self.model.by_factor(mode.solution * self.model.scale(theta_of_factor)),
            criterion=2 * mode.value + mode.log_determinant,
            latent=mode.eta,
            residuals=-mode.terms.slopes / np.maximum(mode.terms.curvatures, 1e-12),
            weights=mode.terms.curvatures,
            evaluations=self.evaluations,
            restricted_covariance=to_result @ restricted @ to_result.T,
            spread=VarianceSpread(slopes, spread.covariance),
        )

    def _centering(self) -> Floats:
        """The matrix that turns fixed effects and shape into effects of all systems (with mean 0 where
        the first one was fixed at 0), of covariates, and shape."""
        n_systems, n_fixed = self.model.design.n_systems, self.model.n_fixed
        size = n_fixed + self.n_shape
        if not self.model.fixes_first_system:
            return np.eye(size)
        centering = np.vstack([np.zeros((1, size)), np.eye(size)])
        mean = np.zeros(size)
        mean[: n_systems - 1] = 1 / n_systems
        centering[:n_systems] -= mean
        if isinstance(self.family, Grades):  # thresholds move with the effects
            centering[n_fixed + 1 :] -= mean
        return centering
