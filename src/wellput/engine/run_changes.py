"""Compares two runs. `ScoreChange` has one system's score under one metric in the first run
(`before`) and in the second (`after`).

Two scores can be compared if their data are the same, and their signatures, too, except for fields
about resampling, which do not affect a score. Another version of wellput does not prevent a
comparison, but gives a caution: the changelog says which scores a version changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from wellput.core.errors import InputError, counted, did_you_mean
from wellput.core.result import Result
from wellput.core.scores import Run, RunScore

RESAMPLING_FIELDS = frozenset({"ar", "bs", "seed"})
"""The fields of a signature that do not affect a score."""


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """Two scores under one metric. `obstacles` are the reasons why they cannot be compared;
    `cautions` are what a reader must keep in mind if they can."""

    metric: str
    before: RunScore
    after: RunScore
    obstacles: tuple[str, ...]
    cautions: tuple[str, ...]

    @property
    def is_comparable(self) -> bool:
        return not self.obstacles

    @property
    def has_same_outputs(self) -> bool:
        return self.before.outputs == self.after.outputs

    @property
    def delta(self) -> float | None:
        """after − before; None if the two cannot be compared."""
        return self.after.score - self.before.score if self.is_comparable else None

    @property
    def intervals_overlap(self) -> bool | None:
        """Whether the two intervals overlap; None if the scores cannot be compared or an interval is
        unknown. If the intervals do not overlap, the difference is very probably not due to chance;
        if they do, nothing can be concluded."""
        ends = (self.before.low, self.before.high, self.after.low, self.after.high)
        known = [end for end in ends if end is not None and not math.isnan(end)]
        if not self.is_comparable or len(known) < len(ends):
            return None
        low_before, high_before, low_after, high_after = known
        return low_before <= high_after and low_after <= high_before

    def to_dict(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "system_before": self.before.system,
            "system_after": self.after.system,
            "before": self.before.score,
            "after": self.after.score,
            "delta": self.delta,
            "comparable": self.is_comparable,
            "obstacles": list(self.obstacles),
            "cautions": list(self.cautions),
            "same_outputs": self.has_same_outputs,
            "intervals_overlap": self.intervals_overlap,
        }


@dataclass(frozen=True, repr=False)
class RunChanges(Result):
    """The changes between two runs, and the (system, metric) pairs that only one of them has."""

    presented_by: ClassVar[str] = "wellput.reporting.runs:diff_report"

    before: Run
    after: Run
    changes: tuple[ScoreChange, ...]
    only_before: tuple[tuple[str, str], ...]
    only_after: tuple[tuple[str, str], ...]

    def records(self) -> list[dict[str, Any]]:
        """A record for each system and metric of both runs."""
        return [change.to_dict() for change in self.changes]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput runs diff`."""
        return {
            "before": self.before.circumstances,
            "after": self.after.circumstances,
            "changes": self.records(),
            "only_before": [{"system": s, "metric": m} for s, m in self.only_before],
            "only_after": [{"system": s, "metric": m} for s, m in self.only_after],
        }


def run_changes(before: Run, after: Run, renamed: Mapping[str, str] | None = None) -> RunChanges:
    """The changes between two runs, whose scores are matched by system and metric; `renamed` maps
    systems of the first run to their names in the second."""
    names = renamed or {}
    _check_names(before, names.keys())
    _check_names(after, names.values())
    # Renamed systems come last, so that they replace a system that already has the new name.
    ordered = sorted(before.scores, key=lambda score: score.system in names)
    old = {(names.get(score.system, score.system), score.metric): score for score in ordered}
    new = {(score.system, score.metric): score for score in after.scores}
    return RunChanges(
        before=before,
        after=after,
        changes=tuple(_change(key[1], old[key], new[key]) for key in new if key in old),
        only_before=tuple(
            (score.system, score.metric) for key, score in old.items() if key not in new
        ),
        only_after=tuple(key for key in new if key not in old),
    )


def _change(metric: str, before: RunScore, after: RunScore) -> ScoreChange:
    """The change of one system's score under one metric."""
    obstacles: list[str] = []
    cautions: list[str] = []
    if before.data != after.data:
        obstacles.append("different items or references")
    for old, new in _differing_fields(before.signature, after.signature):
        is_version = old.startswith("version:") and new.startswith("version:")
        (cautions if is_version else obstacles).append(f"{old or 'nothing'} → {new or 'nothing'}")
    if before.n != after.n:
        cautions.append(f"on {counted(before.n, 'item')}, then on {after.n:,}")
    same_outputs = before.outputs == after.outputs
    if not obstacles and not same_outputs:
        cautions.append("the outputs changed")
    if not obstacles and same_outputs and not _is_same(before.score, after.score):
        cautions.append("the score changed, though the outputs are the same")
    return ScoreChange(metric, before, after, tuple(obstacles), tuple(cautions))


def _is_same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _differing_fields(before: str, after: str) -> list[tuple[str, str]]:
    """The fields (such as `tok:13a`) in which two signatures differ, as pairs of the field before and
    after; a missing field is an empty text."""
    old, new = _signature_fields(before), _signature_fields(after)
    return [
        (old.get(name, ""), new.get(name, ""))
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]


def _signature_fields(signature: str) -> dict[str, str]:
    """The fields of a signature that affect a score, by name; fields of the same name are joined."""
    fields: dict[str, str] = {}
    for text in signature.split("|"):
        name = text.partition(":")[0]
        if name not in RESAMPLING_FIELDS:
            fields[name] = f"{fields[name]}|{text}" if name in fields else text
    return fields


def _check_names(run: Run, names: Iterable[str]) -> None:
    """Raises InputError for names that are not systems of the run."""
    wrong = [name for name in names if name not in run.systems]
    if wrong:
        raise InputError(
            f"No system {wrong[0]!r} in run {run.id}.{did_you_mean(wrong[0], run.systems)} "
            f"The systems are {', '.join(run.systems)}."
        )
