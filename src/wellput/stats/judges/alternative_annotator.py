"""The alternative annotator test (Calderon, Reichart & Dror 2025): may a machine stand in for people?

Each person is left out in turn. On every trial the answers of this person and of the machine are
compared with those of the remaining people; the closer one wins the trial, and both win if they are
equally close. The machine beats a person if its share of lost trials exceeds its share of won ones by
less than `epsilon`, by a one-sided t-test; p-values are corrected by Benjamini & Yekutieli's method.
`winning_rate` is the share of people beaten: the test is passed from one half on.
`advantage_probability` is how often the machine is at least as close to the remaining people as the
person left out, on average over people.

The t-test takes all trials as independent. Those on outputs for the same item are not: then it finds
too many people beaten. With `clusters` a second test, whose error counts whole clusters, decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from wellput.core.clusters import Places
from wellput.core.errors import InputError
from wellput.core.estimates import NAN
from wellput.core.metric import Floats
from wellput.stats.corrections import benjamini_yekutieli

Scoring: TypeAlias = Literal["accuracy", "neg_rmse"]
"""How close an answer is to the answers of others: the share of equal ones, or the negated root of the
mean squared difference."""

FALSE_DISCOVERY_RATE = 0.05
MIN_PEOPLE_OF_TRIAL = 2
WINNING_RATE_TO_PASS = 0.5
MIN_PEOPLE_TESTED = 3
LOWEST_MIN_TRIALS = 10
"""A lower limit is not advised: a t-test on so few trials says little."""
LIMIT_STEP = 5
TIE_TOLERANCE = 1e-9
"""Mean squared differences that are closer than this, relative to their size, are equal."""


@dataclass(frozen=True, slots=True)
class ClusteredOutcome:
    """The test of one person with a standard error over whole clusters; `p_value` is not corrected."""

    n_clusters: int
    p_value: float
    p_adjusted: float
    won: bool


@dataclass(frozen=True, slots=True)
class PersonLeftOut:
    """One person against the machine. `judge` is the person's row; `advantage_probability` the share of
    trials in which the machine is at least as close to the others; `p_value` is not corrected."""

    judge: int
    n_trials: int
    advantage_probability: float
    p_value: float
    p_adjusted: float
    won: bool
    clustered: ClusteredOutcome | None = None
    """The outcome with whole clusters of trials; None where each cluster has one trial."""

    @property
    def is_beaten(self) -> bool:
        """By the clustered test where there is one."""
        return self.won if self.clustered is None else self.clustered.won


@dataclass(frozen=True)
class AlternativeAnnotatorTest:
    """What the test found. `people` has those with enough trials; where there are none, the rates are
    NaN. `untested` has the row and the trials of those with too few trials, but at least one."""

    epsilon: float
    scoring: Scoring
    people: tuple[PersonLeftOut, ...]
    n_trials: int
    min_trials: int = 30
    untested: tuple[tuple[int, int], ...] = ()

    @property
    def winning_rate(self) -> float:
        return float(np.mean([one.won for one in self.people])) if self.people else NAN

    @property
    def advantage_probability(self) -> float:
        found = [one.advantage_probability for one in self.people]
        return float(np.mean(found)) if found else NAN

    @property
    def passed(self) -> bool | None:
        """The test as published; None where nobody judged enough trials."""
        return self.winning_rate >= WINNING_RATE_TO_PASS if self.people else None

    @property
    def is_clustered(self) -> bool:
        return any(one.clustered is not None for one in self.people)

    @property
    def beaten_rate(self) -> float:
        """The winning rate of the test that decides: the clustered one where there is one."""
        return float(np.mean([one.is_beaten for one in self.people])) if self.people else NAN

    @property
    def is_decided(self) -> bool | None:
        """Whether the test that decides is passed; None where nobody judged enough trials."""
        return self.beaten_rate >= WINNING_RATE_TO_PASS if self.people else None

    @property
    def is_enough(self) -> bool:
        """Whether enough people were tested for the result to say something about the others."""
        return _is_enough(len(self.people), len(self.people) + len(self.untested))

    @property
    def lower_limit(self) -> tuple[int, int] | None:
        """The `min_trials` with which enough people would be tested, and how many; None where there is
        none that still leaves each of them enough trials."""
        counts = [one.n_trials for one in self.people] + [n for _, n in self.untested]
        usable = [n for n in counts if n >= LOWEST_MIN_TRIALS]
        if self.is_enough or not _is_enough(len(usable), len(counts)):
            return None
        limit = min(usable) // LIMIT_STEP * LIMIT_STEP
        return limit, len(usable)


def _is_enough(tested: int, people: int) -> bool:
    return tested >= MIN_PEOPLE_TESTED and 2 * tested >= people


def alternative_annotator_test(
    people: Floats,
    machine: Floats,
    *,
    scoring: Scoring,
    epsilon: float = 0.1,
    min_trials: int = 30,
    clusters: Places | None = None,
) -> AlternativeAnnotatorTest:
    """From people's answers (judges × trials) and the machine's (trials), NaN where there is none.
    Labels are given as numbers, one for each label.

    The test uses trials that the machine and at least two people answered, and people with at least
    `min_trials` of them. `clusters` has the place of each trial's item; trials of the same one may
    depend on each other in any way.

    >>> people = np.array([[1.0, 2, 3, 3], [1, 2, 3, 4], [1, 3, 3, 4]])
    >>> machine = np.array([1.0, 2, 3, 4])
    >>> found = alternative_annotator_test(people, machine, scoring="accuracy", min_trials=4)
    >>> [one.advantage_probability for one in found.people]
    [1.0, 1.0, 1.0]
    """
    if not 0 <= epsilon <= 1:
        raise InputError(f"epsilon={epsilon} must lie between 0 and 1, such as 0.1.")
    if min_trials < 2:
        raise InputError("The test needs at least two trials of a person.")
    given = ~np.isnan(people)
    used = ~np.isnan(machine) & (given.sum(axis=0) >= MIN_PEOPLE_OF_TRIAL)
    people, machine, given = people[:, used], machine[used], given[:, used]
    places = np.arange(len(used))[used] if clusters is None else clusters[used]
    rows: list[tuple[int, int, float, float]] = []
    by_cluster: list[tuple[int, float]] = []
    counts = given.sum(axis=1)
    for judge in np.flatnonzero(counts >= min_trials):
        own = given[judge]
        rest = np.delete(people[:, own], judge, axis=0)
        lead = np.sign(
            _without_noise(
                _distances(people[judge, own], rest, scoring),
                _distances(machine[own], rest, scoring),
            )
        )
        # +1 where the machine alone wins, −1 where the person alone does, 0 where both do.
        trials = np.arange(len(lead))
        p_value = _p_less(-lead, epsilon, trials)
        rows.append((int(judge), int(own.sum()), float(np.mean(lead >= 0)), p_value))
        own_places = np.unique(places[own], return_inverse=True)[1]
        n_clusters = int(own_places.max()) + 1
        by_cluster.append(
            (n_clusters, p_value)
            if n_clusters == len(lead)
            else (n_clusters, _p_less(-lead, epsilon, own_places))
        )
    adjusted = benjamini_yekutieli(np.array([row[3] for row in rows]))
    found = tuple(
        PersonLeftOut(*row, p_adjusted=float(p), won=bool(p <= FALSE_DISCOVERY_RATE), clustered=one)
        for row, p, one in zip(rows, adjusted, _clustered(by_cluster, rows), strict=True)
    )
    few = np.flatnonzero((counts > 0) & (counts < min_trials))
    untested = tuple((int(judge), int(counts[judge])) for judge in few)
    return AlternativeAnnotatorTest(
        epsilon, scoring, found, int(used.sum()), min_trials=min_trials, untested=untested
    )


def _clustered(
    by_cluster: Sequence[tuple[int, float]], rows: Sequence[tuple[int, int, float, float]]
) -> list[ClusteredOutcome | None]:
    """The outcome of each person; none where every trial is a cluster of its own."""
    if all(n == row[1] for (n, _), row in zip(by_cluster, rows, strict=True)):
        return [None] * len(rows)
    adjusted = benjamini_yekutieli(np.array([p for _, p in by_cluster]))
    return [
        ClusteredOutcome(n, p, float(q), bool(q <= FALSE_DISCOVERY_RATE))
        for (n, p), q in zip(by_cluster, adjusted, strict=True)
    ]


def _distances(answers: Floats, rest: Floats, scoring: Scoring) -> Floats:
    """How far each answer is from those of the rest: the share of unequal ones, or the mean squared
    difference, whose root has the same order."""
    differences = answers - rest
    far = (differences != 0).astype(np.float64) if scoring == "accuracy" else differences**2
    counts = (~np.isnan(rest)).sum(axis=0)
    return np.asarray(np.where(np.isnan(rest), 0.0, far).sum(axis=0) / counts)


def _without_noise(a: Floats, b: Floats) -> Floats:
    """a − b, 0 where they differ by rounding only."""
    return np.where(np.abs(a - b) <= TIE_TOLERANCE * np.maximum(a, b), 0.0, a - b)


def _p_less(values: Floats, null: float, clusters: Places) -> float:
    """The p-value of a one-sided t-test that the mean is not below `null`; its error is that of the
    sums of clusters. Where all values are equal it is 0 or 1, with one cluster it is 1."""
    from scipy.special import stdtr  # imported late: SciPy takes long to load

    n = int(clusters.max()) + 1
    if n < 2:
        return 1.0
    gap = float(values.mean()) - null
    sums = np.bincount(clusters, values - values.mean()) / len(values)
    error = math.sqrt(n / (n - 1) * float(sums @ sums))
    if bool((values == values[0]).all()):
        return 0.0 if gap < 0 else 1.0
    return float(stdtr(n - 1, gap / max(error, 1e-300)))
