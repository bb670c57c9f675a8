from __future__ import annotations

from itertools import combinations, pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellput import _native
from wellput.core.errors import InputError
from wellput.language.paraphrase.bigrams import count_pairs
from wellput.language.paraphrase.corpus_index import index_corpus
from wellput.language.paraphrase.similar_words import bigrams, frequent_words, train_brown


def information(text: list[list[int]], class_of: dict[int, int]) -> float:
    """Σ x ln x − Σ l ln l − Σ r ln r over the classes of neighboring words that have one."""
    cells: dict[tuple[int, int], int] = {}
    for sentence in text:
        for a, b in pairwise(sentence):
            if a in class_of and b in class_of:
                key = class_of[a], class_of[b]
                cells[key] = cells.get(key, 0) + 1
    left: dict[int, int] = {}
    right: dict[int, int] = {}
    for (a, b), n in cells.items():
        left[a] = left.get(a, 0) + n
        right[b] = right.get(b, 0) + n
    return sum(n * log(n) for n in cells.values()) - sum(
        n * log(n) for n in (*left.values(), *right.values())
    )


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=8), min_size=1, max_size=8),
    st.integers(1, 4),
)
def test_every_merge_loses_least(text: list[list[int]], classes: int) -> None:
    index = index_corpus([[" ".join(f"w{chr(97 + n)}" for n in row) for row in text]])
    order = frequent_words(index, 100)
    number = {index.words[n]: place for place, n in enumerate(order)}
    numbered = [[number[f"w{chr(97 + n)}"] for n in row] for row in text]
    after, before = bigrams(index, order)
    found, merges = _native.brown_clusters(*after, *before, classes)

    class_of: dict[int, int] = {}
    steps = iter(merges)
    for word in range(len(order)):
        class_of[word] = word
        if word < classes:
            continue
        first, second = next(steps)
        now = information(numbered, class_of)
        losses = {
            pair: now - information(numbered, _merged(class_of, *pair))
            for pair in combinations(sorted(set(class_of.values())), 2)
        }
        pair = tuple(sorted((class_of[first], class_of[second])))
        assert losses[pair] == pytest.approx(min(losses.values()), abs=1e-6)  # type: ignore[index]
        class_of = _merged(class_of, class_of[first], class_of[second])
    same = {(a, b): class_of[a] == class_of[b] for a in class_of for b in class_of}
    assert same == {(a, b): found[a] == found[b] for a in class_of for b in class_of}


def test_pairs_are_the_same_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    # a b, b a and a b: "a" ends a sentence before another "a", which is no pair; "c" is not asked for.
    index = index_corpus([["a b a", "a b c"]])
    words = [index.number_of["a"], index.number_of["b"]]
    for size in (1, 3, 4, 100):
        monkeypatch.setattr("wellput.language.paraphrase.bigrams.PART_TOKENS", size)
        first, second, counts = count_pairs(index, words)
        assert [first.tolist(), second.tolist(), counts.tolist()] == [[0, 1], [1, 0], [2, 1]]


def _merged(class_of: dict[int, int], a: int, b: int) -> dict[int, int]:
    return {word: a if own == b else own for word, own in class_of.items()}


def test_words_used_alike_share_a_class() -> None:
    text = [
        f"the {animal} {verb} the {thing}"
        for animal in ("cat", "dog", "bird")
        for verb in ("sees", "wants", "finds")
        for thing in ("ball", "stick", "bone")
    ]
    index = index_corpus([text])
    words = frequent_words(index, 10)
    classes = dict(
        zip((index.words[n] for n in words), train_brown(index, words, classes=4), strict=True)
    )
    assert classes["cat"] == classes["dog"] == classes["bird"]
    assert classes["ball"] == classes["stick"] == classes["bone"]
    assert len(set(classes.values())) == 4
    with pytest.raises(InputError, match="too small for 20 Brown classes"):
        train_brown(index, words, classes=20)


def test_classes_are_numbered_from_the_most_frequent_word() -> None:
    index = index_corpus([["a b a b a c", "a c"]])
    words = frequent_words(index, 3)
    found = train_brown(index, words, classes=3)
    assert found.tolist() == [0, 1, 2]
    assert found.dtype == np.uint16
