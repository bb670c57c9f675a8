"""Tokens put together to text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.text.english import detokenize

CASES = {
    "The cat sat .": "The cat sat.",
    "I ca n't , can I ?": "I can't, can I?",
    "It cost $ 5 ( or 6 ) %": "It cost $5 (or 6)%",
    "`` No '' , he said": "“No”, he said",
    'She said " go " and " stay " .': 'She said "go" and "stay".',
    'five " wide': 'five " wide',
    "Peter 's and the boys ’ hats": "Peter's and the boys’ hats",
    "-LRB- see below -RRB-": "(see below)",
    "a two - month - old cat": "a two-month-old cat",
    "- no , - ( yes ) - or -": "- no, - (yes) - or -",
    "'s": "'s",
    "": "",
}


@pytest.mark.parametrize(("tokens", "text"), CASES.items())
def test_by_hand(tokens: str, text: str) -> None:
    assert detokenize(tokens.split()) == text


@given(st.lists(st.text(st.characters(exclude_characters="`'-"), min_size=1)))
def test_no_character_is_lost(tokens: list[str]) -> None:
    assert detokenize(tokens).replace(" ", "") == "".join(tokens).replace(" ", "")
