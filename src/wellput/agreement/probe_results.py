"""What probing a metric found: `Probe`, the figures of one kind of change; `ProbeResult`, all of them;
and what a metric misses, in words (`summary_of`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from wellput.core.evalset import EvalSet
from wellput.core.result import Result
from wellput.io.files import PathLike
from wellput.language.perturb.catalog import KindAndSeverity

MIN_TEXTS_FOR_CLAIMS = 10
"""With fewer texts, nothing is claimed in words."""
MIN_PREFERRED_SHARE = 0.6
"""A preference in fewer pairs than this is not called one, even if chance cannot explain it."""
NOTICED_SHARE = 0.8
"""From this share of wins on, a metric notices a change; below, it notices it only in part."""
COSTLY_SHARE_OF_SCORE = 0.25
"""A harmless change that costs at least this share of the score is named in the summary."""

Verdict = Literal["noticed", "partly", "blind", "misled", "few"]
"""On a change that does harm; `few` means too few texts to tell."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One metric and one variant of the texts.

    `accuracy` is the share of pairs whose better text scores strictly better, `ties` the share of
    equal scores, `losses` the share of pairs whose worse text scores strictly better. The better text
    is the unchanged one. A harmless change is paired with an error in the same text, which is the
    worse one: `losses` are false alarms. `n` is the number of texts. `low` and `high` are the interval
    of `accuracy`. `effect` is the mean loss of score by the change, in the metric's own units,
    positive if the change makes the score worse; `share_lost` is the same as a share of the mean score
    of the unchanged texts, NaN where that has no meaning. `undefined` texts have no score before or
    after the change and are left out.
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
    """The verdict; on a harmless change `alarmed`, `calm` (no alarm) or `few`."""
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
        ("partly", "Only partly notices"),
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
