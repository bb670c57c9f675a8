"""Testbeds of OpenCCG grammars (regression files: strings with logical forms) as sentences with
derivations and context.

A string has prosody: `classic_H*` is a word with an accent, `LH%` after a word is a boundary. A
logical form is a graph of predicates. Each of its nodes is matched with the words that name it; a
node whose words are adjacent becomes an inner node of the derivation. The node's attributes (`info`,
`kon`, `num` …) become context, its predicate `semantics`, its relation to its parent the `label`.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias
from xml.etree import ElementTree

from wellput.core.errors import InputError
from wellput.core.evalset import Item
from wellput.displays.annotations import xml_root
from wellput.io.files import InputFile, PathLike, check_readable

Leaf: TypeAlias = dict[str, Any]

ACCENT = re.compile(r"(.+)_([LH+*!]+)")
BOUNDARY = re.compile(r"[LH]{1,2}%?")
INFORMATION = {"th": "theme", "rh": "rheme"}


def read_testbed(path: PathLike) -> list[Item]:
    """The sentences that the grammar should accept, in order."""
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
    return [_item(str(number), entry) for number, entry in enumerate(entries, start=1)]


def _item(name: str, entry: ElementTree.Element) -> Item:
    leaves: list[Leaf] = []
    for token in entry.get("string", "").split():
        if leaves and BOUNDARY.fullmatch(token):
            leaves[-1]["features"]["boundary"] = token
        elif leaves and not any(character.isalnum() for character in token):
            leaves[-1]["word"] += token
        else:
            accent = ACCENT.fullmatch(token)
            features = {"prosody": accent[2]} if accent else {}
            word = (accent[1] if accent else token).replace("_", " ")
            leaves.append({"id": f"w{len(leaves) + 1}", "word": word, "features": features})
    children: list[Leaf] = leaves
    label, features = "S", {}
    form = entry.find("lf/node")
    if form is not None:
        spans = _Overlay(leaves).spans(form)
        features = _features(form)
        children = _nested(leaves, spans)
    root = {"id": "s", "label": label, "features": features, "children": children}
    text = " ".join(leaf["word"] for leaf in leaves)
    return Item(name, {}, (text,), derivation=root)


class _Overlay:
    """Matches the nodes of a logical form with the words, each word once."""

    def __init__(self, leaves: list[Leaf]) -> None:
        self._leaves = leaves
        self._free = dict(enumerate(leaf["word"].lower().strip(".,?!") for leaf in leaves))

    def spans(self, form: ElementTree.Element) -> dict[tuple[int, int], Leaf]:
        """The extents of nodes over two or more words, with the label and the features of the node."""
        found: dict[tuple[int, int], Leaf] = {}
        self._take(form, "S", "", found)
        return found

    def _take(
        self,
        node: ElementTree.Element,
        relation: str,
        information: str,
        found: dict[tuple[int, int], Leaf],
    ) -> set[int]:
        information = node.get("info", information)
        features = _features(node, information)
        places: set[int] = set()
        place = self._place_of(node.get("pred", ""))
        if place is not None:
            leaf = self._leaves[place]
            leaf["label"] = relation
            leaf["features"] = {**features, **leaf["features"]}
            places.add(place)
        for rel in node.findall("rel"):
            for child in rel.findall("node"):
                if child.get("idref") is None:
                    places |= self._take(child, rel.get("name", ""), information, found)
        if len(places) > 1:
            extent = (min(places), max(places) + 1)
            found.setdefault(extent, {"label": relation, "features": features})
        return places

    def _place_of(self, predicate: str) -> int | None:
        """The place of the word that names a predicate: the same word, or one that begins like it."""
        stem = predicate.lower()[: max(3, len(predicate) - 2)]
        for place, word in self._free.items():
            if word == predicate.lower() or (len(stem) >= 3 and word.startswith(stem)):
                del self._free[place]
                return place
        return None


def _features(node: ElementTree.Element, information: str = "") -> dict[str, str]:
    features = {
        name: value for name, value in node.attrib.items() if name not in ("id", "pred", "info")
    }
    if node.get("pred"):
        features["semantics"] = node.get("pred", "")
    info = node.get("info", information)
    if info:
        features["information"] = INFORMATION.get(info, info)
    return features


def _nested(leaves: list[Leaf], spans: dict[tuple[int, int], Leaf]) -> list[Leaf]:
    """The leaves under those spans that nest; longer spans are placed first."""
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: span[0] - span[1]):
        crosses = any(a < start < b < end or start < a < end < b for a, b in kept)
        if not crosses and end - start < len(leaves):
            kept.append((start, end))

    def build(start: int, end: int, own: tuple[int, int] | None) -> list[Leaf]:
        children: list[Leaf] = []
        place = start
        while place < end:
            inside = [(a, b) for a, b in kept if a == place and b <= end and (a, b) != own]
            if inside:
                widest = max(inside, key=lambda span: span[1])
                inner = {"id": f"n{kept.index(widest) + 1}", **spans[widest]}
                children.append({**inner, "children": build(*widest, widest)})
                place = widest[1]
            else:
                children.append(leaves[place])
                place += 1
        return children

    return build(0, len(leaves), None)
