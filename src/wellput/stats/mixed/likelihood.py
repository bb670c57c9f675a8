"""The likelihood of judgments with the random effects integrated out by Laplace's approximation.

Its parameters are the θ of every factor (the standard deviation of its effects), the fixed effects, and
the family's shape. The integral is that of a normal curve at the effects' mode; the gradient is exact:
it includes the changes of the mode and of the weights (Skaug & Fournier 2006).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wellput.stats.mixed.equations import Floats, MixedModel
from wellput.stats.mixed.families import Family, Terms
from wellput.stats.mixed.matrices import safely_positive

MAX_MODE_STEPS = 100
"""The most Newton steps to the mode."""
MODE_TOLERANCE = 1e-15
"""The mode is found if the squared length of a step, in the curvature at the mode, is below this."""


@dataclass(frozen=True, eq=False)
class Mode:
    """The effects with the highest likelihood (`solution`, divided by their θ), the judgments' latent
    values η, the likelihood's `terms` and `value` there, and the log determinant of its curvature."""

    solution: Floats
    eta: Floats
    terms: Terms
    log_determinant: float
    value: float


class LaplaceLikelihood:
    """The negative log likelihood and its gradient, by calling it; `evaluations` counts the calls."""

    def __init__(self, model: MixedModel, family: Family) -> None:
        self.model = model
        self.family = family
        self.names = model.names
        self.n_thetas = len(model.names)
        self.n_shape = len(family.first_shape())
        self.levels = np.array([place.stop - place.start for place in model.places.values()])
        self.evaluations = 0
        self._last = np.zeros(model.n_columns)

    def split(self, parameters: Floats) -> tuple[Floats, Floats, Floats]:
        """The θ, the fixed effects, and the shape."""
        ends = (self.n_thetas, self.n_thetas + self.model.n_fixed)
        return parameters[: ends[0]], parameters[ends[0] : ends[1]], parameters[ends[1] :]

    def mode(self, parameters: Floats, *, is_restricted: bool = False) -> Mode:
        """The mode of the random effects; the search starts at the last mode. With `is_restricted`,
        also that of the fixed effects, as differences from those in `parameters`."""
        model, family = self.model, self.family
        thetas, fixed, shape = self.split(parameters)
        theta_of_factor = dict(zip(self.names, thetas.tolist(), strict=True))
        scale = model.scale(theta_of_factor)
        offset = np.zeros(model.n_columns)
        offset[model.n_random :] = fixed
        base = model.times(offset)

        def at(u: Floats) -> tuple[Floats, Terms, float]:
            """The linear predictor at effects u, the terms of the likelihood, and the negative log
            likelihood with the penalty of the random effects."""
            eta = base + model.times(scale * u)
            terms = family.terms(eta, shape)
            penalty = 0.5 * float(u[: model.n_random] @ u[: model.n_random])
            return eta, terms, float(terms.losses.sum()) + penalty

        n_searched = model.n_columns if is_restricted else model.n_random
        u = self._last
        eta, terms, value = at(u)
        if not value <= at(np.zeros_like(u))[2]:
            u = np.zeros_like(u)
            eta, terms, value = at(u)
        for _ in range(MAX_MODE_STEPS):
            log_random, log_fixed = model.factor(theta_of_factor, terms.curvatures)
            slope = scale * model.transposed_times(terms.slopes)
            slope[: model.n_random] += u[: model.n_random]
            slope[n_searched:] = 0.0
            step = -model.solve(slope, random_only=not is_restricted)
            if -float(slope @ step) < MODE_TOLERANCE * max(1.0, len(eta) / 1000):
                break
            # The step is halved until the value is not higher, except for rounding.
            size = 1.0
            while True:
                new = at(u + size * step)
                if new[2] <= value + 1e-12 * abs(value) or size < 1e-8:
                    break
                size /= 2
            u = u + size * step
            eta, terms, value = new
        self._last = np.where(np.arange(len(u)) < model.n_random, u, 0.0)
        log_determinant = log_random + log_fixed if is_restricted else log_random
        return Mode(u, eta, terms, log_determinant, value)

    def __call__(self, parameters: Floats, *, is_restricted: bool = False) -> tuple[float, Floats]:
        """The negative log likelihood and its gradient. The restricted likelihood (REML), in which the
        fixed effects are integrated out too, has a gradient in θ only."""
        self.evaluations += 1
        model = self.model
        mode = self.mode(parameters, is_restricted=is_restricted)
        thetas, _, shape = self.split(parameters)
        terms, u = mode.terms, mode.solution
        inverse = model.invert(random_only=not is_restricted, keeps_factor=True)
        scale = model.scale(dict(zip(self.names, thetas.tolist(), strict=True)))
        # The weights change with the mode; solving one adjoint equation gives the effect on the
        # determinant.
        weight_slopes = inverse.leverages * terms.thirds
        sides = scale * model.transposed_times(weight_slopes)
        adjoint = model.solve(sides, random_only=not is_restricted)
        eta_adjoint = model.times(scale * adjoint)
        per_eta = terms.slopes + 0.5 * weight_slopes - 0.5 * eta_adjoint * terms.curvatures
        sums = model.transposed_times(np.stack([per_eta, terms.slopes], axis=1))
        of_thetas = np.zeros(self.n_thetas)
        for k, place in enumerate(model.places.values()):
            of_thetas[k] = u[place] @ sums[place, 0] - 0.5 * adjoint[place] @ sums[place, 1]
            if thetas[k] > 0:
                trace = float(inverse.diagonal[place].sum())
                of_thetas[k] += (self.levels[k] - trace) / thetas[k]
        if is_restricted:
            return mode.value + 0.5 * mode.log_determinant, of_thetas
        of_shape = self.family.shape_slope(
            mode.eta, shape, -0.5 * eta_adjoint, 0.5 * inverse.leverages
        )
        gradient = np.concatenate([of_thetas, sums[model.n_random :, 0], of_shape])
        return mode.value + 0.5 * mode.log_determinant, gradient

    def covariance_given(self, parameters: Floats) -> Floats:
        """The covariance of fixed effects and shape if the θ were known."""
        thetas, fixed, shape = self.split(parameters)
        mode = self.mode(parameters)
        theta_of_factor = dict(zip(self.names, thetas.tolist(), strict=True))
        self.model.factor(theta_of_factor, mode.terms.curvatures)
        scale = self.model.scale(theta_of_factor)
        fixed_and_shape = np.concatenate([fixed, shape])
        # The derivative of each judgment's slope in each shape parameter: how far the estimates of
        # shape and effects depend on each other.
        widths = np.full(len(shape), 1e-4)  # how far each shape parameter is moved
        crossed = np.zeros((len(mode.eta), len(shape)))
        shape_slopes = np.zeros((len(shape), len(shape)))
        zeros = np.zeros(len(mode.eta))
        for k, width in enumerate(widths):
            move = np.zeros(len(shape))
            move[k] = width
            up, down = (self.family.terms(mode.eta, shape + sign * move).slopes for sign in (1, -1))
            crossed[:, k] = (up - down) / (2 * width)
            ends = [
                self.family.shape_slope(mode.eta, shape + sign * move, zeros, zeros)
                for sign in (1, -1)
            ]
            shape_slopes[:, k] = (ends[0] - ends[1]) / (2 * width)
        sides = scale[:, None] * self.model.transposed_times(crossed)
        solved = self.model.solve(sides) if len(shape) else sides
        shape_information = shape_slopes - sides.T @ solved
        fixed_covariance = self.model.invert().fixed_columns[self.model.n_random :]
        covariance = np.zeros((len(fixed_and_shape), len(fixed_and_shape)))
        n_fixed = len(fixed)
        covariance[:n_fixed, :n_fixed] = fixed_covariance
        if len(shape):
            of_shape = np.linalg.inv(safely_positive((shape_information + shape_information.T) / 2))
            fixed_part = solved[self.model.n_random :]
            covariance[:n_fixed, :n_fixed] += fixed_part @ of_shape @ fixed_part.T
            covariance[:n_fixed, n_fixed:] = -fixed_part @ of_shape
            covariance[n_fixed:, :n_fixed] = covariance[:n_fixed, n_fixed:].T
            covariance[n_fixed:, n_fixed:] = of_shape
        return covariance

    def covariance_slope(self, parameters: Floats, k: np.int64) -> Floats:
        """The derivative of the covariance of fixed effects and shape in one θ."""
        move = np.zeros(len(parameters))
        move[k] = 0.01 * parameters[k]  # θ is moved by a hundredth
        ends = [self.covariance_given(parameters + sign * move) for sign in (1, -1)]
        return np.asarray((ends[0] - ends[1]) / (2 * move[k]))
