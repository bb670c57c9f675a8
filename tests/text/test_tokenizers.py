"""Tokens against sacreBLEU's, on arbitrary Unicode and on its special cases."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import _get_tokenizer

from wellput import _native
from wellput.core.errors import InputError
from wellput.text import tokenizers
from wellput.text.tokenizers import (
    NATIVE_TOKENIZERS,
    NativeName,
    lists_with_native_tokenizer,
    tokenize,
    with_native_tokenizer,
)

PIECES = [
    *"ab12.,-'&<>;\"!/@[`{~+",
    *(" ", "\n", "\t", "\x1c", "\x85", "\xa0", "\u2028", "\u3000"),
    *("<skipped>", "-\n", "&quot;", "&amp;", "&lt;", "&gt;", "amp;", "lt;"),
    *("é", "中", "。", "“", "…", "€", "½", "٣", "😀", "\U00020000", "\ud800", "\x00"),
    *("\u2000", "\u2001", "\u2a6d", "\u2a6e", "\u2f80", "\u2f81", "\u2fa1", "\u2fa2"),
]
"""What the rules treat differently, and the code points at the edges of ranges."""


def authority(text: str, name: str) -> list[str]:
    tokenizer = _get_tokenizer(name)()
    return str(tokenizer(text.rstrip())).split()


def assigned(text: str) -> bool:
    """Whether this Python and any later Unicode agree on the categories."""
    return all(unicodedata.category(character) != "Cn" for character in text)


def test_a_sentence_by_hand() -> None:
    # A full stop between digits stays, one before a space goes; the hyphen goes after a digit only.
    tokens = tokenize("In 2020-21, 3.5% (or so) of well-to-do U.S. firms paid $1,000.")
    assert " ".join(tokens) == (
        "In 2020 - 21 , 3.5 % ( or so ) of well-to-do U . S . firms paid $ 1,000 ."
    )


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # a single stop between digits is the only one that is not cut off in front
        ("1.5", ["1.5"]),
        ("a.5", ["a", ".", "5"]),
        ("1.a", ["1", ".", "a"]),
        # a digit follows: odd runs after a digit and even runs after a letter stick to it
        ("1..5", ["1", ".", ".", "5"]),
        ("1...5", ["1", ".", ".", ".5"]),
        ("a..5", ["a", ".", ".5"]),
        ("a...5", ["a", ".", ".", ".", "5"]),
        # entities are undone in the order quot, amp, lt, gt
        ("&amp;lt;", ["<"]),
        ("&amp;quot;", ["&", "quot", ";"]),
        # a hyphen at a line break joins the lines, but not at the end of the text
        ("well-\nput", ["wellput"]),
        ("well-\n", ["well-"]),
        ("a<skipped>b", ["ab"]),
        ("<skip<skipped>ped>", ["<", "skipped", ">"]),
        ("", []),
        (" \n\u3000", []),
    ],
)
def test_the_rules_of_13a(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens == authority(text, "13a")


@pytest.mark.parametrize("name", NATIVE_TOKENIZERS)
@given(text=st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_equal_to_sacrebleu_on_what_the_rules_are_about(name: NativeName, text: str) -> None:
    assert tokenize(text, name) == authority(text, name)


@pytest.mark.parametrize("name", NATIVE_TOKENIZERS)
@given(text=st.text().filter(assigned) | st.text(st.characters(codec=None)).filter(assigned))
def test_equal_to_sacrebleu_on_any_text(name: NativeName, text: str) -> None:
    assert tokenize(text, name) == authority(text, name)


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["13a", "intl", "zh"])
def test_equal_to_sacrebleu_on_every_character_outside_the_private_planes(name: NativeName) -> None:
    characters = filter(assigned, map(chr, range(0x32000)))
    text = " ".join(f"a{character}b 1{character}2" for character in characters)
    assert tokenize(text, name) == authority(text, name)


def test_threads_and_many_texts_change_nothing() -> None:
    texts = [f"{piece}{other}1" for piece in PIECES for other in PIECES]
    one = _native.tokenize(texts, "13a", 1)
    assert one == _native.tokenize(tuple(texts), "13a", 3) == [tokenize(text) for text in texts]


def test_native_texts_are_left_to_the_kernel() -> None:
    texts = ["a b."]
    assert with_native_tokenizer(texts, "13a") == (texts, "13a")
    assert lists_with_native_tokenizer([texts], "char") == ([texts], "char")


def test_an_unknown_tokenizer_is_named_with_its_neighbors() -> None:
    with pytest.raises(InputError, match=r"No tokenizer 'internl'\. Did you mean intl"):
        tokenize("a", "internl")


def test_without_sacrebleu_its_tokenizers_say_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tokenizers._of_sacrebleu.cache_clear()
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    with pytest.raises(InputError, match=r"ja-mecab .* pip install 'sacrebleu\[ja\]'"):
        tokenize("a", "ja-mecab")
    with pytest.raises(InputError, match="pip install sacrebleu sentencepiece"):
        tokenize("a", "flores200")


def test_a_tokenizer_of_sacrebleu_is_called_with_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    doubling = tokenizers.PythonTokenizer(lambda line: f"<{line}> <{line}>", "doubling-1")
    monkeypatch.setattr(tokenizers, "_of_sacrebleu", lambda name: doubling)
    assert with_native_tokenizer(["x "], "flores200") == (["<x> <x>"], "none")
    assert lists_with_native_tokenizer([["x "], []], "flores200") == ([["<x> <x>"], []], "none")
    assert tokenize("x ", "flores200") == ["<x>", "<x>"]
    assert tokenizers.tokenizer_signature("flores200") == "doubling-1"
    assert tokenizers.tokenizer_signature("13a") == "13a"
