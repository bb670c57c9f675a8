"""Drawn alignments laid out for a terminal."""

from __future__ import annotations

from itertools import zip_longest

HEADING = "reference"
MARGIN = 11
"""Where the words of a drawing begin, behind `reference` and `output`."""


def fold_drawing(text: str, width: int | None) -> str:
    """The three lines of an alignment as blocks of three that fit the width, cut between words.

    What follows the three lines, and text that is no drawing, is left as it is.

    >>> print(fold_drawing("reference  a cat sat\\n           . .   d\\noutput     a cat", 18))
    reference  a cat
               . .
    output     a cat
    <BLANKLINE>
    reference  sat
               d
    output
    """
    lines = text.split("\n")
    if width is None or not text.startswith(HEADING) or len(lines) < 3:
        return text
    drawing, rest = lines[:3], lines[3:]
    columns = ["".join(column) for column in zip_longest(*drawing, fillvalue=" ")][MARGIN:]
    blocks: list[str] = []
    while columns:
        end = _cut(columns, max(width - MARGIN, 1))
        for row, line in enumerate(drawing):
            words = "".join(column[row] for column in columns[:end])
            blocks.append((line[:MARGIN].ljust(MARGIN) + words).rstrip())
        columns = columns[end + 1 :]
        if columns:
            blocks.append("")
    return "\n".join([*blocks, *rest])


def _cut(columns: list[str], room: int) -> int:
    """The last blank column within the room; the first one behind it where a word is longer."""
    if len(columns) <= room:
        return len(columns)
    blanks = [place for place, column in enumerate(columns) if not column.strip()]
    within = [place for place in blanks if place <= room]
    return within[-1] if within else next(iter(blanks), len(columns))
