"""Words as the network of words sees them: cut into pieces.

Case and tokenization make no difference: words are put in lower case, *do n't* is *don't*, numbers are
their number of digits. Names that are not known are all the same piece, and several in a row are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

UNKNOWN, BEGIN, END, NUMBER, NAME = "<unk>", "<s>", "</s>", "<num>", "<name>"
INSIDE = "##"
"""The mark of a piece that does not begin a word."""
SPECIAL_PIECES = (UNKNOWN, BEGIN, END, NUMBER, NAME)
LONGEST_NUMBER = 4
CACHED_WORDS = 1 << 17
PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "."}
)
ENDINGS = re.compile(r"\s+(n't|'(?:s|re|ve|ll|d|m))\b", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+(?:[.,:]\d+)*|[^\w\s]|_")


def plain_words(text: str) -> list[str]:
    """The words, numbers and marks of a sentence, however it is tokenized."""
    plain = text.translate(PLAIN).replace("''", '"')
    return WORD.findall(ENDINGS.sub(r"\1", plain))


class Pieces:
    """Cuts words into the pieces of a vocabulary, and numbers them."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.numbers = {piece: number for number, piece in enumerate(pieces)}
        self._longest = max(map(len, pieces))
        self.of_word = lru_cache(CACHED_WORDS)(self._of_word)

    def coded(self, words: Iterable[str]) -> tuple[list[str], list[tuple[int, ...]]]:
        """The words and the pieces of each; names in a row are one."""
        kept: list[str] = []
        coded: list[tuple[int, ...]] = []
        name = (self.numbers[NAME],)
        for word in words:
            pieces = self.of_word(word)
            if pieces == name and coded and coded[-1] == name:
                kept[-1] += f" {word}"
                continue
            kept.append(word)
            coded.append(pieces)
        return kept, coded

    def _of_word(self, word: str) -> tuple[int, ...]:
        """One piece for a word that is known whole; else the longest pieces from the left."""
        numbers = self.numbers
        if word[0].isdigit():
            is_short = word.isdigit() and len(word) <= LONGEST_NUMBER
            return (numbers.get("0" * len(word) if is_short else NUMBER, numbers[NUMBER]),)
        small = word.lower()
        is_initial = len(word) == 1 and word.isupper() and word not in "AI"
        if is_initial or (small not in numbers and word[0].isupper()):
            return (numbers[NAME],)
        found: list[int] = []
        begin = 0
        while begin < len(small):
            mark = INSIDE if begin else ""
            for end in range(min(len(small), begin + self._longest), begin, -1):
                if (piece := numbers.get(mark + small[begin:end])) is not None:
                    break
            else:
                piece, end = numbers[UNKNOWN], begin + 1
            found.append(piece)
            begin = end
        return tuple(found)
