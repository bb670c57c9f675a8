"""Which treelets (a head and its daughters) a realizer puts in the right order, by their size, the part of speech of
their head, and the relations in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from wellput.core.tree import Tree
from wellput.language.realize.inputs import InputTree, Node, RealizationModel, input_tree
from wellput.language.realize.parameters import Capitals
from wellput.language.trees.supertags import attaching_relation, category_of, coarse_category

LARGEST = 6
"""Treelets of this size or larger are counted together."""


@dataclass
class TreeletErrors:
    """Counts of treelets by (size, whether the order is right), and by (part of speech of the head, whether it is
    right). Counts of pairs of words in a treelet by their relations to its head, in their right order: all
    `pairs`, and `wrong_pairs`."""

    by_size: Counter[tuple[int, bool]] = field(default_factory=Counter)
    by_kind: Counter[tuple[str, bool]] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong_pairs: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, tree: Tree, places: Sequence[int]) -> None:
        """`places[i]` is where word i stands in the realized sentence."""
        treelets: dict[int, list[int]] = {i: [i] for i in range(len(tree.words))}
        for i, word in enumerate(tree.words):
            if word.head:
                treelets[word.head - 1].append(i)
        for head, members in treelets.items():
            if len(members) == 1:
                continue
            wanted, found = sorted(members), sorted(members, key=places.__getitem__)
            is_right = [tree.words[i].form.lower() for i in wanted] == [
                tree.words[i].form.lower() for i in found
            ]
            self.by_size[min(len(members), LARGEST), is_right] += 1
            self.by_kind[coarse_category(category_of(tree.words[head])), is_right] += 1
            for x, a in enumerate(wanted):
                for b in wanted[x + 1 :]:
                    pair = self._name(tree, a, head), self._name(tree, b, head)
                    self.pairs[pair] += 1
                    self.wrong_pairs[pair] += places[a] > places[b] and not is_right

    def _name(self, tree: Tree, word: int, head: int) -> str:
        return "HEAD" if word == head else attaching_relation(tree.words[word])


def treelet_errors(
    model: RealizationModel, trees: Sequence[Tree], capitals: Capitals
) -> TreeletErrors:
    """Realizes the trees' words and compares each treelet's order with that in the tree."""
    inputs = [_numbered(tree, capitals) for tree in trees]
    errors = TreeletErrors()
    for tree, realized in zip(trees, model.realize(inputs), strict=True):
        places = [0] * len(tree.words)
        for place, node in enumerate(realized.best[0].nodes):
            places[int(realized.tree.nodes[node].lemma)] = place
        errors.add(tree, places)
    return errors


def _numbered(tree: Tree, capitals: Capitals) -> InputTree:
    """An input of words; the number of each, to find it again, stands where no model looks."""
    nodes = [
        Node((capitals.lowered(word.form),), lemma=str(i)) for i, word in enumerate(tree.words)
    ]
    return input_tree(nodes, [word.head - 1 for word in tree.words])
