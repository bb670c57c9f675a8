"""The tree model against its oracle, and what it must not depend on."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language.models.tree_oracle import Oracle, all_choices
from wellput.core.errors import InputError
from wellput.core.tree import Tree, Word
from wellput.io.model_files import save_model_file
from wellput.language.models.tree_model import (
    ChoosingMethod,
    TreeModel,
    UnorderedTree,
    without_order,
)
from wellput.language.models.word_analysis import widening_shapes
from wellput.language.trees.supertags import induce_supertags

# word/tag/relation/head
SENTENCES = """
The/DT/det/2 dog/NN/nsubj/3 barked/VBD/root/0 ././punct/3
A/DT/det/3 small/JJ/amod/3 cat/NN/nsubj/4 saw/VBD/root/0 the/DT/det/6 dog/NN/obj/4 ././punct/4
It/PRP/nsubj/3 has/VBZ/aux/3 barked/VBN/root/0 at/IN/case/6 the/DT/det/6 cat/NN/obl/3 ././punct/3
There/EX/expl/2 was/VBD/root/0 no/DT/det/4 cat/NN/nsubj/2
She/PRP/nsubj/3 never/RB/advmod/3 saw/VBD/root/0 it/PRP/obj/3 and/CC/cc/6 left/VBD/conj/3
The/DT/det/3 old/JJ/amod/3 dog/NN/nsubj/5 is/VBZ/cop/5 tired/JJ/root/0 today/NN/obl/5 ././punct/5
Did/VBD/aux/3 you/PRP/nsubj/3 see/VB/root/0 the/DT/det/5 cat/NN/obj/3 ?/./punct/3
The/DT/det/2 dog/NN/nsubj/3 saw/VBD/root/0 a/DT/det/5 man/NN/obj/3 with/IN/case/7 hats/NNS/nmod/5
"""


def tree_of(line: str) -> Tree:
    words = []
    for token in line.split():
        form, tag, relation, head = token.rsplit("/", 3)
        words.append(Word(form, int(head), xpos=tag, relation=relation))
    return Tree(tuple(words))


TREES = [tree_of(line) for line in SENTENCES.strip().split("\n")]
MODEL = TreeModel.train(TREES)
ORACLE = Oracle(TREES)
METHODS: list[ChoosingMethod] = ["exact", "top-down", "alone"]
FORMS = ["the", "dog", "saw", "it", "barked", "cat", ".", "Zebras", "walked", "17", "never"]


@st.composite
def small_trees(draw: st.DrawFn) -> UnorderedTree:
    n = draw(st.integers(1, 4))
    heads = [0, *(draw(st.integers(1, number)) for number in range(1, n))]
    order = draw(st.permutations(range(n)))
    place = {0: 0, **{old + 1: new + 1 for new, old in enumerate(order)}}
    form = st.sampled_from(FORMS) | st.text(max_size=4)
    forms = draw(st.lists(form, min_size=n, max_size=n))
    return UnorderedTree(tuple(forms), tuple(place[heads[old]] for old in order))


def test_one_word_by_hand() -> None:
    model = TreeModel.train([tree_of("go/VB/root/0")])
    [[choice]] = model.choose([UnorderedTree(("go",), (0,))])
    # Everything was seen once, so each level is (1 + w * wider) / (1 + w), with the weights w of
    # WEIGHTS and next to nothing at the widest, but 1/9 for the number of adjuncts.
    role = 1 / 3  # w 2
    lexeme = (1 + 5 * 1 / 2) / 6  # w 1, 5
    frame = (1 + 5 * (1 + 2.5 * (1 + 1 / 2) / 2) / 3.5) / 6  # w 1, 1, 2.5, 5
    adjuncts = (1 + 5 * (1 + (1 + 1 / 9) / 2) / 2) / 6  # w 1, 1, 5
    assert choice.log_prob == pytest.approx(math.log(role * lexeme * frame * adjuncts), abs=1e-4)


@given(small_trees())
def test_exact_is_the_best_of_all_choices(tree: UnorderedTree) -> None:
    width, n_best = 6, 3
    candidates = [
        [candidate.supertag for candidate in own]
        for own in MODEL.candidates(tree, candidates=width)
    ]
    every = sorted(
        (ORACLE.log_prob(tree, choice) for choice in all_choices(candidates)), reverse=True
    )
    [found] = MODEL.choose([tree], n_best=n_best, candidates=width)
    assert [choice.log_prob for choice in found] == pytest.approx(every[:n_best])
    assert len({choice.supertags for choice in found}) == len(found)
    for choice in found:
        assert ORACLE.log_prob(tree, choice.supertags) == pytest.approx(choice.log_prob)


@given(small_trees())
def test_other_methods_make_choices_that_are_no_better_than_exact(tree: UnorderedTree) -> None:
    [[exact]] = MODEL.choose([tree])
    for method in METHODS:
        [[choice]] = MODEL.choose([tree], method=method)
        assert choice.log_prob == pytest.approx(ORACLE.log_prob(tree, choice.supertags))
        assert choice.log_prob <= exact.log_prob + 1e-9
    [rows] = MODEL.log_probs([tree], [exact.supertags])
    assert rows.sum() == pytest.approx(exact.log_prob)


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_the_input_never_matters(method: ChoosingMethod) -> None:
    rng = random.Random(3)
    for tree in TREES:
        words = without_order(tree)
        [[before]] = MODEL.choose([words], method=method)
        order = list(range(len(words.forms)))
        for _ in range(5):
            rng.shuffle(order)
            place = {0: 0, **{old + 1: new + 1 for new, old in enumerate(order)}}
            moved = UnorderedTree(
                tuple(words.forms[old] for old in order),
                tuple(place[words.heads[old]] for old in order),
            )
            [[after]] = MODEL.choose([moved], method=method)
            assert after.log_prob == before.log_prob
            assert after.supertags == tuple(before.supertags[old] for old in order)


def test_trees_like_those_learned_come_back() -> None:
    found = MODEL.choose([without_order(tree) for tree in TREES])
    right = [
        supertag == gold
        for tree, [choice] in zip(TREES, found, strict=True)
        for supertag, gold in zip(choice.supertags, induce_supertags(tree), strict=True)
    ]
    assert sum(right) >= 0.9 * len(right)


def test_labels_restrict_what_is_chosen() -> None:
    words = UnorderedTree(("saw", "dog"), (0, 1), ("VBD", "NN"), ("root", "obj"))
    [[choice]] = MODEL.choose([words])
    assert [str(supertag) for supertag in choice.supertags][1].startswith("NN/obj>V")
    # A relation that the model never saw with this category restricts nothing.
    strange = UnorderedTree(("saw", "dog"), (0, 1), ("VBD", "NN"), ("root", "aux"))
    [[choice]] = MODEL.choose([strange])
    assert choice.supertags[1].category == "NN"


def test_labels_tell_equal_words_apart() -> None:
    # Two equal words, one known to be the object: it is not the order of the list that decides.
    forms, heads = ("saw", "it", "it"), (0, 1, 1)
    [[one]] = MODEL.choose([UnorderedTree(forms, heads, None, (None, "nsubj", "obj"))])
    [[two]] = MODEL.choose([UnorderedTree(forms, heads, None, (None, "obj", "nsubj"))])
    assert one.log_prob == two.log_prob
    assert one.supertags == (two.supertags[0], two.supertags[2], two.supertags[1])
    assert (one.supertags[1].relation, one.supertags[2].relation) == ("nsubj", "obj")


def test_threads_and_batches_change_nothing() -> None:
    words = [without_order(tree) for tree in TREES] * 20
    alone = [MODEL.choose([tree])[0] for tree in words]
    assert MODEL.choose(words, threads=4) == alone
    assert MODEL.choose([]) == []


def test_saved_and_loaded(tmp_path: Path) -> None:
    MODEL.save(tmp_path / "a.wpm")
    TreeModel.train(TREES).save(tmp_path / "b.wpm")
    assert (tmp_path / "a.wpm").read_bytes() == (tmp_path / "b.wpm").read_bytes()
    loaded = TreeModel.load(tmp_path / "a.wpm")
    words = [without_order(tree) for tree in TREES]
    assert loaded.choose(words) == MODEL.choose(words)
    assert loaded.fingerprint == MODEL.fingerprint
    assert loaded.card["trees"] == len(TREES)
    without = {name: array for name, array in MODEL.arrays().items() if name != "weights"}
    save_model_file(tmp_path / "old.wpm", TreeModel.kind, {}, without)
    with pytest.raises(InputError, match="train it again"):
        TreeModel.load(tmp_path / "old.wpm")


@settings(max_examples=50)
@given(st.lists(st.text(), min_size=1, max_size=6))
def test_any_words_get_supertags(forms: list[str]) -> None:
    tree = UnorderedTree(tuple(forms), (0, *range(1, len(forms))))
    [[choice]] = MODEL.choose([tree])
    assert len(choice.supertags) == len(forms)
    assert not choice.supertags[0].side and all(t.side for t in choice.supertags[1:])


def test_a_head_with_two_hundred_daughters() -> None:
    tree = UnorderedTree(("saw", *["dog", "it"] * 100), (0, *[1] * 200))
    [[choice]] = MODEL.choose([tree])
    assert len(choice.supertags) == 201


def test_bad_input() -> None:
    one_choice_methods: list[ChoosingMethod] = ["top-down", "alone"]
    for method in one_choice_methods:
        with pytest.raises(InputError, match="one choice"):
            MODEL.choose([without_order(TREES[0])], method=method, n_best=2)
    with pytest.raises(InputError, match="does not know"):
        MODEL.log_probs([UnorderedTree(("a",), (0,))], [induce_supertags(tree_of("a/Z/root/0"))])
    with pytest.raises(InputError, match="one supertag"):
        MODEL.log_probs([UnorderedTree(("a", "b"), (0, 1))], [MODEL.supertags[:1]])
    with pytest.raises(InputError, match="usable root"):
        TreeModel.train([])


def test_shapes() -> None:
    assert widening_shapes("Unfriending") == ("Aa+ing", "Aa+g", "Aa", "")
    assert widening_shapes("NASA") == ("A+asa", "A+a", "A", "")
    assert widening_shapes("3rd") == ("0a", "0", "")
    assert widening_shapes("a@b.com") == ("address", "")
    assert widening_shapes("") == (".", ".", "")
