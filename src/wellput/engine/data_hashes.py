"""The noun `DataHashes`: which data a score came from, told apart by content, not by file.

The same items in another file, format or compression give the same hashes; ids play no part. Outputs
are hashed for themselves, so that a system that changed can be told from a test set that did.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from wellput.core.evalset import ORIGINAL, Item
from wellput.core.metric import Need
from wellput.core.source import EvalSource
from wellput.core.tree import Tree
from wellput.io import format_tree


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
        _update(self._parts["references"], [item.references for item in block])
        _update(self._parts["source"], [item.source for item in block])
        if "tree" in self._needs:
            _update(self._parts["tree"], [_drawn(item.trees) for item in block])
        if "derivation" in self._needs:
            _update(self._parts["derivation"], [item.derivation for item in block])
        if "logged" in self._needs:
            _update(self._parts["logged"], [item.logged for item in block])
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
            _update(self._outputs[system], rows)
        for system, rows in own.items():
            _update(self._own[system], rows)


def _drawn(trees: Iterable[Tree | None]) -> list[str | None]:
    return [None if tree is None else format_tree(tree) for tree in trees]


def _update(hash: _Hash, rows: Sequence[Any]) -> None:
    """The rows as JSON without the brackets around them: where blocks end does not matter."""
    text = json.dumps(rows, sort_keys=True, separators=(",", ":"), default=_plain)
    hash.update(text[1:-1].encode() + b",")


def _plain(value: object) -> object:
    """Mappings that json does not know for such."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no hash here")
