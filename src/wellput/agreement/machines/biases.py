"""How a judge differs from people, as estimates: position, length, self-preference, and severity by
system. All intervals hold for other items and these people.

- *position*: how much more often than half the output shown first is chosen, with differences between
  systems taken out. Only pairs of systems that were shown in both orders count. For ratings with a
  column `order`: how far the judge's rating falls, compared with people's mean, for each later place.
- *length*: by how much the judge's answer less people's mean rises when the output of a system is twice
  as long.
- *self-preference*: by how much the judge's answer less people's mean is higher for systems of its own
  family than for others, at equal length.
- *severity*: the judge's answer less people's mean: negative for a judge more severe than people.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.machines.judged_trials import JudgedTrials, OutputValues
from wellput.core.estimates import Estimate
from wellput.core.judgment import MACHINE_PREFIX
from wellput.core.metric import Floats
from wellput.stats.clusters import ClusteredMeans, adjusted_slope
from wellput.stats.corrections import holm

BIAS_METHOD = "least squares, clustered by item"
MIN_LEAD = 1e-9
"""Means that are closer than this, relative to the largest answer, are equal."""
REFITTED = (
    "the scores were fitted to people's answers, which makes systems more alike than they are"
)
FAMILY_PATTERN = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class SystemSeverity:
    """`severity` is how much more the judge gives a system than people do. `deviation` is that minus
    the average over all systems, with p-values corrected for the number of systems."""

    system: str
    severity: Estimate
    deviation: Estimate | None


@dataclass(frozen=True)
class JudgeBiases:
    """A bias that these judgments cannot show is None, and `missing` says why."""

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
    own = name.removeprefix(MACHINE_PREFIX).rpartition("/")[2]
    found = FAMILY_PATTERN.search(own.casefold())
    return found.group() if found else own.casefold()


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
    """All biases. `lengths` has the characters of each output; `own` are systems of the judge's
    family."""
    missing: dict[str, str] = {}
    position = _position(trials, confidence, missing)
    if trials.kind == "labels":
        missing |= dict.fromkeys(
            ("length", "self_preference", "severity"), "labels have no order from low to high"
        )
        return JudgeBiases(position, None, None, None, (), missing)
    used = ~np.isnan(trials.gaps)
    if trials.kind == "numbers" and _has_several_scales(trials):
        why = "the questions have different scales: choose one with question="
        missing |= dict.fromkeys(("length", "self_preference", "severity"), why)
        return JudgeBiases(position, None, None, None, (), missing)
    log_lengths = _log_lengths(trials, lengths, missing)
    length = _length(trials, used, log_lengths, confidence)
    if trials.is_refitted:
        missing |= dict.fromkeys(("self_preference", "severity"), REFITTED)
        return JudgeBiases(position, length, None, None, (), missing)
    return JudgeBiases(
        position,
        length,
        _self_preference(trials, used, log_lengths, own, confidence, missing),
        *_severity(trials, used, confidence),
        missing,
    )


def _has_several_scales(trials: JudgedTrials) -> bool:
    """Whether the ranges of people's answers differ by more than half between questions."""
    ranges = [
        np.ptp(own[~np.isnan(own)])
        for question in range(len(trials.question_names))
        if (own := trials.people[:, trials.questions == question]).size
    ]
    positive = [one for one in ranges if one > 0]
    return len(positive) > 1 and bool(max(positive) > 1.5 * min(positive))


def _position(trials: JudgedTrials, confidence: float, missing: dict[str, str]) -> Estimate | None:
    given = trials.given
    if trials.is_metric or not len(given.trials):
        missing["position"] = "a metric scores each text alone, so the order of texts cannot matter"
        return None
    clusters = np.unique(trials.clusters[given.trials], return_inverse=True)[1]
    if trials.kind != "choices":
        return _place_of_rating(trials, confidence, missing)
    pairs = trials.system_places[given.trials]
    codes = np.unique(pairs @ np.array([len(trials.systems), 1]), return_inverse=True)[1]
    n_first = np.bincount(codes, given.first > 0)
    counts = np.bincount(codes)
    is_both = ((n_first > 0) & (n_first < counts))[codes]
    if not is_both.any():
        missing["position"] = "no two systems were shown in both orders"
        return None
    codes, first = codes[is_both], given.first[is_both]
    won_by_first = np.where(first > 0, given.values[is_both], 1 - given.values[is_both])
    # Within each pair of systems, `first` says which of the two came first: its mean is taken out.
    mean = (2 * n_first / counts - 1)[codes]
    residual = 1 - first * mean
    lead = np.asarray(won_by_first - 0.5, dtype=np.float64)
    rest = np.asarray(lead - first * _group_means(lead * first, codes), dtype=np.float64)
    places = np.unique(clusters[is_both], return_inverse=True)[1]
    return adjusted_slope(
        rest, residual, np.zeros((len(rest), 1)), places, confidence=confidence, method=BIAS_METHOD
    )


def _place_of_rating(
    trials: JudgedTrials, confidence: float, missing: dict[str, str]
) -> Estimate | None:
    given = trials.given
    known = ~np.isnan(given.first) & ~np.isnan(trials.people_means[given.trials])
    if trials.kind == "labels" or len(np.unique(given.first[known])) < 2:
        missing["position"] = (
            "it needs pairwise choices, or ratings with a column `order` (1 for the output shown first)"
        )
        return None
    at = given.trials[known]
    return adjusted_slope(
        given.values[known] - trials.people_means[at],
        -given.first[known],
        _system_columns(trials)[at],
        np.unique(trials.clusters[at], return_inverse=True)[1],
        confidence=confidence,
        method=BIAS_METHOD,
    )


def _group_means(values: Floats, groups: NDArray[np.intp]) -> Floats:
    sums = np.bincount(groups, values)
    return np.asarray((sums / np.bincount(groups))[groups])


def _system_columns(trials: JudgedTrials) -> Floats:
    """Columns for the differences between systems (and questions, for ratings): trials × k."""
    places = trials.system_places
    n = len(trials.systems)
    if trials.kind == "choices":
        columns = np.zeros((len(places), n))
        rows = np.arange(len(places))
        columns[rows, places[:, 0]] = 1.0
        columns[rows, places[:, 1]] = -1.0
        return columns
    cells = np.unique(trials.questions * n + places[:, 0], return_inverse=True)[1]
    return np.asarray(np.eye(int(cells.max()) + 1)[cells])


def _log_lengths(
    trials: JudgedTrials, lengths: OutputValues | None, missing: dict[str, str]
) -> Floats | None:
    """log₂ of each output's length; for choices that of the first less that of the second."""
    if lengths is None:
        missing["length"] = "it needs the outputs: give evalset="
        return None
    logs = np.array(
        [
            [np.log2(max(lengths.get((system, trial.item), np.nan), 1)) for system in trial.systems]
            for trial in trials.trials
        ]
    )
    return np.asarray(logs[:, 0] - logs[:, 1] if logs.shape[1] == 2 else logs[:, 0])


def _length(
    trials: JudgedTrials, used: Floats, log_lengths: Floats | None, confidence: float
) -> Estimate | None:
    if log_lengths is None:
        return None
    used = used & ~np.isnan(log_lengths)
    return adjusted_slope(
        trials.gaps[used],
        log_lengths[used],
        _system_columns(trials)[used],
        np.unique(trials.clusters[used], return_inverse=True)[1],
        confidence=confidence,
        method=BIAS_METHOD,
    )


def _self_preference(
    trials: JudgedTrials,
    used: Floats,
    log_lengths: Floats | None,
    own: Collection[str],
    confidence: float,
    missing: dict[str, str],
) -> Estimate | None:
    is_own = np.array([system in own for system in trials.systems], dtype=np.float64)
    if not is_own.any() or is_own.all():
        which = "all systems are" if is_own.any() else "no system is"
        missing["self_preference"] = f"{which} of the judge's own family; own= says which are"
        return None
    of_trial = is_own[trials.system_places]
    if trials.kind == "choices":
        x = of_trial[:, 0] - of_trial[:, 1]
        others = np.zeros((len(x), 0))
    else:
        x = of_trial[:, 0]
        others = np.eye(len(trials.question_names))[trials.questions]
    if log_lengths is not None:
        used = used & ~np.isnan(log_lengths)
        others = np.column_stack([others, log_lengths])
    if not others.shape[1]:
        others = np.zeros((len(x), 1))
    return adjusted_slope(
        trials.gaps[used],
        x[used],
        others[used],
        np.unique(trials.clusters[used], return_inverse=True)[1],
        confidence=confidence,
        method=BIAS_METHOD,
    )


def _severity(
    trials: JudgedTrials, used: Floats, confidence: float
) -> tuple[Estimate | None, list[SystemSeverity]]:
    """The severity over all systems (None for choices), and that of each system."""
    places = trials.system_places[used]
    gaps, clusters = trials.gaps[used], np.unique(trials.clusters[used], return_inverse=True)[1]
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
            size=trials.size,
        )
    else:
        means = ClusteredMeans.of(
            gaps, groups=places[:, 0], clusters=clusters, n_groups=n, size=trials.size
        )
    judged = np.flatnonzero(means.counts > 0)
    average = np.where(means.counts > 0, 1 / len(judged), 0.0)
    overall = None
    if trials.kind != "choices":
        overall = means.contrast(average, confidence=confidence, method=BIAS_METHOD)
    deviations: list[Estimate | None] = []
    for place in judged:
        if trials.kind == "choices" or len(judged) < 2:
            deviations.append(None)
            continue
        weights = -average
        weights[place] += 1
        deviations.append(means.contrast(weights, confidence=confidence, method=BIAS_METHOD))
    rows = [
        SystemSeverity(
            trials.systems[place],
            means.mean(place, confidence=confidence, method=BIAS_METHOD),
            deviation,
        )
        for place, deviation in zip(judged, deviations, strict=True)
    ]
    return overall, _corrected(rows)


def _corrected(rows: Sequence[SystemSeverity]) -> list[SystemSeverity]:
    """The rows with p-values corrected for the number of systems: those of the deviation, or of the
    severity where there is no deviation."""
    tested = [row.deviation or row.severity for row in rows]
    p_values = np.array([np.nan if one.p_value is None else one.p_value for one in tested])
    found = []
    for row, one, p in zip(rows, tested, holm(p_values), strict=True):
        adjusted = replace(one, p_adjusted=None if np.isnan(p) else float(p))
        found.append(
            replace(row, severity=adjusted)
            if row.deviation is None
            else replace(row, deviation=adjusted)
        )
    return found


@dataclass(frozen=True, slots=True)
class PairsInOrder:
    """`pairs` counts the pairs of systems that people tell apart, `right` those that the judge orders
    in the same way, `tied` those to which it gives the same mean. `against` has those that it orders
    the other way, with the system that people prefer first."""

    pairs: int
    right: int
    against: Sequence[tuple[str, str]]
    tied: int = 0


def pairs_in_order(trials: JudgedTrials, *, confidence: float = 0.95) -> PairsInOrder | None:
    """None for labels. Only trials that both people and the judge answered count. A system's mean is
    over all its trials, whatever their question."""
    used = ~np.isnan(trials.gaps)
    if trials.kind == "labels" or not used.any():
        return None
    places, clusters = trials.system_places[used], trials.clusters[used]
    tables = []
    for values in (trials.people_means[used], trials.judge[used]):
        if trials.kind == "choices":
            groups = places.T.ravel()
            own = np.concatenate([values, 1 - values])
            own_clusters = np.concatenate([clusters, clusters])
        else:
            groups, own, own_clusters = places[:, 0], values, clusters
        tables.append(
            ClusteredMeans.of(
                own, groups=groups, clusters=own_clusters, n_groups=len(trials.systems)
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
    least = MIN_LEAD * trials.size
    against = [(trials.systems[a], trials.systems[b]) for a, b, lead in leads if lead < -least]
    right = sum(lead > least for _, _, lead in leads)
    return PairsInOrder(len(leads), right, against, tied=len(leads) - right - len(against))
