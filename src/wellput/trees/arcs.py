"""What drawing on paper and on the terminal share: the arcs of a tree with their heights, and the
width of words."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from wellput.core.tree import Tree

REPLACEMENT = "\ufffd"


class Arc(NamedTuple):
    """An arc from a head to a dependent (words from 1), and its height, from 1."""

    head: int
    word: int
    height: int

    @property
    def ends(self) -> tuple[int, int]:
        """The two words from left to right."""
        return min(self.head, self.word), max(self.head, self.word)


def arcs(tree: Tree) -> list[Arc]:
    """The arcs of a tree, each above those that it spans or crosses; the shortest first."""
    pairs = [(word.head, place) for place, word in enumerate(tree.words, start=1) if word.head]
    pairs.sort(key=lambda pair: (abs(pair[0] - pair[1]), pair[1]))
    tops = [0] * (len(tree.words) + 1)  # the highest arc so far over the gap after each word
    found: list[Arc] = []
    for head, word in pairs:
        low, high = min(head, word), max(head, word)
        height = 1 + max(tops[low:high])
        tops[low:high] = [height] * (high - low)
        found.append(Arc(head, word, height))
    return found


def printable(text: str) -> str:
    """The text on one line, with what cannot be shown or written (control characters, lone
    surrogates, noncharacters) as U+FFFD."""
    return "".join(
        " " if char.isspace() else REPLACEMENT if _is_unprintable(char) else char for char in text
    )


def cells(text: str) -> int:
    """How many columns a text takes in a terminal.

    >>> cells("cafe\\u0301"), cells("猫")
    (4, 2)
    """
    return sum(_cells(char) for char in text)


def tag(tree: Tree, place: int) -> str:
    """The part of speech to show with a word (from 0), or nothing."""
    word = tree.words[place]
    return _given(word.xpos) or _given(word.upos)


def relation(tree: Tree, place: int) -> str:
    """The relation to show with a word (from 0), or nothing."""
    return _given(tree.words[place].relation)


def _given(column: str) -> str:
    return "" if column == "_" else printable(column)


def _is_unprintable(char: str) -> bool:
    if unicodedata.category(char) in ("Cc", "Cs"):
        return True
    return (ord(char) & 0xFFFE) == 0xFFFE or 0xFDD0 <= ord(char) <= 0xFDEF


def _cells(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
