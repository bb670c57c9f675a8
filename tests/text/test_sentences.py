"""Prose into sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.text.english import sentences


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


@given(st.text())
def test_nothing_is_lost_or_changed(text: str) -> None:
    letters = "".join(text.split())
    assert "".join("".join(sentences(text)).split()) == letters
