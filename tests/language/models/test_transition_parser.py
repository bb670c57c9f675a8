"""The transition parser: its moves and its oracle against brute force, its trees on any input."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language.models import arc_hybrid_oracle as oracle
from tests.language.trees.trees_drawn import is_tree
from wellput import _native
from wellput.core.errors import InputError
from wellput.core.tree import Tree, Word
from wellput.io.model_files import save_model_file
from wellput.language.models.tagger import Tagger
from wellput.language.models.transition_parser import TransitionParser, hints_of
from wellput.language.trees.projectivity import is_projective

LONGEST = 4


def tree_of(heads: tuple[int, ...]) -> Tree:
    return Tree(tuple(Word(f"w{place}", head) for place, head in enumerate(heads)))


def projective_trees(n: int) -> list[tuple[int, ...]]:
    return [
        heads
        for heads in product(range(n + 1), repeat=n)
        if heads.count(0) == 1 and is_tree(list(heads)) and is_projective(tree_of(heads))
    ]


def arcs_of(heads: tuple[int, ...]) -> frozenset[tuple[int, int]]:
    return frozenset(enumerate(heads, start=1))


@pytest.mark.parametrize("n", range(1, LONGEST + 1))
def test_the_moves_reach_every_projective_tree_with_one_root_and_no_other(n: int) -> None:
    reached = oracle.trees_from(oracle.initial(), n)
    assert reached == {arcs_of(heads) for heads in projective_trees(n)}


@pytest.mark.parametrize("n", range(1, LONGEST + 1))
def test_a_move_costs_the_arcs_it_puts_out_of_reach(n: int) -> None:
    """In every state that can be reached, and for every projective tree."""
    for heads in projective_trees(n):
        gold = arcs_of(heads)
        waiting: list[tuple[list[int], oracle.State]] = [([], oracle.initial())]
        while waiting:
            made, state = waiting.pop()
            before = oracle.best_overlap(state, n, gold)
            expected = [-1, -1, -1]
            for move, after in oracle.moves(state, n):
                expected[move] = before - oracle.best_overlap(after, n, gold)
                waiting.append(([*made, move], after))
            found = _native.arc_hybrid_costs(np.array(heads, np.int32), np.array(made, np.int32))
            assert found == expected, (heads, made)


def sentence(text: str) -> tuple[Tree, list[str]]:
    """`form/tag/head/relation` for each word."""
    rows = [part.split("/") for part in text.split()]
    words = (Word(form, int(head), xpos=tag, relation=rel) for form, tag, head, rel in rows)
    return Tree(tuple(words)), [row[1] for row in rows]


TREEBANK = [
    sentence("The/D/2/det dog/N/3/nsubj barks/V/0/root"),
    sentence("A/D/2/det cat/N/3/nsubj sees/V/0/root the/D/5/det dog/N/3/obj"),
    sentence("The/D/3/det old/A/3/amod cat/N/4/nsubj sleeps/V/0/root here/R/4/advmod"),
    sentence("Sleep/V/0/root"),
]


def trained(seed: int = 1) -> TransitionParser:
    trees, tags = zip(*TREEBANK, strict=True)
    hints = [hints_of(tree) for tree in trees]
    words = [[word.form for word in tree.words] for tree in trees]
    hinter = Tagger.train(list(zip(words, hints, strict=True)), min_updates=1)
    return TransitionParser.train(trees, tags, hints, hinter, min_updates=1, seed=seed)


def test_the_parser_learns_its_trees_and_parses_others() -> None:
    parser = trained()
    for tree, tags in TREEBANK:
        (found,) = parser.arcs([[word.form for word in tree.words]], [tags])
        assert found == [(word.head, word.relation) for word in tree.words]
    # Parts of the second and of the third tree.
    (found,) = parser.arcs([["The", "old", "cat", "sees", "the", "dog"]], [list("DANVDN")])
    assert [arc.head for arc in found] == [3, 3, 4, 0, 6, 4]


def test_hints_are_relations_with_the_side_of_the_head() -> None:
    assert hints_of(TREEBANK[0][0]) == ["det>", "nsubj>", "root="]
    assert hints_of(TREEBANK[1][0])[-1] == "obj<"


forms = st.text(alphabet=st.sampled_from("aB0.é😀\x00\u202e\ud800"), max_size=3)


@given(st.lists(st.lists(st.tuples(forms, st.sampled_from("DANVRX")), max_size=12), max_size=4))
def test_any_input_gives_a_projective_tree_with_one_root(
    sentences: list[list[tuple[str, str]]],
) -> None:
    words = [[form for form, _ in one] for one in sentences]
    tags = [[tag for _, tag in one] for one in sentences]
    parser = trained_once()
    found = parser.arcs(words, tags, threads=2)
    assert found == parser.arcs(words, tags)
    for own, arcs in zip(words, found, strict=True):
        heads = tuple(arc.head for arc in arcs)
        assert len(heads) == len(own)
        if heads:
            assert heads.count(0) == 1
            assert is_tree(list(heads))
            assert is_projective(tree_of(heads))


KEPT: list[TransitionParser] = []


def trained_once() -> TransitionParser:
    if not KEPT:
        KEPT.append(trained())
    return KEPT[0]


def test_long_sentences_and_long_words() -> None:
    found = trained_once().arcs([["x"] * 20_000, ["y" * 1_000_000]], [["N"] * 20_000, ["N"]])
    assert [len(arcs) for arcs in found] == [20_000, 1]


def test_saved_and_loaded_it_is_the_same_and_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "a.wpm", tmp_path / "b.wpm"
    trained().save(first, {"data": "four trees"})
    trained().save(second, {"data": "four trees"})
    assert first.read_bytes() == second.read_bytes()
    loaded = TransitionParser.load(first)
    assert loaded.fingerprint == trained().fingerprint
    assert loaded.card == {"data": "four trees"}
    assert loaded.word_analysis.category("dog", "N", "nsubj") == "_"
    tree, tags = TREEBANK[1]
    words = [word.form for word in tree.words]
    assert loaded.arcs([words], [tags]) == trained().arcs([words], [tags])


def test_what_is_no_parser_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.wpm"
    arrays = {**trained().arrays(), "weights": np.array([0x80], np.uint8)}
    save_model_file(path, "transition-parser", {}, arrays)
    with pytest.raises(InputError, match="damaged"):
        TransitionParser.load(path)
    with pytest.raises(InputError, match="no trees"):
        TransitionParser.train([], [], [], trained_once().hinter)
    with pytest.raises(ValueError, match="tag is needed"):
        trained_once().arcs([["a", "b"]], [["N"]])
