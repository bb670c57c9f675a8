"""Runs: what was scored, kept to be compared with what is scored later.

`save_run` stores a result, `run_of` says what is stored. The noun `DataHashes` tells by content,
not by file, which data a score came from: the same items in another file, format or compression
give the same hashes; ids play no part. Outputs are hashed for themselves, so that a system that
changed can be told from a test set that did.

The noun `ScoreChange` is one system's score under one metric then and now. Scores may be compared
where the data they were measured against and the signature are the same, but for its fields on
resampling, which do not touch a score. A change of version alone is a caution, not a bar: the
changelog says which scores a version changes.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Protocol

from wellput import __version__
from wellput.core.errors import InputError, counted, did_you_mean
from wellput.core.evalset import ORIGINAL, Item
from wellput.core.metric import Metric, Need
from wellput.core.result import Result
from wellput.core.scores import Run, RunScore, Score
from wellput.core.source import EvalSource
from wellput.core.tree import Tree
from wellput.engine.result import ScoreResult
from wellput.io import format_tree, open_evalset, run_files
from wellput.metrics.registry import create_all


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


class DataHashes:
    """SHA-256 of each part of a source's items, in order, from one pass over them."""

    def __init__(self, source: EvalSource, needs: Collection[Need]) -> None:
        """`needs` says which parts beside references and sources are worth a hash."""
        self._needs = frozenset(needs)
        self._parts: dict[str, _Hash] = defaultdict(hashlib.sha256)
        self._outputs: dict[str, _Hash] = defaultdict(hashlib.sha256)
        self._own: dict[str, _Hash] = defaultdict(hashlib.sha256)
        self._has_references = False
        start = 0
        for block in source.blocks():
            self._add(block, start)
            start += len(block)

    def outputs(self, system: str) -> str:
        """The hash of what a system said, and on which items it said nothing."""
        return self._outputs[system].hexdigest()

    def data(self, system: str, needs: Collection[Need]) -> str:
        """The hash of what a metric with these needs compared the system's outputs with.

        References count always, sources where there are no references, the rest where it is needed.
        """
        chosen = {"references", *needs} | (set() if self._has_references else {"source"})
        parts = [[part, self._parts[part].hexdigest()] for part in sorted(chosen - {"original"})]
        if "original" in needs:
            parts.append(["original", self.outputs(ORIGINAL)])
        if system in self._own:
            parts.append(["own", self._own[system].hexdigest()])
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _add(self, block: Sequence[Item], start: int) -> None:
        self._has_references = self._has_references or any(item.references for item in block)
        _update_hash(self._parts["references"], [item.references for item in block])
        _update_hash(self._parts["source"], [item.source for item in block])
        if "tree" in self._needs:
            _update_hash(self._parts["tree"], [_drawn(item.trees) for item in block])
        if "derivation" in self._needs:
            _update_hash(self._parts["derivation"], [item.derivation for item in block])
        if "logged" in self._needs:
            _update_hash(self._parts["logged"], [item.logged for item in block])
        outputs: dict[str, list[object]] = defaultdict(list)
        own: dict[str, list[object]] = defaultdict(list)
        for place, item in enumerate(block, start):
            for system, output in item.outputs.items():
                outputs[system].append([place, output])
            for system, references in item.references_by_system.items():
                own[system].append([place, references])
            if "tree" in self._needs:
                for system, trees in item.trees_by_system.items():
                    own[system].append([place, _drawn(trees)])
        for system, rows in outputs.items():
            _update_hash(self._outputs[system], rows)
        for system, rows in own.items():
            _update_hash(self._own[system], rows)


def _drawn(trees: Iterable[Tree | None]) -> list[str | None]:
    return [None if tree is None else format_tree(tree) for tree in trees]


def _update_hash(hash: _Hash, rows: Sequence[Any]) -> None:
    """The rows as JSON without the brackets around them: where blocks end does not matter."""
    text = json.dumps(rows, sort_keys=True, separators=(",", ":"), default=_plain_mapping)
    hash.update(text[1:-1].encode() + b",")


def _plain_mapping(value: object) -> object:
    """Mappings that json does not know for such."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no hash here")


def save_run(
    folder: str | Path,
    result: ScoreResult,
    evalset: EvalSource | str | Path,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    command: str = "",
) -> Run:
    """Stores a result in a folder of runs (Parquet, needs the extra `parquet`); `evalset` and `metrics`
    are those it was scored from. The data is read once more, for its hash, without what was left out
    of the scores."""
    run_files.check_store(folder)
    if isinstance(evalset, str | Path):
        evalset = open_evalset(evalset)
    return run_files.save_run(folder, run_of(result, evalset, metrics, command=command))


def run_of(
    result: ScoreResult,
    source: EvalSource,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    command: str = "",
) -> Run:
    """A result with all that is needed to find and compare it again; it has no id yet."""
    needs = {metric.name: metric.needs for metric in create_all(metrics)}
    if result.skipped:
        source = _ScoredSource(source, frozenset(skipped.partition for skipped in result.skipped))
    hashes = DataHashes(source, frozenset().union(*needs.values()))
    return Run(
        id="",
        time=datetime.now(UTC),
        command=command,
        wellput=__version__,
        python=platform.python_version(),
        platform=f"{sys.platform}-{platform.machine()}",
        items=result.items,
        seed=result.seed,
        resamples=result.n_resamples,
        confidence=result.confidence,
        alpha=result.alpha,
        test=result.test,
        skipped=len(result.skipped),
        scores=tuple(
            RunScore(
                **{field.name: getattr(score, field.name) for field in fields(score)},
                higher_is_better=result.higher_is_better.get(score.metric),
                data=hashes.data(score.system, needs[score.metric]),
                outputs=hashes.outputs(score.system),
                p_against=_p_against(result, score),
            )
            for score in result.scores
        ),
    )


@dataclass(frozen=True)
class _ScoredSource(EvalSource):
    """A source without the partitions that were left out of the scores."""

    source: EvalSource
    left_out: frozenset[str]

    def blocks(self) -> Iterator[Sequence[Item]]:
        for partition in self.source.partitions():
            if partition.name not in self.left_out:
                yield from partition.blocks()


def _p_against(result: ScoreResult, score: Score) -> dict[str, float]:
    """Holm's p-value against each system, where all pairs were tested."""
    return {
        pair.b if pair.a == score.system else pair.a: pair.p_adjusted
        for pair in result.comparisons
        if pair.metric == score.metric and score.system in (pair.a, pair.b)
    }


RESAMPLING_FIELDS = frozenset({"ar", "bs", "seed"})


@dataclass(frozen=True, slots=True)
class ScoreChange:
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
    changes: tuple[ScoreChange, ...]
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


def _change(metric: str, before: RunScore, after: RunScore) -> ScoreChange:
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
    return ScoreChange(metric, before, after, tuple(obstacles), tuple(cautions))


def _is_same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _differing_fields(before: str, after: str) -> list[tuple[str, str]]:
    """The fields (`tok:13a`) that differ, an empty text for one that is not there."""
    old, new = _signature_fields(before), _signature_fields(after)
    return [
        (old.get(name, ""), new.get(name, ""))
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]


def _signature_fields(signature: str) -> dict[str, str]:
    """What touches a score, by the field's name; fields of one name are kept together."""
    fields: dict[str, str] = {}
    for text in signature.split("|"):
        name = text.partition(":")[0]
        if name not in RESAMPLING_FIELDS:
            fields[name] = f"{fields[name]}|{text}" if name in fields else text
    return fields


def _check_names(run: Run, names: Iterable[str]) -> None:
    wrong = [name for name in names if name not in run.systems]
    if wrong:
        raise InputError(
            f"No system {wrong[0]!r} in run {run.id}.{did_you_mean(wrong[0], run.systems)} "
            f"There are {', '.join(run.systems)}."
        )
