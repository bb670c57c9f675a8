"""Porter's stemmer against NLTK 3.10."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from wellput.text.porter import stem

AUTHORITY = PorterStemmer()

beginnings = st.text("abcdelnorstwxyzé", max_size=6)
ENDINGS = """
s es ies ied sses eed ed ing at bl iz y ational tional enci anci izer bli alli entli eli ousli
ization ation ator alism iveness fulness ousness aliti iviti biliti fulli logi icate ative alize
iciti ical ful ness al ance ence er ic able ible ant ement ment ent ion sion tion ou ism ate iti
ous ive ize e ll
"""
endings = st.sampled_from(ENDINGS.split())
built = st.tuples(beginnings, endings, endings).map("".join)


@given(
    word=st.one_of(
        st.text(max_size=8), st.builds(lambda *parts: "".join(parts), beginnings, endings, endings)
    )
)
@example("geologi")
@example("dies")
def test_as_nltk(word: str) -> None:
    assert stem(word) == AUTHORITY.stem(word)


@pytest.mark.parametrize(
    ("word", "expected"),
    # examples of Porter (1980), and of NLTK's irregular words
    [("caresses", "caress"), ("hopping", "hop"), ("filing", "file"), ("falling", "fall"),
     ("agreed", "agre"), ("generalizations", "gener"), ("oscillators", "oscil"), ("Skies", "sky"),
     ("died", "die")],
)  # fmt: skip
def test_examples(word: str, expected: str) -> None:
    assert stem(word) == expected
