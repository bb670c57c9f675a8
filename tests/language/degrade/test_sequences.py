"""Sentences glued from sequences of a corpus."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.core.errors import InputError
from wellput.language.degrade.corpus import TaggedCorpus
from wellput.language.degrade.sequences import SequenceGenerator

TEXT = [
    ["A", "dog", "saw", "the", "old", "cat", "."],
    ["The", "old", "man", "saw", "a", "dog", "."],
    ["A", "man", "met", "the", "cat", "at", "noon", "."],
    ["The", "cat", "met", "a", "man", "and", "a", "dog", "!"],
]


def windows(sentence: list[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(sentence[i : i + size]) for i in range(len(sentence) - size + 1)]


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_pieces_come_from_their_places_in_the_corpus(size: int) -> None:
    corpus = TaggedCorpus.of([*TEXT, ["She", "saw", "him", "there", "today", "."]])
    generator = SequenceGenerator(corpus, size=size, length=6)
    pairs = {pair for sentence in TEXT for pair in windows(sentence, 2)}
    pairs |= set(windows(["She", "saw", "him", "there", "today", "."], 2))
    every = [*TEXT, ["She", "saw", "him", "there", "today", "."]]
    rng = np.random.default_rng(4)
    for words in generator.generate(1 if size == 6 else 50, rng):
        assert len(words) == 6
        pieces = [tuple(words[i : i + size]) for i in range(0, 6, size)]
        assert pieces[0] in {windows(sentence, size)[0] for sentence in every}
        assert pieces[-1] in {windows(sentence, size)[-1] for sentence in every}
        inner = {window for sentence in every for window in windows(sentence[1:-1], size)}
        assert all(piece in inner for piece in pieces[1:-1])
        # Pieces are joined by pairs of the corpus.
        assert all((a[-1], b[0]) in pairs for a, b in pairwise(pieces))


def test_whole_sentences_come_once_each() -> None:
    corpus = TaggedCorpus.of(TEXT)
    generator = SequenceGenerator(corpus, size=7, length=7)
    found = generator.generate(2, np.random.default_rng(0))
    assert sorted(found) == sorted(sentence for sentence in TEXT if len(sentence) == 7)
    with pytest.raises(InputError, match=r"has 2 sentences of 7 words; n=3 needs more"):
        generator.generate(3, np.random.default_rng(0))


def test_the_next_word_follows_the_bigram_probability() -> None:
    # After b come c three times and d once; c and d both end sentences.
    corpus = TaggedCorpus.of([["a", "b", "c"]] * 3 + [["a", "b", "d"]])
    generator = SequenceGenerator(corpus, size=1, length=3)
    counts = Counter(words[-1] for words in generator.generate(4000, np.random.default_rng(1)))
    assert counts["c"] / 4000 == pytest.approx(0.75, abs=0.03)  # 4 standard errors


def test_the_literal_reading_starts_anywhere() -> None:
    corpus = TaggedCorpus.of([["a", "b", "c"], ["d", "e", "f"]])
    generator = SequenceGenerator(corpus, size=2, length=2, boundary="literal")
    found = {tuple(words) for words in generator.generate(200, np.random.default_rng(0))}
    assert found == {("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f")}


def test_same_seed_same_sentences() -> None:
    generator = SequenceGenerator(TaggedCorpus.of(TEXT), size=2, length=6)
    first = generator.generate(20, np.random.default_rng(7))
    assert first == generator.generate(20, np.random.default_rng(7))
    assert first != generator.generate(20, np.random.default_rng(8))


def test_what_cannot_be() -> None:
    corpus = TaggedCorpus.of(TEXT)
    with pytest.raises(InputError, match=r"must be one of 1, 2, 3, 4, 6, 8, 12, 24"):
        SequenceGenerator(corpus, size=5)
    with pytest.raises(InputError, match="no sentence of 24 words"):
        SequenceGenerator(corpus, size=24)
    with pytest.raises(InputError, match="too small"):
        SequenceGenerator(corpus, size=12)
    with pytest.raises(InputError, match="too small to join"):
        SequenceGenerator(TaggedCorpus.of([["a", "b"]]), size=1, length=3).generate(
            1, np.random.default_rng(0)
        )
    with pytest.raises(InputError, match="no sentence"):
        TaggedCorpus.of([[], []])


@given(
    st.lists(st.lists(st.sampled_from("abc"), max_size=6), min_size=1),
    st.sampled_from([1, 2, 3, 6]),
    st.sampled_from(["sentence", "literal"]),
)
def test_any_corpus_gives_sentences_or_says_why(
    sentences: list[list[str]], size: int, boundary: str
) -> None:
    try:
        corpus = TaggedCorpus.of(sentences)
        generator = SequenceGenerator(corpus, size=size, length=6, boundary=boundary)  # type: ignore[arg-type]
        (words,) = generator.generate(1, np.random.default_rng(0))
    except InputError:
        return
    assert len(words) == 6
