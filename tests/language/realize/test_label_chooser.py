"""The chooser of labels against brute force in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language.models import perceptron_oracle
from tests.language.realize import ordering_oracle
from tests.language.realize.labeling_oracle import LabelingOracle, usual_labels
from wellput import _native
from wellput.core.errors import InputError
from wellput.io.model_files import load_model_file, save_model_file
from wellput.language.realize.label_chooser import (
    WEIGHT_UNIT,
    ChooserTraining,
    Forest,
    Label,
    LabelChooser,
    jackknifed_labels,
    train_chooser,
)

NO_ROWS, NO_MASKS = np.zeros(0, np.int32), np.zeros(0, np.uint8)

# Words, heads, labels: "the dog barks", "a cat saw the old dog", "old cats bark".
TREES: list[tuple[list[str], list[int], list[Label]]] = [
    (
        ["the", "dog", "barks"],
        [2, 3, 0],
        [Label("DT", "det"), Label("NN", "nsubj"), Label("VBZ", "root")],
    ),
    (
        ["a", "cat", "saw", "the", "old", "dog"],
        [2, 3, 0, 6, 6, 3],
        [
            Label("DT", "det"),
            Label("NN", "nsubj"),
            Label("VBD", "root"),
            Label("DT", "det"),
            Label("JJ", "amod"),
            Label("NN", "obj"),
        ],
    ),
    (
        ["old", "cats", "bark"],
        [2, 3, 0],
        [Label("JJ", "amod"), Label("NNS", "nsubj"), Label("VBP", "root")],
    ),
] * 2
HOW = ChooserTraining(min_updates=1, min_count=1, min_weight=0.0)


def forest_of(trees: Sequence[tuple[list[str], list[int], list[Label]]]) -> Forest:
    return Forest(
        [words for words, _, _ in trees],
        np.array([head for _, heads, _ in trees for head in heads], np.int32),
    )


def labels_of(trees: Sequence[tuple[list[str], list[int], list[Label]]]) -> list[Label]:
    return [label for _, _, labels in trees for label in labels]


@pytest.fixture(scope="module")
def chooser() -> LabelChooser:
    return train_chooser(forest_of(TREES), labels_of(TREES), HOW)


def oracle_usual(chooser: LabelChooser) -> dict[int, int]:
    return dict(zip(chooser.usual_words.tolist(), chooser.usual.tolist(), strict=True))


def test_what_was_learned_is_chosen(chooser: LabelChooser) -> None:
    chosen = chooser.choose(forest_of(TREES))
    assert [list(labels) for labels in chosen] == [labels for _, _, labels in TREES]


def test_usual_labels_are_those_of_the_oracle(chooser: LabelChooser) -> None:
    number = {label: place for place, label in enumerate(chooser.labels)}
    expected = usual_labels(
        [words for words, _, _ in TREES], [number[label] for label in labels_of(TREES)]
    )
    assert oracle_usual(chooser) == expected


@st.composite
def small_trees(draw: st.DrawFn) -> tuple[list[str], list[int]]:
    size = draw(st.integers(1, 3))
    hidden = draw(st.permutations(range(size)))
    heads = [0] * size
    for rank in range(1, size):
        heads[hidden[rank]] = hidden[draw(st.integers(0, rank - 1))] + 1
    words = st.sampled_from(["the", "old", "dog", "cats", "saw", "barked", "Zoë😀", "7"])
    return [draw(words) for _ in heads], heads


@settings(max_examples=40, deadline=None)
@given(tree=small_trees(), is_known=st.booleans())
def test_viterbi_equals_brute_force(
    chooser: LabelChooser, tree: tuple[list[str], list[int]], is_known: bool
) -> None:
    words, heads = tree
    known = [f"{word[:1]} known" for word in words] if is_known else []
    forest = Forest([words], np.array(heads, np.int32), [known] if is_known else ())
    oracle = LabelingOracle(words, heads, oracle_usual(chooser), known)
    local = perceptron_oracle.weights_in(chooser.local)
    edges = ordering_oracle.weights_in(chooser.edges)
    chosen = chooser.kernel.choose(
        forest.forms, forest.known, forest.heads, 1000, 1, NO_ROWS, NO_MASKS
    ).tolist()
    found = oracle.score(chooser.labels, chosen, local, edges)
    assert found == oracle.best_score(chooser.labels, local, edges)


@settings(max_examples=40, deadline=None)
@given(tree=small_trees(), is_known=st.booleans())
def test_probabilities_are_sums_over_all_labelings(
    chooser: LabelChooser, tree: tuple[list[str], list[int]], is_known: bool
) -> None:
    words, heads = tree
    known = [[f"{word[:1]} known" for word in words]] if is_known else []
    oracle = LabelingOracle(words, heads, oracle_usual(chooser), known[0] if known else [])
    local = perceptron_oracle.weights_in(chooser.local)
    edges = ordering_oracle.weights_in(chooser.edges)
    n = len(chooser.labels)
    expected = np.zeros((len(words), n))
    for chosen in product(range(n), repeat=len(words)):
        score = oracle.score(chooser.labels, chosen, local, edges)
        expected[range(len(words)), chosen] += np.exp(WEIGHT_UNIT * score)
    expected /= expected[0].sum()
    numbers, shares = chooser.kernel.probabilities(
        [words], known, np.array(heads, np.int32), n + 2, WEIGHT_UNIT, 1
    )
    found = np.zeros_like(expected)
    for word, (own, probable) in enumerate(
        zip(numbers.reshape(-1, n + 2), shares.reshape(-1, n + 2), strict=True)
    ):
        np.add.at(found[word], own, probable)  # the last two are not there: label 0 with 0
    assert found == pytest.approx(expected, abs=1e-5)


@settings(max_examples=40, deadline=None)
@given(tree=small_trees(), data=st.data())
def test_the_order_of_the_input_never_matters(
    chooser: LabelChooser, tree: tuple[list[str], list[int]], data: st.DataObject
) -> None:
    words, heads = tree
    turned = data.draw(st.permutations(range(len(words))))
    places = {place: number for number, place in enumerate(turned, start=1)}
    other = Forest(
        [[words[place] for place in turned]],
        np.array([places[heads[p] - 1] if heads[p] else 0 for p in turned], np.int32),
    )
    labels = chooser.choose(Forest([words], np.array(heads, np.int32)))[0]
    again = chooser.choose(other)[0]
    # Two words alike in every way may change places, so multisets under the words are compared.
    assert sorted(zip(words, map(str, labels), strict=True)) == sorted(
        zip(other.forms[0], map(str, again), strict=True)
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (Label("_", "_"), Label("NN", "nsubj")),
        (Label("_", "det"), Label("DT", "det")),
        (Label("NNS", "_"), Label("NNS", "nsubj")),
        (Label("NOUN", "det"), Label("DT", "det")),  # the chooser has no such tag
        (Label("_", "det:predet"), Label("DT", "det")),
        (Label("_", "orphan"), Label("NN", "nsubj")),  # nor such a relation
    ],
)
def test_what_is_given_of_a_label_is_kept(
    chooser: LabelChooser, given: Label, expected: Label
) -> None:
    words, heads, _ = TREES[0]
    forest = Forest([words], np.array(heads, np.int32))
    known = [Label("_", "_"), given, Label("_", "_")]
    assert chooser.choose(forest, given=known)[0][1] == expected


def test_threads_change_nothing(chooser: LabelChooser) -> None:
    forest = forest_of(TREES * 40)
    assert chooser.choose(forest, threads=1) == chooser.choose(forest, threads=4)
    one, several = (chooser.probabilities(forest, threads=threads) for threads in (1, 4))
    assert all(np.array_equal(a, b) for a, b in zip(one, several, strict=True))


def test_jackknifed_labels_are_by_choosers_that_did_not_see_the_tree() -> None:
    # "blick" has its label in one tree only: a chooser trained without that tree cannot know it.
    odd = (
        ["the", "blick", "barks"],
        [2, 3, 0],
        [*TREES[0][2][:1], Label("XX", "odd"), *TREES[0][2][2:]],
    )
    trees = [*TREES, odd, odd]
    how = ChooserTraining(min_updates=1, min_count=2, min_weight=0.0)
    chosen = jackknifed_labels(forest_of(trees), labels_of(trees), how, folds=4)
    assert Label("XX", "odd") not in chosen[-6:]
    assert len(chosen) == len(labels_of(trees))


def test_a_chooser_comes_back_from_its_file(chooser: LabelChooser, tmp_path: Path) -> None:
    path = tmp_path / "chooser.wpm"
    save_model_file(path, "test", {}, chooser.arrays("chooser"))
    again = LabelChooser.of_file(load_model_file(path, "test"), "chooser")
    assert again.choose(forest_of(TREES)) == chooser.choose(forest_of(TREES))


def test_bad_input() -> None:
    with pytest.raises(InputError, match="no trees"):
        train_chooser(Forest([], np.zeros(0, np.int32)), [], HOW)
    with pytest.raises(ValueError, match="out of range"):
        _native.train_label_chooser(
            [["a"]], [], np.zeros(1, np.int32), np.full(1, 3, np.int32), ["N"], ["root"],
            np.zeros(0, np.uint32), np.zeros(0, np.uint16), 1, 1, 0.1, 0.0, 8, 1, lambda *_: None,
        )  # fmt: skip


def test_a_circle_is_no_tree(chooser: LabelChooser) -> None:
    with pytest.raises(ValueError, match="no tree"):
        chooser.choose(Forest([["a", "b"]], np.array([2, 1], np.int32)))
