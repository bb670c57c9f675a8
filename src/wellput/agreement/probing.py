"""What a metric notices: how often it prefers a text to the same text with one harmful change, and how
it takes harmless changes.

A *pair* is a text and a changed version of it. For a harmful change the unchanged text is the better
one. For a harmless change, the changed text is compared with versions of the same text that have a
critical or major error. It should beat them; where it loses, the harmless change is a *false alarm*.
Scores are turned so that higher is better. A tie is no win.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from wellput.core.clusters import Clusters
from wellput.core.errors import InputError
from wellput.core.estimates import Estimate
from wellput.core.evalset import EvalSet
from wellput.core.metric import Floats
from wellput.core.result import Result
from wellput.io.files import PathLike
from wellput.language.perturb.catalog import Variant
from wellput.stats.clustered_means import ClusteredMeans
from wellput.stats.proportions import share_interval

UNCHANGED = "unchanged"
"""The system whose outputs are the texts that were changed."""
COMPARED_SEVERITIES = ("critical", "major")
"""Harmless changes are compared with harmful ones of these severities."""
DEGREES = ("minor", "major", "critical")
MIN_TEXTS_FOR_CLAIMS = 10
"""Of fewer texts, nothing is claimed in words."""
MIN_PREFERRED_SHARE = 0.6
"""A preference in fewer pairs than this is not called one, even where it is no chance."""
NOTICED_SHARE = 0.8
"""From this share of wins on, a metric notices a change; below, it notices it only in part."""
COSTLY_SHARE_OF_SCORE = 0.25
"""A harmless change that costs at least this share of the score is named in the summary."""
TIE_TOLERANCE = 1e-9

Verdict = Literal["noticed", "partly", "blind", "misled", "few"]


@dataclass(frozen=True, slots=True)
class Probe:
    """One metric and one variant of the texts.

    `accuracy` is the share of pairs whose better text scores strictly better, `ties` the share of equal
    scores, `losses` the share of pairs whose worse text scores strictly better (for a harmless change:
    false alarms); `n` is the number of texts. `low` and `high` are the interval of `accuracy`. `effect`
    is the mean loss of score by the change, in the metric's own units, positive if the change makes the
    score worse; `share_lost` is the same as a share of the mean score of the unchanged texts, NaN where
    that has no meaning. `undefined` texts have no score before or after the change and are left out.
    """

    metric: str
    perturbation: str
    severity: str
    n: int
    accuracy: float
    ties: float
    low: float | None
    high: float | None
    effect: float
    effect_low: float | None
    effect_high: float | None
    share_lost: float
    losses: float
    losses_low: float | None = None
    losses_high: float | None = None
    undefined: int = 0

    @property
    def variant(self) -> Variant:
        return Variant(self.perturbation, self.severity)

    @property
    def verdict(self) -> Verdict:
        """`blind`: the better text is not shown to win more than half of the pairs, or wins fewer than
        60%. `misled`: the worse text is shown to win more than half, and wins at least 60%."""
        if self.n < MIN_TEXTS_FOR_CLAIMS or self.low is None:
            return "few"
        if _is_preference(self.losses, self.losses_low):
            return "misled"
        if not _is_preference(self.accuracy, self.low):
            return "blind"
        return "noticed" if self.accuracy >= NOTICED_SHARE else "partly"


@dataclass(frozen=True, slots=True)
class DegreeOrder:
    """Whether more harm costs more: `ordered` is the share of texts whose scores fall strictly from
    degree to degree; `is_monotone` says whether the mean losses rise."""

    metric: str
    perturbation: str
    n: int
    ordered: float
    low: float | None
    high: float | None
    is_monotone: bool


@dataclass(frozen=True, slots=True)
class ProbeExample:
    """A pair that a metric gets wrong, with both scores as the metric gives them."""

    metric: str
    variant: Variant
    item: str
    better: str
    worse: str
    better_score: float
    worse_score: float


@dataclass(frozen=True, eq=False)
class ProbedMetric:
    """The scores of a metric, turned so that higher is better: of the unchanged texts, and of each
    variant (NaN where a text has none). `made` counts the texts that have the variant; `sign` turns the
    scores back."""

    name: str
    unchanged: Floats
    changed: Mapping[Variant, Floats]
    made: Mapping[Variant, int]
    sign: float = 1.0


@dataclass(frozen=True, repr=False, eq=False)
class ProbeResult(Result):
    """`probes` has a row for each metric and variant; `summaries` says what each metric misses, in
    words; `texts` is the evalset of the unchanged and changed texts."""

    presented_by: ClassVar[str] = "wellput.reporting.probe:probe_report"

    probes: tuple[Probe, ...]
    degrees: tuple[DegreeOrder, ...]
    texts: EvalSet
    confidence: float = 0.95
    notes: tuple[str, ...] = ()
    examples: tuple[ProbeExample, ...] = ()
    written: PathLike | None = None
    """The file that has the texts, if one was asked for."""

    @property
    def metrics(self) -> list[str]:
        return list(dict.fromkeys(probe.metric for probe in self.probes))

    @property
    def summaries(self) -> dict[str, str]:
        """For each metric a sentence on what it misses."""
        return {name: summary_of(self.of(name), self.degrees) for name in self.metrics}

    def of(self, metric: str) -> list[Probe]:
        """The rows of a metric."""
        return [probe for probe in self.probes if probe.metric == metric]

    def records(self) -> list[dict[str, Any]]:
        return [{**asdict(probe), "verdict": _verdict_word(probe)} for probe in self.probes]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput probe`."""
        return {
            "probes": self.records(),
            "degrees": [asdict(one) for one in self.degrees],
            "summary": self.summaries,
            "texts": len(self.texts),
            "confidence": self.confidence,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class BlindSpots:
    """What a metric misses in a number of `texts`, in figures and in words."""

    texts: int
    probes: tuple[Probe, ...]
    summary: str

    def values(self) -> dict[str, Any]:
        """For JSON: the variants that mislead the metric or that it does not see."""
        return {
            "texts": self.texts,
            "summary": self.summary,
            **{
                verdict: [
                    str(probe.variant) for probe in self.probes if _verdict_word(probe) == verdict
                ]
                for verdict in ("misled", "blind", "alarmed")
            },
        }


def _verdict_word(probe: Probe) -> str:
    if probe.variant.is_harmless:
        return "alarmed" if is_alarmed(probe) else "few" if probe.verdict == "few" else "calm"
    return probe.verdict


def probe_metric(
    scored: ProbedMetric, clusters: Clusters | None = None, *, confidence: float = 0.95
) -> list[Probe]:
    """A row for each variant, in the order of the variants."""
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
    variant: Variant,
    changed: Floats,
    harmful: Sequence[Floats],
    clusters: Clusters | None,
    confidence: float,
) -> Probe:
    has_both = ~np.isnan(changed) & ~np.isnan(scored.unchanged)
    if variant.is_harmless:
        wins, ties, places = _pooled([_compared(changed, worse) for worse in harmful])
        n = len(np.unique(places))
    else:
        wins, ties, places = _pooled([_compared(scored.unchanged, changed)])
        n = len(places)
    accuracy = _share(wins, places, clusters, confidence)
    losses = _share(~wins & ~ties, places, clusters, confidence)
    lost = (scored.unchanged - changed)[has_both]
    effect = _mean(lost, np.flatnonzero(has_both), clusters, confidence)
    base = scored.unchanged[has_both]
    is_scale = len(base) > 0 and bool((base > 0).all() or (base < 0).all())
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
        share_lost=float(lost.mean() / abs(base.mean())) if is_scale else math.nan,
        losses=losses.value,
        losses_low=losses.low,
        losses_high=losses.high,
        undefined=scored.made[variant] - int(has_both.sum()),
    )


def _compared(
    better: Floats, worse: Floats
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.intp]]:
    """Wins and ties of the better texts, where both have a score, and the places of these texts."""
    places = np.flatnonzero(~np.isnan(better) & ~np.isnan(worse))
    one, other = better[places], worse[places]
    size = np.maximum(1.0, np.maximum(np.abs(one), np.abs(other)))
    ties = np.abs(one - other) <= TIE_TOLERANCE * size
    return (one > other) & ~ties, ties, places


def _pooled(
    parts: Sequence[tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.intp]]],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.intp]]:
    if not parts:
        none = np.zeros(0, bool)
        return none, none, np.zeros(0, np.intp)
    wins, ties, places = zip(*parts, strict=True)
    return np.concatenate(wins), np.concatenate(ties), np.concatenate(places)


def _share(
    wins: NDArray[np.bool_],
    places: NDArray[np.intp],
    clusters: Clusters | None,
    confidence: float,
) -> Estimate:
    """The share of wins: Wilson's interval if every text has one pair, else by text or document."""
    if not len(wins):
        return Estimate(math.nan, n=0)
    if clusters is None and len(np.unique(places)) == len(places):
        return share_interval(int(wins.sum()), len(wins), confidence=confidence)
    if wins.all() or not wins.any():  # all units agree: as if each were one pair
        n = len(np.unique(places if clusters is None else clusters.codes[places]))
        return share_interval(n if wins.all() else 0, n, confidence=confidence)
    found = _mean(wins.astype(np.float64), places, clusters, confidence)
    if found.low is None or found.high is None:
        return found
    low, high = max(0.0, found.low), min(1.0, found.high)
    return Estimate(found.value, low, high, method=found.method, n=found.n)


def _mean(
    values: Floats, places: NDArray[np.intp], clusters: Clusters | None, confidence: float
) -> Estimate:
    """A mean with an interval that holds for other texts, or for other documents."""
    if not len(values):
        return Estimate(math.nan, n=0)
    units = places if clusters is None else clusters.codes[places]
    _, codes = np.unique(units, return_inverse=True)
    means = ClusteredMeans.of(
        values, groups=np.zeros(len(values), np.intp), clusters=codes.astype(np.intp), n_groups=1
    )
    return means.mean(0, confidence=confidence)


def degree_orders(scored: ProbedMetric, *, confidence: float = 0.95) -> list[DegreeOrder]:
    """For each kind with several degrees: whether more harm costs more."""
    kinds = dict.fromkeys(variant.kind for variant in scored.changed)
    found = []
    for kind in kinds:
        own = [
            scored.changed[Variant(kind, degree)]
            for degree in DEGREES
            if Variant(kind, degree) in scored.changed
        ]
        if len(own) < 2:
            continue
        rows = np.stack([scored.unchanged, *own])
        rows = rows[:, ~np.isnan(rows).any(axis=0)]
        if not rows.shape[1]:
            continue
        size = np.maximum(1.0, np.abs(rows).max(axis=0))
        is_ordered = (np.diff(rows, axis=0) < -TIE_TOLERANCE * size).all(axis=0)
        share = share_interval(int(is_ordered.sum()), rows.shape[1], confidence=confidence)
        means = rows.mean(axis=1)
        found.append(
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
    return found


def examples_of(
    scored: ProbedMetric, texts: EvalSet, *, variants: Sequence[Variant]
) -> list[ProbeExample]:
    """For each harmful variant the pair that the metric gets most wrong, if there is one."""
    found = []
    for variant in variants:
        if variant.is_harmless:
            continue
        gain = scored.changed[variant] - scored.unchanged
        if np.isnan(gain).all() or not (np.nanmax(gain) >= -TIE_TOLERANCE):
            continue
        place = int(np.nanargmax(gain))
        item = texts.items[place]
        found.append(
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
    return found


def is_alarmed(probe: Probe) -> bool:
    """Whether a harmless change is shown to cost more than an error in more than half of the
    comparisons, or costs a large part of the score."""
    is_costly = probe.share_lost >= COSTLY_SHARE_OF_SCORE
    return probe.n >= MIN_TEXTS_FOR_CLAIMS and (_loses_to_errors(probe) or is_costly)


def _loses_to_errors(probe: Probe) -> bool:
    return _is_preference(probe.losses, probe.losses_low)


def _is_preference(share: float, low: float | None) -> bool:
    return low is not None and low > 0.5 and share >= MIN_PREFERRED_SHARE


def summary_of(
    probes: Sequence[Probe], degrees: Sequence[DegreeOrder] = (), *, is_brief: bool = False
) -> str:
    """What a metric misses, in words; without what it notices in part, if `is_brief`.

    >>> row = Probe("m", "negation", "critical", 50, 0.1, 0.9, 0.0, 0.2, 0.0, None, None, 0.0, 0.0)
    >>> summary_of([row])
    'Blind to negation.'
    """
    harmful = [probe for probe in probes if not probe.variant.is_harmless]
    harmless = [probe for probe in probes if probe.variant.is_harmless]
    parts = []
    for verdict, words in (
        ("misled", "Prefers texts with"),
        ("blind", "Blind to"),
        ("partly", "Notices only in part"),
    ):
        named = _named([probe for probe in harmful if probe.verdict == verdict], harmful)
        if named and not (is_brief and verdict == "partly"):
            parts.append(f"{words} {_joined(named)}.")
    alarms = [probe for probe in harmless if is_alarmed(probe)]
    if alarms:
        parts.append(f"False alarm at {_joined([_alarm_words(probe) for probe in alarms])}.")
    own = [one for one in degrees if probes and one.metric == probes[0].metric]
    unordered = [one.perturbation for one in own if not one.is_monotone and one.n >= 10]
    if unordered:
        parts.append(f"More harm does not cost more: {_joined(unordered)}.")
    claimed = [probe for probe in harmful if probe.verdict != "few"]
    if not parts and claimed:
        return "Notices every kind of harm that was tried."
    return " ".join(parts) or "Too few texts to say what it misses."


def _named(chosen: Sequence[Probe], all_probes: Sequence[Probe]) -> list[str]:
    """The kinds, with the severity where a kind has several and not all were chosen."""
    names: list[str] = []
    for kind in dict.fromkeys(probe.perturbation for probe in chosen):
        own = [probe.severity for probe in chosen if probe.perturbation == kind]
        known = [probe.severity for probe in all_probes if probe.perturbation == kind]
        names.append(kind if len(own) == len(known) else f"{kind} ({', '.join(own)})")
    return names


def _alarm_words(probe: Probe) -> str:
    if _loses_to_errors(probe):
        return f"{probe.perturbation} (worse than an error in {100 * probe.losses:.0f}%)"
    return f"{probe.perturbation} (costs {100 * probe.share_lost:.0f}% of the score)"


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def check_directed(name: str, higher_is_better: bool | None) -> float:
    """1 if higher is better, −1 if lower is; refuses a metric where neither is."""
    if higher_is_better is None:
        raise InputError(
            f"{name} is neither good nor bad when it is high, so it cannot prefer a text. Probe a "
            "metric that has a direction."
        )
    return 1.0 if higher_is_better else -1.0
