"""The probability of a judgment (yes or no, a grade, a choice) given its latent value η, the sum of the
effects of its system, judge and item.

A *family* gives each judgment's negative log likelihood as a function of η and of *shape* parameters
that all judgments share (thresholds between grades, the frequency of ties), with the derivatives that
the Laplace approximation needs. Arrays have one entry for each judgment, (n,).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from wellput.stats.mixed.equations import Codes, Floats, renumbered

MAX_LOG_STEP = 25.0
"""The largest log of a step between thresholds. An optimizer may try larger values, whose exponential
would overflow."""


@dataclass(frozen=True, eq=False)
class Terms:
    """For each judgment the negative log likelihood and its first three derivatives in η."""

    losses: Floats
    slopes: Floats
    curvatures: Floats
    thirds: Floats


class Family(Protocol):
    """A kind of judgment. `fixes_first_system` says that only differences between systems count, so the
    first system's effect is fixed at 0."""

    @property
    def name(self) -> str: ...

    @property
    def fixes_first_system(self) -> bool: ...

    def rows(self, chosen: NDArray[np.bool_]) -> Family:
        """The chosen judgments only."""
        ...

    def first_shape(self) -> Floats:
        """Shape parameters to begin a search with."""
        ...

    def terms(self, eta: Floats, shape: Floats) -> Terms:
        """The negative log likelihoods and their derivatives at η."""
        ...

    def shape_slope(
        self, eta: Floats, shape: Floats, of_slopes: Floats, of_curvatures: Floats
    ) -> Floats:
        """The derivative in each shape parameter of Σ (loss + of_slopes · slope + of_curvatures ·
        curvature), where `of_slopes` and `of_curvatures` are constant weights."""
        ...

    def natural_shape(self, shape: Floats) -> tuple[Floats, Floats]:
        """The parameters in their usual form (thresholds, log ν), and their derivatives in `shape`."""
        ...


@dataclass(frozen=True, eq=False)
class YesNo:
    """Logistic regression: the log odds of 1 are η. With choices: 1 where the first system won."""

    values: Floats
    fixes_first_system: bool = False
    name: str = "binary"

    def rows(self, chosen: NDArray[np.bool_]) -> YesNo:
        return replace(self, values=self.values[chosen])

    def first_shape(self) -> Floats:
        return np.zeros(0)

    def terms(self, eta: Floats, shape: Floats) -> Terms:
        chance = expit(eta)
        variance = chance * (1 - chance)
        return Terms(
            np.logaddexp(0, np.where(self.values > 0, -eta, eta)),
            chance - self.values,
            variance,
            variance * (1 - 2 * chance),
        )

    def shape_slope(
        self, eta: Floats, shape: Floats, of_slopes: Floats, of_curvatures: Floats
    ) -> Floats:
        return np.zeros(0)

    def natural_shape(self, shape: Floats) -> tuple[Floats, Floats]:
        return shape, np.zeros((0, 0))


@dataclass(frozen=True, eq=False)
class Grades:
    """The cumulative logit model: P(grade ≤ k) = logistic(τ_k − η), thresholds τ ascending.

    `values` are 0, 1, …, each of which occurs. The shape is τ_1 and the logs of the steps between
    thresholds.
    """

    values: Codes
    fixes_first_system: bool = True
    name: str = "ordinal"

    def rows(self, chosen: NDArray[np.bool_]) -> Grades:
        return replace(self, values=renumbered(self.values[chosen]))

    def first_shape(self) -> Floats:
        """The shape whose thresholds give the observed shares of the grades where η is 0."""
        shares = np.cumsum(np.bincount(self.values))[:-1] / len(self.values)
        thresholds = np.log(shares / (1 - shares))
        return np.concatenate([thresholds[:1], np.log(np.diff(thresholds))])

    def natural_shape(self, shape: Floats) -> tuple[Floats, Floats]:
        steps = np.concatenate([[1.0], np.exp(shape[1:].clip(-MAX_LOG_STEP, MAX_LOG_STEP))])
        thresholds = np.concatenate([shape[:1], shape[0] + np.cumsum(steps[1:])])
        return thresholds, np.tril(np.ones((len(shape), len(shape)))) * steps

    def _chances(self, eta: Floats, shape: Floats) -> tuple[Floats, Floats, Floats]:
        """P(at most this grade), P(below it), and the step between its two thresholds."""
        thresholds = np.concatenate([[-np.inf], self.natural_shape(shape)[0], [np.inf]])
        above, below = thresholds[self.values + 1], thresholds[self.values]
        return expit(above - eta), expit(below - eta), above - below

    def terms(self, eta: Floats, shape: Floats) -> Terms:
        thresholds = np.concatenate([[-np.inf], self.natural_shape(shape)[0], [np.inf]])
        above, below = thresholds[self.values + 1] - eta, thresholds[self.values] - eta
        upper, lower = expit(above), expit(below)
        at_upper, at_lower = upper * (1 - upper), lower * (1 - lower)
        # The loss is −log(F(a) − F(b)) with the logistic function F, where a and b are `above` and
        # `below`. As F(a) F(−b) (1 − exp(b − a)), the difference is accurate where F(a) ≈ F(b).
        with np.errstate(divide="ignore"):  # where thresholds coincide, the loss is infinite
            between = np.log(-np.expm1(below - above))
        losses = np.logaddexp(0, -above) + np.logaddexp(0, below) - between
        return Terms(
            losses,
            1 - upper - lower,
            at_upper + at_lower,
            -at_upper * (1 - 2 * upper) - at_lower * (1 - 2 * lower),
        )

    def shape_slope(
        self, eta: Floats, shape: Floats, of_slopes: Floats, of_curvatures: Floats
    ) -> Floats:
        upper, lower, step = self._chances(eta, shape)
        at_upper, at_lower = upper * (1 - upper), lower * (1 - lower)
        n_grades = len(shape) + 1
        # Where thresholds coincide, the loss is infinite and has no slope.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            inverse_step = 1 / np.expm1(step)
            of_upper = (
                upper
                - 1
                - inverse_step
                - of_slopes * at_upper
                + of_curvatures * at_upper * (1 - 2 * upper)
            )
            of_lower = (
                lower
                + inverse_step
                - of_slopes * at_lower
                + of_curvatures * at_lower * (1 - 2 * lower)
            )
            of_thresholds = np.bincount(self.values, of_upper, n_grades)[:-1]
            of_thresholds += np.bincount(self.values, of_lower, n_grades)[1:]
            return np.asarray(of_thresholds @ self.natural_shape(shape)[1])


@dataclass(frozen=True, eq=False)
class ChoicesWithTies:
    """Davidson's model (1970): the probabilities that the first system wins, that the second wins, and
    of a tie are proportional to exp(η/2), exp(−η/2) and ν.

    `values` are 1, 0 and 0.5 for these outcomes. The shape is log ν.
    """

    values: Floats
    fixes_first_system: bool = True
    name: str = "bradley-terry"

    def rows(self, chosen: NDArray[np.bool_]) -> ChoicesWithTies:
        return replace(self, values=self.values[chosen])

    def first_shape(self) -> Floats:
        ties = float((self.values == 0.5).mean())
        return np.array([np.log(2 * ties / (1 - ties))])

    def natural_shape(self, shape: Floats) -> tuple[Floats, Floats]:
        return shape, np.eye(1)

    def _parts(self, eta: Floats, shape: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """The log of exp(η/2) + exp(−η/2) + ν; the expected score (½ for a win, −½ for a loss, 0 for a
        tie); the probability of no tie, and of a tie."""
        sums = np.logaddexp(np.logaddexp(eta / 2, -eta / 2), shape[0])
        first, second = np.exp(eta / 2 - sums), np.exp(-eta / 2 - sums)
        return sums, (first - second) / 2, first + second, np.exp(shape[0] - sums)

    def terms(self, eta: Floats, shape: Floats) -> Terms:
        sums, mean, decided, _ = self._parts(eta, shape)
        is_tie = self.values == 0.5
        return Terms(
            sums - (self.values - 0.5) * eta - is_tie * shape[0],
            mean - (self.values - 0.5),
            decided / 4 - mean**2,
            mean / 4 - 3 * mean * decided / 4 + 2 * mean**3,
        )

    def shape_slope(
        self, eta: Floats, shape: Floats, of_slopes: Floats, of_curvatures: Floats
    ) -> Floats:
        _, mean, decided, tie = self._parts(eta, shape)
        slopes = tie - (self.values == 0.5) - of_slopes * mean * tie
        slopes += of_curvatures * tie * (2 * mean**2 - decided / 4)
        return np.array([float(slopes.sum())])
