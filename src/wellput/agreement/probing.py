"""What a metric notices: how often it prefers a text to the same text with one harmful change, and how
it reacts to harmless changes.

A *pair* is a text and a changed version of it. For a harmful change the unchanged text is the better
one. For a harmless change, the changed text is compared with versions of the same text that have a
critical or major error. It should score better than they do; where it scores worse, this is a *false
alarm*. Scores of metrics where lower is better are negated. A tie does not count as a win.

A *variant* is a kind of change with its severity.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.probe_results import DegreeOrder, Probe, ProbeExample
from wellput.core.clusters import Clusters
from wellput.core.errors import InputError
from wellput.core.estimates import Estimate, largest_size
from wellput.core.evalset import EvalSet
from wellput.core.metric import Floats
from wellput.language.perturb.catalog import KindAndSeverity
from wellput.stats.clusters import ClusteredMeans
from wellput.stats.proportions import share_interval

UNCHANGED = "unchanged"
"""The system whose outputs are the texts that were changed."""
COMPARED_SEVERITIES = ("critical", "major")
"""Harmless changes are compared with harmful ones of these severities."""
DEGREES = ("minor", "major", "critical")
"""The severities of harm in rising order."""
TIE_TOLERANCE = 1e-9
"""Two scores are equal if they are closer than this, relative to their size. The tolerance is relative
because scores may be tiny, such as the probabilities of sentences (1e-12 and less)."""
ROUNDING = 1e-15
"""Two scores are also equal if they are closer than this, relative to the metric's largest score."""


@dataclass(frozen=True, eq=False)
class ProbedMetric:
    """The scores of a metric, negated if lower is better: of the unchanged texts, and of each variant
    (NaN where a text has no such variant or no score). `made` counts the texts that have the variant. A
    score times `sign` is the score as the metric gives it."""

    name: str
    unchanged: Floats
    changed: Mapping[KindAndSeverity, Floats]
    made: Mapping[KindAndSeverity, int]
    sign: float = 1.0

    @cached_property
    def size(self) -> float:
        """The largest absolute value of a score."""
        return largest_size(self.unchanged, *self.changed.values())

    def are_tied(self, first: Floats, second: Floats) -> NDArray[np.bool_]:
        """Which scores are equal, except for rounding."""
        sizes = np.maximum(np.abs(first), np.abs(second))
        tolerance = np.maximum(TIE_TOLERANCE * sizes, ROUNDING * self.size)
        tied: NDArray[np.bool_] = np.abs(first - second) <= tolerance
        return tied


def probe_metric(
    scored: ProbedMetric, clusters: Clusters | None = None, *, confidence: float = 0.95
) -> list[Probe]:
    """A row for each variant, in the order of `scored.changed`."""
    harmful = [
        values
        for variant, values in scored.changed.items()
        if not variant.is_harmless and variant.severity in COMPARED_SEVERITIES
    ]
    return [
        _probe(scored, variant, values, harmful, clusters, confidence)
        for variant, values in scored.changed.items()
    ]


def _probe(
    scored: ProbedMetric,
    variant: KindAndSeverity,
    changed: Floats,
    harmful: Sequence[Floats],
    clusters: Clusters | None,
    confidence: float,
) -> Probe:
    """The figures of one metric and one variant. `harmful` has the scores of the harmful variants with
    which a harmless one is compared."""
    has_both = ~np.isnan(changed) & ~np.isnan(scored.unchanged)
    if variant.is_harmless:
        wins, ties, places = _pooled([_compared(scored, changed, worse) for worse in harmful])
        n = len(np.unique(places))
    else:
        wins, ties, places = _pooled([_compared(scored, scored.unchanged, changed)])
        n = len(places)
    accuracy = _share(wins, places, clusters, confidence)
    losses = _share(~wins & ~ties, places, clusters, confidence)
    loss = (scored.unchanged - changed)[has_both]
    effect = _mean(loss, np.flatnonzero(has_both), clusters, confidence, largest_value=scored.size)
    unchanged_scores = scored.unchanged[has_both]
    has_one_sign = len(unchanged_scores) > 0 and bool(
        (unchanged_scores > 0).all() or (unchanged_scores < 0).all()
    )
    return Probe(
        metric=scored.name,
        perturbation=variant.kind,
        severity=variant.severity,
        n=n,
        accuracy=accuracy.value,
        ties=float(ties.mean()) if len(ties) else math.nan,
        low=accuracy.low,
        high=accuracy.high,
        effect=effect.value,
        effect_low=effect.low,
        effect_high=effect.high,
        share_lost=float(loss.mean() / abs(unchanged_scores.mean())) if has_one_sign else math.nan,
        losses=losses.value,
        losses_low=losses.low,
        losses_high=losses.high,
        undefined=scored.made[variant] - int(has_both.sum()),
    )


def _compared(
    scored: ProbedMetric, better: Floats, worse: Floats
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.intp]]:
    """For the texts where both have a score: whether the better text wins, whether the scores are
    tied, and the places of the texts."""
    places = np.flatnonzero(~np.isnan(better) & ~np.isnan(worse))
    better_scores, worse_scores = better[places], worse[places]
    ties = scored.are_tied(better_scores, worse_scores)
    return (better_scores > worse_scores) & ~ties, ties, places


def _pooled(
    parts: Sequence[tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.intp]]],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.intp]]:
    """The wins, ties and places of several comparisons together."""
    if not parts:
        no_pairs = np.zeros(0, bool)
        return no_pairs, no_pairs, np.zeros(0, np.intp)
    wins, ties, places = zip(*parts, strict=True)
    return np.concatenate(wins), np.concatenate(ties), np.concatenate(places)


def _share(
    wins: NDArray[np.bool_],
    places: NDArray[np.intp],
    clusters: Clusters | None,
    confidence: float,
) -> Estimate:
    """The share of wins: with Wilson's interval if every text has one pair, else with an interval that
    treats texts, or documents, as the independent units."""
    if not len(wins):
        return Estimate(math.nan, n=0)
    if clusters is None and len(np.unique(places)) == len(places):
        return share_interval(int(wins.sum()), len(wins), confidence=confidence)
    if wins.all() or not wins.any():  # all units agree: each counts as one pair
        n = len(np.unique(places if clusters is None else clusters.codes[places]))
        return share_interval(n if wins.all() else 0, n, confidence=confidence)
    mean = _mean(wins.astype(np.float64), places, clusters, confidence)
    if mean.low is None or mean.high is None:
        return mean
    low, high = max(0.0, mean.low), min(1.0, mean.high)
    return Estimate(mean.value, low, high, method=mean.method, n=mean.n)


def _mean(
    values: Floats,
    places: NDArray[np.intp],
    clusters: Clusters | None,
    confidence: float,
    *,
    largest_value: float = 1.0,
) -> Estimate:
    """A mean with an interval that holds for other texts, or for other documents."""
    if not len(values):
        return Estimate(math.nan, n=0)
    units = places if clusters is None else clusters.codes[places]
    _, codes = np.unique(units, return_inverse=True)
    means = ClusteredMeans.of(
        values,
        groups=np.zeros(len(values), np.intp),
        clusters=codes.astype(np.intp),
        n_groups=1,
        largest_value=largest_value,
    )
    return means.mean(0, confidence=confidence)


def degree_orders(scored: ProbedMetric, *, confidence: float = 0.95) -> list[DegreeOrder]:
    """For each kind of change with several severities: whether more severe harm costs more score."""
    kinds = dict.fromkeys(variant.kind for variant in scored.changed)
    orders = []
    for kind in kinds:
        scores_by_degree = [
            scored.changed[KindAndSeverity(kind, degree)]
            for degree in DEGREES
            if KindAndSeverity(kind, degree) in scored.changed
        ]
        if len(scores_by_degree) < 2:
            continue
        rows = np.stack([scored.unchanged, *scores_by_degree])
        rows = rows[:, ~np.isnan(rows).any(axis=0)]
        if not rows.shape[1]:
            continue
        less_harmed, more_harmed = rows[:-1], rows[1:]
        is_ordered = ((less_harmed > more_harmed) & ~scored.are_tied(less_harmed, more_harmed)).all(
            axis=0
        )
        share = share_interval(int(is_ordered.sum()), rows.shape[1], confidence=confidence)
        means = rows.mean(axis=1)
        orders.append(
            DegreeOrder(
                scored.name,
                kind,
                rows.shape[1],
                share.value,
                share.low,
                share.high,
                bool((np.diff(means) < 0).all()),
            )
        )
    return orders


def examples_of(
    scored: ProbedMetric, texts: EvalSet, *, variants: Sequence[KindAndSeverity]
) -> list[ProbeExample]:
    """For each harmful variant the pair that the metric gets most wrong, if there is one."""
    examples = []
    for variant in variants:
        if variant.is_harmless:
            continue
        gain = scored.changed[variant] - scored.unchanged
        if np.isnan(gain).all() or not (np.nanmax(gain) >= -ROUNDING * scored.size):
            continue  # the changed text always scores worse, so the metric gets no pair wrong
        place = int(np.nanargmax(gain))
        item = texts.items[place]
        examples.append(
            ProbeExample(
                scored.name,
                variant,
                item.id,
                str(item.outputs[UNCHANGED]),
                str(item.outputs[str(variant)]),
                scored.sign * float(scored.unchanged[place]),
                scored.sign * float(scored.changed[variant][place]),
            )
        )
    return examples


def direction_sign(name: str, higher_is_better: bool | None) -> float:
    """1 if higher scores are better, −1 if lower scores are. Raises InputError for a metric where
    neither is."""
    if higher_is_better is None:
        raise InputError(
            f"{name} is neither good nor bad when it is high, so it cannot prefer a text. Probe a "
            "metric that has a direction."
        )
    return 1.0 if higher_is_better else -1.0
