"""Pruning words from trees, and putting them back."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from tests.language.realize.treebank import treebank
from wellput.language.realize.completer import LabelKind, forest_of
from wellput.language.realize.inputs import unordered
from wellput.language.realize.inserter import (
    Inserter,
    Insertion,
    MissingWord,
    insertion_of,
    pruned_tree,
    train_inserter,
    with_insertions,
)
from wellput.language.realize.label_chooser import ChooserTraining, Forest, Label

THE = MissingWord("the", "DET", "DT", "det")
IN = MissingWord("in", "ADP", "IN", "case")
STOP = MissingWord(".", "PUNCT", ".", "punct")


def test_pruning_takes_what_was_asked_for() -> None:
    tree = treebank(1)[1]  # A cat saw the mice in the garden .
    both = pruned_tree(tree, ("punctuation", "function"))
    assert [word.form for word in both.tree.words] == ["cat", "saw", "mice", "garden"]
    assert [word.head for word in both.tree.words] == [2, 0, 2, 2]
    assert both.lost == ((MissingWord("A", "DET", "DT", "det"),), (STOP,), (THE,), (IN, THE))
    only = pruned_tree(tree, {"punctuation"})
    assert [word.form for word in only.tree.words] == [w.form for w in tree.words[:-1]]
    assert sum(map(len, only.lost)) == 1


def test_words_with_daughters_and_roots_stay() -> None:
    tree = treebank(1)[2]  # An old dog did n't see the cat .
    assert insertion_of(tree.words[4]) is None  # n't is an adverbial modifier
    kept = pruned_tree(tree, ("punctuation", "function")).tree
    assert [word.form for word in kept.words] == ["old", "dog", "n't", "see", "cat"]


@pytest.fixture(scope="module")
def inserter() -> Inserter:
    how = ChooserTraining(min_updates=1, min_count=1, min_weight=0.0, seed=2)
    return train_inserter(treebank(), how, how)


@pytest.mark.parametrize("kind", ["words", "labels"])
def test_what_was_pruned_is_put_back(inserter: Inserter, kind: LabelKind) -> None:
    for tree in treebank(1):
        pruned = pruned_tree(tree, ("punctuation", "function"))
        given = unordered(pruned.tree, kind=kind)
        bundles = inserter.missing_words(forest_of([given], kind))[0]
        unknown = ["_"] * len(given)
        fuller = with_insertions(given, unknown, bundles, ("punctuation", "function"))
        assert sorted(node.form for node in fuller.nodes) == sorted(w.form for w in tree.words)
        relations = {node.relation for node in fuller.nodes}
        assert ("_" in relations) == (kind == "words")


def test_a_lower_limit_puts_more_words_in(inserter: Inserter) -> None:
    kinds: tuple[Insertion, ...] = ("function",)
    given = [unordered(pruned_tree(tree, kinds).tree) for tree in treebank(1)]
    forest = forest_of(given, "words")
    counts = [
        sum(len(own) for tree in one.missing_words(forest) for own in tree)
        for one in (replace(inserter, min_probability=limit) for limit in (1.01, 0.5, 0.001))
    ]
    assert counts == sorted(set(counts))
    assert counts[0] == 0


def bundle_of(*words: MissingWord) -> Label:
    rows = [[word.form, word.upos, word.xpos, word.relation] for word in words]
    return Label(json.dumps(rows), "[]")


@dataclass(frozen=True, eq=False)
class Probabilities:
    """A chooser that finds the same bundles for every word."""

    labels: tuple[Label, ...]
    shares: tuple[float, ...]

    def probabilities(self, forest: Forest, *, threads: int = 1) -> tuple[Any, Any]:
        rows = len(forest.heads)
        numbers = np.tile(np.arange(len(self.labels)), (rows, 1))
        return numbers, np.tile(np.array(self.shares), (rows, 1))


def test_a_word_has_the_probability_of_all_bundles_with_it() -> None:
    """No bundle but the empty one is the most probable, but `the` is in bundles of .15 + .15; `of`
    has .15, less than the limit."""
    of = MissingWord("of", "ADP", "IN", "case")
    labels = (bundle_of(), bundle_of(THE), bundle_of(THE, of))
    chooser: Any = Probabilities(labels, (0.7, 0.15, 0.15))
    forest = Forest([["dog"]], np.array([0], np.int32), [["NN root"]])
    assert Inserter(chooser, chooser).missing_words(forest) == [[(THE,)]]


def test_of_alternatives_the_most_probable_is_added_and_of_parts_all() -> None:
    a = MissingWord("a", "DET", "DT", "det")
    has, been = (MissingWord(form, "AUX", "VB", "aux") for form in ("has", "been"))
    labels = (bundle_of(THE, has, been), bundle_of(a, has, been), bundle_of())
    chooser: Any = Probabilities(labels, (0.4, 0.3, 0.3))
    forest = Forest([["seen"]], np.array([0], np.int32), [["VBN root"]])
    assert Inserter(chooser, chooser).missing_words(forest) == [[(been, has, THE)]]


def test_only_what_was_asked_for_is_put_in() -> None:
    given = unordered(pruned_tree(treebank(1)[0], ("punctuation", "function")).tree)
    bundles = [[STOP] if node.form == "barks" else [THE] for node in given.nodes]
    fuller = with_insertions(given, ["root", "nsubj"], bundles, {"punctuation"})
    assert sorted(node.form for node in fuller.nodes) == [".", "barks", "dog"]


def test_a_tree_with_function_words_is_not_bare(inserter: Inserter) -> None:
    tree = treebank(1)[1]  # A cat saw the mice in the garden .
    whole, pruned = (
        unordered(kept, kind="labels")
        for kept in (tree, pruned_tree(tree, ("punctuation", "function")).tree)
    )
    assert not inserter.lacks_function_words(whole, [node.relation for node in whole.nodes])
    assert inserter.lacks_function_words(pruned, [node.relation for node in pruned.nodes])
    # Words that are taken for something else do not count.
    assert inserter.lacks_function_words(whole, ["obj"] * len(whole))


def test_nothing_is_put_in_twice() -> None:
    given = unordered(treebank(1)[0], kind="labels")  # The dog barks .
    relations = [node.relation for node in given.nodes]
    bundles = [[STOP] if node.form == "barks" else [THE, IN] for node in given.nodes]
    fuller = with_insertions(given, relations, bundles, ("punctuation", "function"))
    added = sorted(node.form for node in fuller.nodes)
    # Every word but the root gets "in"; "the" goes where there is no determiner, and the stop is there.
    expected = [node.form for node in given.nodes] + ["in"] * (len(given) - 1)
    has_determiner = {given.heads[n] for n, relation in enumerate(relations) if relation == "det"}
    expected += ["the" for n in range(1, len(given)) if n not in has_determiner]
    assert added == sorted(expected)
