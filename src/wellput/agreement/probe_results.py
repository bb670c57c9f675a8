"""The results of probing metrics with changed texts: `Probe` has the figures of one metric and one kind
of change, `ProbeResult` has all of them, and `summary_of` says in words what a metric misses.

A variant is a kind of change (`negation`) with its severity (`critical`, `major`, `minor` or harmless).
The results call the kind `perturbation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from wellput.core.evalset import EvalSet
from wellput.core.result import Result
from wellput.io.files import PathLike
from wellput.language.perturb.catalog import KindAndSeverity

MIN_TEXTS_FOR_CLAIMS = 10
"""With fewer texts, the summary claims nothing about a change."""
MIN_PREFERRED_SHARE = 0.6
"""A metric that prefers one of two texts in a smaller share of pairs is not said to prefer it, even if
the preference is significant."""
NOTICED_SHARE = 0.8
"""A metric "notices" a change if the better text wins in at least this share of pairs; if it wins in
fewer, but still more than chance, the metric notices the change "partly"."""
COSTLY_SHARE_OF_SCORE = 0.25
"""A harmless change that costs at least this share of the score is named in the summary."""

Verdict = Literal["noticed", "partly", "blind", "misled", "few"]
"""How a metric reacts to a harmful change; `few` means that there are too few texts to tell."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One metric and one variant of the texts.

    `accuracy` is the share of pairs whose better text scores strictly better, `ties` the share of
    equal scores, `losses` the share of pairs whose worse text scores strictly better. For a harmful
    change, the better text is the unchanged one. For a harmless change, the better text is the changed
    one, and the worse one has an error instead: `losses` are then false alarms. `n` is the number of
    texts. `low` and `high` are the interval of `accuracy`. `effect` is the mean loss of score by the
    change, in the metric's own units, positive if the change makes the score worse; `share_lost` is
    the same as a share of the mean score of the unchanged texts, NaN if some scores are negative and
    others not. `undefined` counts texts that have no score before or after the change; they are left
    out.
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
    def variant(self) -> KindAndSeverity:
        """The kind of change and its severity."""
        return KindAndSeverity(self.perturbation, self.severity)

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
    """Whether more severe harm costs more score. `ordered` is the share of texts whose scores fall
    strictly from each severity to the next; `is_monotone` says whether the mean score does."""

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
    variant: KindAndSeverity
    item: str
    better: str
    worse: str
    better_score: float
    worse_score: float


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

    @property
    def missed(self) -> list[str]:
        """The kinds of harm that mislead the metric or that it does not see, the worst first."""
        harmful = [probe for probe in self.probes if not probe.variant.is_harmless]
        chosen = [
            probe
            for verdict in ("misled", "blind")
            for probe in harmful
            if probe.verdict == verdict
        ]
        return _named(chosen, harmful)

    def values(self) -> dict[str, Any]:
        """For JSON: the variants that mislead the metric, that it does not see, or that cause false
        alarms."""
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
    """The verdict as in the JSON; for a harmless change it is `alarmed`, `calm` (no alarm) or `few`."""
    if probe.variant.is_harmless:
        return "alarmed" if is_alarmed(probe) else "few" if probe.verdict == "few" else "calm"
    return probe.verdict


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
    """What a metric misses, in words. If `is_brief`, changes that it notices in part are not named.

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
        ("partly", "Only partly notices"),
    ):
        kinds = _named([probe for probe in harmful if probe.verdict == verdict], harmful)
        if kinds and not (is_brief and verdict == "partly"):
            parts.append(f"{words} {_joined(kinds)}.")
    alarms = [probe for probe in harmless if is_alarmed(probe)]
    if alarms:
        parts.append(f"False alarm at {_joined([_alarm_words(probe) for probe in alarms])}.")
    degrees_of_metric = [
        degree for degree in degrees if probes and degree.metric == probes[0].metric
    ]
    unordered = [
        degree.perturbation
        for degree in degrees_of_metric
        if not degree.is_monotone and degree.n >= MIN_TEXTS_FOR_CLAIMS
    ]
    if unordered:
        parts.append(f"More harm does not cost more: {_joined(unordered)}.")
    claimed = [probe for probe in harmful if probe.verdict != "few"]
    if not parts and claimed:
        return "Notices every kind of harm that was tried."
    return " ".join(parts) or "Too few texts to say what it misses."


def _named(chosen: Sequence[Probe], all_probes: Sequence[Probe]) -> list[str]:
    """The kinds of the chosen probes, with their severities where not all severities of a kind were
    chosen."""
    names: list[str] = []
    for kind in dict.fromkeys(probe.perturbation for probe in chosen):
        chosen_severities = [probe.severity for probe in chosen if probe.perturbation == kind]
        all_severities = [probe.severity for probe in all_probes if probe.perturbation == kind]
        names.append(
            kind
            if len(chosen_severities) == len(all_severities)
            else f"{kind} ({', '.join(chosen_severities)})"
        )
    return names


def _alarm_words(probe: Probe) -> str:
    if _loses_to_errors(probe):
        return f"{probe.perturbation} (worse than an error in {100 * probe.losses:.0f}%)"
    return f"{probe.perturbation} (costs {100 * probe.share_lost:.0f}% of the score)"


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
