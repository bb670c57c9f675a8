"""The noun `InputTree`: what a realizer gets, a dependency tree whose words have no order.

Nodes are numbered top-down, the root 0, daughters in an order that follows from what is in the tree
alone: two inputs that differ only in the order of their nodes are equal, so that nothing a realizer
does can depend on it. Trees come from `core.tree.Tree` (CoNLL-U) by `unordered`, or from JSON by
`parse_input`, where a node may leave the choice among several words open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from wellput.core.errors import InputError
from wellput.core.tree import Tree

InputKind = Literal["words", "labels", "lemmas"]
INPUT_KINDS: tuple[str, ...] = get_args(InputKind)
MAX_NODES = 10_000
UNKNOWN = "_"


@dataclass(frozen=True, slots=True, order=True)
class Node:
    """A word to be put: its form, or the forms among which to choose. What is not known is `_`."""

    forms: tuple[str, ...]
    relation: str = UNKNOWN
    upos: str = UNKNOWN
    xpos: str = UNKNOWN
    lemma: str = UNKNOWN
    feats: str = UNKNOWN

    @property
    def form(self) -> str:
        return self.forms[0]


@dataclass(frozen=True)
class InputTree:
    """`heads[i]` is the mother of node i, -1 at the root; mothers stand before their daughters."""

    nodes: tuple[Node, ...]
    heads: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def daughters(self) -> tuple[tuple[int, ...], ...]:
        found: list[list[int]] = [[] for _ in self.nodes]
        for node, head in enumerate(self.heads):
            if head >= 0:
                found[head].append(node)
        return tuple(map(tuple, found))


def unordered(tree: Tree, *, kind: InputKind = "words") -> InputTree:
    """A tree without its order, and without what an input of this kind does not tell: `words` has
    inflected words only, `labels` relations and parts of speech too, `lemmas` all but the words."""
    nodes = []
    for word in tree.words:
        known = {"relation": word.relation, "upos": word.upos, "xpos": word.xpos}
        match kind:
            case "words":
                nodes.append(Node((word.form,)))
            case "labels":
                nodes.append(Node((word.form,), **known))
            case "lemmas":
                nodes.append(Node((word.lemma,), **known, lemma=word.lemma, feats=word.feats))
    return input_tree(nodes, [word.head - 1 for word in tree.words])


def input_tree(nodes: Sequence[Node], heads: Sequence[int]) -> InputTree:
    """The tree of these nodes in any order, -1 being the head of the root."""
    _check(nodes, heads)
    order = _canonical_order(nodes, heads)
    places = {node: place for place, node in enumerate(order)}
    places[-1] = -1
    return InputTree(
        tuple(nodes[node] for node in order), tuple(places[heads[node]] for node in order)
    )


def _check(nodes: Sequence[Node], heads: Sequence[int]) -> None:
    if not nodes:
        raise InputError("The tree is empty: there is nothing to realize.")
    if len(nodes) > MAX_NODES:
        raise InputError(f"The tree has {len(nodes):,} nodes; at most {MAX_NODES:,} are realized.")
    problems = []
    for place, node in enumerate(nodes, start=1):
        if not node.forms or not all(isinstance(form, str) for form in node.forms):
            problems.append(f"node {place}: the word must be text, not {node.forms!r}")
        elif any(not form or form.isspace() for form in node.forms):
            problems.append(f"node {place}: the word is blank")
    for place, head in enumerate(heads, start=1):
        if not -1 <= head < len(nodes):
            problems.append(f"node {place}: its head is {head + 1}; there are {len(nodes)} nodes")
    roots = [place for place, head in enumerate(heads, start=1) if head == -1]
    if len(roots) != 1:
        listed = f": nodes {', '.join(map(str, roots))}" if roots else ""
        problems.append(f"a tree has one root, this one has {len(roots)}{listed}")
    if not problems and (loop := _loose(heads)):
        problems.append(f"the heads form a circle; nodes {', '.join(map(str, loop))} hang on it")
    if problems:
        raise InputError.collect("The input is no tree of words:", problems)


def _loose(heads: Sequence[int]) -> list[int]:
    """The numbers of the nodes that no path leads to from the root."""
    reached = set(_top_down(heads))
    return [node + 1 for node in range(len(heads)) if node not in reached]


def _top_down(heads: Sequence[int]) -> list[int]:
    daughters: dict[int, list[int]] = {}
    for node, head in enumerate(heads):
        daughters.setdefault(head, []).append(node)
    order = list(daughters.get(-1, []))
    for node in order:
        order += daughters.get(node, [])
    return order


def _canonical_order(nodes: Sequence[Node], heads: Sequence[int]) -> list[int]:
    """Top-down, daughters sorted by what stands in their subtrees.

    Subtrees are compared by height, then their nodes, then the ranks of their daughters; equal ones
    get equal ranks, and which of them comes first makes no difference.
    """
    order = _top_down(heads)
    daughters: list[list[int]] = [[] for _ in nodes]
    heights = [0] * len(nodes)
    for node in reversed(order):
        if (head := heads[node]) >= 0:
            daughters[head].append(node)
            heights[head] = max(heights[head], heights[node] + 1)
    by_height: list[list[int]] = [[] for _ in range(max(heights) + 1)]
    for node, height in enumerate(heights):
        by_height[height].append(node)
    ranks = [0] * len(nodes)
    rank = 0
    for level in by_height:
        keys = {node: (nodes[node], sorted(ranks[d] for d in daughters[node])) for node in level}
        level.sort(key=keys.__getitem__)
        for previous, node in zip([-1, *level], level, strict=False):
            rank += previous < 0 or keys[previous] != keys[node]
            ranks[node] = rank
    result = [order[0]]
    for node in result:
        result += sorted(daughters[node], key=ranks.__getitem__)
    return result
