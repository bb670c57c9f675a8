"""What the biaffine parser sees of a word: numbers of vectors that it looks up.

A word is its lower-case form, if that was frequent in training, and its beginnings, endings and shape.
It is also a run of pieces, which the network of words reads from left to right. Parts of one written
word (*do* and *n't*) share their pieces, and unknown names in a row are one piece.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wellput.language.models.word_pieces import BEGIN, NAME, PLAIN, WORD, Pieces

AFFIX_KINDS = 8
"""The features of a word's letters: three beginnings, four endings, its shape."""
CACHED_WORDS = 1 << 16
UNKNOWN_WORD = 0
MOST_PIECES_A_WORD = 12
"""Further pieces of a word, such as a long address, are not read."""
LONGEST_RUN, LONGEST_SHAPE = 2, 8
JOINED_ENDINGS = frozenset(["n't", "'s", "'re", "'ve", "'ll", "'d", "'m"])
_DIGIT = re.compile(r"\d")

Numbers = NDArray[np.int32]


class SentenceInputs(NamedTuple):
    """For each word its number, its affixes, and its first and last piece; and the pieces, of which the
    first begins the sentence."""

    words: list[int]
    affixes: list[tuple[int, ...]]
    spans: list[tuple[int, int]]
    pieces: list[int]


class InputCoder:
    """Numbers the words of sentences; `vocabulary` are the forms that have a vector of their own."""

    def __init__(self, vocabulary: Sequence[str], affixes: int, pieces: Pieces) -> None:
        self._numbers = {form: number for number, form in enumerate(vocabulary, start=1)}
        self._n_affixes = affixes
        self._pieces = pieces
        self._begin, self._name = pieces.numbers[BEGIN], pieces.numbers[NAME]
        self._of_letters = lru_cache(CACHED_WORDS)(self._letters)
        self._of_text = lru_cache(CACHED_WORDS)(self._text_pieces)

    def coded(self, forms: Sequence[str]) -> SentenceInputs:
        letters = [self._of_letters(form) for form in forms]
        spans, pieces = self._spans(forms)
        return SentenceInputs(
            [own[0] for own in letters], [own[1] for own in letters], spans, pieces
        )

    def _letters(self, form: str) -> tuple[int, tuple[int, ...]]:
        lower = plain_form(form)
        return self._numbers.get(lower, UNKNOWN_WORD), tuple(
            zlib.crc32(feature.encode(errors="surrogatepass")) % self._n_affixes
            for feature in affix_features(form)
        )

    def _spans(self, forms: Sequence[str]) -> tuple[list[tuple[int, int]], list[int]]:
        pieces = [self._begin]
        spans: list[tuple[int, int]] = []
        for place, (text, size) in enumerate(_written_words(forms)):
            own = self._of_text(text)
            is_again = own == (self._name,) and place > 0 and pieces[-1] == self._name
            if not is_again:
                pieces += own
            count = max(1, len(own))
            spans += [(len(pieces) - count, len(pieces) - 1)] * size
        return spans, pieces

    def _text_pieces(self, text: str) -> tuple[int, ...]:
        found = [piece for word in WORD.findall(text) for piece in self._pieces.of_word(word)]
        return tuple(found[:MOST_PIECES_A_WORD])


def plain_form(form: str) -> str:
    """In lower case, with every digit as 0."""
    return _DIGIT.sub("0", form.lower())


def affix_features(form: str) -> tuple[str, ...]:
    """Beginnings, endings and shape, each with a mark that tells which.

    >>> affix_features("Bark2")
    ('1>b', '2>ba', '3>bar', '<10', '<2k0', '<3rk0', '<4ark0', '=Xxx0')
    """
    plain = plain_form(form)
    beginnings = (f"{n}>{plain[:n]}" for n in range(1, 4))
    endings = (f"<{n}{plain[-n:]}" for n in range(1, 5))
    return (*beginnings, *endings, "=" + _shape(form))


def _shape(form: str) -> str:
    """Each letter as X or x, each digit as 0, other characters as they are; long runs are cut."""
    shape = ""
    for letter in form:
        kind = (
            ("X" if letter.isupper() else "x")
            if letter.isalpha()
            else "0"
            if letter.isdigit()
            else letter
        )
        if shape[-LONGEST_RUN:] != kind * LONGEST_RUN:
            shape += kind
        if len(shape) == LONGEST_SHAPE:
            break
    return shape


def _written_words(forms: Sequence[str]) -> list[tuple[str, int]]:
    """Words as they are written, and of how many forms each consists."""
    found: list[tuple[str, int]] = []
    for form in forms:
        plain = form.translate(PLAIN).replace("''", '"')
        if found and plain.lower() in JOINED_ENDINGS and found[-1][0][-1:].isalpha():
            text, size = found[-1]
            found[-1] = text + plain, size + 1
        else:
            found.append((plain, 1))
    return found
