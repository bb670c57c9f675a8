"""Trees as text for a terminal, in Unicode's box drawing characters.

A dependency tree that fits the width is drawn as arcs over the sentence; a wider one has a word on
each line and the arcs beside the words. An arrow points at the dependent. Where lines cross, the
horizontal one passes behind. `svg.py` uses the arcs and word widths of this module.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from wellput.core.tree import Constituent, Tree

REPLACEMENT_SIGN = "\ufffd"


class DrawnArc(NamedTuple):
    """An arc from a head to a dependent (words from 1), and its height, from 1."""

    head: int
    word: int
    height: int

    @property
    def ends(self) -> tuple[int, int]:
        """The two words from left to right."""
        return min(self.head, self.word), max(self.head, self.word)


def arcs(tree: Tree) -> list[DrawnArc]:
    """The arcs of a tree, each above those that it spans or crosses; the shortest first."""
    pairs = [(word.head, place) for place, word in enumerate(tree.words, start=1) if word.head]
    pairs.sort(key=lambda pair: (abs(pair[0] - pair[1]), pair[1]))
    tops = [0] * (len(tree.words) + 1)  # the highest arc so far over the gap after each word
    drawn_arcs: list[DrawnArc] = []
    for head, word in pairs:
        low, high = min(head, word), max(head, word)
        height = 1 + max(tops[low:high])
        tops[low:high] = [height] * (high - low)
        drawn_arcs.append(DrawnArc(head, word, height))
    return drawn_arcs


def on_one_line(text: str) -> str:
    """The text on one line, with U+FFFD for characters that cannot be shown or written (control
    characters, lone surrogates, noncharacters)."""
    return "".join(
        " " if char.isspace() else REPLACEMENT_SIGN if _is_unprintable(char) else char
        for char in text
    )


def terminal_columns(text: str) -> int:
    """The columns that a text takes in a terminal.

    >>> terminal_columns("cafe\\u0301"), terminal_columns("猫")
    (4, 2)
    """
    return sum(_columns_of_character(char) for char in text)


def shown_tag(tree: Tree, place: int) -> str:
    """The part of speech to show with the word at a place (from 0), or an empty string."""
    word = tree.words[place]
    return _shown(word.xpos) or _shown(word.upos)


def shown_relation(tree: Tree, place: int) -> str:
    """The relation to show with the word at a place (from 0), or an empty string."""
    return _shown(tree.words[place].relation)


def _shown(value: str) -> str:
    return "" if value == "_" else on_one_line(value)


def _is_unprintable(char: str) -> bool:
    if unicodedata.category(char) in ("Cc", "Cs"):
        return True
    return (ord(char) & 0xFFFE) == 0xFFFE or 0xFDD0 <= ord(char) <= 0xFDEF


def _columns_of_character(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


# The sides on which a cell has a line, as bits.
UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
BOX_CHARACTERS = {
    UP: "│", DOWN: "│", UP | DOWN: "│",
    LEFT: "─", RIGHT: "─", LEFT | RIGHT: "─",
    DOWN | RIGHT: "╭", DOWN | LEFT: "╮", UP | RIGHT: "╰", UP | LEFT: "╯",
    UP | DOWN | RIGHT: "├", UP | DOWN | LEFT: "┤",
    DOWN | LEFT | RIGHT: "┬", UP | LEFT | RIGHT: "┴", UP | DOWN | LEFT | RIGHT: "┼",
}  # fmt: skip
# One column each for arcs to dependents at the left, the arc from the head, arcs to the right.
MIN_COLUMNS_A_WORD = 3


class _Canvas:
    """A grid of characters, by row (from the top) and column. `sides` says on which sides of its middle
    each cell has a line, `marks` has the arrows, and `corners` the cells where an arc bends."""

    def __init__(self, rows: int, columns: int) -> None:
        self.sides = [[0] * columns for _ in range(rows)]
        self.marks: dict[tuple[int, int], str] = {}
        self.corners: set[tuple[int, int]] = set()

    def across(self, row: int, first: int, last: int) -> None:
        """Draws a horizontal line between two columns."""
        for column in range(first, last):
            self.sides[row][column] |= RIGHT
            self.sides[row][column + 1] |= LEFT

    def upright(self, column: int, first: int, last: int) -> None:
        """Draws a vertical line between two rows."""
        for row in range(first, last):
            self.sides[row][column] |= DOWN
            self.sides[row + 1][column] |= UP

    def lines(self) -> list[str]:
        return [
            "".join(self._char(row, column) for column in range(len(sides)))
            for row, sides in enumerate(self.sides)
        ]

    def _char(self, row: int, column: int) -> str:
        side = self.sides[row][column]
        if side == UP | DOWN | LEFT | RIGHT and (row, column) not in self.corners:
            side = UP | DOWN  # two arcs cross: the horizontal one passes behind
        return self.marks.get((row, column)) or BOX_CHARACTERS.get(side, " ")


def draw_dependencies(tree: Tree, *, width: int = 100) -> str:
    """The tree with its words, tags and relations, where it has them; no line ends in a space.

    `width` is in columns of a terminal; a tree that is wider has one word on each line.
    """
    if not tree.words:
        return ""
    forms = [on_one_line(word.form) for word in tree.words]
    tags = [shown_tag(tree, place) for place in range(len(forms))]
    relations = [shown_relation(tree, place) for place in range(len(forms))]
    rows = [row for row in (forms, tags, relations) if any(row)] or [forms]
    widths = [
        max(MIN_COLUMNS_A_WORD, *map(terminal_columns, column))
        for column in zip(*rows, strict=True)
    ]
    if sum(widths) + len(widths) - 1 <= width:
        lines = [*_arcs_above(arcs(tree), widths), *(_row(row, widths) for row in rows)]
    else:
        lines = _words_below_each_other(arcs(tree), rows)
    return "\n".join(line.rstrip() for line in lines)


def draw_constituent(constituent: Constituent) -> str:
    """The constituent with a phrase or a word on each line, its parts below it and to the right.

    >>> from wellput.io.trees import parse_constituent
    >>> print(draw_constituent(parse_constituent("(S (NP (PRP I)) (VP (VBP see)))")))
    S
    ├─ NP
    │  ╰─ PRP I
    ╰─ VP
       ╰─ VBP see
    """
    lines: list[str] = []
    # A constituent, what stands before it on its line, and what stands before the lines of its parts.
    waiting: list[tuple[Constituent, str, str]] = [(constituent, "", "")]
    while waiting:
        node, lead, lead_below = waiting.pop()
        lines.append(lead + on_one_line(f"{node.label} {node.word or ''}").strip())
        for n_after, part in enumerate(reversed(node.children)):
            branch, below = ("├─ ", "│  ") if n_after else ("╰─ ", "   ")
            waiting.append((part, lead_below + branch, lead_below + below))
    return "\n".join(line.rstrip() for line in lines)


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    pieces: list[str] = []
    for text, width in zip(row, widths, strict=True):
        spare = width - terminal_columns(text)
        pieces.append(" " * (spare // 2) + text + " " * (spare - spare // 2))
    return " ".join(pieces)


def _arcs_above(drawn_arcs: Sequence[DrawnArc], widths: Sequence[int]) -> list[str]:
    """The lines of text in which arcs are drawn above the words; `widths` are the words' widths in
    columns."""
    if not drawn_arcs:
        return []
    top = max(arc.height for arc in drawn_arcs)
    centers: list[int] = []
    at = 0
    for width in widths:
        centers.append(at + (width - 1) // 2)
        at += width + 1
    canvas = _Canvas(top + 1, at)
    for arc in drawn_arcs:
        row = top - arc.height
        column = centers[arc.word - 1]
        # A head's lines leave beside its middle, where the line from its own head comes in.
        leaving = centers[arc.head - 1] + (1 if arc.word > arc.head else -1)
        canvas.across(row, min(column, leaving), max(column, leaving))
        canvas.upright(column, row, top)
        canvas.upright(leaving, row, top)
        canvas.marks[top, column] = "▼"
        canvas.corners |= {(row, column), (row, leaving)}
    return canvas.lines()


def _words_below_each_other(
    drawn_arcs: Sequence[DrawnArc], rows: Sequence[Sequence[str]]
) -> list[str]:
    """The arcs are at the left, the highest farthest left. Each height takes two columns: one for the
    corners of arcs, one for their arrows."""
    top = max((arc.height for arc in drawn_arcs), default=0)
    count = len(rows[0])
    canvas = _Canvas(count, 2 * top + 1)
    for arc in drawn_arcs:
        column = 2 * (top - arc.height)
        first, last = (end - 1 for end in arc.ends)
        canvas.upright(column, first, last)
        canvas.across(first, column, 2 * top)
        canvas.across(last, column, 2 * top)
        canvas.marks[arc.word - 1, column + 1] = "▶"
        canvas.corners |= {(first, column), (last, column)}
    lines = canvas.lines()
    for texts in rows:
        widest = max(map(terminal_columns, texts))
        lines = [
            f"{line} {text}{' ' * (widest - terminal_columns(text))}"
            for line, text in zip(lines, texts, strict=True)
        ]
    return lines
