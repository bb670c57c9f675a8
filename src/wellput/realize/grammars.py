"""Grammars by name: `induced` from the treebank, or `xtag:DIR`, the XTAG grammar as it is in a folder.

The tree chooser chooses induced supertags; the XTAG grammar's elementary trees follow from these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wellput.core.errors import InputError
from wellput.realize.inputs import InputTree
from wellput.trees.supertags import Grammar, InducedGrammar, Supertag

XTAG = "xtag:"


@dataclass(frozen=True, eq=False)
class Ordering:
    """A grammar, and the supertags it goes by where the induced ones are these."""

    name: str
    grammar: Grammar[Any]
    translate: Callable[[InputTree, Sequence[Supertag]], Sequence[Any]]


def induced() -> Ordering:
    return Ordering("induced", InducedGrammar(), lambda _, supertags: supertags)


def ordering_named(name: str) -> Ordering:
    if name == "induced":
        return induced()
    if not name.startswith(XTAG) or name == XTAG:
        raise InputError(f"There is no grammar {name!r}: give induced, or xtag: and its folder.")
    return _xtag(name.removeprefix(XTAG))


def _xtag(folder: str) -> Ordering:
    from wellput.trees.xtag import read_xtag
    from wellput.trees.xtag_mapping import xtag_supertags
    from wellput.trees.xtag_places import XtagPlaces, XtagSupertag

    grammar = read_xtag(folder)

    def translate(tree: InputTree, supertags: Sequence[Supertag]) -> Sequence[XtagSupertag]:
        forms = [node.form for node in tree.nodes]
        return xtag_supertags(grammar, forms, [head + 1 for head in tree.heads], supertags)

    return Ordering("xtag", XtagPlaces(grammar), translate)
