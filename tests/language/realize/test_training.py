"""Training a realizer, and the tuning of its weight."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.language.realize.toy_treebank import TREES, tree_of
from wellput.language.models.ngram_files import load_model
from wellput.language.models.tree_model import TreeModel
from wellput.language.realize.parameters import RealizerParameters
from wellput.language.realize.training import FERGUS_NGRAM_WEIGHTS, neighbors_kept, train_realizer


def test_neighbors_kept_by_hand() -> None:
    tree = tree_of("The/DT/det/2 dog/NN/nsubj/3 sleeps/VBZ/root/0")
    # Wanted: ^the, the dog, dog sleeps, sleeps$. "dog the sleeps" has only the last.
    assert neighbors_kept([["the", "dog", "sleeps"]], [tree]) == 1
    assert neighbors_kept([["dog", "the", "sleeps"]], [tree]) == 0.25


def test_the_weight_that_realizes_the_sample_best_is_kept(toy_models: Path) -> None:
    tree_model = TreeModel.load(toy_models / "tree.wpm")
    ngrams = load_model(toy_models / "ngrams.wlm")
    model = train_realizer(TREES, sample=TREES, tree_model=tree_model, ngrams=ngrams)
    tuned = model.card["neighbors_kept"]
    assert list(tuned) == [f"{weight:g}" for weight in FERGUS_NGRAM_WEIGHTS]
    assert tuned[f"{model.lm_weight:g}"] == max(tuned.values())


def test_the_same_trees_give_the_same_file(toy_models: Path, tmp_path: Path) -> None:
    model = RealizerParameters.load(toy_models / "realizer.wpm")
    model.save(tmp_path / "again.wpm")
    assert (tmp_path / "again.wpm").read_bytes() == (toy_models / "realizer.wpm").read_bytes()
    assert RealizerParameters.load(tmp_path / "again.wpm").fingerprint == model.fingerprint
    assert model.lm_weight == pytest.approx(1.0)
