"""Strengths of systems from choices between two of them: Bradley & Terry's model with Davidson's ties.

With strengths π, the probabilities that i is chosen, that j is chosen, and that neither is are
proportional to π_i, π_j and ν √(π_i π_j) (Davidson 1970). Without ties ν is 0 and the model is
Bradley & Terry's (1952). Strengths are logarithms with mean 0, estimated by maximum likelihood.

The maximum is finite only if, for every division of the systems into two sets, each set won or tied
against the other at least once (Ford 1957). Otherwise some strengths are infinite or cannot be
compared: systems form *components*, and only systems of one component are comparable. Strengths are
then relative to the mean of the largest component.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.core.estimates import NAN, Estimate, undefined
from wellput.core.metric import Floats
from wellput.core.options import check_number
from wellput.stats.preferences import Choices

MAX_NEWTON_STEPS = 100
CONVERGED_STEP = 1e-10
"""The fit ends where the next step would change every log strength by less than this."""
WALD_METHOD = "Bradley–Terry with Davidson's ties, maximum likelihood, Wald interval"


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """The fitted model. `strengths` are log strengths in the order of `systems`.

    The mean of the strengths in the largest component is 0. They are infinite or NaN where the data do
    not determine them, with the reason in `method`. `ties` is ν. `components` has the place of the
    first member of each system's component. `reason` says why some strengths are not finite. `logs` are
    the log strengths with mean 0 in each component, and `covariance` is theirs, with log ν in the last
    row and column.
    """

    systems: tuple[str, ...]
    strengths: tuple[Estimate, ...]
    ties: Estimate
    components: tuple[int, ...]
    logs: Floats
    covariance: Floats
    confidence: float
    reason: str = ""

    def difference(self, first: str, second: str) -> Estimate:
        """How much stronger the first system is, in logs, with Wald's interval and two-sided
        p-value."""
        for name in (first, second):
            if name not in self.systems:
                raise InputError(f"No system {name!r}; there are {', '.join(self.systems)}.")
        i, j = self.systems.index(first), self.systems.index(second)
        if self.components[i] != self.components[j] or np.isnan(self.logs[[i, j]]).any():
            return undefined("no finite strengths relative to each other")
        c = self.covariance
        variance = max(c[i, i] + c[j, j] - 2 * c[i, j], 0.0)
        value = float(self.logs[i] - self.logs[j])
        error = float(np.sqrt(variance))
        if not error:
            return undefined("a system does not differ from itself")
        p_value = 2 * NormalDist().cdf(-abs(value) / error)
        low, high = _interval(value, error, self.confidence)
        return Estimate(value, low, high, p_value, method=WALD_METHOD)


def bradley_terry(choices: Choices, *, confidence: float = 0.95) -> BradleyTerry:
    """Fits the strengths, and the tie parameter if there are ties.

    The intervals are Wald's, from the information matrix. They are rough for a few dozen choices.
    """
    check_number("confidence", confidence)
    is_reachable = _closure((choices.wins + choices.ties) > 0)
    is_mutual = is_reachable & is_reachable.T
    components = np.argmax(is_mutual, axis=1)  # named by their first member
    is_same_component = components[:, None] == components
    wins, ties = choices.wins * is_same_component, choices.ties * is_same_component
    if not _has_finite_ties(wins, ties):
        return _unfit(choices, components, confidence)
    logs, covariance = _fit(wins, ties, components)
    if np.isnan(logs).any():  # pragma: no cover - the likelihood is concave with a finite maximum
        return _unfit(choices, components, confidence)
    sizes = is_same_component.sum(axis=1)
    in_largest = int(np.argmax(sizes))  # a system in the largest component
    n_compared = choices.offered.sum(axis=1)
    strengths = []
    for system in range(len(logs) - 1):
        if components[system] != components[in_largest] or sizes[in_largest] == 1:
            compared_with = in_largest if sizes[in_largest] > 1 else None
            strengths.append(_infinite(choices, is_reachable, system, compared_with))
            continue
        value = float(logs[system])
        low, high = _interval(value, float(np.sqrt(covariance[system, system])), confidence)
        strengths.append(Estimate(value, low, high, method=WALD_METHOD, n=int(n_compared[system])))
    return BradleyTerry(
        systems=choices.systems,
        strengths=tuple(strengths),
        ties=_tie_estimate(logs, covariance, int(choices.ties.sum()) // 2, confidence),
        components=tuple(int(component) for component in components),
        logs=logs[:-1],
        covariance=covariance,
        confidence=confidence,
        reason=""
        if is_same_component.all()
        else _why_infinite(choices, components == components[in_largest]),
    )


def _closure(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a chain of wins and ties leads from each system (row) to each other (column); every
    system leads to itself."""
    reach = edges | np.eye(len(edges), dtype=np.bool_)
    for via in range(len(reach)):
        reach |= np.outer(reach[:, via], reach[via])
    return reach


def _has_finite_ties(wins: NDArray[np.int64], ties: NDArray[np.int64]) -> bool:
    """Whether the likelihood has its maximum at a finite ν, given choices within components.

    It does not if there are log strengths d such that every win is by at least 2 and every tie
    within 2: then making d and log ν larger together makes all choices more likely. Such d exist if
    and only if no cycle of wins (−2) and ties (2, either way) has a negative sum.
    """
    if not ties.any():
        return True
    bound = np.where(wins > 0, -2.0, np.where(ties > 0, 2.0, np.inf))
    for via in range(len(bound)):
        bound = np.minimum(bound, bound[:, via, None] + bound[via])
        if (np.diag(bound) < 0).any():
            return True
    return False


def _fit(
    wins: NDArray[np.int64], ties: NDArray[np.int64], components: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Newton's method on (log strengths, log ν), with a mean of 0 in each component.

    The likelihood is that of a multinomial logit model, so its logarithm is concave. Without ties log ν
    is −∞ and its row of the covariance is 0. Returns NaN where it does not converge.
    """
    k = len(wins)
    i, j = np.nonzero(np.triu(wins + wins.T + ties, 1))
    counts = np.stack([wins[i, j], wins[j, i], ties[i, j]]).astype(np.float64)
    has_ties = bool(ties.any())
    idle = idle_directions(components, has_ties=has_ties)
    x = np.zeros(k + 1)
    x[k] = 0.0 if has_ties else -np.inf
    likelihood, chances = _likelihood(x, i, j, counts)
    for _ in range(MAX_NEWTON_STEPS):
        gradient, information = gradient_and_information(chances, i, j, counts, k)
        scale = max(float(np.trace(information)) / (k + 1), 1.0)
        # The pseudoinverse of the information, which is 0 in the idle directions.
        covariance = np.linalg.inv(information + scale * idle) - idle / scale
        step = covariance @ gradient
        if np.abs(step).max() < CONVERGED_STEP:
            return x, covariance
        # The step is halved until the likelihood is not lower, except for rounding.
        size = 1.0
        while True:
            trial = x + size * np.where(np.isinf(x), 0.0, step)
            better, chances = _likelihood(trial, i, j, counts)
            if better >= likelihood - 1e-12 * abs(likelihood) or size < 1e-6:
                break
            size /= 2
        x, likelihood = trial, better
    return np.full(k + 1, np.nan), np.full((k + 1, k + 1), np.nan)  # pragma: no cover


def idle_directions(components: NDArray[np.int64], *, has_ties: bool) -> Floats:
    """The projection on the directions that choices do not determine: the mean of each component, and
    log ν where there are no ties."""
    k = len(components)
    is_same = components[:, None] == components
    idle = np.zeros((k + 1, k + 1))
    idle[:k, :k] = is_same / is_same.sum(axis=1)
    idle[k, k] = not has_ties
    return idle


def _likelihood(
    x: Floats, i: NDArray[np.int64], j: NDArray[np.int64], counts: Floats
) -> tuple[float, Floats]:
    """The log-likelihood, and the probabilities of (i wins, j wins, tie) in each pair (3, pairs). `x`
    has the log strengths and, last, log ν; `counts` (3, pairs) are the observed outcomes."""
    utilities = np.stack([x[i], x[j], (x[i] + x[j]) / 2 + x[-1]])
    utilities -= utilities.max(axis=0)
    weights = np.exp(utilities)
    total = weights.sum(axis=0)
    logs = np.where(counts > 0, utilities - np.log(total), 0.0)
    return float((counts * logs).sum()), weights / total


def gradient_and_information(
    chances: Floats, i: NDArray[np.int64], j: NDArray[np.int64], counts: Floats, k: int
) -> tuple[Floats, Floats]:
    """The gradient of the log-likelihood and the information matrix. `chances` and `counts` (3, pairs)
    are the probabilities and numbers of (i wins, j wins, tie). A win is one point, a tie half a point
    for each system."""
    n = counts.sum(axis=0)
    points = chances[0] + chances[2] / 2
    surplus = counts[0] + counts[2] / 2 - n * points
    gradient = np.zeros(k + 1)
    np.add.at(gradient, i, surplus)
    np.add.at(gradient, j, -surplus)
    gradient[k] = (counts[2] - n * chances[2]).sum()
    variance = n * (chances[0] + chances[2] / 4 - points**2)
    with_tie = n * (chances[2] / 2 - points * chances[2])
    information = np.zeros((k + 1, k + 1))
    for a, b, value in ((i, i, variance), (j, j, variance), (i, j, -variance), (j, i, -variance)):
        np.add.at(information, (a, b), value)
    np.add.at(information[k], i, with_tie)
    np.add.at(information[k], j, -with_tie)
    information[:k, k] = information[k, :k]
    information[k, k] = (n * chances[2] * (1 - chances[2])).sum()
    return gradient, information


def _interval(value: float, error: float, confidence: float) -> tuple[float, float]:
    """Wald's interval: value ± z · error."""
    half_width = NormalDist().inv_cdf((1 + confidence) / 2) * error
    return value - half_width, value + half_width


def _tie_estimate(logs: Floats, covariance: Floats, n: int, confidence: float) -> Estimate:
    """ν with its interval; log ν is the last of `logs`, and `n` is the number of ties."""
    if not n:
        return Estimate(0.0, method="no ties were observed", n=0)
    low, high = _interval(float(logs[-1]), float(np.sqrt(covariance[-1, -1])), confidence)
    return Estimate(
        float(np.exp(logs[-1])), float(np.exp(low)), float(np.exp(high)), method=WALD_METHOD, n=n
    )


def _infinite(
    choices: Choices, is_reachable: NDArray[np.bool_], system: int, compared_with: int | None
) -> Estimate:
    """The strength of a system outside the largest component; `compared_with` is a system in that
    component, or None if every system is a component by itself."""
    n = int(choices.offered[system].sum())
    won_all = int(choices.wins[system].sum()) == n
    lost_all = int(choices.wins[:, system].sum()) == n
    if not n:
        return undefined("it was never offered", n=0)
    if won_all if compared_with is None else is_reachable[system, compared_with]:
        reason = (
            "it won every comparison" if won_all else "no weaker system has won or tied against it"
        )
        return Estimate(np.inf, method=f"infinite: {reason}", n=n)
    if lost_all if compared_with is None else is_reachable[compared_with, system]:
        reason = (
            "it lost every comparison" if lost_all else "it has not won or tied against a stronger"
        )
        return Estimate(-np.inf, method=f"infinite: {reason}", n=n)
    return undefined("nothing says how it compares with the others", n=n)


def _why_infinite(choices: Choices, is_in_largest: NDArray[np.bool_]) -> str:
    """Why some strengths are not finite, in words; `is_in_largest` marks the largest component."""
    inside = [name for name, is_in in zip(choices.systems, is_in_largest, strict=True) if is_in]
    if len(inside) == 1:
        return "no two systems each won or tied against the other, directly or over others"
    return (
        f"only {', '.join(inside)} each won or tied against one another, directly or over others; "
        "strengths are relative to them"
    )


def _unfit(choices: Choices, components: NDArray[np.int64], confidence: float) -> BradleyTerry:
    """The result where the likelihood has no maximum, because it grows with ν without end."""
    k = len(choices.systems)
    reason = "the choices fit a model of ever more ties: no finite tie parameter, so no strengths"
    return BradleyTerry(
        systems=choices.systems,
        strengths=(undefined(reason),) * k,
        ties=Estimate(np.inf, method=f"infinite: {reason}", n=int(choices.ties.sum()) // 2),
        components=tuple(int(component) for component in components),
        logs=np.full(k, NAN),
        covariance=np.full((k + 1, k + 1), NAN),
        confidence=confidence,
        reason=reason,
    )
