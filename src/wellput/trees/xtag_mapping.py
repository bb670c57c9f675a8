"""From UD's dependencies to trees of the XTAG grammar.

A word that heads a clause gets the tree of its arguments (`xtag_clauses`), any other the tree by which
it attaches (`xtag_relations`), and what is attached by another's tree that of its part of speech.
docs/language/xtag.md has the mapping as a table. Where several trees are possible they differ in where
the word stands (βARBvx before the verb phrase, βvxARB after it): all of them are given.
"""

from __future__ import annotations

from collections.abc import Sequence

from wellput.core.tree import Tree
from wellput.trees.supertags import Supertag
from wellput.trees.xtag import XtagGrammar
from wellput.trees.xtag_clauses import clause_trees
from wellput.trees.xtag_frames import Frame, frames_of_tree, linked_frames
from wellput.trees.xtag_places import Attachment, XtagSupertag, side_of
from wellput.trees.xtag_relations import attachments_of, fills_of

BY_KIND = {"V": "αnx0V", "N": "αNXN", "M": "αNXN", "J": "αAXA", "R": "αAd", "P": "αPXP", "D": "αD"}
PUNCTUATION = frozenset([".", ",", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP", "PUNCT"])


def xtag_supertags(
    grammar: XtagGrammar,
    forms: Sequence[str],
    heads: Sequence[int],
    supertags: Sequence[Supertag],
) -> list[XtagSupertag]:
    """The XTAG trees of words that have induced supertags, whose sides choose among several trees.
    Heads count from 1, 0 is the root's."""
    words = [
        (form, t.category, t.relation, t.side) for form, t in zip(forms, supertags, strict=True)
    ]
    return [supertag_of(grammar, frame) for frame in linked_frames(words, heads)]


def xtag_supertags_of_tree(grammar: XtagGrammar, tree: Tree) -> list[XtagSupertag]:
    """The XTAG trees of a treebank tree's words; their order is not looked at."""
    return [supertag_of(grammar, frame) for frame in frames_of_tree(tree)]


def supertag_of(grammar: XtagGrammar, frame: Frame) -> XtagSupertag:
    """A word's tree, the empty string where the grammar has none of those wanted; the nodes it fills
    and how it attaches."""
    attachments = tuple(a for a in attachments_of(frame) if a.tree in grammar.trees)
    if frame.side:
        agreeing = tuple(a for a in attachments if side_of(grammar, a) == frame.side)
        attachments = agreeing or attachments
    fills = fills_of(frame)
    wanted = [*clause_trees(frame), *_own_trees(frame, fills, attachments)]
    tree = next((name for name in wanted if name in grammar.trees), "")
    return XtagSupertag(tree, fills, attachments)


def _own_trees(
    frame: Frame, fills: tuple[str, ...], attachments: tuple[Attachment, ...]
) -> list[str]:
    """The trees of a word that heads no clause."""
    by_part = BY_KIND.get(frame.kind, "αPu" if frame.category in PUNCTUATION else "αNXN")
    if fills:
        return ["αPXPnx" if frame.kind == "P" and frame.has("obj") else by_part, "αNXN"]
    anchored = [a.tree for a in attachments if a.own in ("anchor", "last anchor")]
    return [*anchored, by_part, "αNXN"]
