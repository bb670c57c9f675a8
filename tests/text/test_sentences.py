"""Prose into sentences, and sentences into the tokens of the English Web Treebank."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.text.sentences import sentences
from wellput.text.treebank_tokens import treebank_tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\n ", []),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("He saw J. B. Ng. He left.", ["He saw J. B. Ng.", "He left."]),
        ("“Stay.” “No.” (Yes.) So it\nwent", ["“Stay.”", "“No.”", "(Yes.)", "So it went"]),
        ("It cost 3.50 at approx. noon", ["It cost 3.50 at approx. noon"]),
        ("It was I. Then 3 came... Été", ["It was I.", "Then 3 came...", "Été"]),
        ("CHAPTER I\n \nIt began", ["CHAPTER I", "It began"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert list(sentences(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I can't, won't, shan’t; cannot!", "I ca n't , wo n't , sha n’t ; can not !"),
        ("They've said it's Kim's and O'Brien's", "They 've said it 's Kim 's and O'Brien 's"),
        ("DON'T gonna", "DO N'T gon na"),
        ("a well-known e-mail re-read mid-July", "a well - known e-mail re-read mid-July"),
        ("On 9/11, 1,000 at 3.5% or $4", "On 9/11 , 1,000 at 3.5 % or $ 4"),
        ("Mr. Ng of the U.S. left the U.N.", "Mr. Ng of the U.S. left the U.N."),
        ("He left Co. Ltd. etc.", "He left Co. Ltd. etc ."),
        ("See http://a.org/b?c=d, a@b.com.", "See http://a.org/b?c=d , a@b.com ."),
        ("what?!! -- no ... :-) (x)", "what ? !! -- no ... :-) ( x )"),
        ("the '90s and 90's", "the '90s and 90 's"),
        ("naïve café 東京 🐈‍⬛", None),
    ],
)
def test_treebank_tokens(text: str, expected: str | None) -> None:
    tokens = treebank_tokens(text)
    if expected is not None:
        assert " ".join(tokens) == expected
    assert "".join(tokens) == "".join(text.split())


@given(st.text())
def test_nothing_is_lost_or_changed(text: str) -> None:
    letters = "".join(text.split())
    assert "".join("".join(sentences(text)).split()) == letters
    tokens = treebank_tokens(text)
    assert "".join(tokens) == letters
    assert all(tokens)
