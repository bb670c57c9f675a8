"""The alternative annotator test (Calderon, Reichart & Dror 2025): may a machine stand in for people?

Each person is left out in turn. On every trial the answers of this person and of the machine are
compared with those of the remaining people; the closer one wins the trial, and both win if they are
equally close. The machine beats a person if its share of lost trials exceeds its share of won ones by
less than `epsilon`, by a one-sided t-test; p-values are corrected by Benjamini & Yekutieli's method.
`winning_rate` is the share of people beaten: the test is passed from one half on.
`advantage_probability` is how often the machine is at least as close to the remaining people as the
person left out, on average over people.

A *trial* is one output that is judged. The t-test takes all trials as independent. Trials on outputs
for the same item are not: the test then finds too many people beaten. With `clusters` of trials, a
second test decides; its standard error comes from sums over whole clusters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

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
"""The machine beats a person if the p-value, corrected for all people, is at most this."""
MIN_PEOPLE_OF_TRIAL = 2
"""A trial counts if at least this many people answered it."""
WINNING_RATE_TO_PASS = 0.5
"""The machine passes the test if it beats at least this share of the people tested."""
MIN_PEOPLE_TESTED = 3
"""With fewer people tested, or fewer than half of all, the result says nothing about those not
tested."""
LOWEST_MIN_TRIALS = 10
"""A smaller `min_trials` is not advised: a t-test on so few trials says little."""
MIN_TRIALS_STEP = 5
"""An advised `min_trials` is a multiple of this."""
TIE_TOLERANCE = 1e-9
"""Two distances (see `_distances`) that are closer than this, relative to their size, are equal."""


@dataclass(frozen=True, slots=True)
class ClusteredOutcome:
    """The test of one person with a standard error over whole clusters; `p_value` is not corrected."""

    n_clusters: int
    p_value: float
    p_adjusted: float
    is_beaten: bool


@dataclass(frozen=True, slots=True)
class PersonLeftOut:
    """One person against the machine. `judge` is the person's row; `advantage_probability` is the share
    of trials in which the machine is at least as close to the remaining people as this person is;
    `p_value` is not corrected, `p_adjusted` is."""

    judge: int
    n_trials: int
    advantage_probability: float
    p_value: float
    p_adjusted: float
    is_beaten_in_published_test: bool
    clustered: ClusteredOutcome | None = None
    """The outcome with whole clusters of trials; None where each cluster has one trial."""

    @property
    def is_beaten(self) -> bool:
        """Whether the machine beats the person, by the clustered test where there is one."""
        outcome = self.clustered
        return self.is_beaten_in_published_test if outcome is None else outcome.is_beaten


class LowerMinTrials(NamedTuple):
    """A lower `min_trials`, and how many people would be tested with it."""

    min_trials: int
    n_people: int


@dataclass(frozen=True)
class AlternativeAnnotatorTest:
    """What the test found. `people` has the people with enough trials; where there are none, the rates
    are NaN. `untested` has the row and the number of trials of each person with too few trials, but at
    least one."""

    epsilon: float
    scoring: Scoring
    people: tuple[PersonLeftOut, ...]
    n_trials: int
    min_trials: int = 30
    untested: tuple[tuple[int, int], ...] = ()

    @property
    def winning_rate(self) -> float:
        """The share of people beaten in the test as published."""
        are_beaten = [person.is_beaten_in_published_test for person in self.people]
        return float(np.mean(are_beaten)) if are_beaten else NAN

    @property
    def advantage_probability(self) -> float:
        shares = [person.advantage_probability for person in self.people]
        return float(np.mean(shares)) if shares else NAN

    @property
    def passed(self) -> bool | None:
        """The test as published; None where nobody judged enough trials."""
        return self.winning_rate >= WINNING_RATE_TO_PASS if self.people else None

    @property
    def is_clustered(self) -> bool:
        return any(person.clustered is not None for person in self.people)

    @property
    def beaten_rate(self) -> float:
        """The winning rate of the test that decides: the clustered one where there is one."""
        return float(np.mean([person.is_beaten for person in self.people])) if self.people else NAN

    @property
    def passes_deciding_test(self) -> bool | None:
        """Whether the test that decides is passed; None where nobody judged enough trials."""
        return self.beaten_rate >= WINNING_RATE_TO_PASS if self.people else None

    @property
    def has_enough_people(self) -> bool:
        """Whether enough people were tested for the result to say something about those not tested."""
        return _are_enough_people(len(self.people), len(self.people) + len(self.untested))

    @property
    def lower_min_trials(self) -> LowerMinTrials | None:
        """A lower `min_trials` with which enough people would be tested; None where enough are tested
        already, or where it would have to be below `LOWEST_MIN_TRIALS`."""
        counts = [person.n_trials for person in self.people] + [n for _, n in self.untested]
        usable = [n for n in counts if n >= LOWEST_MIN_TRIALS]
        if self.has_enough_people or not _are_enough_people(len(usable), len(counts)):
            return None
        lower_min_trials = min(usable) // MIN_TRIALS_STEP * MIN_TRIALS_STEP
        return LowerMinTrials(lower_min_trials, len(usable))


def _are_enough_people(tested: int, people: int) -> bool:
    """Whether this many tested people are enough, of all people with a trial."""
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
    """The test, from people's answers (judges × trials) and the machine's (trials), NaN where there is
    no answer. Labels are given as numbers, one for each label.

    The test uses trials that the machine and at least two people answered, and people with at least
    `min_trials` of these trials. `clusters` has the number of each trial's item; trials of the same
    item may depend on each other in any way.

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
    is_answered = ~np.isnan(people)
    used = ~np.isnan(machine) & (is_answered.sum(axis=0) >= MIN_PEOPLE_OF_TRIAL)
    people, machine, is_answered = people[:, used], machine[used], is_answered[:, used]
    places = np.arange(len(used))[used] if clusters is None else clusters[used]
    # For each person: the first four fields of `PersonLeftOut`, with the p-value not corrected yet.
    rows: list[tuple[int, int, float, float]] = []
    by_cluster: list[tuple[int, float]] = []  # the number of clusters, and p over whole clusters
    counts = is_answered.sum(axis=1)
    for judge in np.flatnonzero(counts >= min_trials):
        is_own_trial = is_answered[judge]
        others = np.delete(people[:, is_own_trial], judge, axis=0)
        # +1 where the machine alone wins, −1 where the person alone does, 0 where both do.
        lead = np.sign(
            _difference_beyond_rounding(
                _distances(people[judge, is_own_trial], others, scoring),
                _distances(machine[is_own_trial], others, scoring),
            )
        )
        trials = np.arange(len(lead))
        p_value = _p_less(-lead, epsilon, trials)
        rows.append((int(judge), int(is_own_trial.sum()), float(np.mean(lead >= 0)), p_value))
        own_places = np.unique(places[is_own_trial], return_inverse=True)[1]
        n_clusters = int(own_places.max()) + 1
        by_cluster.append(
            (n_clusters, p_value)
            if n_clusters == len(lead)
            else (n_clusters, _p_less(-lead, epsilon, own_places))
        )
    adjusted = benjamini_yekutieli(np.array([p_value for *_, p_value in rows]))
    tested_people = tuple(
        PersonLeftOut(
            *row,
            p_adjusted=float(p),
            is_beaten_in_published_test=bool(p <= FALSE_DISCOVERY_RATE),
            clustered=clustered,
        )
        for row, p, clustered in zip(rows, adjusted, _clustered(by_cluster, rows), strict=True)
    )
    too_few = np.flatnonzero((counts > 0) & (counts < min_trials))
    untested = tuple((int(judge), int(counts[judge])) for judge in too_few)
    return AlternativeAnnotatorTest(
        epsilon, scoring, tested_people, int(used.sum()), min_trials=min_trials, untested=untested
    )


def _clustered(
    by_cluster: Sequence[tuple[int, float]], rows: Sequence[tuple[int, int, float, float]]
) -> list[ClusteredOutcome | None]:
    """The outcome of each person, from the number of clusters and the p-value of each; None where
    every trial is a cluster of its own."""
    n_trials_by_person = [n_trials for _, n_trials, _, _ in rows]
    if [n_clusters for n_clusters, _ in by_cluster] == n_trials_by_person:
        return [None] * len(rows)
    adjusted = benjamini_yekutieli(np.array([p for _, p in by_cluster]))
    return [
        ClusteredOutcome(n, p, float(q), bool(q <= FALSE_DISCOVERY_RATE))
        for (n, p), q in zip(by_cluster, adjusted, strict=True)
    ]


def _distances(answers: Floats, others: Floats, scoring: Scoring) -> Floats:
    """How far each answer (trials) is from the answers of the others (judges × trials): the share of
    unequal ones, or the mean squared difference (its root would give the same winners)."""
    differences = answers - others
    by_judge = (differences != 0).astype(np.float64) if scoring == "accuracy" else differences**2
    counts = (~np.isnan(others)).sum(axis=0)
    return np.asarray(np.where(np.isnan(others), 0.0, by_judge).sum(axis=0) / counts)


def _difference_beyond_rounding(a: Floats, b: Floats) -> Floats:
    """a − b, 0 where they differ by rounding only."""
    return np.where(np.abs(a - b) <= TIE_TOLERANCE * np.maximum(a, b), 0.0, a - b)


def _p_less(values: Floats, null: float, clusters: Places) -> float:
    """The p-value of a one-sided t-test of the hypothesis that the mean of `values` is not below
    `null`; the standard error comes from the sums of the clusters. Where all values are equal, p is 0
    or 1; with one cluster, p is 1."""
    from scipy.special import stdtr  # imported late: SciPy takes long to load

    n = int(clusters.max()) + 1
    if n < 2:
        return 1.0
    gap = float(values.mean()) - null
    sums = np.bincount(clusters, values - values.mean()) / len(values)
    error = math.sqrt(n / (n - 1) * float(sums @ sums))
    if bool((values == values[0]).all()):
        return 0.0 if gap < 0 else 1.0
    return float(stdtr(n - 1, gap / max(error, 1e-300)))  # the sums of clusters may all be 0
