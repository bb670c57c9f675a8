"""Baselines for FERGUS (Bangalore, Rambow & Whittaker 2000): the paper's LR, and two random orders.

A word's *mother* is the word that it depends on; its *daughters* depend on it. LR ("left-right") gives
every sentence of the training text a random tree, and learns from it only whether a word form (a
lexeme) stands before or after its mother. The input to realize has its real tree. A daughter stands on
the side that was more frequent for this pair of words, or on either side where the pair is unknown.
The paper does not say how the random trees are drawn, nor how daughters on one side are ordered.
`train_left_right` draws from all trees or from the projective ones. The order of the daughters is
chosen by an n-gram model (with `LeftRight` as the grammar of the unraveler, `unraveler.py`) or at
random (`random_order`).

`random_tree` draws a dependency tree over a list of words; all possible trees are equally likely.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.tree import Tree, Word
from wellput.io.model_files import ModelFile, packed_strings
from wellput.language.realize.inputs import InputTree

RandomTrees: TypeAlias = Literal["uniform", "projective"]
# The places of a mother and her daughters (see `unraveler.py`): before her, her own word (the anchor),
# and after her.
LEFT, ON_ANCHOR, RIGHT = 0, 1, 2


@dataclass(frozen=True, eq=False)
class LeftRight:
    """The grammar of LR, whose supertags are the words themselves. `pairs` are sorted numbers (mother *
    number of lexemes + daughter), each with its entry in `sides`: -1 where the daughter stood mostly
    before the mother, 1 where mostly after her."""

    lexemes: Mapping[str, int]
    pairs: NDArray[np.unsignedinteger[Any]]
    sides: NDArray[np.int8]

    def anchor(self, mother: str) -> int:
        return ON_ANCHOR

    def places(self, mother: str, daughter: str) -> tuple[int, ...]:
        side = self.side(mother, daughter)
        return (LEFT,) if side < 0 else (RIGHT,) if side > 0 else (LEFT, RIGHT)

    def side(self, mother: str, daughter: str) -> int:
        """-1 for before the mother, 1 for after, 0 where it is not known."""
        head, word = self.lexemes.get(mother), self.lexemes.get(daughter)
        if head is None or word is None:
            return 0
        pair = head * len(self.lexemes) + word
        at = int(np.searchsorted(self.pairs, self.pairs.dtype.type(pair)))
        return int(self.sides[at]) if at < len(self.pairs) and self.pairs[at] == pair else 0

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        return {
            **packed_strings(f"{name}.lexemes", list(self.lexemes)),
            f"{name}.pairs": self.pairs,
            f"{name}.sides": self.sides,
        }

    @classmethod
    def of_file(cls, file: ModelFile, name: str) -> LeftRight:
        lexemes = {word: number for number, word in enumerate(file.strings(f"{name}.lexemes"))}
        pairs, sides = file.arrays[f"{name}.pairs"], file.arrays[f"{name}.sides"]
        if pairs.shape != sides.shape:
            raise ValueError("each pair needs a side")
        return cls(lexemes, pairs, sides)


def train_left_right(
    trees: Sequence[Tree], *, rng: np.random.Generator, random_trees: RandomTrees = "uniform"
) -> LeftRight:
    """LR learned from the sentences of a treebank; the treebank's own trees are not used."""
    draw = random_heads if random_trees == "uniform" else random_projective_heads
    lexemes: dict[str, int] = {}
    balance: Counter[tuple[int, int]] = Counter()
    for tree in trees:
        numbers = [lexemes.setdefault(word.form, len(lexemes)) for word in tree.words]
        for place, head in enumerate(draw(len(numbers), rng), start=1):
            if head:
                balance[numbers[head - 1], numbers[place - 1]] += 1 if place > head else -1
    decided = sorted((m * len(lexemes) + d, side) for (m, d), side in balance.items() if side)
    return LeftRight(
        lexemes,
        np.array([pair for pair, _ in decided], np.min_scalar_type(len(lexemes) ** 2)),
        np.array([1 if side > 0 else -1 for _, side in decided], np.int8),
    )


def random_order(
    tree: InputTree, rng: np.random.Generator, *, model: LeftRight | None
) -> list[int]:
    """The numbers of the nodes in a random projective order. Daughters stand on the sides that LR gives
    them (on random sides without a `model`), in random order on each side."""
    order: list[int] = []
    # What is still to be written: the phrase of a node (node, False), or its own word (node, True).
    waiting = [(0, False)]
    while waiting:
        node, is_own_word = waiting.pop()
        if is_own_word:
            order.append(node)
            continue
        daughters = list(tree.daughters[node])
        rng.shuffle(daughters)
        form = tree.nodes[node].form
        sides = [model.side(form, tree.nodes[d].form) if model else 0 for d in daughters]
        coins = rng.integers(0, 2, len(daughters)) * 2 - 1
        chosen = [side or coin for side, coin in zip(sides, coins.tolist(), strict=True)]
        line = [(d, False) for d, side in zip(daughters, chosen, strict=True) if side < 0]
        line.append((node, True))
        line += [(d, False) for d, side in zip(daughters, chosen, strict=True) if side > 0]
        waiting += reversed(line)
    return order


def random_permutation(tree: InputTree, rng: np.random.Generator) -> list[int]:
    """The numbers of the nodes in a random order, in which phrases do not stay together."""
    return [int(node) for node in rng.permutation(len(tree))]


def random_tree(forms: Sequence[str], rng: np.random.Generator) -> Tree:
    """A random tree, drawn from all n^(n-1) rooted trees over n words, projective or not."""
    return _tree(forms, random_heads(len(forms), rng))


def random_projective_tree(forms: Sequence[str], rng: np.random.Generator) -> Tree:
    """A random tree, drawn from all projective trees over n words. There are 1, 2, 7, 30, 143, ... of
    them for n = 1, 2, 3, 4, 5, ... (OEIS A006013)."""
    return _tree(forms, random_projective_heads(len(forms), rng))


def random_heads(size: int, rng: np.random.Generator) -> list[int]:
    """The heads of words 1 to `size`, with 0 for the root, of a random tree. A random Prüfer sequence
    (n - 2 numbers that encode a tree over n nodes) gives the tree, and one word is drawn as the
    root."""
    if size < 2:
        return [0] * size
    sequence = rng.integers(1, size + 1, size - 2).tolist()
    root = int(rng.integers(1, size + 1))
    neighbors = _from_pruefer(sequence)
    heads = [-1] * (size + 1)
    heads[root] = 0
    order = [root]
    for word in order:
        for other in neighbors[word]:
            if heads[other] < 0:
                heads[other] = word
                order.append(other)
    return heads[1:]


def random_projective_heads(size: int, rng: np.random.Generator) -> list[int]:
    """The heads of words 1 to `size`, with 0 for the root, of a random projective tree.

    The trees below a word on one side of it form a forest. A forest is empty, or it has three parts:
    the left forest and the right forest of its first tree's root, and the forest after the first tree.
    So each forest corresponds to a ternary tree (in which each inner node has three branches). A
    projective tree of n words corresponds to two ternary trees with n - 1 inner nodes together: the
    forests left and right of its root. `_two_ternary_trees` draws these.
    """
    if size < 2:
        return [0] * size
    steps = iter(_two_ternary_trees(size - 1, rng))
    parents = [-1]  # nodes in the order in which they are met; node 0 is the root
    places: list[int] = [0]
    placed = 0
    # What is still to be read: a forest below a node (node, True), or the node itself (node, False).
    waiting = [(0, True), (0, False), (0, True)]
    while waiting:
        node, is_forest = waiting.pop()
        if not is_forest:
            placed += 1
            places[node] = placed
        elif next(steps):
            new = len(parents)
            parents.append(node)
            places.append(0)
            waiting += [(node, True), (new, True), (new, False), (new, True)]
    heads = [0] * size
    for node, parent in enumerate(parents):
        heads[places[node] - 1] = places[parent] if parent >= 0 else 0
    return heads


def _tree(forms: Sequence[str], heads: Sequence[int]) -> Tree:
    return Tree(tuple(Word(form, head) for form, head in zip(forms, heads, strict=True)))


def _from_pruefer(sequence: Sequence[int]) -> list[list[int]]:
    """The neighbors of each node 1 to n in the tree that a Prüfer sequence of n - 2 numbers encodes."""
    size = len(sequence) + 2
    n_missing = [1] * (size + 1)  # how many neighbors of each node are not found yet
    for node in sequence:
        n_missing[node] += 1
    leaves = [node for node in range(1, size + 1) if n_missing[node] == 1]
    heapify(leaves)
    neighbors: list[list[int]] = [[] for _ in range(size + 1)]
    for node in sequence:
        leaf = heappop(leaves)
        neighbors[leaf].append(node)
        neighbors[node].append(leaf)
        n_missing[node] -= 1
        if n_missing[node] == 1:
            heappush(leaves, node)
    last, other = heappop(leaves), heappop(leaves)
    neighbors[last].append(other)
    neighbors[other].append(last)
    return neighbors


def _two_ternary_trees(inner: int, rng: np.random.Generator) -> list[bool]:
    """Two random ternary trees with `inner` inner nodes together, written top-down and left to right:
    True for an inner node, False for the end of a branch.

    At first two branches are open. An inner node opens two more (+2), the end of a branch closes one
    (-1). By the cycle lemma, exactly two rotations of a random sequence keep a branch open until the
    end: those that begin just after the running sum first reaches its lowest value, or one more than
    that value.
    """
    steps = np.zeros(3 * inner + 2, dtype=np.int64)
    steps[:inner] = 1
    rng.shuffle(steps)
    sums = np.cumsum(3 * steps - 1)
    level = int(sums.min()) + int(rng.integers(0, 2))
    start = int(np.argmax(sums == level)) + 1
    return [bool(step) for step in np.roll(steps, -start)]
