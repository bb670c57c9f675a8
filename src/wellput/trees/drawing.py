"""Trees as text for a terminal, in Unicode's box drawing characters.

A dependency tree is drawn as arcs over the sentence where it fits the width, otherwise with a word
on each line and the arcs beside them. An arrow points at the dependent. Where arcs cross, the lower
one passes behind the upright.
"""

from __future__ import annotations

from collections.abc import Sequence

from wellput.core.tree import Constituent, Tree
from wellput.trees.arcs import Arc, arcs, cells, printable, relation, tag

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
BOX = {
    UP: "│", DOWN: "│", UP | DOWN: "│",
    LEFT: "─", RIGHT: "─", LEFT | RIGHT: "─",
    DOWN | RIGHT: "╭", DOWN | LEFT: "╮", UP | RIGHT: "╰", UP | LEFT: "╯",
    UP | DOWN | RIGHT: "├", UP | DOWN | LEFT: "┤",
    DOWN | LEFT | RIGHT: "┬", UP | LEFT | RIGHT: "┴", UP | DOWN | LEFT | RIGHT: "┼",
}  # fmt: skip
NARROWEST = 3  # room for a word's three lines: to the left, from its head, to the right


class _Canvas:
    """Lines on a grid, by row (from the top) and column."""

    def __init__(self, rows: int, columns: int) -> None:
        self.sides = [[0] * columns for _ in range(rows)]
        self.marks: dict[tuple[int, int], str] = {}
        self.corners: set[tuple[int, int]] = set()

    def across(self, row: int, first: int, last: int) -> None:
        for column in range(first, last):
            self.sides[row][column] |= RIGHT
            self.sides[row][column + 1] |= LEFT

    def upright(self, column: int, first: int, last: int) -> None:
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
            side = UP | DOWN  # two arcs cross: what goes across passes behind
        return self.marks.get((row, column)) or BOX.get(side, " ")


def draw_dependencies(tree: Tree, *, width: int = 100) -> str:
    """The tree with its words, tags and relations, where it has them; no line ends in a space.

    `width` is in columns of a terminal; a tree that is wider has one word on each line.
    """
    if not tree.words:
        return ""
    forms = [printable(word.form) for word in tree.words]
    tags = [tag(tree, place) for place in range(len(forms))]
    relations = [relation(tree, place) for place in range(len(forms))]
    rows = [row for row in (forms, tags, relations) if any(row)] or [forms]
    widths = [max(NARROWEST, *map(cells, column)) for column in zip(*rows, strict=True)]
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
    waiting: list[tuple[Constituent, str, str]] = [(constituent, "", "")]
    while waiting:
        node, lead, lead_below = waiting.pop()
        lines.append(lead + printable(f"{node.label} {node.word or ''}").strip())
        for place, part in enumerate(reversed(node.children)):
            branch, below = ("├─ ", "│  ") if place else ("╰─ ", "   ")
            waiting.append((part, lead_below + branch, lead_below + below))
    return "\n".join(line.rstrip() for line in lines)


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    pieces: list[str] = []
    for text, width in zip(row, widths, strict=True):
        spare = width - cells(text)
        pieces.append(" " * (spare // 2) + text + " " * (spare - spare // 2))
    return " ".join(pieces)


def _arcs_above(found: Sequence[Arc], widths: Sequence[int]) -> list[str]:
    if not found:
        return []
    top = max(arc.height for arc in found)
    centers: list[int] = []
    at = 0
    for width in widths:
        centers.append(at + (width - 1) // 2)
        at += width + 1
    canvas = _Canvas(top + 1, at)
    for arc in found:
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


def _words_below_each_other(found: Sequence[Arc], rows: Sequence[Sequence[str]]) -> list[str]:
    """Two columns for each height, the highest at the left: the corner, and its arrow or line."""
    top = max((arc.height for arc in found), default=0)
    count = len(rows[0])
    canvas = _Canvas(count, 2 * top + 1)
    for arc in found:
        column = 2 * (top - arc.height)
        first, last = (end - 1 for end in arc.ends)
        canvas.upright(column, first, last)
        canvas.across(first, column, 2 * top)
        canvas.across(last, column, 2 * top)
        canvas.marks[arc.word - 1, column + 1] = "▶"
        canvas.corners |= {(first, column), (last, column)}
    lines = canvas.lines()
    for texts in rows:
        widest = max(map(cells, texts))
        lines = [
            f"{line} {text}{' ' * (widest - cells(text))}"
            for line, text in zip(lines, texts, strict=True)
        ]
    return lines
