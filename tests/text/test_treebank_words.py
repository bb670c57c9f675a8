"""Cutting text into the words of a treebank."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.text.english import treebank_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("They don't pay $1,000.", "They|do|n't|pay|$|1,000|."),
        ("I cannot; we're gonna.", "I|can|not|;|we|'re|gon|na|."),
        ("John's dogs' bones", "John|'s|dogs|'|bones"),
        ("'The dogs' he said", "'|The|dogs|'|he|said"),
        (
            "Dr. Smith of the U.S. left at 10:30 a.m. today",
            "Dr.|Smith|of|the|U.S.|left|at|10:30|a.m.|today",
        ),
        (
            "See www.example.org/a?b=c, or me@example.org.",
            "See|www.example.org/a?b=c|,|or|me@example.org|.",
        ),
        ("A long-term 50% cut...", "A|long|-|term|50|%|cut|..."),
        ("Nice :) really!!!", "Nice|:)|really|!!!"),
        ("O'Brien said “it’s 1990s rock”", "O'Brien|said|“|it|’s|1990s|rock|”"),
        ("AT&amp;T (again)", "AT|&amp;|T|(|again|)"),
        ("and so on etc.", "and|so|on|etc|."),
        ("  ", ""),
    ],
)
def test_words_of(text: str, words: str) -> None:
    assert "|".join(treebank_words(text).forms) == words


def test_blanks_and_surface_tokens() -> None:
    found = treebank_words("(We don't)  go.")
    assert found.forms == ("(", "We", "do", "n't", ")", "go", ".")
    assert found.has_space_after == (False, True, False, False, True, False, True)
    assert found.surface_tokens == ((2, 3),)


@given(st.text())
def test_nothing_but_white_space_is_lost(text: str) -> None:
    found = treebank_words(text)
    assert "".join(found.forms) == "".join(text.split())
    assert all(found.forms)
    assert len(found.forms) == len(found.has_space_after)
    places = [place for first, last in found.surface_tokens for place in (first, last)]
    assert places == sorted(set(places))
    assert all(last < len(found.forms) for _, last in found.surface_tokens)
    rebuilt = "".join(
        form + " " * has_space
        for form, has_space in zip(found.forms, found.has_space_after, strict=True)
    )
    assert rebuilt.split() == text.split()


@pytest.mark.parametrize("piece", ["a", "a.", "s' ", "&", "8", "@.", "www.", "n't"])
def test_long_lines_take_no_longer_than_their_length(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    assert "".join(treebank_words(text).forms) == "".join(text.split())
