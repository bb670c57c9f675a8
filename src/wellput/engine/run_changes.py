"""What changed between two runs: the noun `Change`, one system's score under one metric then and now.

Scores may be compared where the data they were measured against and the signature are the same, but
for its fields on resampling, which do not touch a score. A change of version alone is a caution, not
a bar: the changelog says which scores a version changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from wellput.core.counted import counted
from wellput.core.errors import InputError, did_you_mean
from wellput.core.result import Result
from wellput.core.run import Run, RunScore

RESAMPLING = frozenset({"ar", "bs", "seed"})


@dataclass(frozen=True, slots=True)
class Change:
    """`before` and `after` under one metric. `obstacles` say why the two cannot be compared; `cautions`
    what to keep in mind where they can."""

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
        """after − before; None where the two cannot be compared."""
        return self.after.score - self.before.score if self.is_comparable else None

    @property
    def intervals_overlap(self) -> bool | None:
        """Whether the intervals have values in common; None where one is not known. Intervals apart
        make a difference that is no chance very likely; intervals that overlap say nothing."""
        ends = (self.before.low, self.before.high, self.after.low, self.after.high)
        known = [end for end in ends if end is not None and not math.isnan(end)]
        if not self.is_comparable or len(known) < len(ends):
            return None
        return known[0] <= known[3] and known[2] <= known[1]

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
    """Two runs, what is in both, and what only one of them has, as (system, metric)."""

    presented_by: ClassVar[str] = "wellput.reporting.runs:diff_report"

    before: Run
    after: Run
    changes: tuple[Change, ...]
    only_before: tuple[tuple[str, str], ...]
    only_after: tuple[tuple[str, str], ...]

    def records(self) -> list[dict[str, Any]]:
        """A record for each system and metric that is in both."""
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
    """Pairs the scores of two runs by system and metric; `renamed` maps a system of the first run to
    its name in the second."""
    names = renamed or {}
    _check_names(before, names.keys())
    _check_names(after, names.values())
    # Those renamed come last: they stand for a system of the first run that has the new name already.
    ordered = sorted(before.scores, key=lambda one: one.system in names)
    old = {(names.get(one.system, one.system), one.metric): one for one in ordered}
    new = {(one.system, one.metric): one for one in after.scores}
    return RunChanges(
        before=before,
        after=after,
        changes=tuple(_change(key[1], old[key], new[key]) for key in new if key in old),
        only_before=tuple((one.system, one.metric) for key, one in old.items() if key not in new),
        only_after=tuple(key for key in new if key not in old),
    )


def _change(metric: str, before: RunScore, after: RunScore) -> Change:
    obstacles: list[str] = []
    cautions: list[str] = []
    if before.data != after.data:
        obstacles.append("other items or references")
    for old, new in _differing_fields(before.signature, after.signature):
        version = old.startswith("version:") and new.startswith("version:")
        (cautions if version else obstacles).append(f"{old or 'nothing'} → {new or 'nothing'}")
    if before.n != after.n:
        cautions.append(f"on {counted(before.n, 'item')}, then on {after.n:,}")
    same_outputs = before.outputs == after.outputs
    if not obstacles and not same_outputs:
        cautions.append("the outputs changed")
    if not obstacles and same_outputs and not _is_same(before.score, after.score):
        cautions.append("though the outputs are the same")
    return Change(metric, before, after, tuple(obstacles), tuple(cautions))


def _is_same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _differing_fields(before: str, after: str) -> list[tuple[str, str]]:
    """The fields (`tok:13a`) that differ, an empty text for one that is not there."""
    old, new = _fields(before), _fields(after)
    return [
        (old.get(name, ""), new.get(name, ""))
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]


def _fields(signature: str) -> dict[str, str]:
    """What touches a score, by the field's name; fields of one name are kept together."""
    fields: dict[str, str] = {}
    for text in signature.split("|"):
        name = text.partition(":")[0]
        if name not in RESAMPLING:
            fields[name] = f"{fields[name]}|{text}" if name in fields else text
    return fields


def _check_names(run: Run, names: Iterable[str]) -> None:
    wrong = [name for name in names if name not in run.systems]
    if wrong:
        raise InputError(
            f"No system {wrong[0]!r} in run {run.id}.{did_you_mean(wrong[0], run.systems)} "
            f"There are {', '.join(run.systems)}."
        )
