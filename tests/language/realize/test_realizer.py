"""Realizers as people use them, on a toy language."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.language.realize.toy_treebank import TREES, tree_of
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet
from wellput.core.tree import Tree
from wellput.language.realize.inputs import InputKind, Node, input_tree, unordered
from wellput.language.realize.realizer import REALIZER_MODELS, Realizer


def texts(trees: list[Tree]) -> list[str]:
    return [" ".join(word.form for word in tree.words) for tree in trees]


@pytest.mark.parametrize("model", ["fergus", "fergus+"])
def test_it_puts_its_training_sentences_right(toy_models: Path, model: str) -> None:
    realizer = Realizer.load(toy_models, model=model)
    realized = [one.best[0].text for one in realizer.realize_all(TREES)]
    right = sum(a == b for a, b in zip(realized, texts(TREES), strict=True))
    assert right >= 6, realized


def test_a_new_sentence(toy_models: Path) -> None:
    realizer = Realizer.load(toy_models)
    dog = {"word": "dog", "children": [{"word": "a"}, {"word": "old"}]}
    cat = {"word": "cat", "children": [{"word": "the"}]}
    tree = {"word": "sees", "children": [{"word": "."}, cat, dog]}
    best = realizer.realize(tree)
    assert best.text in ("a old dog sees the cat .", "the cat sees a old dog .")
    assert sorted(best.nodes) == list(range(7))


@pytest.mark.parametrize("model", REALIZER_MODELS)
@pytest.mark.parametrize("kind", ["words", "labels"])
def test_the_order_of_the_input_never_shows(toy_models: Path, model: str, kind: InputKind) -> None:
    realizer = Realizer.load(toy_models, model=model)
    rng = np.random.default_rng(7)
    for tree in TREES:
        order = [int(place) for place in rng.permutation(len(tree.words))]
        places = {old + 1: new + 1 for new, old in enumerate(order)} | {0: 0}
        words = [tree.words[old] for old in order]
        shuffled = Tree(tuple(replace(word, head=places[word.head]) for word in words))
        expected = realizer.realize_all([tree], kind=kind, n_best=3)[0]
        found = realizer.realize_all([shuffled], kind=kind, n_best=3)[0]
        assert found.best == expected.best
        assert found.supertags == expected.supertags


def test_which_of_two_equal_words_was_first_does_not_show(toy_models: Path) -> None:
    realizer = Realizer.load(toy_models)
    first = tree_of("The/DT/det/2 dog/NN/nsubj/3 sees/VBZ/root/0 the/DT/det/5 cat/NN/obj/3")
    other = tree_of("the/DT/det/2 dog/NN/nsubj/3 sees/VBZ/root/0 The/DT/det/5 cat/NN/obj/3")
    assert realizer.realize(first) == realizer.realize(other)


def test_the_capital_goes_to_the_first_word(toy_models: Path) -> None:
    realizer = Realizer.load(toy_models)
    assert realizer.realize(TREES[0]).words[0] in ("The", "A")
    small = {"word": "sleeps", "children": [{"word": "dog", "children": [{"word": "the"}]}]}
    assert realizer.realize(small).text == "the dog sleeps"
    assert realizer.realize({"word": "Rome"}).text == "Rome"


def test_n_best_are_different_and_sorted(toy_models: Path) -> None:
    (realized,) = Realizer.load(toy_models, model="fergus").realize_all([TREES[3]], n_best=4)
    scores = [one.score for one in realized.best]
    assert scores == sorted(scores, reverse=True)
    assert len({one.text for one in realized.best}) == len(realized.best) > 1


def test_many_orders_of_a_flat_tree_are_found_soon(toy_models: Path) -> None:
    """The search kept `width` partial orders for each order that was asked for, and joined all pairs of
    them: 100 orders of 17 words took 20 seconds, and 1,000 did not end."""
    tree = {"word": "ran", "children": [{"word": word} for word in "abcdefghijklmnop"]}
    (realized,) = Realizer.load(toy_models, model="fergus").realize_all([tree], n_best=1000)
    assert len({one.text for one in realized.best}) == 1000
    (few,) = Realizer.load(toy_models, model="fergus").realize_all([tree], n_best=2)
    assert realized.best[0].score >= few.best[0].score - 1e-9


def test_the_choice_among_words_is_scored(toy_models: Path) -> None:
    # The n-gram model knows "dog sleeps", not "house sleeps", and no hound at all.
    tree = {"word": "sleeps", "children": [
        {"words": ["house", "hound", "dog"], "children": [{"word": "the"}]}]}  # fmt: skip
    for model in ("fergus", "fergus+"):
        realizer = Realizer.load(toy_models, model=model)
        assert realizer.realize(tree).text == "the dog sleeps"


def test_a_system_for_an_evalset(toy_models: Path) -> None:
    realizer = Realizer.load(toy_models, model="fergus")
    evalset = EvalSet.of({"A": texts(TREES)}, texts(TREES), trees=TREES)
    grown = realizer.add_to(evalset)
    assert grown.systems == ("A", "fergus")
    assert grown.items[0].outputs["fergus"] == realizer.realize(TREES[0]).text
    assert grown.items[0].outputs["A"] == evalset.items[0].outputs["A"]


def test_unknown_words_only(toy_models: Path) -> None:
    nodes = [Node((form,)) for form in ("qwzx", "ΩΩ", "🙂", "\x00")]
    realized = Realizer.load(toy_models).realize(input_tree(nodes, [-1, 0, 0, 1]))
    assert sorted(realized.words) == sorted(["qwzx", "ΩΩ", "🙂", "\x00"])


@pytest.mark.heavy
@pytest.mark.parametrize("model", REALIZER_MODELS)
def test_a_head_with_many_daughters(toy_models: Path, model: str) -> None:
    forms = ["sees", *(f"word{i % 40}" for i in range(200))]
    tree = input_tree([Node((form,)) for form in forms], [-1, *[0] * 200])
    (realized,) = Realizer.load(toy_models, model=model).realize_all([tree])
    assert sorted(realized.best[0].words) == sorted(forms)
    assert not realized.is_exact


def test_a_deep_tree(toy_models: Path) -> None:
    tree = input_tree([Node(("dog",))] * 300, list(range(-1, 299)))
    assert len(Realizer.load(toy_models).realize(tree).words) == 300


def test_what_cannot_be_loaded_is_named(toy_models: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no realizer 'fergu'. Did you mean fergus"):
        Realizer.load(toy_models, model="fergu")
    with pytest.raises(InputError, match=r"holds no realizer.wpm"):
        Realizer.load(tmp_path)
    with pytest.raises(InputError, match="no grammar 'xtag'"):
        Realizer.load(toy_models, model="fergus", grammar="xtag")
    with pytest.raises(InputError, match="n_best=0"):
        Realizer.load(toy_models).realize_all([], n_best=0)
    with pytest.raises(InputError, match="one root, this one has 2"):
        Realizer.load(toy_models).realize(tree_of("a/DT/det/0 b/DT/det/0"))


def test_threads_change_nothing(toy_models: Path) -> None:
    realizer = Realizer.load(toy_models)
    many = [unordered(tree) for tree in TREES * 5]
    one, four = (realizer.realize_all(many, threads=n) for n in (1, 4))
    assert [r.best for r in one] == [r.best for r in four]
