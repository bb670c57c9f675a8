"""How a judge differs from people, as estimates: position, length, self-preference, and severity by
system. All intervals hold for other items and these people.

The judge's *gap* on a trial is the judge's answer minus people's mean.

- *position*: the share of choices for the output shown first, minus one half, corrected for differences
  between systems. Only pairs of systems that were shown in both orders are used. For ratings with a
  column `order`: how much the gap falls for each later place.
- *length*: by how much the gap rises when an output of the same system is twice as long.
- *self-preference*: how much larger the gap is for systems of the judge's own family than for others,
  at equal length.
- *severity*: the mean gap: negative for a judge more severe than people.

A trial is a question about one output, or about a pair of outputs. In arrays, the *first* of two
systems is the first in alphabetical order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.machines.judged_trials import JudgedTrials, OutputValues, value_of
from wellput.core.estimates import Estimate
from wellput.core.judgment import MACHINE_PREFIX
from wellput.core.metric import Floats
from wellput.stats.clusters import ClusteredMeans, adjusted_slope
from wellput.stats.corrections import holm

BIAS_METHOD = "least squares, clustered by item"
MIN_LEAD = 1e-9
"""Two systems' means that are closer than this, relative to the largest answer, are equal."""
REASON_WHEN_REFITTED = (
    "the scores were fitted to people's answers, which makes systems more alike than they are"
)
"""Why self-preference and severity are not computed for a metric's scores that were converted to the
question's scale."""
FAMILY_PATTERN = re.compile(r"[^\W\d_]{2,}")
"""The first two or more letters in a row."""


@dataclass(frozen=True, slots=True)
class SystemSeverity:
    """`severity` is how much more the judge gives a system than people do (its mean gap). `deviation`
    is the system's severity minus the average over all systems; None for choices, or if only one system
    was judged. The p-value of the deviation (if it is None: of the severity) is corrected for the
    number of systems."""

    system: str
    severity: Estimate
    deviation: Estimate | None


@dataclass(frozen=True)
class JudgeBiases:
    """The biases of one judge. A bias that cannot be computed from these judgments is None, and
    `missing` says why, by the name of the bias."""

    position: Estimate | None
    length: Estimate | None
    self_preference: Estimate | None
    severity: Estimate | None
    by_system: Sequence[SystemSeverity]
    missing: Mapping[str, str]


def family_of(name: str) -> str:
    """The family of a model: the first word of its name, without the part before a slash.

    >>> family_of("model:openai/GPT-4o"), family_of("gpt-3.5-turbo"), family_of("llama3:8b")
    ('gpt', 'gpt', 'llama')
    """
    model_name = name.removeprefix(MACHINE_PREFIX).rpartition("/")[2]
    match = FAMILY_PATTERN.search(model_name.casefold())
    return match.group() if match else model_name.casefold()


def own_systems(judge: str, systems: Sequence[str]) -> list[str]:
    """The systems of the judge's family."""
    family = family_of(judge)
    return [system for system in systems if family_of(system) == family]


def judge_biases(
    trials: JudgedTrials,
    *,
    lengths: OutputValues | None = None,
    own: Collection[str] = (),
    confidence: float = 0.95,
) -> JudgeBiases:
    """All biases. `lengths` has the number of characters of each output; `own` are the systems of the
    judge's family."""
    missing: dict[str, str] = {}
    position = _position(trials, confidence, missing)
    if trials.kind == "labels":
        missing |= dict.fromkeys(
            ("length", "self_preference", "severity"), "labels have no order from low to high"
        )
        return JudgeBiases(position, None, None, None, (), missing)
    has_gap = ~np.isnan(trials.gaps)
    if trials.kind == "numbers" and _has_several_scales(trials):
        why = "the questions have different scales: choose one with question="
        missing |= dict.fromkeys(("length", "self_preference", "severity"), why)
        return JudgeBiases(position, None, None, None, (), missing)
    log_lengths = _log_lengths(trials, lengths, missing)
    length = _length(trials, has_gap, log_lengths, confidence)
    if trials.is_refitted:
        missing |= dict.fromkeys(("self_preference", "severity"), REASON_WHEN_REFITTED)
        return JudgeBiases(position, length, None, None, (), missing)
    return JudgeBiases(
        position,
        length,
        _self_preference(trials, has_gap, log_lengths, own, confidence, missing),
        *_severity(trials, has_gap, confidence),
        missing,
    )


def _has_several_scales(trials: JudgedTrials) -> bool:
    """Whether the range of people's answers to one question is more than 1.5 times that of another."""
    ranges = []
    for question in range(len(trials.question_names)):
        answers = trials.people[:, trials.questions == question]
        given = answers[~np.isnan(answers)]
        if len(given):
            ranges.append(float(np.ptp(given)))
    positive = [width for width in ranges if width > 0]
    return len(positive) > 1 and bool(max(positive) > 1.5 * min(positive))


def _position(trials: JudgedTrials, confidence: float, missing: dict[str, str]) -> Estimate | None:
    """The bias of position. If it cannot be computed, the reason is added to `missing`."""
    judge_answers = trials.given
    if trials.is_metric or not len(judge_answers.trials):
        missing["position"] = "a metric scores each text alone, so the order of texts cannot matter"
        return None
    clusters = np.unique(trials.clusters[judge_answers.trials], return_inverse=True)[1]
    if trials.kind != "choices":
        return _position_of_ratings(trials, confidence, missing)
    pairs = trials.system_places[judge_answers.trials]
    codes = np.unique(pairs @ np.array([len(trials.systems), 1]), return_inverse=True)[1]
    n_first = np.bincount(codes, judge_answers.shown_order > 0)
    counts = np.bincount(codes)
    in_both_orders = ((n_first > 0) & (n_first < counts))[codes]
    if not in_both_orders.any():
        missing["position"] = "no two systems were shown in both orders"
        return None
    codes, order = codes[in_both_orders], judge_answers.shown_order[in_both_orders]
    values = judge_answers.values[in_both_orders]
    won_by_shown_first = np.where(order > 0, values, 1 - values)
    # A regression of y on `order` (±1: which system was shown first), where y is the share won by the
    # pair's first system minus ½. Each pair's mean is subtracted from y and from `order`. Then both are
    # multiplied by `order`, which leaves the slope as it is; y times `order` is `excess`.
    mean_order = (2 * n_first / counts - 1)[codes]
    residual_order = 1 - order * mean_order
    excess = np.asarray(won_by_shown_first - 0.5, dtype=np.float64)
    residual_excess = np.asarray(
        excess - order * _group_means(excess * order, codes), dtype=np.float64
    )
    cluster_codes = np.unique(clusters[in_both_orders], return_inverse=True)[1]
    return adjusted_slope(
        residual_excess,
        residual_order,
        np.zeros((len(residual_excess), 0)),
        cluster_codes,
        confidence=confidence,
        method=BIAS_METHOD,
    )


def _position_of_ratings(
    trials: JudgedTrials, confidence: float, missing: dict[str, str]
) -> Estimate | None:
    """The bias of position, from ratings with a column `order`. If it cannot be computed, the reason is
    added to `missing`."""
    judge_answers = trials.given
    is_usable = ~np.isnan(judge_answers.shown_order) & ~np.isnan(
        trials.people_means[judge_answers.trials]
    )
    if trials.kind == "labels" or len(np.unique(judge_answers.shown_order[is_usable])) < 2:
        missing["position"] = (
            "it needs pairwise choices, or ratings with a column `order` (1 for the output shown first)"
        )
        return None
    answered_trials = judge_answers.trials[is_usable]
    return adjusted_slope(
        judge_answers.values[is_usable] - trials.people_means[answered_trials],
        -judge_answers.shown_order[is_usable],
        _system_columns(trials)[answered_trials],
        np.unique(trials.clusters[answered_trials], return_inverse=True)[1],
        confidence=confidence,
        method=BIAS_METHOD,
    )


def _group_means(values: Floats, groups: NDArray[np.intp]) -> Floats:
    sums = np.bincount(groups, values)
    return np.asarray(sums[groups] / np.bincount(groups)[groups])


def _system_columns(trials: JudgedTrials) -> Floats:
    """Columns of a regression for the differences between systems (for ratings, also between
    questions), one row for each trial."""
    places = trials.system_places
    n = len(trials.systems)
    if trials.kind == "choices":
        columns = np.zeros((len(places), n))
        rows = np.arange(len(places))
        columns[rows, places[:, 0]] = 1.0
        columns[rows, places[:, 1]] = -1.0
        return columns
    groups = np.unique(trials.questions * n + places[:, 0], return_inverse=True)[1]
    return np.asarray(np.eye(int(groups.max()) + 1)[groups])


def _log_lengths(
    trials: JudgedTrials, lengths: OutputValues | None, missing: dict[str, str]
) -> Floats | None:
    """For each trial the log₂ of the output's length; for choices, that of the first output minus that
    of the second."""
    if lengths is None:
        missing["length"] = "it needs the outputs: give evalset="
        return None
    logs = np.array(
        [
            [np.log2(max(value_of(lengths, system, trial), 1)) for system in trial.systems]
            for trial in trials.trials
        ]
    )
    return np.asarray(logs[:, 0] - logs[:, 1] if logs.shape[1] == 2 else logs[:, 0])


def _length(
    trials: JudgedTrials, has_gap: Floats, log_lengths: Floats | None, confidence: float
) -> Estimate | None:
    """The bias of length: the slope of gaps over log₂ of lengths; None if lengths are not known."""
    if log_lengths is None:
        return None
    has_gap = has_gap & ~np.isnan(log_lengths)
    return adjusted_slope(
        trials.gaps[has_gap],
        log_lengths[has_gap],
        _system_columns(trials)[has_gap],
        np.unique(trials.clusters[has_gap], return_inverse=True)[1],
        confidence=confidence,
        method=BIAS_METHOD,
    )


def _self_preference(
    trials: JudgedTrials,
    has_gap: Floats,
    log_lengths: Floats | None,
    own: Collection[str],
    confidence: float,
    missing: dict[str, str],
) -> Estimate | None:
    """The bias for systems of the judge's own family. If it cannot be computed, the reason is added to
    `missing`."""
    is_own = np.array([system in own for system in trials.systems], dtype=np.float64)
    if not is_own.any() or is_own.all():
        which_systems = "all systems are" if is_own.any() else "no system is"
        missing["self_preference"] = (
            f"{which_systems} of the judge's own family; own= says which are"
        )
        return None
    is_own_by_trial = is_own[trials.system_places]
    if trials.kind == "choices":
        own_contrast = is_own_by_trial[:, 0] - is_own_by_trial[:, 1]
        controls = np.zeros((len(own_contrast), 0))
    else:
        own_contrast = is_own_by_trial[:, 0]
        controls = np.eye(len(trials.question_names))[trials.questions]
    if log_lengths is not None:
        has_gap = has_gap & ~np.isnan(log_lengths)
        controls = np.column_stack([controls, log_lengths])
    return adjusted_slope(
        trials.gaps[has_gap],
        own_contrast[has_gap],
        controls[has_gap],
        np.unique(trials.clusters[has_gap], return_inverse=True)[1],
        confidence=confidence,
        method=BIAS_METHOD,
    )


def _severity(
    trials: JudgedTrials, has_gap: Floats, confidence: float
) -> tuple[Estimate | None, list[SystemSeverity]]:
    """The severity over all systems (None for choices), and the severity towards each system."""
    places = trials.system_places[has_gap]
    gaps, clusters = (
        trials.gaps[has_gap],
        np.unique(trials.clusters[has_gap], return_inverse=True)[1],
    )
    n = len(trials.systems)
    if not len(gaps):
        return None, []
    if trials.kind == "choices":
        groups = np.concatenate([places[:, 0], places[:, 1]])
        means = ClusteredMeans.of(
            np.concatenate([gaps, -gaps]),
            groups=groups,
            clusters=np.concatenate([clusters, clusters]),
            n_groups=n,
            largest_value=trials.largest_answer,
        )
    else:
        means = ClusteredMeans.of(
            gaps,
            groups=places[:, 0],
            clusters=clusters,
            n_groups=n,
            largest_value=trials.largest_answer,
        )
    judged_systems = np.flatnonzero(means.counts > 0)
    average_weights = np.where(means.counts > 0, 1 / len(judged_systems), 0.0)
    overall = None
    if trials.kind != "choices":
        overall = means.contrast(average_weights, confidence=confidence, method=BIAS_METHOD)
    deviations: list[Estimate | None] = []
    for place in judged_systems:
        # A choice for a system is one against another, so severity is already relative to others.
        if trials.kind == "choices" or len(judged_systems) < 2:
            deviations.append(None)
            continue
        weights = -average_weights
        weights[place] += 1
        deviations.append(means.contrast(weights, confidence=confidence, method=BIAS_METHOD))
    rows = [
        SystemSeverity(
            trials.systems[place],
            means.mean(place, confidence=confidence, method=BIAS_METHOD),
            deviation,
        )
        for place, deviation in zip(judged_systems, deviations, strict=True)
    ]
    return overall, _corrected(rows)


def _corrected(rows: Sequence[SystemSeverity]) -> list[SystemSeverity]:
    """The rows with p-values of the deviation (or of the severity, if there is no deviation) corrected
    for the number of systems."""
    tested = [row.deviation or row.severity for row in rows]
    p_values = np.array(
        [np.nan if estimate.p_value is None else estimate.p_value for estimate in tested]
    )
    corrected_rows = []
    for row, estimate, p in zip(rows, tested, holm(p_values), strict=True):
        adjusted = replace(estimate, p_adjusted=None if np.isnan(p) else float(p))
        corrected_rows.append(
            replace(row, severity=adjusted)
            if row.deviation is None
            else replace(row, deviation=adjusted)
        )
    return corrected_rows


@dataclass(frozen=True, slots=True)
class PairsInOrder:
    """How a judge orders the pairs of systems that differ significantly for people. `pairs` is their
    number, `right` the number that the judge orders as people do, `tied` the number of pairs whose
    systems have equal means by the judge. `against` has the pairs that the judge orders the other way;
    the first system is the one that people prefer."""

    pairs: int
    right: int
    against: Sequence[tuple[str, str]]
    tied: int = 0


def pairs_in_order(trials: JudgedTrials, *, confidence: float = 0.95) -> PairsInOrder | None:
    """How the judge orders pairs of systems; None for labels, or if no trial was answered by people and
    by the judge. Only such trials are used. A system's mean is over all its trials, of all questions
    together."""
    has_gap = ~np.isnan(trials.gaps)
    if trials.kind == "labels" or not has_gap.any():
        return None
    places, clusters = trials.system_places[has_gap], trials.clusters[has_gap]
    tables = []
    for values in (trials.people_means[has_gap], trials.judge[has_gap]):
        if trials.kind == "choices":
            groups = places.T.ravel()
            answers = np.concatenate([values, 1 - values])
            answer_clusters = np.concatenate([clusters, clusters])
        else:
            groups, answers, answer_clusters = places[:, 0], values, clusters
        tables.append(
            ClusteredMeans.of(
                answers, groups=groups, clusters=answer_clusters, n_groups=len(trials.systems)
            )
        )
    people, judge = tables
    pairs = list(combinations(np.flatnonzero(people.counts > 0), 2))
    estimates = []
    for a, b in pairs:
        weights = np.zeros(len(trials.systems))
        weights[a], weights[b] = 1.0, -1.0
        estimates.append(people.contrast(weights))
    p_values = holm(np.array([np.nan if e.p_value is None else e.p_value for e in estimates]))
    told_apart = [
        (a, b) if e.value > 0 else (b, a)
        for (a, b), e, p in zip(pairs, estimates, p_values, strict=True)
        if p < 1 - confidence
    ]
    leads = [(a, b, float(judge.means[a] - judge.means[b])) for a, b in told_apart]
    smallest_lead = MIN_LEAD * trials.largest_answer
    against = [
        (trials.systems[a], trials.systems[b]) for a, b, lead in leads if lead < -smallest_lead
    ]
    right = sum(lead > smallest_lead for _, _, lead in leads)
    return PairsInOrder(len(leads), right, against, tied=len(leads) - right - len(against))
