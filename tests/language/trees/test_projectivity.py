"""Projectivity, gap degree, lifting."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.language.trees.trees_drawn import is_tree, trees
from wellput.core.tree import Tree, Word
from wellput.language.realize.baselines import random_tree
from wellput.language.trees.projectivity import (
    gap_degree,
    is_projective,
    nonprojective_arcs,
    projectivize,
)


def tree_of(*heads: int) -> Tree:
    return Tree(tuple(Word(f"w{place}", head) for place, head in enumerate(heads, start=1)))


def heads_of(tree: Tree) -> list[int]:
    return [word.head for word in tree.words]


# A hearing is scheduled on the issue today: "on" hangs on "hearing", "today" on "scheduled".
HEARING = tree_of(2, 3, 0, 3, 2, 7, 5, 4)


def test_a_hearing_is_scheduled_on_the_issue_today() -> None:
    # hearing ... on spans "is scheduled", scheduled ... today spans "on the issue".
    assert nonprojective_arcs(HEARING) == [(2, 5), (4, 8)]
    # hearing covers 1 2 5 6 7 and scheduled 4 8: one gap each.
    assert gap_degree(HEARING) == 1
    # "on" goes up to "is"; then (4, 8) still spans 5-7, so "today" goes up too.
    assert heads_of(projectivize(HEARING)) == [2, 3, 0, 3, 3, 7, 5, 3]


def test_two_gaps() -> None:
    # Word 1 covers 1 3 5 between 2 and 4, which hang on the root 6.
    assert gap_degree(tree_of(6, 6, 1, 6, 1, 0)) == 2


def test_projective_trees_stay() -> None:
    tree = tree_of(2, 0, 2, 3)
    assert is_projective(tree)
    assert gap_degree(tree) == 0
    assert projectivize(tree) == tree


def test_no_words() -> None:
    assert is_projective(Tree(()))
    assert gap_degree(Tree(())) == 0
    assert projectivize(Tree(())) == Tree(())


def test_a_long_sentence() -> None:
    tree = random_tree(["x"] * 500, np.random.default_rng(1))
    assert is_projective(projectivize(tree))


def has_arc_over_a_stranger(heads: list[int]) -> bool:
    """Projectivity by its definition."""

    def is_above(head: int, word: int) -> bool:
        while word and word != head:
            word = heads[word - 1]
        return word == head

    return any(
        head and not all(is_above(head, k) for k in range(min(head, word) + 1, max(head, word)))
        for word, head in enumerate(heads, start=1)
    )


def slowly_projectivized(heads: list[int]) -> list[int]:
    """Nivre & Nilsson's algorithm as they write it: find the shortest, lift it, begin again."""
    while True:
        found = nonprojective_arcs(tree_of(*heads))
        if not found:
            return heads
        head, word = min(found, key=lambda arc: (abs(arc[0] - arc[1]), arc[1]))
        heads = [*heads[: word - 1], heads[head - 1], *heads[word:]]


@given(trees(st.just("x")))
def test_lifting(tree: Tree) -> None:
    assert is_projective(tree) != has_arc_over_a_stranger(heads_of(tree))
    assert is_projective(tree) == (gap_degree(tree) == 0)
    lifted = projectivize(tree)
    assert is_projective(lifted)
    assert is_tree(heads_of(lifted))
    assert heads_of(lifted) == slowly_projectivized(heads_of(tree))
