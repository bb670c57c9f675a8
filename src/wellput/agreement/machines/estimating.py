"""`EstimateResult`: means, win rates, differences and ranks of systems from few of people's labels and
many proxy scores, corrected for what the proxy gets wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from wellput.agreement.machines.proxied_labels import ProxiedLabels, proxy_means
from wellput.agreement.panel import Exclusion
from wellput.agreement.rankings.plain_ranking import RankingModel, listed
from wellput.core.errors import InputError, counted
from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.core.result import Result
from wellput.stats.corrections import holm
from wellput.stats.prediction_powered import (
    MIN_LABELS,
    PredictionPowered,
    ProxyLabels,
    combined,
    inclusion_probabilities,
    prediction_powered_mean,
    systematic_sample,
    united_probabilities,
)

ESTIMATE_METHOD = "prediction-powered inference (PPI++), jackknife over items"
MIN_LABELS_FOR_SKEW = 20
"""With fewer labels, ratings at the end of their scale give intervals that are too narrow."""
MIN_SHARE_AT_END = 0.75
MIN_PAIRED_SHARE = 0.5
"""Where fewer of the labeled items have labels of both systems, their difference is that of two
separate estimates."""


@dataclass(frozen=True)
class SystemEstimate:
    """`estimate` is corrected; `people` are the labels alone, `proxy_only` the proxy's mean as it is.
    `tuning` is λ, what the proxy's score was multiplied by. `worth` is how many labels alone would be
    as precise. `is_skewed`: the interval may be too narrow, for few labels that are mostly at one end
    of the scale. `n_clusters` are the items, or the documents, that have labels."""

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
    """The first system less the second; of choices, the share of the first less that of the second.
    `is_paired`: estimated on the items that have labels of both, not from two separate estimates."""

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
    """The items to ask people about next. `probabilities` has, for every item of the evalset, the
    chance of having a label afterwards."""

    chosen: tuple[str, ...]
    probabilities: dict[str, float]


@dataclass(frozen=True, repr=False)
class EstimateResult(Result):
    """The systems best first, the differences of all pairs, and what the proxy saved."""

    question: str
    proxy: str
    model: RankingModel
    systems: Sequence[SystemEstimate]
    differences: Sequence[EstimatedDifference]
    judges: tuple[str, ...]
    clustered_by: str
    has_probabilities: bool = False
    strata: str | None = None
    next_items: NextItems | None = None
    excluded: Sequence[Exclusion] = ()
    notes: Sequence[str] = ()
    """What of a file of scores was not used."""
    n_without_proxy: int = 0
    is_proxy_share: bool = False
    """Whether the proxy's means are shares too: of wins, or of yes."""
    is_proxy_a_copy: bool = False
    """Whether the proxy follows the labels without any error."""
    confidence: float = 0.95

    presented_by: ClassVar[str] = "wellput.reporting.estimate:estimate_report"

    @property
    def are_choices(self) -> bool:
        return self.model == "win rate"

    @property
    def labels(self) -> float:
        """Labels of a system, on average."""
        return float(np.mean([row.n_labeled for row in self.systems]))

    @property
    def labels_worth(self) -> float:
        """How many labels alone would be as precise as these with the proxy, on average over systems;
        NaN where it is unknown."""
        found = [row.worth / row.n_labeled for row in self.systems if math.isfinite(row.worth)]
        return self.labels * float(np.mean(found)) if found else math.nan

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
    given: ProxiedLabels,
    *,
    confidence: float = 0.95,
) -> tuple[list[SystemEstimate], list[EstimatedDifference]]:
    """Systems with a label, best first, and the differences of all pairs of them."""
    proxies = proxy_means(given)
    rows: dict[int, SystemEstimate] = {}
    means: dict[int, tuple[PredictionPowered, PredictionPowered]] = {}
    for place, system in enumerate(given.systems):
        parts = given.of_system(place)
        if not any(part.is_labeled.any() for part in parts):
            continue
        corrected, people = _mean(parts, None), _mean(parts, 0.0)
        means[place] = corrected, people
        estimate = _within(corrected.estimate(confidence=confidence, method=ESTIMATE_METHOD), given)
        rows[place] = SystemEstimate(
            system,
            estimate,
            _within(people.estimate(confidence=confidence, method="people alone"), given),
            float(proxies[place]),
            corrected.n_labeled,
            corrected.n_unlabeled,
            corrected.tuning * given.stretch,
            _worth(corrected, people),
            _is_skewed(parts, estimate, given.scale),
            sum(map(_n_labeled, parts)),
        )
    if not rows:
        raise InputError("No output has both a label of people and a score of the proxy.")
    order = sorted(rows, key=lambda place: -rows[place].estimate.value)
    differences = _differences(given, order, means, confidence)
    return _ranked([rows[place] for place in order], differences, confidence), differences


def _within(estimate: Estimate, given: ProxiedLabels, *, is_difference: bool = False) -> Estimate:
    """No mean lies outside the answers that were given, and no difference is greater than their
    range."""
    least, most = given.scale
    if is_difference:
        least, most = least - most, most - least
    if estimate.low is None or estimate.high is None:
        return estimate
    return replace(estimate, low=max(estimate.low, least), high=min(estimate.high, most))


def _mean(parts: Sequence[ProxyLabels], tuning: float | None) -> PredictionPowered:
    """Over all strata, each with its share of the units; strata with too few labels are joined."""
    joined = _joined(parts)
    if len(joined) == 1:
        return prediction_powered_mean(joined[0], tuning=tuning)
    sizes = np.array([len(part.labels) for part in joined], dtype=np.float64)
    found = [prediction_powered_mean(part, tuning=tuning) for part in joined]
    return combined(found, sizes / sizes.sum())


def _joined(parts: Sequence[ProxyLabels]) -> list[ProxyLabels]:
    enough = [part for part in parts if _n_labeled(part) >= MIN_LABELS]
    rest = [part for part in parts if _n_labeled(part) < MIN_LABELS]
    if not rest or len(parts) == 1:
        return list(parts)
    together = _one(rest)
    if _n_labeled(together) < MIN_LABELS and enough:
        together = _one([together, enough.pop()])
    return [*enough, together]


def _n_labeled(part: ProxyLabels) -> int:
    return len(np.unique(part.clusters[part.is_labeled]))


def _one(parts: Sequence[ProxyLabels]) -> ProxyLabels:
    starts = np.cumsum([0, *(int(part.clusters.max(initial=-1)) + 1 for part in parts)])
    clusters = [part.clusters + start for part, start in zip(parts, starts, strict=False)]
    weights = [part.weights for part in parts if part.weights is not None]
    return ProxyLabels(
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.proxies for part in parts]),
        np.concatenate(clusters),
        np.concatenate(weights) if len(weights) == len(parts) else None,
    )


def _worth(corrected: PredictionPowered, people: PredictionPowered) -> float:
    if not (corrected.error > 0 and people.error > 0):
        return math.nan
    return corrected.n_labeled * (people.error / corrected.error) ** 2


def _is_skewed(
    parts: Sequence[ProxyLabels], estimate: Estimate, scale: tuple[float, float]
) -> bool:
    """Few labels miss the rare ratings at the other end; an interval that reaches it is not too
    narrow."""
    labels = np.concatenate([part.labels[part.is_labeled] for part in parts])
    if estimate.low is None or len(labels) >= MIN_LABELS_FOR_SKEW:
        return False
    at_lowest, at_highest = (float(np.mean(labels == end)) for end in scale)
    return (at_highest >= MIN_SHARE_AT_END and estimate.low != scale[0]) or (
        at_lowest >= MIN_SHARE_AT_END and estimate.high != scale[1]
    )


def _differences(
    given: ProxiedLabels,
    order: Sequence[int],
    means: dict[int, tuple[PredictionPowered, PredictionPowered]],
    confidence: float,
) -> list[EstimatedDifference]:
    found: list[tuple[tuple[int, int], PredictionPowered, PredictionPowered, bool]] = []
    for a, b in combinations(order, 2):
        parts = given.of_pair(a, b)
        n_paired = sum(_n_labeled(part) for part in parts)
        fewest = min(means[a][0].n_clusters, means[b][0].n_clusters)
        is_paired = n_paired >= max(min(MIN_LABELS, fewest), MIN_PAIRED_SHARE * fewest)
        if is_paired or (given.are_choices and n_paired):
            found.append(((a, b), _mean(parts, None), _mean(parts, 0.0), True))
        elif not given.are_choices:
            shares, signs = np.ones(2), np.array([1.0, -1.0])
            both = [
                combined([means[a][which], means[b][which]], shares, signs=signs)
                for which in (0, 1)
            ]
            found.append(((a, b), both[0], both[1], False))
    estimates = [
        (
            _within(
                one.difference(confidence=confidence, method=ESTIMATE_METHOD),
                given,
                is_difference=True,
            ),
            _within(
                people.difference(confidence=confidence, method="people alone"),
                given,
                is_difference=True,
            ),
        )
        for _, one, people, _ in found
    ]
    p_values = holm(
        np.array([math.nan if one.p_value is None else one.p_value for one, _ in estimates])
    )
    return [
        EstimatedDifference(
            (given.systems[a], given.systems[b]), one, people, float(p), mean.n_labeled, is_paired
        )
        for ((a, b), mean, _, is_paired), (one, people), p in zip(
            found, estimates, p_values, strict=True
        )
    ]


def _ranked(
    rows: Sequence[SystemEstimate], differences: Sequence[EstimatedDifference], confidence: float
) -> list[SystemEstimate]:
    """With ranks, and the ranks that the corrected differences leave open."""
    better = dict.fromkeys([row.system for row in rows], 0)
    worse = dict(better)
    for one in differences:
        if one.p_adjusted < 1 - confidence:
            winner, loser = one.systems if one.estimate.value > 0 else one.systems[::-1]
            worse[winner] += 1
            better[loser] += 1
    return [
        replace(
            row,
            rank=place,
            rank_low=1 + better[row.system],
            rank_high=len(rows) - worse[row.system],
        )
        for place, row in enumerate(rows, 1)
    ]


def choose_next(
    given: ProxiedLabels, budget: int, *, before: Floats | None, rng: np.random.Generator
) -> NextItems:
    """Items whose outputs of all systems are to be labeled next, more often those on which the proxy's
    scores of the systems differ.
    `before` has the probabilities with which items got the labels that they have."""
    labeled = given.is_labeled
    free = np.flatnonzero(~labeled)
    if budget > len(free):
        raise InputError(_too_much(given, budget, len(free)))
    with np.errstate(invalid="ignore"):
        spreads = _spreads(given.proxies)
    now = np.zeros(len(labeled))
    own = inclusion_probabilities(spreads[free], budget)
    now[free] = own
    size = spreads + float(spreads[free].mean())
    scale = float(own.sum() / size[free].sum()) if size[free].sum() > 0 else 0.0
    now[labeled] = np.minimum(scale * size[labeled], 1.0)
    if not scale:
        now[labeled] = budget / len(free)
    chosen = free[systematic_sample(own, rng)]
    if before is None:
        before = np.full(len(labeled), labeled.mean())
    united = united_probabilities(before, now)
    return NextItems(
        tuple(given.items[place] for place in chosen),
        {item: float(p) for item, p in zip(given.items, united, strict=True)},
    )


def _too_much(given: ProxiedLabels, budget: int, n_free: int) -> str:
    which = f"{counted(n_free, 'item')} without any label" if n_free else "number of items left: 0"
    text = f"budget={budget} is more than the {which}."
    if given.pairs is not None:
        return text
    missing = (np.isnan(given.labels) & ~np.isnan(given.proxies) & given.is_labeled).sum(axis=1)
    parts = [f"{n} of {name}" for name, n in zip(given.systems, missing.tolist(), strict=True) if n]
    if not parts:
        return text
    return (
        f"{text} Items with a label of any system are not chosen again, though some of their outputs "
        f"have no label: {listed(parts)}."
    )


def _spreads(proxies: Floats) -> Floats:
    """The standard deviation over the systems (or pairs) of each item, 0 where there is one."""
    known = ~np.isnan(proxies)
    counts = np.maximum(known.sum(axis=0), 1)
    values = np.where(known, proxies, 0.0)
    means = values.sum(axis=0) / counts
    squares = np.where(known, (proxies - means) ** 2, 0.0).sum(axis=0) / counts
    return np.asarray(np.sqrt(squares))
