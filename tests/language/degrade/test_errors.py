"""Mistakes put into sentences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.core.errors import InputError
from wellput.language.degrade.corpus import TaggedCorpus
from wellput.language.degrade.errors import ErrorGenerator

SENTENCES = [
    ["The", "walkers", "walked", "to", "the", "old", "church", "in", "the", "morning", "."],
    ["She", "is", "walking", "with", "a", "friend", "who", "walks", "every", "day", "."],
]


def test_every_sentence_has_a_mistake_and_stays_near_its_source() -> None:
    made = ErrorGenerator(TaggedCorpus.of(SENTENCES), length=None).generate(
        300, np.random.default_rng(1)
    )
    originals = {tuple(sentence) for sentence in SENTENCES}
    assert not any(tuple(words) in originals for words in made)
    for words in made:
        assert max(len({*words} & {*sentence}) for sentence in SENTENCES) >= 4


def test_all_kinds_of_mistakes_happen() -> None:
    made = ErrorGenerator(TaggedCorpus.of(SENTENCES), length=None).generate(
        500, np.random.default_rng(2)
    )
    known = {word for sentence in SENTENCES for word in sentence}
    assert any(len(words) < 11 for words in made)
    assert any(a == b for words in made for a, b in itertools.pairwise(words))
    assert any(word.islower() and word not in known and len(word) > 5 for w in made for word in w)
    # walked, walking, walks share all but their endings.
    assert any("walking" in words and "church" in words for words in made)


def test_mistakes_are_counted_and_grow_with_length() -> None:
    long = [[*(f"w{number}" for number in range(59)), "."]]
    counts = {
        words: [
            mistakes
            for _, mistakes in ErrorGenerator(
                TaggedCorpus.of(long), length=None, words_per_mistake=words
            ).generate_with_counts(400, np.random.default_rng(3))
        ]
        for words in (6, 30)
    }
    # One, and a Poisson number of mean 60 / words: its standard error over 400 is sqrt(mean / 400).
    for words, found in counts.items():
        assert abs(np.mean(found) - 1 - 60 / words) < 4 * np.sqrt(60 / words / 400)
    fixed = ErrorGenerator(TaggedCorpus.of(long), length=None, mistakes=2).generate_with_counts(
        50, np.random.default_rng(4)
    )
    assert {mistakes for _, mistakes in fixed} == {2}


def test_sentences_of_the_length_alone_are_taken() -> None:
    with pytest.raises(InputError, match="no sentence of 24 words"):
        ErrorGenerator(TaggedCorpus.of(SENTENCES))


@given(st.lists(st.lists(st.text(min_size=1), max_size=5), min_size=1))
def test_any_words(sentences: list[list[str]]) -> None:
    try:
        generator = ErrorGenerator(TaggedCorpus.of(sentences), length=None)
    except InputError:
        return
    assert len(generator.generate(3, np.random.default_rng(0))) == 3
