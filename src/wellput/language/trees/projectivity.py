"""Projectivity: whether every head and all below it cover an unbroken stretch of words.

A set of words is an int whose bit i is set if word number i is in it: this is fast on long sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush

from wellput.core.tree import Tree


def is_projective(tree: Tree) -> bool:
    """Whether every word between a head and its dependent depends on that head, directly or through
    others."""
    return not nonprojective_arcs(tree)


def nonprojective_arcs(tree: Tree) -> list[tuple[int, int]]:
    """The pairs of head and dependent that are not projective, in the order of the dependents."""
    heads = _heads(tree)
    covered = _descendants(heads)
    return [
        (head, word)
        for word, head in enumerate(heads)
        if head and not _is_projective(head, word, covered)
    ]


def gap_degree(tree: Tree) -> int:
    """The largest number of gaps between the words that a word and all below it cover; 0 for a
    projective tree."""
    # An unbroken stretch begins at every word whose left neighbor is not in the set.
    n_stretches = [(words & ~(words << 1)).bit_count() for words in _descendants(_heads(tree))]
    return max((count - 1 for count in n_stretches[1:]), default=0)


def projectivize(tree: Tree) -> Tree:
    """The tree made projective by lifting (Nivre & Nilsson 2005): as long as there are non-projective
    arcs, the dependent of the shortest of them is attached to the head of its head."""
    heads = _heads(tree)
    covered = _descendants(heads)
    daughters: list[set[int]] = [set() for _ in heads]
    for word, head in enumerate(heads[1:], start=1):
        daughters[head].add(word)
    # `covered[w]` is the set of word w and all below it. Lifting a dependent only takes words out of
    # the set of its old head. So an arc in the queue stays non-projective until it is lifted, and only
    # the arcs from the old head to its other daughters can become non-projective. The new arc of the
    # dependent may be non-projective, too.
    waiting = [(abs(head - word), word) for head, word in nonprojective_arcs(tree)]
    heapify(waiting)
    queued = {word for _, word in waiting}
    while waiting:
        _, word = heappop(waiting)
        queued.discard(word)
        old_head = heads[word]
        heads[word] = new_head = heads[old_head]
        daughters[old_head].discard(word)
        daughters[new_head].add(word)
        covered[old_head] &= ~covered[word]
        for dependent in (*daughters[old_head], word):
            head = heads[dependent]
            if head and dependent not in queued and not _is_projective(head, dependent, covered):
                heappush(waiting, (abs(head - dependent), dependent))
                queued.add(dependent)
    words = (replace(word, head=head) for word, head in zip(tree.words, heads[1:], strict=True))
    return replace(tree, words=tuple(words))


def _heads(tree: Tree) -> list[int]:
    """Heads by word number; place 0 stands for the artificial head of the root."""
    return [0, *(word.head for word in tree.words)]


def _descendants(heads: Sequence[int]) -> list[int]:
    """The set of each word and all below it."""
    daughters: list[list[int]] = [[] for _ in heads]
    for word, head in enumerate(heads[1:], start=1):
        daughters[head].append(word)
    order = [0]
    for word in order:
        order.extend(daughters[word])
    covered = [1 << word for word in range(len(heads))]
    for word in reversed(order[1:]):
        covered[heads[word]] |= covered[word]
    return covered


def _is_projective(head: int, word: int, covered: Sequence[int]) -> bool:
    """Whether all words between a head and its dependent are below the head."""
    low, high = min(head, word), max(head, word)
    between = (1 << high) - (1 << (low + 1))
    return not between & ~covered[head]
