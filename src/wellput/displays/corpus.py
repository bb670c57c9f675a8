"""`DisplayCorpus`: the nodes of all sentences in one list, depth first, each with its context and
its display.

The choice of a node's display may depend on its context: its `label`, its `word`, and its features
by name. Each context is kept once; nodes refer to it by its place.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.core.evalset import ORIGINAL, EvalSet, Item
from wellput.core.metric import Integers
from wellput.core.source import EvalSource
from wellput.displays.schedules import (
    Derivation,
    Schedule,
    display_code,
    extents_of,
    nodes_of,
    schedules_of,
    span_ends,
)
from wellput.io import read_evalset
from wellput.io.files import PathLike


def sentences_of(evalset: EvalSource | PathLike, *, trees: bool = False) -> EvalSet:
    """All sentences, in memory. `trees` reads the references' trees too, to write them again."""
    if isinstance(evalset, EvalSet):
        return evalset
    if isinstance(evalset, EvalSource):
        return EvalSet([item for block in evalset.blocks() for item in block])
    return read_evalset(evalset, trees=trees)


ContextValues: TypeAlias = tuple[Hashable, ...]

USUAL_FEATURES = ("label", "property", "semantics", "evaluation", "information", "prosody")
"""The features of a context by default. In an unseen context the last is dropped first.
Other features follow in the order in which they are met. `word` is used only where it is asked for."""

UNKNOWN_DISPLAY = -1
"""The display of a node whose sentence has no original displays."""


@dataclass(frozen=True, eq=False)
class Contexts:
    """`codes` has the place of each node's context in `values`; a context has a value for each name."""

    names: tuple[str, ...]
    codes: Integers
    values: list[ContextValues]

    def described(self, code: int) -> str:
        """`label=NP, evaluation=positive`"""
        pairs = zip(self.names, self.values[code], strict=True)
        return ", ".join(f"{name}={value}" for name, value in pairs) or "no feature"


@dataclass(frozen=True, eq=False)
class DisplayCorpus:
    """Sentences with derivations. `rows` has the number of each node's sentence, `displays` the code of
    its original display, `UNKNOWN_DISPLAY` where the sentence has no original displays."""

    items: Sequence[Item]
    nodes: list[Derivation]
    rows: Integers
    displays: Integers

    @classmethod
    def of(cls, items: Sequence[Item]) -> DisplayCorpus:
        """Raises InputError where a sentence has no derivation."""
        lacking = [f"item {item.id}" for item in items if item.derivation is None]
        if lacking:
            raise InputError.collect(
                "Displays are chosen on the nodes of a derivation. These items have none:", lacking
            )
        nodes: list[Derivation] = []
        displays: list[int] = []
        counts: list[int] = []
        for item in items:
            own = list(nodes_of(item.derivation or {}))
            original = schedules_of(item).get(ORIGINAL)
            nodes += own
            counts.append(len(own))
            if original is not None:
                shown = displays_by_node(item.derivation or {}, original)
                displays += [shown.get(node["id"], 0) for node in own]
            else:
                displays += [UNKNOWN_DISPLAY] * len(own)
        rows = np.repeat(np.arange(len(items)), counts)
        return cls(items, nodes, rows, np.array(displays, dtype=np.int64))

    @property
    def is_annotated(self) -> NDArray[np.bool_]:
        """Which sentences have original displays."""
        return np.array([ORIGINAL in schedules_of(item) for item in self.items], np.bool_)

    def contexts(self, names: Sequence[str]) -> Contexts:
        """The context of every node, made of these features."""
        places: dict[ContextValues, int] = {}
        found = _context_values(self.nodes, names)
        codes = np.fromiter(
            (places.setdefault(row, len(places)) for row in found), np.int64, len(self.nodes)
        )
        return Contexts(tuple(names), codes, list(places))

    def feature_names(self) -> tuple[str, ...]:
        """The features that nodes have, in the order of `USUAL_FEATURES`."""
        met: dict[str, None] = {}
        has_label = False
        for node in self.nodes:
            has_label = has_label or node.get("label") is not None
            features = node.get("features")
            if features and not met.keys() >= features.keys():
                met.update(dict.fromkeys(features))
        first = [name for name in USUAL_FEATURES if name in met or (name == "label" and has_label)]
        return (*first, *(name for name in met if name not in USUAL_FEATURES))


def _context_values(nodes: Iterable[Derivation], names: Sequence[str]) -> Iterator[ContextValues]:
    inner = [name for name in names if name not in ("label", "word")]
    has = {name: name in names for name in ("label", "word")}
    if list(names) == (["label"] if has["label"] else []) + inner:  # the common order, quickly
        nothing: Mapping[str, Any] = {}
        for node in nodes:
            features = node.get("features") or nothing
            own = [_hashable(features.get(name)) for name in inner]
            yield (node.get("label"), *own) if has["label"] else tuple(own)
        return
    for node in nodes:
        features = {**(node.get("features") or {}), "label": node.get("label")}
        features["word"] = node.get("word")
        yield tuple(_hashable(features.get(name)) for name in names)


def _hashable(value: Any) -> Hashable:
    return json.dumps(value) if isinstance(value, list | dict) else value


def displays_by_node(derivation: Derivation, schedule: Schedule) -> dict[str, int]:
    """The displays of a schedule by node. That of a span goes to the lowest node that covers it."""
    shown: dict[str, int] = {}
    extents: dict[str, tuple[int, int]] = {}
    for key, motions in schedule.items():
        first, last = span_ends(key)
        node = key
        if first != last:
            extents = extents or extents_of(derivation)
            start, end = extents[first][0], extents[last][1]
            covering = [
                (there[1] - there[0], name)
                for name, there in extents.items()
                if there[0] <= start and end <= there[1]
            ]
            node = min(covering)[1]
        shown[node] = shown.get(node, 0) | display_code(motions)
    return shown
