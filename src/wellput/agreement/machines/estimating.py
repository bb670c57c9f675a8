"""`EstimateResult`: means, win rates, differences and ranks of systems, estimated from few labels by
people and many scores of a proxy, which are corrected for the proxy's errors.

A label is a judgment by a person. A proxy is a metric or a judge that scores all outputs. A unit is an
output or, for choices, a pair of outputs of one item. A stratum is a group of items, such as those
with one value of a tag.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from wellput.agreement.machines.proxied_labels import ProxiedLabels, proxy_means
from wellput.agreement.machines.strata import n_labeled_clusters, small_strata_joined
from wellput.agreement.panel import Exclusion
from wellput.agreement.rankings.plain_ranking import EstimateScale, listed
from wellput.core.errors import InputError, counted
from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.core.result import Result
from wellput.stats.corrections import holm
from wellput.stats.prediction_powered import (
    MIN_LABELS,
    PredictionPowered,
    ProxyLabels,
    inclusion_probabilities,
    p_of_constant_labels,
    prediction_powered_mean,
    systematic_sample,
    united_probabilities,
    weighted_sum,
)

ESTIMATE_METHOD = "prediction-powered inference (PPI++), jackknife over items"
MIN_LABELS_FOR_SKEW = 20
"""With fewer labels, intervals are too narrow if most ratings are at one end of the scale."""
MIN_SHARE_AT_END = 0.75
"""This share of the labels at one end of the scale is "most"."""
MIN_PAIRED_SHARE = 0.5
"""If a smaller share of the labeled items has labels of both systems, their difference is computed
from two separate estimates."""


@dataclass(frozen=True)
class SystemEstimate:
    """The estimates for one system. `estimate` is the corrected one, `people` uses the labels alone,
    and `proxy_only` is the proxy's mean without correction. `tuning` is λ, the factor by which the
    proxy's scores were multiplied. `worth` is how many labels without the proxy would be as precise.
    `is_skewed` says that the interval may be too narrow, because there are few labels and most are at
    one end of the scale. `n_clusters` counts the items, or the documents, that have labels."""

    system: str
    estimate: Estimate
    people: Estimate
    proxy_only: float
    n_labeled: int
    n_unlabeled: int
    tuning: float
    worth: float
    is_skewed: bool = False
    n_clusters: int = 0
    rank: int = 0
    rank_low: int = 0
    rank_high: int = 0

    def to_dict(self) -> dict[str, Any]:
        """An entry of `systems` in the JSON."""
        return {
            "system": self.system,
            "estimate": self.estimate.value,
            "low": self.estimate.low,
            "high": self.estimate.high,
            "people_only": _bounds("estimate", self.people),
            "proxy_only": self.proxy_only,
            "n_labeled": self.n_labeled,
            "n_unlabeled": self.n_unlabeled,
            "lambda": self.tuning,
            "labels_worth": self.worth,
            "rank": self.rank,
            "rank_low": self.rank_low,
            "rank_high": self.rank_high,
        }


@dataclass(frozen=True)
class EstimatedDifference:
    """The first system's mean minus the second's; for choices, the share of choices for the first
    minus that for the second. `is_paired` says that it was estimated on items that have labels of both
    systems, not from two separate estimates."""

    systems: tuple[str, str]
    estimate: Estimate
    people: Estimate
    p_adjusted: float
    n_labeled: int
    is_paired: bool

    def to_dict(self) -> dict[str, Any]:
        """An entry of `differences` in the JSON."""
        return {
            "systems": list(self.systems),
            "delta": self.estimate.value,
            "low": self.estimate.low,
            "high": self.estimate.high,
            "p_value": self.estimate.p_value,
            "p_adjusted": self.p_adjusted,
            "people_only": _bounds("delta", self.people),
            "n_labeled": self.n_labeled,
            "paired": self.is_paired,
        }


@dataclass(frozen=True)
class NextItems:
    """The items that people should label next. `probabilities` has, for every item of the evalset, the
    probability of having a label after that."""

    chosen: tuple[str, ...]
    probabilities: dict[str, float]


@dataclass(frozen=True, repr=False)
class EstimateResult(Result):
    """The systems best first, the differences of all pairs, and what the proxy saved. `strata` is the
    tag whose values are the strata; `has_probabilities` says that the labels are weighted by the known
    probabilities with which their items were chosen."""

    question: str
    proxy: str
    model: EstimateScale
    systems: Sequence[SystemEstimate]
    differences: Sequence[EstimatedDifference]
    judges: tuple[str, ...]
    clustered_by: str
    has_probabilities: bool = False
    strata: str | None = None
    next_items: NextItems | None = None
    excluded: Sequence[Exclusion] = ()
    notes: Sequence[str] = ()
    """Which scores in a file of scores were not used, which strata were estimated as one, and warnings
    about names."""
    n_without_proxy: int = 0
    """How many labels were not used because the proxy has no score for their output."""
    is_proxy_share: bool = False
    """Whether the proxy's means are shares (of wins, or of yes), as people's are."""
    is_proxy_a_copy: bool = False
    """Whether the proxy follows the labels without any error."""
    confidence: float = 0.95

    presented_by: ClassVar[str] = "wellput.reporting.estimate:estimate_report"

    @property
    def are_choices(self) -> bool:
        """Whether the labels are pairwise choices."""
        return self.model == "win rate"

    @property
    def labels(self) -> float:
        """The number of labels of a system, on average."""
        return float(np.mean([row.n_labeled for row in self.systems]))

    @property
    def labels_worth(self) -> float:
        """How many labels without the proxy would be as precise as these labels with the proxy, on
        average over systems; NaN if unknown."""
        ratios = [row.worth / row.n_labeled for row in self.systems if math.isfinite(row.worth)]
        return self.labels * float(np.mean(ratios)) if ratios else math.nan

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput estimate`."""
        return {
            "question": self.question,
            "proxy": self.proxy,
            "model": self.model,
            "systems": [row.to_dict() for row in self.systems],
            "differences": [row.to_dict() for row in self.differences],
            "labels": self.labels,
            "labels_worth": self.labels_worth,
            "judges": list(self.judges),
            "clustered_by": self.clustered_by,
            "strata": self.strata,
            "weighted": self.has_probabilities,
            "next": None if self.next_items is None else self._next(),
            "excluded": [asdict(one) for one in self.excluded],
            "notes": list(self.notes),
        }

    def _next(self) -> list[dict[str, Any]]:
        assert self.next_items is not None
        return [
            {"item": item, "probability": self.next_items.probabilities[item]}
            for item in self.next_items.chosen
        ]

    def records(self) -> list[dict[str, Any]]:
        """A row for each system."""
        rows = []
        for system in self.systems:
            row = system.to_dict()
            people = row.pop("people_only")
            row |= {f"people_{name}": value for name, value in people.items()}
            rows.append(row)
        return rows


def _bounds(name: str, estimate: Estimate) -> dict[str, Any]:
    return {name: estimate.value, "low": estimate.low, "high": estimate.high}


def estimate_systems(
    proxied: ProxiedLabels, *, confidence: float = 0.95
) -> tuple[list[SystemEstimate], list[EstimatedDifference]]:
    """The systems that have a label, best first, and the differences of all their pairs."""
    proxies = proxy_means(proxied)
    rows: dict[int, SystemEstimate] = {}
    means: dict[int, tuple[PredictionPowered, PredictionPowered]] = {}
    for place, system in enumerate(proxied.systems):
        strata = proxied.of_system(place)
        if not any(part.is_labeled.any() for part in strata):
            continue
        corrected, people = _mean(strata, None), _mean(strata, 0.0)
        means[place] = corrected, people
        estimate = _limited_to_scale(
            corrected.estimate(confidence=confidence, method=ESTIMATE_METHOD), proxied
        )
        rows[place] = SystemEstimate(
            system=system,
            estimate=estimate,
            people=_limited_to_scale(
                people.estimate(confidence=confidence, method="people alone"), proxied
            ),
            proxy_only=float(proxies[place]),
            n_labeled=corrected.n_labeled,
            n_unlabeled=corrected.n_unlabeled,
            # The factor of the original scores: those of `proxied` are multiplied by `stretch`.
            tuning=corrected.tuning * proxied.stretch,
            worth=_worth(corrected, people),
            is_skewed=_is_skewed(strata, estimate, proxied.scale),
            n_clusters=sum(map(n_labeled_clusters, strata)),
        )
    if not rows:
        raise InputError("No output has both a label of people and a score of the proxy.")
    order = sorted(rows, key=lambda place: -rows[place].estimate.value)
    differences = _differences(proxied, order, means, confidence)
    return _ranked([rows[place] for place in order], differences, confidence), differences


def _limited_to_scale(
    estimate: Estimate, proxied: ProxiedLabels, *, is_difference: bool = False
) -> Estimate:
    """The estimate with its interval limited: means to the range of the labels, differences to the
    width of this range."""
    lowest, highest = proxied.scale
    if is_difference:
        lowest, highest = lowest - highest, highest - lowest
    if estimate.low is None or estimate.high is None:
        return estimate
    return replace(estimate, low=max(estimate.low, lowest), high=min(estimate.high, highest))


def _mean(strata: Sequence[ProxyLabels], tuning: float | None) -> PredictionPowered:
    """The mean over all strata, each weighted by its share of the units. Strata with too few labels are
    joined. `tuning` is the factor of the proxy's scores; None chooses the best, 0 ignores the proxy."""
    joined = small_strata_joined(strata)
    if len(joined) == 1:
        return prediction_powered_mean(joined[0], tuning=tuning)
    sizes = np.array([len(part.labels) for part in joined], dtype=np.float64)
    means = [prediction_powered_mean(part, tuning=tuning) for part in joined]
    return weighted_sum(means, sizes / sizes.sum())


def _worth(corrected: PredictionPowered, people: PredictionPowered) -> float:
    """How many labels without the proxy would have the standard error of the corrected estimate."""
    if not (corrected.error > 0 and people.error > 0):
        return math.nan
    return corrected.n_labeled * (people.error / corrected.error) ** 2


def _is_skewed(
    strata: Sequence[ProxyLabels], estimate: Estimate, scale: tuple[float, float]
) -> bool:
    """Whether the interval may be too narrow: there are few labels and most are at one end of the
    scale, so that rare ratings at the other end may be missing by chance. False if the interval
    reaches the other end."""
    labels = np.concatenate([part.labels[part.is_labeled] for part in strata])
    if estimate.low is None or len(labels) >= MIN_LABELS_FOR_SKEW:
        return False
    at_lowest, at_highest = (float(np.mean(labels == end)) for end in scale)
    return (at_highest >= MIN_SHARE_AT_END and estimate.low != scale[0]) or (
        at_lowest >= MIN_SHARE_AT_END and estimate.high != scale[1]
    )


def _differences(
    proxied: ProxiedLabels,
    order: Sequence[int],
    means: dict[int, tuple[PredictionPowered, PredictionPowered]],
    confidence: float,
) -> list[EstimatedDifference]:
    """The differences of all pairs of systems, in this order of systems; `means` has for each system
    the corrected mean and the mean of people alone."""
    pair_means: list[tuple[tuple[int, int], PredictionPowered, PredictionPowered, bool]] = []
    p_of_constant: dict[tuple[int, int], float] = {}
    for a, b in combinations(order, 2):
        strata = proxied.of_pair(a, b)
        n_paired = sum(map(n_labeled_clusters, strata))
        fewest = min(means[a][0].n_clusters, means[b][0].n_clusters)
        is_paired = n_paired >= max(min(MIN_LABELS, fewest), MIN_PAIRED_SHARE * fewest)
        # The win rates of two systems are against different systems, so their difference says nothing
        # of the choices between the two: choices are estimated from the pair itself, or not at all.
        if is_paired or (proxied.are_choices and n_paired):
            pair_means.append(((a, b), _mean(strata, None), _mean(strata, 0.0), True))
            labels = np.concatenate([part.labels[part.is_labeled] for part in strata])
            if (p_value := p_of_constant_labels(labels, n_paired)) is not None:
                p_of_constant[a, b] = p_value
        elif not proxied.are_choices:
            shares, signs = np.ones(2), np.array([1.0, -1.0])
            corrected, people = (
                weighted_sum(list(means_of_both), shares, signs=signs)
                for means_of_both in zip(means[a], means[b], strict=True)
            )
            pair_means.append(((a, b), corrected, people, False))
    estimates = [
        [
            _limited_to_scale(
                replace(found, p_value=p_of_constant.get(pair, found.p_value)),
                proxied,
                is_difference=True,
            )
            for found in (
                corrected.difference(confidence=confidence, method=ESTIMATE_METHOD),
                people.difference(confidence=confidence, method="people alone"),
            )
        ]
        for pair, corrected, people, _ in pair_means
    ]
    # None becomes NaN.
    p_values = holm(np.array([corrected.p_value for corrected, _ in estimates], np.float64))
    return [
        EstimatedDifference(
            (proxied.systems[a], proxied.systems[b]),
            corrected,
            people,
            float(p),
            mean.n_labeled,
            is_paired,
        )
        for ((a, b), mean, _, is_paired), (corrected, people), p in zip(
            pair_means, estimates, p_values, strict=True
        )
    ]


def _ranked(
    rows: Sequence[SystemEstimate], differences: Sequence[EstimatedDifference], confidence: float
) -> list[SystemEstimate]:
    """The rows with their ranks, and with the range of ranks that the corrected p-values allow."""
    n_better = dict.fromkeys([row.system for row in rows], 0)
    n_worse = dict(n_better)
    for difference in differences:
        if difference.p_adjusted < 1 - confidence:
            winner, loser = (
                difference.systems if difference.estimate.value > 0 else difference.systems[::-1]
            )
            n_worse[winner] += 1
            n_better[loser] += 1
    return [
        replace(
            row,
            rank=place,
            rank_low=1 + n_better[row.system],
            rank_high=len(rows) - n_worse[row.system],
        )
        for place, row in enumerate(rows, 1)
    ]


def choose_next(
    proxied: ProxiedLabels, budget: int, *, before: Floats | None, rng: np.random.Generator
) -> NextItems:
    """Draws `budget` items, for which people should label the outputs of all systems next. Items on
    which the proxy's scores of the systems differ are drawn more often. `before` has the probabilities
    with which items were chosen for the labels that there are; None if all were equal."""
    is_labeled = proxied.is_labeled
    unlabeled = np.flatnonzero(~is_labeled)
    if budget > len(unlabeled):
        raise InputError(_budget_error(proxied, budget, len(unlabeled)))
    with np.errstate(invalid="ignore"):
        spreads = _spreads(proxied.proxies)
    new_probabilities = np.zeros(len(is_labeled))
    unlabeled_probabilities = inclusion_probabilities(spreads[unlabeled], budget)
    new_probabilities[unlabeled] = unlabeled_probabilities
    # Items that have a label get the probability that this draw would have given them. It is
    # proportional to their size: the spread plus the mean spread (`inclusion_probabilities`).
    sizes = spreads + float(spreads[unlabeled].mean())
    probability_per_size = (
        float(unlabeled_probabilities.sum() / sizes[unlabeled].sum())
        if sizes[unlabeled].sum() > 0
        else 0.0
    )
    new_probabilities[is_labeled] = np.minimum(probability_per_size * sizes[is_labeled], 1.0)
    if not probability_per_size:  # the scores of all systems are equal on every unlabeled item
        new_probabilities[is_labeled] = budget / len(unlabeled)
    chosen_places = unlabeled[systematic_sample(unlabeled_probabilities, rng)]
    if before is None:
        before = np.full(len(is_labeled), is_labeled.mean())
    united = united_probabilities(before, new_probabilities)
    return NextItems(
        tuple(proxied.items[place] for place in chosen_places),
        {item: float(p) for item, p in zip(proxied.items, united, strict=True)},
    )


def _budget_error(proxied: ProxiedLabels, budget: int, n_left: int) -> str:
    """The error message if the budget is larger than the number of items without labels."""
    items_left = (
        f"{counted(n_left, 'item')} without any label" if n_left else "number of items left: 0"
    )
    text = f"budget={budget} is more than the {items_left}."
    if proxied.pairs is not None:
        return text
    missing = (np.isnan(proxied.labels) & ~np.isnan(proxied.proxies) & proxied.is_labeled).sum(
        axis=1
    )
    parts = [
        f"{n} of {name}" for name, n in zip(proxied.systems, missing.tolist(), strict=True) if n
    ]
    if not parts:
        return text
    return (
        f"{text} Items with a label of any system are not chosen again, though some of their outputs "
        f"have no label: {listed(parts)}."
    )


def _spreads(proxies: Floats) -> Floats:
    """For each item the standard deviation of the proxy's scores over systems (or pairs); 0 if there
    is only one score."""
    has_score = ~np.isnan(proxies)
    counts = np.maximum(has_score.sum(axis=0), 1)
    values = np.where(has_score, proxies, 0.0)
    means = values.sum(axis=0) / counts
    squares = np.where(has_score, (proxies - means) ** 2, 0.0).sum(axis=0) / counts
    return np.asarray(np.sqrt(squares))
