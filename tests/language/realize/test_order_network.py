"""The order network's kernel against plain NumPy; its file; what it does to the orderer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language.realize.order_networks import DECODER, PlainNetwork, is_close, small_network
from tests.language.realize.ordering_oracle import OracleWord
from tests.language.realize.test_orderer import TREES, kernel_input, parsed, small_trees
from wellput import _native
from wellput.core.errors import InputError
from wellput.io.model_files import save_model_file
from wellput.language.realize.learned_realizer import WEIGHT_UNIT, Orderer, kernel_trees
from wellput.language.realize.order_network import OrderNetwork

NETWORK = small_network()


def kernel_score(orderer: Orderer, tree: Sequence[OracleWord]) -> float:
    """The log probability of the order in which the tree stands."""
    forest, labels = kernel_input([tree])
    numbers = NETWORK.numbers(forest, labels, are_chosen=orderer.are_labels_chosen)
    return orderer.kernel.scores(*kernel_trees(forest, labels), numbers)[0] * WEIGHT_UNIT


def alone(**options: Any) -> Orderer:
    """The network without any other score."""
    return Orderer(b"", network=NETWORK, network_weight=1.0, **options)


@settings(max_examples=80, deadline=None)
@given(tree=small_trees())
def test_the_kernel_equals_plain_numpy(tree: list[OracleWord]) -> None:
    forest, labels = kernel_input([tree])
    wanted = PlainNetwork(NETWORK).log_prob(
        forest.forms[0], labels[0], [word.head for word in tree]
    )
    assert is_close(kernel_score(alone(), tree), wanted)


@settings(max_examples=40, deadline=None)
@given(tree=small_trees())
def test_the_probabilities_of_all_orders_of_a_head_sum_to_one(tree: list[OracleWord]) -> None:
    """Of one treelet: a head and words without daughters."""
    flat = [replace(word, head=0 if place == 0 else 1) for place, word in enumerate(tree)]
    total = 0.0
    for order in permutations(range(len(flat))):
        head = order.index(0) + 1
        stood = [replace(flat[place], head=head if place else 0) for place in order]
        total += np.exp(kernel_score(alone(), stood))
    assert total == pytest.approx(1, abs=2e-3)


@settings(max_examples=40, deadline=None)
@given(tree=small_trees())
def test_the_search_finds_the_most_probable_order_of_a_head(tree: list[OracleWord]) -> None:
    flat = [replace(word, head=0 if place == 0 else 1) for place, word in enumerate(tree)]

    def score(order: Sequence[int]) -> float:
        head = list(order).index(0) + 1
        return kernel_score(
            alone(), [replace(flat[place], head=head if place else 0) for place in order]
        )

    found = alone(width=1000).order(*kernel_input([flat]))[0]
    best = max(score(order) for order in permutations(range(len(flat))))
    assert found.is_exact
    assert score(found.places) == pytest.approx(best, abs=1e-3)


@settings(max_examples=60, deadline=None)
@given(tree=small_trees(), data=st.data())
def test_the_order_of_the_input_never_matters(tree: list[OracleWord], data: st.DataObject) -> None:
    turned = data.draw(st.permutations(range(len(tree))))
    places = {place: number for number, place in enumerate(turned, start=1)}
    other = [
        replace(w, head=places[w.head - 1] if w.head else 0)
        for w in (tree[place] for place in turned)
    ]
    sentences = []
    for words in (tree, other):
        order = alone().order(*kernel_input([words]))[0].places
        sentences.append([words[place].form for place in order])
    assert sentences[0] == sentences[1]


def test_neither_threads_nor_other_sentences_change_anything() -> None:
    trees = [parsed(text) for text in TREES] * 40
    together = [alone().order(*kernel_input(trees), threads=n) for n in (1, 4)]
    single = [alone().order(*kernel_input([tree]))[0] for tree in trees[: len(TREES)]]
    assert together[0] == together[1]
    assert together[0][: len(TREES)] == single


def test_chosen_labels_are_told_apart_from_given_ones() -> None:
    tree = parsed(TREES[0])
    assert kernel_score(alone(), tree) != kernel_score(alone(are_labels_chosen=True), tree)


def test_a_very_long_sentence_is_ordered_without_the_network() -> None:
    words = [OracleWord("saw", "VBD", "root", 0)]
    words += [OracleWord(f"w{i % 37}", "NN", "obj", 1 + i // 3) for i in range(500)]
    forest, labels = kernel_input([words])
    assert alone().order(forest, labels) == Orderer(b"").order(forest, labels)


def test_best_orders_begin_with_the_best() -> None:
    forest, labels = kernel_input([parsed(TREES[0])])
    found = alone().best_orders(forest, labels, 5)[0]
    assert len({tuple(ranked.places) for ranked in found}) == 5
    assert list(found[0].places) == list(alone().order(forest, labels)[0].places)


def test_a_network_comes_back_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "order.wpm"
    NETWORK.save(path)
    again = OrderNetwork.load(path)
    assert again.fingerprint == NETWORK.fingerprint
    assert again.tuned == NETWORK.tuned
    tree = parsed(TREES[1])
    forest, labels = kernel_input([tree])
    assert replace(alone(), network=again).order(forest, labels) == alone().order(forest, labels)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("part.query.steps", np.zeros((3, 4), np.int8)),
        ("part.query.scales", np.full(3, np.nan, np.float32)),
        ("part.starts", np.zeros(2, np.float32)),
        ("part.table0.scales", np.zeros(1, np.float32)),
        ("part.layer1.places", np.zeros(3, np.float32)),
        ("part.context.steps", np.zeros((5, 8), np.float32)),
        ("sizes", np.array([2, 3], np.int32)),
        ("sizes", np.array([-1, 2], np.int32)),
        ("tuned", np.full((2, 2), np.inf)),
        ("tuned", np.zeros((3, 2))),
        ("wording.weights", np.zeros(5, np.float32)),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, name: str, value: Any) -> None:
    path = tmp_path / "order.wpm"
    save_model_file(path, OrderNetwork.kind, {}, {**NETWORK.arrays(), name: value})
    with pytest.raises(InputError, match="damaged"):
        OrderNetwork.load(path)


def test_a_part_that_is_missing_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "order.wpm"
    arrays = NETWORK.arrays()
    del arrays["part.items.steps"]
    save_model_file(path, OrderNetwork.kind, {}, arrays)
    with pytest.raises(InputError, match="damaged"):
        OrderNetwork.load(path)


def test_pieces_that_every_word_may_need_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "order.wpm"
    pieces = tuple(f"p{number}" for number in range(len(NETWORK.vocabulary.pieces)))
    replace(NETWORK, vocabulary=replace(NETWORK.vocabulary, pieces=pieces)).save(path)
    with pytest.raises(InputError, match="damaged"):
        OrderNetwork.load(path)


def test_a_query_whose_sums_could_overflow_is_refused() -> None:
    rows = 513  # of 2047² each: more than 2³¹ in all
    parts = dict(NETWORK.parts)
    for name, size in (
        ("query", rows),
        ("items", 3 * DECODER + 3 * rows),
        ("ends", DECODER + 2 * rows),
    ):
        columns = NETWORK.parts[f"{name}.steps"].shape[1]
        parts[f"{name}.steps"] = np.ones((size, columns), np.int8)
        parts[f"{name}.scales"] = np.ones(size, np.float32)
    parts["query.bias"] = np.zeros(rows, np.float32)
    parts["starts"] = np.zeros(2 * DECODER + rows, np.float32)
    with pytest.raises(ValueError, match="fit together"):
        _native.OrderNetwork(parts, NETWORK.layers, NETWORK.attention_heads)


@pytest.mark.parametrize("gain", [100, 1000])
def test_weights_beyond_all_measure_still_give_an_order(gain: float) -> None:
    """Scores of steps would be infinite with a gain of 100, and not even numbers with 1000."""
    parts = dict(NETWORK.parts)
    for name in ("as_head", "items", "ends"):
        parts[f"{name}.scales"] = np.full_like(parts[f"{name}.scales"], 9e5)
    parts["last.gain"] = np.full_like(parts["last.gain"], gain)
    orderer = Orderer(b"", network=replace(NETWORK, parts=parts), network_weight=1.0)
    for tree in map(parsed, TREES):
        forest, labels = kernel_input([tree])
        [found] = orderer.order(forest, labels)
        assert sorted(found.places) == list(range(len(tree)))
        assert np.isfinite(kernel_score(orderer, tree))


def test_the_kernel_refuses_numbers_beyond_its_tables() -> None:
    forest, labels = kernel_input([parsed(TREES[0])])
    kernel = _native.Orderer(b"")
    kernel.use_network(NETWORK.kernel, 100.0)
    numbers = NETWORK.numbers(forest, labels, are_chosen=False)
    with pytest.raises(ValueError, match="ten numbers"):
        kernel.order(*kernel_trees(forest, labels), 8, 1)
    with pytest.raises(ValueError, match="ten numbers"):
        kernel.order(*kernel_trees(forest, labels), 8, 1, numbers[:-1])
    for column, value in ((0, 3), (3, -2), (3, 11), (7, -1), (9, 4)):
        wrong = numbers.copy()
        wrong[2, column] = value
        with pytest.raises(ValueError, match="beyond"):
            kernel.order(*kernel_trees(forest, labels), 8, 1, wrong)
    with pytest.raises(ValueError, match="out of range"):
        kernel.use_network(NETWORK.kernel, float("nan"))
