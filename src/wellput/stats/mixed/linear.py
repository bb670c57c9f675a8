"""Linear mixed models of ratings by restricted maximum likelihood (REML).

The criterion is lme4's (Bates et al. 2015, eq. 41), profiled over the fixed effects and the
residual variance. It is minimized over *ratios* γ = θ², a component's variance (that of judges, of
items and so on) in units of the residual variance, by Newton steps with the average-information matrix
(Gilmour, Thompson & Cullis 1995): the mean of the observed and the expected Fisher information. A ratio
whose optimum lies at 0 is exactly 0. Degrees of freedom are Satterthwaite's as in lmerTest (Kuznetsova
et al. 2017). `equations.py` explains factors and the core of a design.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

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
from wellput.stats.mixed.equations import (
    Floats,
    Inverse,
    MixedDesign,
    MixedModel,
    part_with_smaller_core,
)
from wellput.stats.mixed.matrices import correlation_matrix, scaled_inverse

MAX_VALUE, MIN_SPREAD = 1e60, 1e-60
"""The largest absolute value, and the smallest difference of the largest and the least value: fourth
powers of values are summed, and must neither overflow nor vanish."""
MAX_STEPS = 60
"""The search ends after this many Newton steps at the latest."""
MAX_SHORTENINGS = 8
"""How often a step is made shorter until it lowers the criterion."""
CONVERGED_DECREASE = 1e-11
LARGE_CONVERGED_DECREASE = 1e-5
"""The search ends where the next step would lower the criterion by less than this; the second is for
models with a large core, where an evaluation takes seconds."""
FIRST_RATIO = 0.3  # of each factor, where the search starts
LEAST_RATIO = 1e-4
"""A ratio that falls to this times (levels / judgments) becomes 0 if the criterion still falls."""
LARGE_LEAST_SHARE = 1e-4
"""In models with a large core, a ratio is set to 0 only below this share of the limit that
`LEAST_RATIO` gives. It is then so small that the criterion is not evaluated again at 0."""
LARGE_CORE = 1_500
"""Above this many core columns (see `equations`), the search starts from a fit to a part of the data,
and the average information is used for the observed (see `LinearMixed`)."""
PART_CORE = 1_000  # about how many core columns that part has
MIN_SHARE_LEFT, MAX_GROWTH = 0.02, 9.0
"""A step leaves at least the first share of a ratio, and adds at most the second times the ratio."""
RELATIVE_DIFFERENCE = 1e-4
"""How far a ratio is moved to compute a derivative by differences, as a share of the ratio."""
EXACT_SHARE = 1e-10
"""A residual variance below this share of the variance of the values is rounding."""
ROUNDED_SQUARES = 1e-20
"""A sum of squared residuals below this share of the values' sum of squares is rounding: the effects
explain every value."""
EXACT_FIT = (
    "systems, judges and items explain every value exactly: nothing is left that says how sure the "
    "differences are"
)
CRITERION_ROUNDING = 1e-9  # two criteria that differ by less are equal


@dataclass(frozen=True, eq=False)
class LinearMixed:
    """A fitted model.

    `effects` are those of systems, then of covariates; `covariance` is the covariance of the effects.
    `components` has the variance of each factor and of the "residual"; `modes` has each factor's
    predicted effects (BLUPs: a judge's effect is positive where the judge gives higher ratings than
    others). `criterion` is the REML criterion, −2 log likelihood; `evaluations` says how often it was
    computed.

    `contrast` takes many contrasts at once. Its degrees of freedom come from the observed Fisher
    information. In large models this would take longer than the fit, and there are many degrees of
    freedom; there they come from the average of the observed and the expected information.
    """

    effects: Floats
    covariance: Floats
    components: dict[str, float]
    modes: dict[str, Floats]
    criterion: float
    residuals: Floats
    evaluations: int
    spread: VarianceSpread
    """How the covariance depends on the ratios that are not 0 and on the residual variance."""

    @property
    def n(self) -> int:
        return len(self.residuals)

    @property
    def weights(self) -> Floats:
        """The weight of each judgment: one over the residual variance."""
        return np.full(self.n, 1 / self.components["residual"])

    def contrast(self, weights: Floats) -> Contrasts:
        """Contrasts, one for each row of `weights` (k, systems) or (k, all effects)."""
        return contrast_effects(weights, self.effects, self.covariance, self.spread)

    def contrast_pairs(self, first: Places, second: Places) -> Contrasts:
        """The effect of the first system of each pair minus that of the second; arguments are the
        systems' codes."""
        return contrast_pairs(first, second, self.effects, self.covariance, self.spread)


def fit_linear(
    values: Floats, design: MixedDesign, *, start: Mapping[str, float] | None = None
) -> LinearMixed:
    """Fit the ratings `values` (n,) by REML, with a random intercept for every factor of the design.

    The factors must be identifiable (`identify_components`). `start` has ratios to begin with, such
    as those of a fit of nearly the same data.
    """
    values = np.asarray(values, np.float64)
    _check(values, design)
    center = float(values.mean())
    model = MixedModel(design)
    problem = _Problem(model, values - center)
    problem.check_fixed()
    ratios = problem.first_ratios(start)
    return problem.result(*problem.minimize(ratios), center)


def _check(values: Floats, design: MixedDesign) -> None:
    """Raises InputError for values that a linear model cannot be fitted to."""
    if values.shape != (len(design),) or not np.isfinite(values).all():
        raise InputError("a linear model needs one finite value for each judgment")
    if design.is_choice:
        raise InputError("a linear model takes ratings, not choices")
    if np.ptp(values) == 0:
        raise InputError("all values are equal: there is nothing to compare")
    largest = float(np.abs(values).max())
    if largest > MAX_VALUE:
        raise InputError(
            f"values as large as {largest:.3g} have no fourth power, which the model needs: divide all "
            "values by one number"
        )
    if np.ptp(values) < MIN_SPREAD:
        raise InputError(
            f"values that differ by only {np.ptp(values):.3g} have no fourth power, which the model "
            "needs: multiply all values by one number"
        )


@dataclass(frozen=True, eq=False)
class _Point:
    """The criterion at some ratios, its slope and curvature in them, and what the result needs.

    `solution` has the effects, `squares` the penalized sum of squares, `log_slope` the part of the
    slope that comes from the log determinants, `products` the result of `_products`.
    """

    ratios: Floats
    criterion: float
    solution: Floats
    residuals: Floats
    squares: float
    slope: Floats
    log_slope: Floats
    curvature: Floats
    products: Floats
    inverse: Inverse


class _Problem:
    """The criterion as a function of ratios, the search for its minimum, and the result there."""

    def __init__(self, model: MixedModel, values: Floats) -> None:
        self.model = model
        self.values = values
        self.names = model.names
        self.freedom = len(values) - model.n_fixed  # the residual's degrees of freedom
        self.levels = np.array([place.stop - place.start for place in model.places.values()])
        self.negligible = LEAST_RATIO * self.levels / len(values)  # smaller ratios are close to 0
        self.is_large = model.n_core > LARGE_CORE
        self.least = self.negligible * (LARGE_LEAST_SHARE if self.is_large else 1.0)  # lower bounds
        self.evaluations = 0

    def check_fixed(self) -> None:
        if self.freedom < 1:
            raise InputError(
                "there are no more judgments than systems and covariates, so nothing says how sure a "
                "difference is"
            )
        self.model.check_fixed()

    def first_ratios(self, start: Mapping[str, float] | None) -> Floats:
        """The ratios to start from: those of `start`, or `FIRST_RATIO`, or in large designs those of a
        fit to a part of the data."""
        if start is not None:
            return np.asarray(np.maximum([start[name] for name in self.names], self.negligible))
        first: Floats = np.maximum(np.full(len(self.names), FIRST_RATIO), self.negligible)
        rows = None
        if self.is_large:
            rows = part_with_smaller_core(self.model.design, PART_CORE / self.model.n_core)
        if rows is None:
            return first
        part = _Problem(MixedModel(self.model.design.rows(rows)), self.values[rows])
        ratio_of = dict(zip(part.names, part.minimize(first)[0].ratios, strict=True))
        return np.asarray(np.maximum([ratio_of[name] for name in self.names], self.negligible))

    def at(self, ratios: Floats, *, has_curvature: bool = True) -> _Point:
        """Evaluates the criterion at these ratios; where a ratio is 0, its slope is returned as 0.
        Without `has_curvature`, the second derivatives are not computed."""
        self.evaluations += 1
        model, n = self.model, len(self.values)
        thetas = dict(zip(self.names, np.sqrt(ratios).tolist(), strict=True))
        log_random, log_fixed = model.factor(thetas, np.ones(n))
        scale = model.scale(thetas)
        solution = model.solve(scale * model.transposed_times(self.values))
        residuals = self.values - model.times(scale * solution)
        squares = float(residuals @ residuals + (solution[: model.n_random] ** 2).sum())
        if squares <= ROUNDED_SQUARES * float(self.values @ self.values):
            raise InputError(EXACT_FIT)
        criterion = (
            log_random + log_fixed + self.freedom * (1 + np.log(2 * np.pi * squares / self.freedom))
        )
        sums = model.by_factor(model.transposed_times(residuals))
        squared_sums = np.array([float(part @ part) for part in sums.values()])
        products = self._products(sums, scale) if has_curvature else np.zeros((0, 0))
        inverse = model.invert()
        traces = [float(part.sum()) for part in model.by_factor(inverse.diagonal).values()]
        with np.errstate(invalid="ignore", divide="ignore"):
            log_slope = np.where(ratios > 0, (self.levels - np.array(traces)) / ratios, 0.0)
        slope = np.where(ratios > 0, log_slope - self.freedom * squared_sums / squares, 0.0)
        curvature = products
        if has_curvature:
            curvature = self.freedom * (
                products / squares - np.outer(squared_sums, squared_sums) / squares**2
            )
        return _Point(
            ratios, criterion, solution * scale, residuals, squares, slope, log_slope, curvature,
            products, inverse,
        )  # fmt: skip

    def _products(self, sums: Mapping[str, Floats], scale: Floats) -> Floats:
        """w'Pw of the working variates w = ZZ'e of each factor, where e are the residuals, Z is the
        factor's design matrix, and P projects out what the model explains."""
        model = self.model
        effects = np.zeros((model.n_columns, len(self.names)))
        for k, (name, part) in enumerate(sums.items()):
            effects[model.places[name], k] = part
        working = model.times(effects)
        sides = scale[:, None] * model.transposed_times(working)
        return np.asarray(working.T @ working - sides.T @ model.solve(sides))

    def minimize(self, ratios: Floats) -> tuple[_Point, NDArray[np.bool_]]:
        """The best point, and which of its ratios are not 0."""
        point = self._descend(self.at(ratios))
        while self._at_bound(point).any():
            point = self._descend(self._with_zeros(point))
        return point, point.ratios > 0

    def _with_zeros(self, point: _Point) -> _Point:
        """The point with those ratios set to 0 that are at their lower bound."""
        is_zero = self._at_bound(point)
        ratios = np.where(is_zero, 0.0, point.ratios)
        if not self.is_large:
            return self.at(ratios)
        solution = point.solution.copy()
        for name, is_zero_ratio in zip(self.names, is_zero, strict=True):
            if is_zero_ratio:
                solution[self.model.places[name]] = 0.0
        slopes = (np.where(is_zero, 0.0, slope) for slope in (point.slope, point.log_slope))
        slope, log_slope = slopes
        return replace(point, ratios=ratios, solution=solution, slope=slope, log_slope=log_slope)

    def _descend(self, point: _Point) -> _Point:
        """The point where the search ends. A step is Newton's or, if that does not lower the criterion,
        a small one (`_small_step`)."""
        least_decrease = LARGE_CONVERGED_DECREASE if self.is_large else CONVERGED_DECREASE
        # A smaller decrease is rounding of the criterion.
        least_decrease = max(least_decrease, 1e-14 * abs(point.criterion))
        for _ in range(MAX_STEPS):
            if point.ratios.max(initial=0.0) > 1 / EXACT_SHARE:
                break  # the residual variance is rounding, which `result` refuses
            new = None
            for step in (self._newton_step(point), self._small_step(point)):
                promised = -0.5 * float(point.slope @ step)
                if promised >= least_decrease:
                    new = self._search(point, step, promised)
                if new is not None:
                    break
            if new is None:
                break
            point = new
        return point

    def _at_bound(self, point: _Point) -> NDArray[np.bool_]:
        """Which ratios are at their lower bound while the fit would improve below it."""
        return np.asarray((point.ratios <= self.least * (1 + 1e-9)) & (point.slope > 0))

    def _small_step(self, point: _Point) -> Floats:
        """The step of a minorization-maximization (MM) algorithm (Zhou et al. 2019): slow, but it never
        raises the criterion."""
        free = point.ratios > 0
        pulls = point.log_slope - point.slope
        ratios = point.ratios.copy()
        ratios[free] *= np.sqrt(pulls[free] / np.maximum(point.log_slope[free], 1e-300))
        lowest = np.where(free, self._lowest(point), 0.0)
        return np.asarray(np.maximum(ratios, lowest) - point.ratios)

    def _lowest(self, point: _Point) -> Floats:
        """How small a step may make each ratio: not negligible, because it could grow again only slowly
        (unless it is nearly negligible already)."""
        lowest = MIN_SHARE_LEFT * point.ratios
        return np.asarray(np.where(lowest > self.negligible, lowest, self.least))

    def _newton_step(self, point: _Point) -> Floats:
        """A Newton step within the bounds."""
        held = self._at_bound(point) | (point.ratios == 0)
        step = np.zeros(len(point.ratios))
        lowest = self._lowest(point)
        for _ in range(len(step) + 1):
            free = ~held
            if not free.any():
                break
            # Units in which every ratio is 1: the smallest component counts as much as the largest.
            unit = np.maximum(point.ratios, self.negligible)[free]
            curvature = point.curvature[np.ix_(free, free)] * np.outer(unit, unit)
            slope = (point.slope[free] + point.curvature[np.ix_(free, held)] @ step[held]) * unit
            values, vectors = np.linalg.eigh(curvature)
            # A direction with hardly any curvature, or a negative one, would give an endless step.
            values = np.maximum(values, max(1e-6 * values.max(), 1e-10))
            step[free] = -(vectors @ ((vectors.T @ slope) / values)) * unit
            beyond = free & (point.ratios + step < lowest)
            if not beyond.any():
                break
            step[beyond] = lowest[beyond] - point.ratios[beyond]
            held |= beyond
        return step

    def _search(self, point: _Point, step: Floats, promised: float) -> _Point | None:
        """The point after the first of ever shorter steps that lowers the criterion enough; None where
        none does. `promised` is half of the slope along the step: what a whole Newton step would
        bring if the criterion were a parabola."""
        # Far from the optimum the curvature is misleading, so growth is limited.
        least = np.where(point.ratios > 0, self.least, 0.0)
        is_growing = step > 0
        sizes = np.maximum(point.ratios, self.negligible)[is_growing]
        growth = float((step[is_growing] / sizes).max(initial=0.0))
        size = min(1.0, MAX_GROWTH / growth) if growth else 1.0
        for _ in range(MAX_SHORTENINGS):
            new = self.at(np.maximum(point.ratios + size * step, least))
            # A small part of the promised decrease is enough (Armijo's condition).
            if new.criterion <= point.criterion - 1e-4 * size * min(promised, 1e8):
                return new
            # So close to the minimum, rounding may hide the decrease.
            if promised * size < 1e-6 and new.criterion <= point.criterion + CRITERION_ROUNDING:
                return new
            size *= 0.3
        return None

    def result(self, point: _Point, is_free: NDArray[np.bool_], center: float) -> LinearMixed:
        """The fitted model at a point; `center` was subtracted from the values."""
        model = self.model
        residual = point.squares / self.freedom
        if residual < EXACT_SHARE * float(self.values.var()):
            raise InputError(EXACT_FIT)
        covariance = residual * point.inverse.fixed_columns[model.n_random :]
        effects = point.solution[model.n_random :].copy()
        effects[: model.design.n_systems] += center
        components = {
            name: float(ratio * residual)
            for name, ratio in zip(self.names, point.ratios, strict=True)
        }
        return LinearMixed(
            effects=effects,
            covariance=covariance,
            components={**components, "residual": residual},
            modes=model.by_factor(point.solution),
            criterion=point.criterion,
            residuals=point.residuals,
            evaluations=self.evaluations,
            spread=VarianceSpread(
                self._slopes(point, is_free), self._variance_covariance(point, is_free)
            ),
        )

    def _slopes(self, point: _Point, is_free: NDArray[np.bool_]) -> Floats:
        """Derivatives of the effects' covariance in the free ratios and the residual variance."""
        residual = point.squares / self.freedom
        fixed = point.inverse.fixed_columns
        of_ratios = []
        for name, ratio, is_free_ratio in zip(self.names, point.ratios, is_free, strict=True):
            if is_free_ratio:
                part = fixed[self.model.places[name]]
                of_ratios.append(residual / ratio * part.T @ part)
        return np.stack([*of_ratios, fixed[self.model.n_random :]])

    def _average_information(self, point: _Point, is_free: NDArray[np.bool_]) -> Floats:
        """The mean of the observed and the expected information in (free ratios, residual variance)."""
        free = np.flatnonzero(is_free)
        residual = point.squares / self.freedom
        squared_effects = np.array(
            [
                float((point.solution[self.model.places[self.names[k]]] ** 2).sum())
                / point.ratios[k] ** 2
                for k in free
            ]
        )
        information = np.zeros((len(free) + 1, len(free) + 1))
        information[:-1, :-1] = point.products[np.ix_(free, free)] / residual
        information[:-1, -1] = information[-1, :-1] = squared_effects / residual**2
        information[-1, -1] = self.freedom / residual**2
        return information

    def _variance_covariance(self, point: _Point, is_free: NDArray[np.bool_]) -> Floats:
        """Twice the inverse of the criterion's Hessian in (free ratios, residual variance)."""
        free = np.flatnonzero(is_free)
        average = self._average_information(point, is_free)
        if not self.is_large:
            observed = average.copy()
            observed[:-1, :-1] = 2 * average[:-1, :-1] - self._expected(point, free)
            if np.linalg.eigvalsh(correlation_matrix(observed)).min() > 1e-8:  # positive definite
                return np.asarray(2 * np.linalg.inv(observed))
        return 2 * scaled_inverse(average)

    def _expected(self, point: _Point, free: NDArray[np.int64]) -> Floats:
        """The expected information of each pair of components (tr(PVPV)), from differences of the log
        determinant's slope."""
        information = np.zeros((len(free), len(free)))
        for column, k in enumerate(free):
            change = RELATIVE_DIFFERENCE * point.ratios[k]
            ends = []
            for sign in (1, -1):
                ratios = point.ratios.copy()
                ratios[k] += sign * change
                ends.append(self.at(ratios, has_curvature=False).log_slope[free])
            information[:, column] = (ends[1] - ends[0]) / (2 * change)
        return (information + information.T) / 2


def ratios_of(fitted: LinearMixed) -> dict[str, float]:
    """The ratios of a fit, from which another fit can start."""
    residual = fitted.components["residual"]
    return {
        name: value / residual for name, value in fitted.components.items() if name != "residual"
    }
