"""The chart against every forest spelled out, on trees written here."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.language.models.head_driven_oracle import Oracle, log_sum
from wellput.core.tree import Tree, Word
from wellput.io.model_files import unpacked_strings
from wellput.language.models.head_driven import chart_kernel
from wellput.language.models.head_driven_training import tree_arrays

CONTINUING = 0.01


def tree(*rows: str) -> Tree:
    """Each row is `form XPOS head relation`."""
    words = []
    for row in rows:
        form, xpos, head, relation = row.split()
        words.append(Word(form, int(head), xpos=xpos, relation=relation))
    return Tree(tuple(words))


TREES = [
    tree("the DT 2 det", "dog NN 3 nsubj", "barks VBZ 0 root"),
    tree("a DT 2 det", "cat NN 3 nsubj", "sleeps VBZ 0 root", "in IN 6 case", "the DT 6 det",
         "house NN 3 obl"),
    tree("dogs NNS 2 nsubj", "see VBP 0 root", "the DT 4 det", "cat NN 2 obj", ". . 2 punct"),
    tree("the DT 2 det", "cat NN 3 nsubj", "sees VBZ 0 root", "dogs NNS 3 obj", "in IN 7 case",
         "the DT 7 det", "house NN 4 nmod"),
    tree("sleep VB 0 root"),
]  # fmt: skip
MODEL = tree_arrays(TREES)


def run(
    words: list[int], choices: list[list[int]], *, reach: int = 60
) -> tuple[NDArray[np.float64], list[int], list[int]]:
    heads, tags = np.zeros(len(words), np.int32), np.zeros(len(words), np.int32)
    starts = np.cumsum([0, *map(len, choices)], dtype=np.int64)
    flat = np.array([tag for own in choices for tag in own], np.int32)
    rows = chart_kernel(MODEL, CONTINUING).parse(
        np.array([0, len(words)]),
        np.array(words, np.int32),
        starts,
        flat,
        np.ones(len(flat), np.float32),
        heads,
        tags,
        (120 if reach == 60 else 0, reach),
        1,
    )
    return rows[0], heads.tolist(), tags.tolist()


def lattices() -> st.SearchStrategy[list[tuple[int, list[int]]]]:
    tags = st.lists(
        st.integers(0, len(MODEL["tags.class"]) - 1), min_size=1, max_size=2, unique=True
    )
    word = st.tuples(st.integers(1, len(MODEL["words.unigrams"]) - 1), tags)
    return st.lists(word, min_size=1, max_size=3)


@settings(max_examples=40, deadline=None)
@given(lattices())
def test_sum_and_best_are_those_of_all_forests(lattice: list[tuple[int, list[int]]]) -> None:
    words, choices = [word for word, _ in lattice], [tags for _, tags in lattice]
    oracle = Oracle(MODEL, continuing=CONTINUING)
    analyses = list(oracle.analyses(words, choices))
    row, heads, tags = run(words, choices)
    assert row[0] == pytest.approx(log_sum([p for _, _, p in analyses]), abs=1e-4)
    assert row[1] == pytest.approx(np.log(max(p for _, _, p in analyses)), abs=1e-4)
    assert np.log(oracle.probability(words, tags, heads)) == pytest.approx(row[1], abs=1e-4)


def test_five_words() -> None:
    numbers = {word: n for n, word in enumerate(unpacked_strings(MODEL, "words"))}
    words = [numbers[form] for form in ("the", "cat", "<xx-s>", "the", "house")]
    tags = {tag: n for n, tag in enumerate(unpacked_strings(MODEL, "tags"))}
    choices = [[tags[t] for t in own.split()] for own in (
        "DT/dep", "NN/dep", "VBZ/dep", "DT/dep", "NN/dep")]  # fmt: skip
    oracle = Oracle(MODEL, continuing=CONTINUING)
    analyses = list(oracle.analyses(words, choices))
    row, heads, _ = run(words, choices)
    assert row[0] == pytest.approx(log_sum([p for _, _, p in analyses]), abs=1e-4)
    assert row[1] == pytest.approx(np.log(max(p for _, _, p in analyses)), abs=1e-4)
    assert heads == list(max(analyses, key=lambda analysis: analysis[2])[0])


def test_no_arc_reaches_further_than_the_limit() -> None:
    words = [1, 2, 3, 1, 2, 3, 1, 2]
    _, heads, _ = run(words, [[0, 1]] * len(words), reach=2)
    assert all(head == 0 or abs(head - n) <= 2 for n, head in enumerate(heads, start=1))
