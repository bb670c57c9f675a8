"""The unraveler: what its lattices accept, and what they weigh."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellput.core.metric import Floats
from wellput.core.tree import Tree, Word
from wellput.language.realize.baselines import random_projective_heads
from wellput.language.realize.inputs import InputTree, Node, input_tree
from wellput.language.realize.unraveler import Unraveled, unravel
from wellput.language.trees.supertags import (
    InducedGrammar,
    Supertag,
    induce_supertags,
    parse_supertag,
)

RELATIONS = ("nsubj", "obj", "advmod", "amod", "det", "obl")
TAGS = ("NN", "VBD", "JJ")


def random_sentence(n: int, rng: np.random.Generator) -> Tree:
    heads = random_projective_heads(n, rng)
    return Tree(
        tuple(
            Word(str(i), head, xpos=str(rng.choice(TAGS)), relation=str(rng.choice(RELATIONS)))
            for i, head in enumerate(heads)
        )
    )


def with_supertags(tree: Tree) -> tuple[InputTree, list[Supertag]]:
    """The words are numbers, so that supertags can be told to their nodes."""
    supertags = induce_supertags(tree)
    nodes = [Node((word.form,)) for word in tree.words]
    found = input_tree(nodes, [word.head - 1 for word in tree.words])
    return found, [supertags[int(node.form)] for node in found.nodes]


def sentences(unraveled: Unraveled) -> list[tuple[str, ...]]:
    words = unraveled.lattice.words
    return [tuple(words[word] for word in path) for path, _ in unraveled.lattice.paths()]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 7), st.integers(0, 2**32))
def test_a_sentence_is_among_the_orders_of_its_own_supertags(n: int, seed: int) -> None:
    tree = random_sentence(n, np.random.default_rng(seed))
    found = sentences(unravel(*with_supertags(tree), InducedGrammar()))
    assert tuple(word.form for word in tree.words) in found
    assert len(set(found)) == len(found), "every order has one path"
    for words in found:
        assert sorted(words) == sorted(word.form for word in tree.words)
        for phrase in phrases(tree):
            places = [place for place, word in enumerate(words) if int(word) in phrase]
            assert places[-1] - places[0] == len(phrase) - 1, "phrases stay together"


def phrases(tree: Tree) -> list[set[int]]:
    """For each word the set of it and all below it."""
    found = [{i} for i in range(len(tree.words))]
    for i in range(len(tree.words)):
        head = tree.words[i].head
        while head:
            found[head - 1].add(i)
            head = tree.words[head - 1].head
    return found


def test_weights_are_those_of_the_pairs_in_each_order() -> None:
    # Two adverbs before a verb: "x y z" weighs w(x, y) = 1, "y x z" weighs w(y, x) = 2, and each before
    # the verb 10 and 20: both orders have these.
    nodes = [Node((form,)) for form in ("z", "x", "y")]
    tree = input_tree(nodes, [-1, 0, 0])
    supertags = [parse_supertag("VBD/root[_]"), *[parse_supertag("RB/advmod<V[_]")] * 2]

    def precedence(node: int, daughters: Sequence[int]) -> Floats:
        assert (node, tuple(daughters)) == (0, (1, 2))
        return np.array([[0, 1, 10], [2, 0, 20], [100, 100, 0]])

    lattice = unravel(tree, supertags, InducedGrammar(), precedence=precedence).lattice
    found = {"".join(lattice.words[w] for w in path): weight for path, weight in lattice.paths()}
    assert found == {"xyz": pytest.approx(31), "yxz": pytest.approx(32)}


def test_alternatives_share_a_place_and_have_their_weights() -> None:
    tree = input_tree([Node(("sat", "slept")), Node(("cat",))], [-1, 0])
    supertags = [parse_supertag("VBD/root[nsubj,_]"), parse_supertag("NN/nsubj<V[_]")]
    unraveled = unravel(
        tree, supertags, InducedGrammar(), form_weight=lambda form: -1.0 if form == "slept" else 0.0
    )
    found = dict(zip(sentences(unraveled), [w for _, w in unraveled.lattice.paths()], strict=True))
    assert found == {("cat", "sat"): 0.0, ("cat", "slept"): -1.0}
    assert unraveled.nodes == (0, 0, 1)
