"""`XtagSupertag`, and where the XTAG grammar lets a word's daughters stand.

Terms of XTAG, a tree-adjoining grammar of English: an *elementary tree* (such as βAn) has an *anchor*,
where its own word stands; *substitution nodes*, which arguments fill; and, if its name begins with β,
a *foot*: the tree is then inserted (*adjoined*) into another tree at a node with the foot's label. A
word's *mother* is the word that it depends on in Universal Dependencies (UD), and its *daughters*
depend on it.

UD and XTAG do not agree on heads: a preposition is the noun's daughter in UD, while in XTAG it is the
anchor of a tree in which the noun fills a substitution node. So the side on which a daughter stands
follows from the order of two parts of one tree: the part that she is, and the part that her mother is
(`Attachment`). An adjective is the anchor of βAn and its noun is the foot. A preposition is the anchor
of βnxPnx and its noun is the substitution node. The same noun, as the daughter of the word that it
modifies, is the substitution node of βnxPnx, and that word is the foot. An argument fills a node of
its mother's tree.

The line of a tree is a row of numbered places, from left to right: one before and one after the tree,
one at each edge of each node, and one at each leaf. Leaves have odd numbers. A word that adjoins at a
higher node stands farther from the anchor.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from wellput.language.trees.supertags import Side
from wellput.language.trees.xtag import ElementaryTree, XtagGrammar, XtagNode

# A mother's tree may lack the phrase at which a daughter adjoins. For these phrases the daughter then
# goes outside everything else, for others next to the anchor.
OUTER_PHRASES = frozenset(["S", "VP", "PP"])

TreePart = Literal["anchor", "last anchor", "substitution", "foot"]


@dataclass(frozen=True, slots=True)
class Attachment:
    """The name of a tree, which part of the tree a word is (`own`), and which part its mother is."""

    tree: str
    own: TreePart = "anchor"
    mother: TreePart = "foot"


@dataclass(frozen=True, slots=True)
class XtagSupertag:
    """The name of a word's elementary tree; the nodes that the word may fill in its mother's tree (it
    fills the first of them that the tree has); and the ways in which it attaches where it fills
    none."""

    tree: str
    fills: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class TreeLine:
    """A tree's numbered places: `leaves` by node name (NP_0), the `anchor`, and `edges`: by label
    (NP), the left and right edge of each node with that label, inner nodes first. `last` is the place
    after the tree."""

    leaves: dict[str, int]
    anchor: int
    edges: dict[str, tuple[tuple[int, int], ...]]
    last: int


class XtagPlaces:
    """The XTAG grammar as an `OrderingGrammar` (`supertags.py`)."""

    def __init__(self, grammar: XtagGrammar) -> None:
        self.grammar = grammar
        self._line = cache(lambda name: line_of(grammar.trees[name]))
        self._places = cache(self._find_places)

    def anchor(self, mother: XtagSupertag) -> int:
        return self._line(mother.tree).anchor

    def places(self, mother: XtagSupertag, daughter: XtagSupertag) -> tuple[int, ...]:
        """The place of the node that the daughter fills in the mother's tree. If she fills none: one
        place for each node at which one of her attachments can adjoin. If none can adjoin: every even
        place, so that she may stand anywhere."""
        return self._places(mother.tree, daughter)

    def sides(self, mother: XtagSupertag, daughter: XtagSupertag) -> str:
        """`<`, `>` or `<>`: before or after the mother, or both."""
        places, anchor = self.places(mother, daughter), self.anchor(mother)
        return ("<" if places[0] < anchor else "") + (">" if places[-1] > anchor else "")

    def _find_places(self, mother: str, daughter: XtagSupertag) -> tuple[int, ...]:
        line = self._line(mother)
        for node in daughter.fills:
            if node in line.leaves and line.leaves[node] != line.anchor:
                return (line.leaves[node],)
        adjoining_places = {
            place
            for attachment in daughter.attachments
            if attachment.tree in self.grammar.trees
            for place in self._adjoining(line, attachment)
        }
        return tuple(sorted(adjoining_places)) or tuple(range(0, line.last + 1, 2))

    def _adjoining(self, line: TreeLine, attachment: Attachment) -> list[int]:
        """The places of the mother's line at which a daughter with this attachment can adjoin."""
        mother = part_of(self.grammar.trees[attachment.tree], attachment.mother)
        is_left = side_of(self.grammar, attachment) == "<"
        if attachment.mother == "anchor":
            return [line.anchor - 1 if is_left else line.anchor + 1]
        edges = line.edges.get(mother.label)
        if attachment.mother == "substitution":  # outside the mother's whole phrase
            # The mother's phrases around the anchor; if there is none, the whole tree.
            around = [e for e in edges or () if e[0] < line.anchor < e[1]] or [(2, line.last - 2)]
            # The edge of the outermost phrase, one even place further out.
            return [around[-1][0] - 2 if is_left else around[-1][1] + 2]
        if edges is None:
            is_wide = mother.label in OUTER_PHRASES
            edges = ((0, line.last),) if is_wide else ((line.anchor - 1, line.anchor + 1),)
        return [left if is_left else right for left, right in edges]


def side_of(grammar: XtagGrammar, attachment: Attachment) -> Side:
    """Whether a word stands before or after its mother in the tree that joins them."""
    tree = grammar.trees[attachment.tree]
    own, mother = part_of(tree, attachment.own), part_of(tree, attachment.mother)
    return "<" if tree.frontier.index(own) < tree.frontier.index(mother) else ">"


def part_of(tree: ElementaryTree, part: TreePart) -> XtagNode:
    """The first leaf of the tree that is this part (for `last anchor`, the last one); where there is no
    such leaf, the first leaf."""
    kind = "anchor" if part == "last anchor" else part
    nodes = [node for node in tree.frontier if node.kind == kind] or list(tree.frontier[:1])
    return nodes[-1] if part == "last anchor" else nodes[0]


def line_of(tree: ElementaryTree) -> TreeLine:
    """The places of a tree.

    >>> from wellput.language.trees.xtag import XtagNode
    >>> noun = XtagNode("NP", "", "inner", (XtagNode("N", "", "anchor"),))
    >>> line = line_of(ElementaryTree("αNXN", "lex", noun))
    >>> line.anchor, line.edges
    (5, {'N': ((4, 6),), 'NP': ((2, 8),)})
    """
    leaves: dict[str, int] = {}
    anchors: list[int] = []
    edges: dict[str, list[tuple[int, int]]] = {}

    def visit(node: XtagNode, place: int) -> int:
        """Lays the node out from an even place on; returns the place of its right edge."""
        end = place
        if node.kind in ("anchor", "substitution", "foot"):
            if node.kind == "substitution" or node.name not in leaves:
                # An argument may fill a foot, such as S_1, if no other node has that name.
                leaves[node.name] = place + 1
            if node.kind == "anchor":
                anchors.append(place + 1)
            end = place + 2
        else:
            for child in node.children:
                end = visit(child, end + 2)
            end += 2
        if node.kind in ("inner", "anchor") and covers_words(node):
            edges.setdefault(node.label, []).append((place, end))
        return end

    last = visit(tree.root, 2) + 2
    edges_by_label = {label: tuple(found) for label, found in edges.items()}
    return TreeLine(leaves, anchors[0] if anchors else 1, edges_by_label, last)


def covers_words(node: XtagNode) -> bool:
    """Whether a word can stand below a node; nothing adjoins at a trace."""
    return any(below.kind in ("anchor", "substitution", "foot") for below in node.walk())
