"""How far one more judge, such as a language model, agrees with people, compared with how far people
agree with each other.

Each person is left out in turn. This person and the judge are both compared with the remaining people
on the same trials (a trial is one output judged on one question), so the two figures are of the same
kind. For numbers the figure is Pearson's r with the mean of the remaining people, after the mean of
each question is subtracted. For labels it is the share of the remaining people who gave the same label;
κ says how far the judge's share exceeds chance, which is the share of a judge who gives the same labels
in random order. Figures are means over the people left out. Their intervals come from leaving out
items, or groups of items, and hold for other items and these people.

`repeat_consistency` is how far a judge agrees with itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from wellput.core.clusters import Places
from wellput.core.estimates import NAN, Estimate, present_means, undefined
from wellput.core.metric import Floats
from wellput.stats.judges.alternative_annotator import Scoring
from wellput.stats.judges.ratings import MIN_SHARED_UNITS, pearson
from wellput.stats.student import FISHER_Z, IDENTITY, Scale, student_estimate
from wellput.stats.two_way_jackknife import jackknife_variance

MAX_GROUPS = 50
"""Up to this many items are left out one by one; more are divided into this many groups, and each group
is left out."""
PEARSON_METHOD = "Pearson's r with the mean of the other people; jackknife over items"
SHARE_METHOD = "share of equal answers; jackknife over items"
KAPPA_METHOD = "share of equal answers beyond chance (κ); jackknife over items"


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """`people`: how far a person agrees with the other people; `judge`: how far the judge agrees with
    the same people; `difference`: the judge's figure minus people's; `beyond_chance`: for labels, κ of
    the judge with the same people."""

    people: Estimate
    judge: Estimate
    difference: Estimate
    beyond_chance: Estimate | None = None


def judge_agreement(
    people: Floats,
    judge: Floats,
    *,
    items: Places,
    questions: Places,
    scoring: Scoring,
    confidence: float = 0.95,
) -> JudgeAgreement:
    """The agreement of the judge and of people, from people's answers (people × trials) and the judge's
    (trials), NaN where there is none, and the numbers of each trial's item and question."""
    used = ~np.isnan(judge) & ((~np.isnan(people)).sum(axis=0) >= 2)
    people, judge, items, questions = people[:, used], judge[used], items[used], questions[used]
    is_share = scoring == "accuracy"
    mean_figures = _shares if is_share else _correlations

    def figures(trials: Places) -> tuple[float, ...]:
        # People's agreement, the judge's, and for shares the judge's agreement beyond chance.
        return mean_figures(people[:, trials], judge[trials], questions[trials])

    overall = figures(np.arange(len(judge)))
    if math.isnan(overall[0]) or math.isnan(overall[1]):
        nowhere_defined = undefined(
            f"nobody shares {MIN_SHARED_UNITS} trials with others, or all answers are equal"
        )
        return JudgeAgreement(nowhere_defined, nowhere_defined, nowhere_defined)
    without_each, n_groups = _figures_without_groups(items, figures)
    method = SHARE_METHOD if is_share else PEARSON_METHOD
    scale = IDENTITY if is_share else FISHER_Z

    def estimate(column: int) -> Estimate:
        unbounded = _estimate(
            overall[column],
            without_each[:, column],
            n_groups,
            scale,
            confidence,
            method,
            len(judge),
        )
        return _bounded(unbounded, 0.0, 1.0) if is_share else unbounded

    return JudgeAgreement(
        people=estimate(0),
        judge=estimate(1),
        difference=_estimate(
            overall[1] - overall[0],
            without_each[:, 1] - without_each[:, 0],
            n_groups,
            IDENTITY,
            confidence,
            method,
            len(judge),
            null=0.0,
        ),
        beyond_chance=_bounded(
            _estimate(
                overall[2],
                without_each[:, 2],
                n_groups,
                IDENTITY,
                confidence,
                KAPPA_METHOD,
                len(judge),
            ),
            -1.0,
            1.0,
        )
        if is_share
        else None,
    )


def panel_correlation(
    people: Floats, judge: Floats, *, items: Places, questions: Places, confidence: float = 0.95
) -> Estimate:
    """Pearson's r of the judge (trials) with the mean of all people (people × trials), after the mean
    of each question is subtracted. `items` and `questions` have the numbers of each trial's."""
    means = present_means(people, axis=0)
    used = ~np.isnan(means) & ~np.isnan(judge)
    means, judge, items, questions = means[used], judge[used], items[used], questions[used]

    def figures(trials: Places) -> tuple[float]:
        r = pearson(
            _centered(judge[trials], questions[trials]), _centered(means[trials], questions[trials])
        )
        return (r,)

    value = figures(np.arange(len(judge)))[0]
    if math.isnan(value):
        return undefined("all answers are equal, or there are too few", n=len(judge))
    without_each, n_groups = _figures_without_groups(items, figures)
    method = "Pearson's r with the mean of all people; jackknife over items"
    return _estimate(value, without_each[:, 0], n_groups, FISHER_Z, confidence, method, len(judge))


def repeat_consistency(
    answers: Floats,
    trials: Places,
    items: Places,
    *,
    are_labels: bool,
    confidence: float = 0.95,
) -> Estimate | None:
    """How far a judge repeats itself; None where it never answered the same trial twice.

    For labels, the share of pairs of answers to one trial that are equal. For numbers, the share of the
    variance of single answers that is between trials (ICC1, an intraclass correlation). `trials` and
    `items` have the number of each answer's trial and item.
    """
    counts = np.bincount(trials)
    repeated = counts[trials] > 1
    answers, trials, items = answers[repeated], trials[repeated], items[repeated]
    if len(np.unique(trials)) < 2:
        return None
    consistency_of = _equal_pairs if are_labels else _variance_between

    def figures(places: Places) -> tuple[float]:
        return (consistency_of(answers[places], trials[places]),)

    value = figures(np.arange(len(answers)))[0]
    n_trials = len(np.unique(trials))
    if math.isnan(value):
        return undefined("all answers are equal", n=n_trials)
    without_each, n_groups = _figures_without_groups(items, figures)
    figure_name = (
        "share of equal answers to the same trial" if are_labels else "ICC1 of repeated answers"
    )
    method = f"{figure_name}; jackknife over items"
    estimate = _estimate(
        value, without_each[:, 0], n_groups, IDENTITY, confidence, method, n_trials
    )
    return _bounded(estimate, 0.0 if are_labels else -1.0, 1.0)


def _equal_pairs(answers: Floats, trials: Places) -> float:
    """The share of pairs of answers to one trial that are equal; each trial has the same weight."""
    shares = []
    for trial in np.unique(trials):
        of_trial = answers[trials == trial]
        _, sizes = np.unique(of_trial, return_counts=True)
        shares.append(float((sizes * (sizes - 1)).sum()) / (len(of_trial) * (len(of_trial) - 1)))
    return float(np.mean(shares)) if shares else NAN


def _variance_between(answers: Floats, trials: Places) -> float:
    """The share of the variance of single answers that is between trials; NaN where undefined."""
    places = np.unique(trials, return_inverse=True)[1]
    counts = np.bincount(places)
    if len(counts) < 2:
        return NAN
    means = np.bincount(places, answers) / counts
    freedom = len(answers) - len(counts)
    within = float(((answers - means[places]) ** 2).sum()) / freedom if freedom else NAN
    between = float(means.var(ddof=1)) - within * float((1 / counts).mean())
    total = between + within
    return between / total if total > 0 else NAN


def _correlations(people: Floats, judge: Floats, questions: Places) -> tuple[float, ...]:
    """Pearson's r of a person, and of the judge, with the mean of the other people: means over the
    people left out."""
    by_person = []
    for person in range(len(people)):
        others_mean = present_means(np.delete(people, person, axis=0), axis=0)
        is_shared = ~np.isnan(people[person]) & ~np.isnan(others_mean)
        if is_shared.sum() < MIN_SHARED_UNITS:
            continue
        target = _centered(others_mean[is_shared], questions[is_shared])
        by_person.append(
            [
                pearson(_centered(answers[is_shared], questions[is_shared]), target)
                for answers in (people[person], judge)
            ]
        )
    return _means([pair for pair in by_person if not np.isnan(pair).any()], 2)


def _shares(people: Floats, judge: Floats, questions: Places) -> tuple[float, ...]:
    """The shares of equal answers of people and of the judge, and the judge's κ. κ is 0 where all the
    judge's answers, or all people's, are equal, and NaN where all answers are equal."""
    rows = []
    for person in range(len(people)):
        others = np.delete(people, person, axis=0)
        is_shared = ~np.isnan(people[person]) & ~np.isnan(others).all(axis=0)
        if is_shared.sum() < MIN_SHARED_UNITS:
            continue
        counts = (~np.isnan(others[:, is_shared])).sum(axis=0)
        by_person, by_judge = (
            float(((answers[is_shared] == others[:, is_shared]).sum(axis=0) / counts).mean())
            for answers in (people[person], judge)
        )
        chance = _chance_share(judge[is_shared], others[:, is_shared], questions[is_shared])
        kappa = (by_judge - chance) / (1 - chance) if chance < 1 else NAN
        rows.append([by_person, by_judge, kappa])
    return _means(rows, 3)


def _chance_share(judge: Floats, others: Floats, questions: Places) -> float:
    """The share of answers equal to the others' (people × trials) if the judge gave the same answers to
    the trials of each question in random order."""
    counts = (~np.isnan(others)).sum(axis=0)
    total = 0.0
    for question in np.unique(questions):
        of_question = questions == question
        for answer in np.unique(judge[of_question]):
            share_of_judge = float(np.mean(judge[of_question] == answer))
            total += share_of_judge * float(
                ((others[:, of_question] == answer).sum(axis=0) / counts[of_question]).sum()
            )
    return total / len(judge)


def _means(rows: list[list[float]], n_figures: int) -> tuple[float, ...]:
    if not rows:
        return (NAN,) * n_figures
    return tuple(present_means(np.array(rows), axis=0).tolist())


def _centered(values: Floats, questions: Places) -> Floats:
    """The values minus the mean of their question."""
    counts = np.bincount(questions)
    sums = np.bincount(questions, values)
    means = np.divide(sums, counts, out=np.zeros(len(counts)), where=counts > 0)
    return np.asarray(values - means[questions])


def _figures_without_groups(
    items: Places, figures: Callable[[Places], tuple[float, ...]]
) -> tuple[Floats, int]:
    """The figures without each item, or each of `MAX_GROUPS` groups of items (groups × figures), and
    the number of groups. `figures` takes the places of the trials that are kept."""
    places = np.unique(items, return_inverse=True)[1]
    n = min(int(places.max(initial=-1)) + 1, MAX_GROUPS)
    groups = places % n if n else places
    return np.array([figures(np.flatnonzero(groups != group)) for group in range(n)]), n


def _estimate(
    value: float,
    without_each: Floats,
    n_groups: int,
    scale: Scale,
    confidence: float,
    method: str,
    n_trials: int,
    *,
    null: float | None = None,
) -> Estimate:
    """The figure with the interval of the jackknife; `without_each` has the figure without each of the
    `n_groups` groups. There is no interval where an r is 1 or −1: Fisher's z is infinite there."""
    is_inside = abs(value) < 1 and (np.abs(without_each) < 1).all()
    if scale is FISHER_Z and not is_inside:
        return Estimate(value, method=method, n=n_trials, null=null)
    on_scale = scale.forward(without_each)
    is_defined = n_groups > 1 and not np.isnan(on_scale).any()
    error = math.sqrt(jackknife_variance(on_scale)) if is_defined else NAN
    return student_estimate(
        value,
        error,
        n_groups - 1,
        null=null,
        confidence=confidence,
        scale=scale,
        method=method,
        n=n_trials,
    )


def _bounded(estimate: Estimate, least: float, most: float) -> Estimate:
    """The estimate with its interval cut off at `least` and `most`."""
    if estimate.low is None or estimate.high is None:
        return estimate
    return replace(estimate, low=max(estimate.low, least), high=min(estimate.high, most))
