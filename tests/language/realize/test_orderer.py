"""The learned orderer against brute force in plain Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language.realize.lattices import trained
from tests.language.realize.ordering_oracle import OracleOrderer, OracleWord, weights_in
from wellput import _native
from wellput.language.realize.label_chooser import Forest, Label
from wellput.language.realize.learned_realizer import (
    WEIGHT_UNIT,
    Orderer,
    OrdererTraining,
    train_orderer,
)

# "the cat sat on the mat", "a dog saw the old cat", "did the dog sit ?"
TREES = [
    "the/DT/det/2 cat/NN/nsubj/3 sat/VBD/root/0 on/IN/case/6 the/DT/det/6 mat/NN/obl/3",
    "a/DT/det/2 dog/NN/nsubj/3 saw/VBD/root/0 the/DT/det/6 old/JJ/amod/6 cat/NN/obj/3",
    "did/VBD/aux/4 the/DT/det/3 dog/NN/nsubj/4 sit/VB/root/0 ?/./punct/4",
]


def parsed(text: str) -> list[OracleWord]:
    columns = [word.rsplit("/", 3) for word in text.split()]
    return [OracleWord(form, tag, relation, int(head)) for form, tag, relation, head in columns]


def kernel_input(
    trees: Sequence[Sequence[OracleWord]],
) -> tuple[Forest, list[list[Label]]]:
    forest = Forest(
        [[word.form for word in tree] for tree in trees],
        np.array([word.head for tree in trees for word in tree], np.int32),
    )
    return forest, [[Label(word.tag, word.relation) for word in tree] for tree in trees]


@pytest.fixture(scope="module")
def weights() -> bytes:
    return train_orderer(
        *kernel_input([parsed(text) for text in TREES] * 3),
        OrdererTraining(min_updates=1, min_weight=0.0),
    )


@st.composite
def small_trees(draw: st.DrawFn) -> list[OracleWord]:
    """Of up to five words in an order of their own: heads precede in a hidden order."""
    size = draw(st.integers(1, 5))
    hidden = draw(st.permutations(range(size)))
    heads = [0] * size
    for rank in range(1, size):
        heads[hidden[rank]] = hidden[draw(st.integers(0, rank - 1))] + 1
    pieces = st.tuples(
        st.sampled_from(["the", "cat", "sat", "on", "mat", "?", "é😀"]),
        st.sampled_from(["DT", "NN", "VBD", "WP"]),
        st.sampled_from(["det", "nsubj", "obl", "punct"]),
    )
    return [OracleWord(*draw(pieces), head) for head in heads]


@pytest.mark.heavy
@settings(max_examples=60, deadline=None)
@given(tree=small_trees(), ngram_weight=st.sampled_from([0.0, 2.0]))
def test_search_equals_brute_force(
    weights: bytes, tree: list[OracleWord], ngram_weight: float
) -> None:
    ngrams = trained()
    forest, labels = kernel_input([tree])
    orderer = Orderer(weights, ngrams, ngram_weight * WEIGHT_UNIT, width=1000)
    oracle = OracleOrderer(weights_in(weights), ngrams if ngram_weight else None, ngram_weight)
    order = orderer.order(forest, labels)[0].places
    assert sorted(order) == list(range(len(tree)))
    assert orderer.order(forest, labels)[0].is_exact
    renumbered = [tree[place] for place in order]
    places = {place: number for number, place in enumerate(order, start=1)}
    stood = [
        OracleWord(w.form, w.tag, w.relation, places[w.head - 1] if w.head else 0)
        for w in renumbered
    ]
    found = orderer.kernel.scores(*_kernel_arguments(stood))[0]
    assert found == pytest.approx(oracle.best_score(stood), abs=1e-3)


def _kernel_arguments(
    tree: Sequence[OracleWord],
) -> tuple[
    list[list[str]], list[list[str]], list[list[str]], np.ndarray[tuple[int], np.dtype[np.int32]]
]:
    return (
        [[word.form for word in tree]],
        [[word.tag for word in tree]],
        [[word.relation for word in tree]],
        np.array([word.head for word in tree], np.int32),
    )


@settings(max_examples=60, deadline=None)
@given(tree=small_trees(), data=st.data())
def test_the_order_of_the_input_never_matters(
    weights: bytes, tree: list[OracleWord], data: st.DataObject
) -> None:
    turned = data.draw(st.permutations(range(len(tree))))
    places = {place: number for number, place in enumerate(turned, start=1)}
    other = [
        OracleWord(w.form, w.tag, w.relation, places[w.head - 1] if w.head else 0)
        for w in (tree[place] for place in turned)
    ]
    orderer = Orderer(weights, trained(), 0.3)
    sentences = []
    for words in (tree, other):
        order = orderer.order(*kernel_input([words]))[0].places
        sentences.append([words[place].form for place in order])
    assert sentences[0] == sentences[1]


def test_what_was_learned_is_put_into_order(weights: bytes) -> None:
    trees = [parsed(text) for text in TREES]
    orders = Orderer(weights).order(*kernel_input(trees))
    assert [list(order.places) for order in orders] == [list(range(len(tree))) for tree in trees]


def test_best_orders_are_different_and_sorted(weights: bytes) -> None:
    forest, labels = kernel_input([parsed(TREES[0])])
    found = Orderer(weights).best_orders(forest, labels, 10)[0]
    # sat with two daughters has 6 orders, cat with one 2, mat with two 6: 72 together.
    assert len(found) == 10
    assert len({tuple(ranked.places) for ranked in found}) == 10
    scores = [ranked.relative_score for ranked in found]
    assert scores[0] == 0.0
    assert scores == sorted(scores, reverse=True)
    assert len(Orderer(weights).best_orders(forest, labels, 1000)[0]) == 72


@pytest.mark.heavy
@pytest.mark.parametrize("daughters", [30, 200, 1000])
def test_many_daughters_end_in_a_sentence(weights: bytes, daughters: int) -> None:
    tree = [OracleWord("saw", "VBD", "root", 0)]
    tree += [OracleWord(f"w{i % 37}", "NN", "obj", 1) for i in range(daughters)]
    order = Orderer(weights, trained(), 0.3).order(*kernel_input([tree]))[0]
    assert not order.is_exact
    assert sorted(order.places) == list(range(daughters + 1))


def test_threads_change_nothing(weights: bytes) -> None:
    trees = [parsed(text) for text in TREES] * 50
    orderer = Orderer(weights)
    one, four = (orderer.order(*kernel_input(trees), threads=n) for n in (1, 4))
    assert one == four


def test_training_is_deterministic(weights: bytes) -> None:
    again = train_orderer(
        *kernel_input([parsed(text) for text in TREES] * 3),
        OrdererTraining(min_updates=1, min_weight=0.0),
    )
    assert again == weights


def test_the_kernel_refuses_what_is_no_forest(weights: bytes) -> None:
    kernel = _native.Orderer(weights)
    with pytest.raises(ValueError, match="a head are needed"):
        kernel.order([["a"]], [["DT"]], [["det"]], np.array([0, 1], np.int32), 8, 1)
    with pytest.raises(ValueError, match="no tree"):
        kernel.order([["a"]], [["DT"]], [["det"]], np.array([7], np.int32), 8, 1)
    with pytest.raises(ValueError, match="no tree"):  # a circle
        kernel.order([["a", "b"]], [["D", "D"]], [["x", "x"]], np.array([2, 1], np.int32), 8, 1)
    with pytest.raises(ValueError, match="damaged"):
        _native.Orderer(b"\x80")
