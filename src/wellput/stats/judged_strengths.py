"""Strengths of systems from choices that judges made about items, with intervals for other judges and
other items.

The strengths are those of `stats.strengths`. Its Wald intervals assume that choices are independent;
these intervals do not. Each judge, and each item, is left out in one Newton step from the fitted
model, and `two_way_jackknife` combines the variances, as for means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.stats.places import Places
from wellput.stats.preferences import Choices
from wellput.stats.strengths import (
    BradleyTerry,
    bradley_terry,
    idle_directions,
    pair_chances,
    pair_slope,
)
from wellput.stats.student import student_estimate
from wellput.stats.two_way_jackknife import crossed_variance, jackknife_variance

MAX_UNITS_ONE_BY_ONE = 300
"""With more judges, items or answers than this, each is a small part of the data, and all are left out
at once by an approximation."""
MAX_CONDITION = 1e10
"""Strengths count as unknown where the condition number of their information matrix reaches this."""


def judged_strengths(
    first: ArrayLike,
    second: ArrayLike,
    choices: Sequence[str],
    *,
    judges: ArrayLike,
    items: ArrayLike,
    systems: Sequence[str],
    confidence: float = 0.95,
) -> BradleyTerry:
    """The fitted model. Parallel arrays hold the places of the two systems offered, the choice (`a`,
    `b` or `tie`), and the places of judge and item. There is no interval where strengths are unknown
    without some judge or item, or where there is one judge or one item."""
    a, b = np.asarray(first, dtype=np.intp), np.asarray(second, dtype=np.intp)
    fitted = bradley_terry(Choices.of_places(a, b, choices, systems), confidence=confidence)
    if np.isnan(fitted.logs).all():
        return fitted
    trials = _Trials.of(a, b, np.asarray(choices, dtype=np.str_), fitted)
    judge_of, item_of = np.asarray(judges, dtype=np.intp), np.asarray(items, dtype=np.intp)
    by_judge = trials.steps(judge_of)
    by_item = trials.steps(item_of)
    by_answer = trials.steps(judge_of * (item_of.max(initial=0) + 1) + item_of)
    return replace(
        fitted,
        strengths=tuple(
            _with_interval(each, place, (by_judge, by_item, by_answer), confidence)
            for place, each in enumerate(fitted.strengths)
        ),
    )


def _with_interval(
    strength: Estimate, place: int, steps: tuple[Floats, Floats, Floats], confidence: float
) -> Estimate:
    if not np.isfinite(strength.value):
        return strength
    judges, items, answers = (jackknife_variance(each[:, place]) for each in steps)
    if min(len(steps[0]), len(steps[1])) < 2:
        variance, freedom = np.nan, 1.0
    else:
        variance, freedom = crossed_variance(judges, items, answers, len(steps[0]), len(steps[1]))
    method = "Bradley–Terry with Davidson's ties, jackknife over judges and items"
    return student_estimate(
        strength.value,
        float(np.sqrt(variance)),
        freedom,
        null=None,
        confidence=confidence,
        method=method,
        n=strength.n,
    )


@dataclass(frozen=True, eq=False)
class _Trials:
    """The choices by pair of systems, and the chances that the fitted model gives them."""

    model: BradleyTerry
    i: Places
    j: Places
    chances: Floats
    pair_of: Places
    outcome: Places
    idle: Floats

    @classmethod
    def of(cls, a: Places, b: Places, choices: NDArray[np.str_], model: BradleyTerry) -> _Trials:
        k = len(model.systems)
        low, high = np.minimum(a, b), np.maximum(a, b)
        # A choice between systems of different components moves no strength.
        components = np.array(model.components)
        comparable = components[low] == components[high]
        numbers, pair_of = np.unique(low * k + high, return_inverse=True)
        i, j = numbers // k, numbers % k
        won_by_low = np.where(a < b, choices == "a", choices == "b")
        outcome = np.where(choices == "tie", 2, np.where(won_by_low, 0, 1))
        logs = np.append(model.logs, np.log(model.ties.value) if model.ties.value > 0 else -np.inf)
        chances = pair_chances(logs, i, j)
        outcome = np.where(comparable, outcome, 3)
        idle = idle_directions(components, has_ties=model.ties.value > 0)
        return cls(model, i, j, chances, pair_of, outcome, idle)

    def steps(self, units: Places) -> Floats:
        """How far leaving out each unit moves the logs in one Newton step: units × systems; NaN where
        the rest does not determine them."""
        names, places = np.unique(units, return_inverse=True)
        if len(names) > MAX_UNITS_ONE_BY_ONE:
            return self._steps_at_once(places, len(names))
        k = len(self.model.systems)
        counts = np.zeros((len(names), 4, len(self.i)))
        np.add.at(counts, (places, self.outcome, self.pair_of), 1)
        total = self._slope(counts.sum(axis=0))[1]
        steps = np.full((len(names), k), np.nan)
        for place, own in enumerate(counts):
            gradient, information = self._slope(own)
            left = self._with_idle(total - information)
            if np.linalg.cond(left) < MAX_CONDITION:
                steps[place] = -np.linalg.solve(left, gradient)[:k]
        return steps

    def _steps_at_once(self, places: Places, n_units: int) -> Floats:
        """The same for units so small that the information without one is about that of all."""
        k = len(self.model.systems)
        counts = np.zeros((4, len(self.i)))
        np.add.at(counts, (self.outcome, self.pair_of), 1)
        there = self.outcome < 3
        pair, outcome = self.pair_of[there], self.outcome[there]
        points = self.chances[0] + self.chances[2] / 2
        surplus = np.array([1.0, 0.0, 0.5])[outcome] - points[pair]
        gradients = np.zeros((n_units, k + 1))
        np.add.at(gradients, (places[there], self.i[pair]), surplus)
        np.add.at(gradients, (places[there], self.j[pair]), -surplus)
        np.add.at(gradients[:, k], places[there], (outcome == 2) - self.chances[2][pair])
        total = self._with_idle(self._slope(counts)[1])
        return np.asarray(-np.linalg.solve(total, gradients.T).T[:, :k], dtype=np.float64)

    def _with_idle(self, information: Floats) -> Floats:
        scale = max(float(np.trace(information)) / len(information), 1e-9)
        return information + scale * self.idle

    def _slope(self, counts: Floats) -> tuple[Floats, Floats]:
        return pair_slope(self.chances, self.i, self.j, counts[:3], len(self.model.systems))
