"""Testbeds of OpenCCG grammars (regression files: strings with logical forms) as sentences with
derivations and context.

A string has prosody: `classic_H*` is a word with an accent, `LH%` after a word is a boundary. A
logical form is a graph of predicates. Each of its nodes is matched with the word that names it, if
there is one. If a node and the nodes below it have two or more words together, the node becomes an
inner node of the derivation, from the first of these words to the last. A node's attributes (`info`,
`kon`, `num` …) become features, its predicate becomes the feature `semantics`, and its relation to its
parent becomes the `label`.

The grammar's dictionary (`dict.xml`), which is in the same folder as the testbed, has a class for each
stem; nodes get it as `class`. In the grammar of COMIC, a dialog system that presents designs of tiles,
some classes are properties of a design: nodes of these classes also have a `property`. A property of
several words (*floral motifs*) is only on the inner node over these words. COMIC's files do not say
what the listener likes. So a node has an `evaluation` (does the listener like it) only in a concession:
the clause after *although* is negative, the other clause positive (as in Foster 2008, Table 1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

from wellput.core.errors import InputError
from wellput.core.evalset import Item
from wellput.displays.annotations import xml_root
from wellput.io.files import InputFile, PathLike, check_readable

Node: TypeAlias = dict[str, Any]
"""A node of a derivation: a word, or an inner node with `children`."""

ACCENT_PATTERN = re.compile(r"(.+)_([LH+*!]+)")
BOUNDARY_PATTERN = re.compile(r"[LH]{1,2}%?")
INFORMATION_STATUSES = {"th": "theme", "rh": "rheme"}
DICTIONARY_FILE = "dict.xml"
DESIGN_PROPERTIES = {
    "manufacturer": "manufacturer",
    "series": "series",
    "colour": "color",
    "decoration": "motif",
    "style": "style",
}
"""The classes of COMIC's grammar that are properties of a tile design, with the names of the
properties."""
MAX_DEPTH = 300
"""The most levels of nodes in a logical form. Python can read and write the JSON of derivations with up
to some 480 levels."""
CONCESSION = "although"
"""The predicate of a concession."""
EVALUATION_BY_ARGUMENT = {"Arg1": "negative", "Arg2": "positive"}
"""The evaluation of each clause of a concession: Arg1 is the clause after *although*."""


def read_testbed(path: PathLike) -> list[Item]:
    """The sentences of the testbed that the grammar should accept, in order."""
    file = InputFile(path)
    check_readable(file)
    root = xml_root(b"".join(file.chunks()), file.name, "OpenCCG testbed")
    if root.tag != "regression":
        raise InputError(
            f"{file.name} is not an OpenCCG testbed: it begins with <{root.tag}>, not <regression>."
        )
    entries = [entry for entry in root.iter("item") if entry.get("numOfParses", "1") != "0"]
    lacking = [f"item {n}" for n, entry in enumerate(entries, 1) if not entry.get("string")]
    if lacking:
        raise InputError.collect(f"{file.name} has items without a string:", lacking)
    classes = read_classes(Path(file.name).parent / DICTIONARY_FILE)
    items: list[Item] = []
    for number, entry in enumerate(entries, start=1):
        _check_depth(entry, f"{file.name}, item {number}")
        items.append(_item(str(number), entry, classes))
    return items


def _check_depth(entry: ElementTree.Element, place: str) -> None:
    """Raises InputError for a logical form that is nested too deeply; `place` says where it is."""
    level = entry.findall("lf/node")
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in node.findall("rel/node")]
        if not level:
            return
    raise InputError(
        f"{place}: the nodes of the logical form are nested too deeply; at most {MAX_DEPTH} may lie "
        "within each other."
    )


def read_classes(path: Path) -> dict[str, str]:
    """The class of each stem of an OpenCCG dictionary; empty if there is no such file."""
    if not path.is_file():
        return {}
    root = xml_root(path.read_bytes(), str(path), "OpenCCG dictionary")
    return {
        entry.get("stem", ""): entry.get("class", "")
        for entry in root.iter("entry")
        if entry.get("class")
    }


def _item(name: str, entry: ElementTree.Element, classes: Mapping[str, str]) -> Item:
    """An entry of the testbed as an item; `classes` has the class of each stem."""
    leaves: list[Node] = []
    for token in entry.get("string", "").split():
        if leaves and BOUNDARY_PATTERN.fullmatch(token):
            leaves[-1]["features"]["boundary"] = token
        elif leaves and not any(character.isalnum() for character in token):
            leaves[-1]["word"] += token
        else:
            accent = ACCENT_PATTERN.fullmatch(token)
            features = {"prosody": accent[2]} if accent else {}
            word = (accent[1] if accent else token).replace("_", " ")
            leaves.append({"id": f"w{len(leaves) + 1}", "word": word, "features": features})
    children: list[Node] = leaves
    label, features = "S", {}
    form = entry.find("lf/node")
    if form is not None:
        spans = _WordMatcher(leaves, classes).spans(form)
        features = _features(form)
        children = _nested(leaves, spans)
    root = {"id": "s", "label": label, "features": features, "children": children}
    text = " ".join(leaf["word"] for leaf in leaves)
    return Item(name, {}, (text,), derivation=root)


class _WordMatcher:
    """Matches the nodes of a logical form with the words of the sentence; each word is used once."""

    def __init__(self, leaves: list[Node], classes: Mapping[str, str]) -> None:
        self._leaves = leaves
        self._classes = classes
        # The words that no node has yet, by their place.
        self._free = dict(enumerate(leaf["word"].lower().strip(".,?!") for leaf in leaves))

    def spans(self, form: ElementTree.Element) -> dict[tuple[int, int], Node]:
        """The label and the features of each node over two or more words, by its extent: the place of
        its first word, and the place after its last."""
        inner_nodes: dict[tuple[int, int], Node] = {}
        self._match(form, "S", {}, inner_nodes)
        return inner_nodes

    def _match(
        self,
        node: ElementTree.Element,
        relation: str,
        inherited: Mapping[str, str],
        inner_nodes: dict[tuple[int, int], Node],
    ) -> set[int]:
        """Matches a node and those below it, adds their extents to `inner_nodes`, and returns the
        places of their words. A node has the `inherited` features of its parent unless it has its
        own."""
        features = {**inherited, **_features(node), **self._kind(node)}
        passed_on = {name: features[name] for name in INHERITED_FEATURES if name in features}
        places: set[int] = set()
        place = self._place_of(node.get("pred", ""))
        if place is not None:
            leaf = self._leaves[place]
            leaf["label"] = relation
            leaf["features"] = {**features, **leaf["features"]}
            places.add(place)
        for rel in node.findall("rel"):
            name = rel.get("name", "")
            child_features = dict(passed_on)
            if node.get("pred") == CONCESSION and name in EVALUATION_BY_ARGUMENT:
                child_features["evaluation"] = EVALUATION_BY_ARGUMENT[name]
            for child in rel.findall("node"):
                if child.get("idref") is None:  # an idref only names a node defined elsewhere
                    places |= self._match(child, name, child_features, inner_nodes)
        if len(places) > 1:
            extent = (min(places), max(places) + 1)
            inner_nodes.setdefault(extent, {"label": relation, "features": features})
            if place is not None and "property" in features:
                del self._leaves[place]["features"]["property"]
        return places

    def _kind(self, node: ElementTree.Element) -> dict[str, str]:
        """The class of the node's predicate, and the property that this class is."""
        kind = self._classes.get(node.get("pred", ""))
        if kind is None:
            return {}
        named = {"property": DESIGN_PROPERTIES[kind]} if kind in DESIGN_PROPERTIES else {}
        return {"class": kind, **named}

    def _place_of(self, predicate: str) -> int | None:
        """The place of the word that names a predicate: the same word, or one that begins like it. The
        word is no longer free then."""
        name = re.sub("[_-]", " ", predicate.lower())
        stem = name[: max(3, len(name) - 2)]  # without an ending of two letters
        for place, word in self._free.items():
            if word == name or (len(stem) >= 3 and word.startswith(stem)):
                del self._free[place]
                return place
        return None


INHERITED_FEATURES = ("information", "evaluation")
"""The features that a node passes on to the nodes below it."""


def _features(node: ElementTree.Element) -> dict[str, str]:
    """The features of a node that its own attributes give."""
    features = {
        name: value for name, value in node.attrib.items() if name not in ("id", "pred", "info")
    }
    if node.get("pred"):
        features["semantics"] = node.get("pred", "")
    info = node.get("info")
    if info:
        features["information"] = INFORMATION_STATUSES.get(info, info)
    return features


def _nested(leaves: list[Node], spans: dict[tuple[int, int], Node]) -> list[Node]:
    """The leaves, grouped under inner nodes for the spans. Of two spans that cross, the shorter one is
    dropped. A span over the whole sentence is dropped too, because the root covers it."""
    nested_spans: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: span[0] - span[1]):
        crosses = any(a < start < b < end or start < a < end < b for a, b in nested_spans)
        if not crosses and end - start < len(leaves):
            nested_spans.append((start, end))

    def build(start: int, end: int, outer_span: tuple[int, int] | None) -> list[Node]:
        children: list[Node] = []
        place = start
        while place < end:
            inside = [
                (a, b) for a, b in nested_spans if a == place and b <= end and (a, b) != outer_span
            ]
            if inside:
                widest = max(inside, key=lambda span: span[1])
                inner = {"id": f"n{nested_spans.index(widest) + 1}", **spans[widest]}
                children.append({**inner, "children": build(*widest, widest)})
                place = widest[1]
            else:
                children.append(leaves[place])
                place += 1
        return children

    return build(0, len(leaves), None)
