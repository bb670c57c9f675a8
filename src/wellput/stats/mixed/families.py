"""How a judgment comes about from a latent value η if it is yes or no, a grade or a choice.

A *family* gives each judgment's negative log likelihood as a function of η and of *shape* parameters
that all judgments share (thresholds between grades, the frequency of ties), with the derivatives that
the Laplace approximation needs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from wellput.stats.mixed.equations import Codes, Floats, renumbered

MAX_LOG_STEP = 25.0
"""Between thresholds: on its way an optimizer may ask for more, which no number can hold."""


@dataclass(frozen=True, eq=False)
class Terms:
    """For each judgment the negative log likelihood and its first three derivatives in η."""

    losses: Floats
    slopes: Floats
    curvatures: Floats
    thirds: Floats


class Family(Protocol):
    """`has_reference` says that only differences between systems count."""

    @property
    def name(self) -> str: ...

    @property
    def has_reference(self) -> bool: ...

    def rows(self, chosen: NDArray[np.bool_]) -> Family:
        """These judgments only."""
        ...

    def first_shape(self) -> Floats: ...

    def terms(self, eta: Floats, shape: Floats) -> Terms: ...

    def shape_slope(
        self, eta: Floats, shape: Floats, of_slopes: Floats, of_curvatures: Floats
    ) -> Floats:
        """The derivative in each shape parameter of Σ loss + of_slopes · slope + of_curvatures ·
        curvature, the two weights held."""
        ...

    def natural_shape(self, shape: Floats) -> tuple[Floats, Floats]:
        """The parameters as people know them (thresholds, log ν), and their Jacobian."""
        ...


@dataclass(frozen=True, eq=False)
class YesNo:
    """Logistic regression: the log odds of 1 are η. With choices: 1 where the first system won."""

    values: Floats
    has_reference: bool = False
    name: str = "binary"

    def rows(self, chosen: NDArray[np.bool_]) -> YesNo:
        return replace(self, values=self.values[chosen])

    def first_shape(self) -> Floats:
        return np.zeros(0)

    def terms(self, eta: Floats, shape: Floats) -> Terms:
        chance = expit(eta)
        spread = chance * (1 - chance)
        return Terms(
            np.logaddexp(0, np.where(self.values > 0, -eta, eta)),
            chance - self.values,
            spread,
            spread * (1 - 2 * chance),
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
    has_reference: bool = True
    name: str = "ordinal"

    def rows(self, chosen: NDArray[np.bool_]) -> Grades:
        return replace(self, values=renumbered(self.values[chosen]))

    def first_shape(self) -> Floats:
        """Thresholds of the shares of grades, without any effects."""
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
        # F(a) − F(b) = F(a) F(−b) (1 − exp(b − a)): no difference of nearly equal numbers.
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
            narrow = 1 / np.expm1(step)
            of_upper = (
                upper
                - 1
                - narrow
                - of_slopes * at_upper
                + of_curvatures * at_upper * (1 - 2 * upper)
            )
            of_lower = (
                lower + narrow - of_slopes * at_lower + of_curvatures * at_lower * (1 - 2 * lower)
            )
            found = np.bincount(self.values, of_upper, n_grades)[:-1]
            found += np.bincount(self.values, of_lower, n_grades)[1:]
            return np.asarray(found @ self.natural_shape(shape)[1])


@dataclass(frozen=True, eq=False)
class ChoicesWithTies:
    """Davidson (1970): the first wins, the second wins, or a tie, by exp(η/2), exp(−η/2) and ν.

    `values` are 1, 0 and 0.5. The shape is log ν.
    """

    values: Floats
    has_reference: bool = True
    name: str = "bradley-terry"

    def rows(self, chosen: NDArray[np.bool_]) -> ChoicesWithTies:
        return replace(self, values=self.values[chosen])

    def first_shape(self) -> Floats:
        ties = float((self.values == 0.5).mean())
        return np.array([np.log(2 * ties / (1 - ties))])

    def natural_shape(self, shape: Floats) -> tuple[Floats, Floats]:
        return shape, np.eye(1)

    def _parts(self, eta: Floats, shape: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """The log of the sum, the expected score (½, −½, 0), the chance of no tie, that of a tie."""
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
        found = tie - (self.values == 0.5) - of_slopes * mean * tie
        found += of_curvatures * tie * (2 * mean**2 - decided / 4)
        return np.array([float(found.sum())])
