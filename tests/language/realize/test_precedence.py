"""Weights of orders, by hand."""

from __future__ import annotations

from math import log
from pathlib import Path

import numpy as np
import pytest

from tests.language.realize.toy_treebank import tree_of
from wellput.io.model_files import ModelFile, load_model_file, packed_strings, save_model_file
from wellput.language.realize.inputs import Node, input_tree
from wellput.language.realize.parameters import (
    Phrase,
    PrecedenceModel,
    phrases_of,
    train_precedence,
)
from wellput.language.trees.supertags import parse_supertag

# An adjective after a determiner, twice, and once the other way round.
TREES = [
    tree_of("a/DT/det/3 big/JJ/amod/3 dog/NN/root/0"),
    tree_of("a/DT/det/3 big/JJ/amod/3 dog/NN/root/0"),
    tree_of("such/JJ/amod/3 a/DT/det/3 dog/NN/root/0"),
]
DET = Phrase("det", "DT", "<", "a", 1)
BIG = Phrase("amod", "JJ", "<", "big", 1)


def test_each_narrower_count_is_interpolated_with_the_wider_ones() -> None:
    model = train_precedence(TREES)
    # Pairs seen once are dropped, so nothing speaks for adjectives first. From a half:
    # relations (2 + 2 · .5) / (2 + 2) = .75; sizes (2 + 4 · .75) / (2 + 4) = .8333;
    # categories (2 + 4 · .8333) / 6 = .8889; words (2 + 2 · .8889) / 4 = .9444.
    assert model.probability(DET, BIG) == pytest.approx(0.94444444)
    assert model.probability(BIG, DET) == pytest.approx(1 - 0.94444444)
    # Another adjective: all but the words; they are unseen, and the prior is kept.
    other = BIG._replace(form="old")
    assert model.probability(DET, other) == pytest.approx(0.88888889)


def test_weights_are_for_sisters_on_one_side() -> None:
    model = train_precedence(TREES)
    weights = model.weights([DET, BIG, BIG._replace(side=">")])
    assert weights.shape == (4, 4)
    assert weights[0, 1] == pytest.approx(log(0.94444444))
    assert weights[1, 0] == pytest.approx(log(1 - 0.94444444))
    assert not weights[:, 2:].any()
    assert not weights[2:, :].any()


def test_phrases_know_their_size_in_classes() -> None:
    # dog [over a, cat [over the, big, old]]: sizes 6, 1, 4, 1, 1, 1 in classes 3, 1, 3, 1, 1, 1.
    nodes = [Node((form,)) for form in ("dog", "a", "cat", "the", "big", "old")]
    tree = input_tree(nodes, [-1, 0, 0, 2, 2, 2])
    supertag = parse_supertag("NN/nmod>N[_]")
    sizes = {p.form: p.size for p in phrases_of(tree, [supertag] * 6)}
    assert sizes == {"dog": 3, "a": 1, "cat": 3, "the": 1, "big": 1, "old": 1}


def test_it_survives_a_file(tmp_path: Path) -> None:
    model = train_precedence(TREES)
    save_model_file(tmp_path / "p.wpm", "test", {}, model.arrays("pairs"))
    again = PrecedenceModel.of_file(load_model_file(tmp_path / "p.wpm", "test"), "pairs")
    assert again.counts == model.counts


def test_negative_counts_are_refused() -> None:
    """They may stand in a forged file, whose hash is right."""
    arrays = {**packed_strings("weights.pairs", ["a b"]), "weights.counts": np.array([-5])}
    with pytest.raises(ValueError, match="no counts"):
        PrecedenceModel.of_file(ModelFile("realizer", {}, arrays, ""), "weights")
