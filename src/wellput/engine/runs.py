"""Stores results as runs, so that they can be compared with later runs (`engine.run_changes`).

`save_run` stores a result; `run_of` makes a `Run` of a result. `DataHashes` identifies the data of a
score by their content: the same items in another file, format or compression have the same hashes,
and ids do not change the hashes. Outputs have separate hashes, so that one can see whether a system
or the test set has changed.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from wellput import __version__
from wellput.core.evalset import ORIGINAL, Item
from wellput.core.metric import Metric, Need
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
    """SHA-256 of each part (references, sources, outputs, …) of a source's items in order, computed
    in one pass over the items."""

    def __init__(self, source: EvalSource, needs: Collection[Need]) -> None:
        """`needs` names the parts to hash besides references and sources."""
        self._needs = frozenset(needs)
        self._parts: dict[str, _Hash] = defaultdict(hashlib.sha256)
        self._outputs: dict[str, _Hash] = defaultdict(hashlib.sha256)
        # References and trees that are for one system alone, by system and part.
        self._by_system: dict[tuple[str, str], _Hash] = defaultdict(hashlib.sha256)
        self._has_references = False
        start = 0
        for block in source.blocks():
            self._add(block, start)
            start += len(block)

    def outputs(self, system: str) -> str:
        """The hash of a system's outputs and their items; missing outputs change it."""
        return self._outputs[system].hexdigest()

    def data(self, system: str, needs: Collection[Need]) -> str:
        """The hash of the data that a metric with these needs compares the system's outputs with.

        References always count, sources if there are no references, other parts if they are needed.
        """
        chosen = {"references", *needs} | (set() if self._has_references else {"source"})
        parts = [[part, self._parts[part].hexdigest()] for part in sorted(chosen - {"original"})]
        if "original" in needs:
            parts.append(["original", self.outputs(ORIGINAL)])
        parts += [
            [f"own {part}", self._by_system[system, part].hexdigest()]
            for part in sorted(chosen)
            if (system, part) in self._by_system
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _add(self, block: Sequence[Item], start: int) -> None:
        """Adds a block of items to the hashes. `start` is the number of its first item."""
        self._has_references = self._has_references or any(item.references for item in block)
        _update_hash(self._parts["references"], [item.references for item in block])
        _update_hash(self._parts["source"], [item.source for item in block])
        if "tree" in self._needs:
            _update_hash(self._parts["tree"], [_formatted(item.trees) for item in block])
        if "derivation" in self._needs:
            _update_hash(self._parts["derivation"], [item.derivation for item in block])
        if "logged" in self._needs:
            _update_hash(self._parts["logged"], [item.logged for item in block])
        outputs: dict[str, list[object]] = defaultdict(list)
        by_system: dict[tuple[str, str], list[object]] = defaultdict(list)
        for place, item in enumerate(block, start):
            for system, output in item.outputs.items():
                outputs[system].append([place, output])
            for system, references in item.references_by_system.items():
                by_system[system, "references"].append([place, references])
            if "tree" in self._needs:
                for system, trees in item.trees_by_system.items():
                    by_system[system, "tree"].append([place, _formatted(trees)])
        for system, rows in outputs.items():
            _update_hash(self._outputs[system], rows)
        for key, rows in by_system.items():
            _update_hash(self._by_system[key], rows)


def _formatted(trees: Iterable[Tree | None]) -> list[str | None]:
    return [None if tree is None else format_tree(tree) for tree in trees]


def _update_hash(hash: _Hash, rows: Sequence[Any]) -> None:
    """Adds the rows as JSON without the outer brackets, so that the hash does not depend on the
    division into blocks."""
    text = json.dumps(rows, sort_keys=True, separators=(",", ":"), default=_plain_mapping)
    hash.update(text[1:-1].encode() + b",")


def _plain_mapping(value: object) -> object:
    """A mapping as a dict, which json can write."""
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
    must be those of the result. The data, except skipped partitions, is read again to compute its
    hashes."""
    run_files.check_store(folder)
    if isinstance(evalset, str | Path):
        evalset = open_evalset(evalset)
    return run_files.write_run(folder, run_of(result, evalset, metrics, command=command))


def run_of(
    result: ScoreResult,
    source: EvalSource,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    command: str = "",
) -> Run:
    """The result as a run, which can be stored and compared later; its id is empty until it is
    stored."""
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
    """A source without the partitions that were skipped."""

    source: EvalSource
    skipped_names: frozenset[str]

    def blocks(self) -> Iterator[Sequence[Item]]:
        for partition in self.source.partitions():
            if partition.name not in self.skipped_names:
                yield from partition.blocks()


def _p_against(result: ScoreResult, score: Score) -> dict[str, float]:
    """The score's corrected p-value against each other system; empty unless all pairs were tested."""
    return {
        pair.b if pair.a == score.system else pair.a: pair.p_adjusted
        for pair in result.comparisons
        if pair.metric == score.metric and score.system in (pair.a, pair.b)
    }
