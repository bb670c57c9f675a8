"""`DisplayCorpus`: the nodes of all sentences in one list, depth first, each with its context and
its display.

A sentence has a *derivation*, a tree whose leaves are the words. A display is shown on a node, which
means while its words are spoken. Displays are stored as codes (see `schedules`). The *original*
displays are those that people showed.

The choice of a node's display may depend on the node's *context*: its `label`, its `word`, and its
features by name. Each context is stored once; nodes refer to it by its number, which is its place in a
list.
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
    """All sentences, in memory. With `trees`, the references' trees are read too, so that they can be
    written again."""
    if isinstance(evalset, EvalSet):
        return evalset
    if isinstance(evalset, EvalSource):
        return EvalSet([item for block in evalset.blocks() for item in block])
    return read_evalset(evalset, trees=trees)


ContextValues: TypeAlias = tuple[Hashable, ...]

USUAL_FEATURES = ("label", "property", "semantics", "evaluation", "information", "prosody")
"""The features of a context by default. For a context that does not occur in the training data, the
last feature is dropped first. Other features follow in the order in which they occur. `word` is used
only if it is asked for."""

UNKNOWN_DISPLAY = -1
"""The display of a node whose sentence has no original displays."""


@dataclass(frozen=True, eq=False)
class Contexts:
    """`numbers` has the number of each node's context: the place of the context in `values`. A context
    has a value for each of `names`."""

    names: tuple[str, ...]
    numbers: Integers
    values: list[ContextValues]

    def described(self, number: int) -> str:
        """The context with this number as text, such as `label=NP, evaluation=positive`."""
        pairs = zip(self.names, self.values[number], strict=True)
        return ", ".join(f"{name}={value}" for name, value in pairs) or "no feature"


@dataclass(frozen=True, eq=False)
class DisplayCorpus:
    """Sentences with derivations. `rows` has the number of each node's sentence, `displays` the code of
    its original display, `UNKNOWN_DISPLAY` if the sentence has no original displays."""

    items: Sequence[Item]
    nodes: list[Derivation]
    rows: Integers
    displays: Integers

    @classmethod
    def of(cls, items: Sequence[Item]) -> DisplayCorpus:
        """The corpus of these sentences. Raises InputError if a sentence has no derivation."""
        lacking = [f"item {item.id}" for item in items if item.derivation is None]
        if lacking:
            raise InputError.collect(
                "Displays are chosen on the nodes of a derivation. These items have none:", lacking
            )
        nodes: list[Derivation] = []
        displays: list[int] = []
        counts: list[int] = []
        for item in items:
            sentence_nodes = list(nodes_of(item.derivation or {}))
            original = schedules_of(item).get(ORIGINAL)
            nodes += sentence_nodes
            counts.append(len(sentence_nodes))
            if original is not None:
                shown = displays_by_node(item.derivation or {}, original)
                displays += [shown.get(node["id"], 0) for node in sentence_nodes]
            else:
                displays += [UNKNOWN_DISPLAY] * len(sentence_nodes)
        rows = np.repeat(np.arange(len(items)), counts)
        return cls(items, nodes, rows, np.array(displays, dtype=np.int64))

    @property
    def is_annotated(self) -> NDArray[np.bool_]:
        """Which sentences have original displays."""
        return np.array([ORIGINAL in schedules_of(item) for item in self.items], np.bool_)

    def contexts(self, names: Sequence[str]) -> Contexts:
        """The context of every node, made of these features."""
        numbering: dict[ContextValues, int] = {}
        numbers = np.fromiter(
            (
                numbering.setdefault(values, len(numbering))
                for values in _context_values(self.nodes, names)
            ),
            np.int64,
            len(self.nodes),
        )
        return Contexts(tuple(names), numbers, list(numbering))

    def feature_names(self) -> tuple[str, ...]:
        """The features that nodes have, in the order of `USUAL_FEATURES`."""
        present: dict[str, None] = {}
        has_label = False
        for node in self.nodes:
            has_label = has_label or node.get("label") is not None
            features = node.get("features")
            if features and not present.keys() >= features.keys():
                present.update(dict.fromkeys(features))
        first = [
            name for name in USUAL_FEATURES if name in present or (name == "label" and has_label)
        ]
        return (*first, *(name for name in present if name not in USUAL_FEATURES))


def _context_values(nodes: Iterable[Derivation], names: Sequence[str]) -> Iterator[ContextValues]:
    """The values of the named features of each node."""
    other_names = [name for name in names if name not in ("label", "word")]
    has = {name: name in names for name in ("label", "word")}
    usual_order = [*(["label"] if has["label"] else []), *other_names]
    if list(names) == usual_order:  # done faster
        no_features: Mapping[str, Any] = {}
        for node in nodes:
            features = node.get("features") or no_features
            values = [_hashable(features.get(name)) for name in other_names]
            yield (node.get("label"), *values) if has["label"] else tuple(values)
        return
    for node in nodes:
        features = {**(node.get("features") or {}), "label": node.get("label")}
        features["word"] = node.get("word")
        yield tuple(_hashable(features.get(name)) for name in names)


def _hashable(value: Any) -> Hashable:
    """The value of a feature; lists and objects become JSON, so that contexts can be compared."""
    return json.dumps(value) if isinstance(value, list | dict) else value


def displays_by_node(derivation: Derivation, schedule: Schedule) -> dict[str, int]:
    """The code of the display on each node that has one, by the node's id. A display on a span of words
    goes to the lowest node that covers the span."""
    shown: dict[str, int] = {}
    extents: dict[str, tuple[int, int]] = {}
    for key, motions in schedule.items():
        first, last = span_ends(key)
        node = key
        if first != last:
            extents = extents or extents_of(derivation)
            start, end = extents[first][0], extents[last][1]
            covering = [
                (extent[1] - extent[0], name)
                for name, extent in extents.items()
                if extent[0] <= start and end <= extent[1]
            ]
            node = min(covering)[1]
        shown[node] = shown.get(node, 0) | display_code(motions)
    return shown
