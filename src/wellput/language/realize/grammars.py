"""Grammars by name: `induced` from the treebank, or `xtag:DIR`, the XTAG grammar as it is in a folder.

The tree chooser chooses induced supertags; the XTAG grammar's elementary trees follow from these. Where
an input has parts of speech but no relations they follow from the parts of speech alone, which leaves
more places open: so an input can have the heads that XTAG gives a sentence, which are not UD's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import attrgetter
from typing import Any

from wellput.core.errors import InputError
from wellput.core.tree import Tree, Word
from wellput.language.realize.inputs import UNKNOWN, InputTree
from wellput.trees.supertags import Grammar, InducedGrammar, Supertag

XTAG = "xtag:"


@dataclass(frozen=True, eq=False)
class Ordering:
    """A grammar, the supertags it goes by where the induced ones are these, and how they are shown."""

    grammar: Grammar[Any]
    translate: Callable[[InputTree, Sequence[Supertag]], Sequence[Any]]
    shown: Callable[[Any], str] = str


def induced() -> Ordering:
    return Ordering(InducedGrammar(), lambda _, supertags: supertags)


def ordering_named(name: str) -> Ordering:
    if name == "induced":
        return induced()
    if not name.startswith(XTAG) or name == XTAG:
        raise InputError(f"There is no grammar {name!r}: give induced, or xtag: and its folder.")
    return _xtag(name.removeprefix(XTAG))


def _xtag(folder: str) -> Ordering:
    from wellput.trees.xtag import read_xtag
    from wellput.trees.xtag_mapping import xtag_supertags, xtag_supertags_of_tree
    from wellput.trees.xtag_places import XtagPlaces, XtagSupertag

    grammar = read_xtag(folder)

    def translate(tree: InputTree, supertags: Sequence[Supertag]) -> Sequence[XtagSupertag]:
        forms = [node.form for node in tree.nodes]
        heads = [head + 1 for head in tree.heads]
        if all(node.relation == UNKNOWN != node.xpos for node in tree.nodes):
            tags = [node.xpos for node in tree.nodes]
            words = map(Word, forms, heads, repeat(UNKNOWN), repeat(UNKNOWN), tags)
            return xtag_supertags_of_tree(grammar, Tree(tuple(words)))
        return xtag_supertags(grammar, forms, heads, supertags)

    return Ordering(XtagPlaces(grammar), translate, attrgetter("tree"))
