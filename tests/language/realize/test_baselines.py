"""LR and the floors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wellput.core.tree import Tree, Word
from wellput.io.model_files import ModelFile, load_model_file, packed_strings, save_model_file
from wellput.language.realize.baselines import (
    LeftRight,
    RandomTrees,
    random_order,
    random_permutation,
    train_left_right,
)
from wellput.language.realize.inputs import Node, input_tree


def sentence(text: str) -> Tree:
    """A chain: every word hangs on the one before it."""
    return Tree(tuple(Word(form, head) for head, form in enumerate(text.split())))


@pytest.mark.parametrize("kind", ["uniform", "projective"])
def test_lr_learns_the_order_of_pairs_whatever_the_tree(kind: RandomTrees) -> None:
    trees = [sentence("the cat sat"), sentence("cat slept")] * 50
    model = train_left_right(trees, rng=np.random.default_rng(1), random_trees=kind)
    assert model.places("cat", "the") == (0,)
    assert model.places("the", "cat") == (2,)
    assert model.places("sat", "cat") == (0,)
    assert model.places("slept", "the") == (0, 2)  # never met in one sentence
    assert model.places("yak", "the") == (0, 2)


def test_lr_survives_a_file(tmp_path: Path) -> None:
    model = train_left_right([sentence("the cat sat")] * 20, rng=np.random.default_rng(1))
    save_model_file(tmp_path / "lr.wpm", "test", {}, model.arrays("lr"))
    again = LeftRight.of_file(load_model_file(tmp_path / "lr.wpm", "test"), "lr")
    assert [again.side("cat", word) for word in ("the", "sat", "cat")] == [-1, 1, 0]


def test_random_order_keeps_phrases_together_and_uses_every_order() -> None:
    # b over a and c, c over d: 6 orders of {a, b, [c d]} times 2 of {c, d}.
    tree = input_tree([Node((form,)) for form in "bacd"], [-1, 0, 0, 2])
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(400):
        order = random_order(tree, rng, model=None)
        forms = "".join(tree.nodes[node].form for node in order)
        assert "cd" in forms or "dc" in forms
        seen.add(forms)
    assert len(seen) == 12


def test_random_order_puts_daughters_where_lr_wants_them() -> None:
    model = train_left_right([sentence("the cat sat")] * 50, rng=np.random.default_rng(1))
    tree = input_tree([Node((form,)) for form in ("cat", "the", "sat")], [-1, 0, 0])
    rng = np.random.default_rng(3)
    orders = {
        tuple(tree.nodes[n].form for n in random_order(tree, rng, model=model)) for _ in range(9)
    }
    assert orders == {("the", "cat", "sat")}


def test_a_permutation_has_every_node_once() -> None:
    tree = input_tree([Node((form,)) for form in "abcde"], [-1, 0, 0, 1, 1])
    assert sorted(random_permutation(tree, np.random.default_rng(0))) == [0, 1, 2, 3, 4]


def test_pairs_without_a_side_are_refused() -> None:
    """They may stand in a forged file, whose hash is right."""
    arrays = {
        **packed_strings("lr.lexemes", ["a"]),
        "lr.pairs": np.zeros(2, np.uint32),
        "lr.sides": np.zeros(1, np.int8),
    }
    with pytest.raises(ValueError, match="needs a side"):
        LeftRight.of_file(ModelFile("realizer", {}, arrays, ""), "lr")
