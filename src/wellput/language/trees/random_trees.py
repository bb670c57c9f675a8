"""Random dependency trees over given words, each of the possible trees equally likely."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from wellput.core.tree import Tree, Word


def random_tree(forms: Sequence[str], rng: np.random.Generator) -> Tree:
    """One of the n^(n-1) rooted trees over n words, projective or not."""
    return _tree(forms, random_heads(len(forms), rng))


def random_projective_tree(forms: Sequence[str], rng: np.random.Generator) -> Tree:
    """One of the projective trees over n words: 1, 2, 7, 30, 143, ... of them (OEIS A006013)."""
    return _tree(forms, random_projective_heads(len(forms), rng))


def random_heads(size: int, rng: np.random.Generator) -> list[int]:
    """The heads of words 1 to `size` (0 is the root's), from a random Prüfer sequence and root."""
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
    """The heads of words 1 to `size`, 0 for the root's, of a random projective tree.

    The words that depend on a word, on one side of it, head a forest. A forest is empty, or it is a
    first tree (a word with a left and a right forest) and the forest after it: three parts. So a
    forest is a ternary tree, and a dependency tree is two of them: the forests on both sides of the
    root. Two ternary trees with n - 1 inner nodes together are drawn by the cycle lemma.
    """
    if size < 2:
        return [0] * size
    steps = iter(_two_ternary_trees(size - 1, rng))
    parents = [-1]  # nodes in the order in which they are met; node 0 is the root
    places: list[int] = [0]
    placed = 0
    # Still to be read: a forest below a node (node, True), or the node's own place (node, False).
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
    """The neighbors of each node 1 to n in the tree that a Prüfer sequence of n - 2 stands for."""
    size = len(sequence) + 2
    missing = [1] * (size + 1)
    for node in sequence:
        missing[node] += 1
    leaves = [node for node in range(1, size + 1) if missing[node] == 1]
    heapify(leaves)
    neighbors: list[list[int]] = [[] for _ in range(size + 1)]
    for node in sequence:
        leaf = heappop(leaves)
        neighbors[leaf].append(node)
        neighbors[node].append(leaf)
        missing[node] -= 1
        if missing[node] == 1:
            heappush(leaves, node)
    last, other = heappop(leaves), heappop(leaves)
    neighbors[last].append(other)
    neighbors[other].append(last)
    return neighbors


def _two_ternary_trees(inner: int, rng: np.random.Generator) -> list[bool]:
    """Two ternary trees with `inner` inner nodes together, written top-down and left to right: True
    for an inner node, False for the end of a branch.

    An inner node leaves two more branches open (+2), an end one fewer (-1); two branches are open
    at first. Exactly two rotations of a random order never run out of branches early: those that
    begin just after the sum first reaches its lowest value, or one more than that.
    """
    steps = np.zeros(3 * inner + 2, dtype=np.int64)
    steps[:inner] = 1
    rng.shuffle(steps)
    sums = np.cumsum(3 * steps - 1)
    level = int(sums.min()) + int(rng.integers(0, 2))
    start = int(np.argmax(sums == level)) + 1
    return [bool(step) for step in np.roll(steps, -start)]
