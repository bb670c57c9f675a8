"""Alignments and treelets drawn as text, for `--explain`.

Three lines as in the paper's example (2): the reference, what happened, the output. `.` is
unchanged, `s` substituted, `d` deleted, `i` inserted, `m` moved (deleted here or inserted there).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from wellput import _native

Costs = tuple[int, int, int]


def draw_alignment(
    reference: Sequence[str], hypothesis: Sequence[str], costs: Costs, *, with_moves: bool
) -> list[str]:
    """The alignment as three lines.

    >>> print(*draw_alignment(["a", "cat", "sat"], ["sat", "a", "cat"], (3, 3, 4), with_moves=True),
    ...       sep="\\n")
    reference      a cat sat
                 m . .   m
    output     sat a cat
    """
    path = _native.alignment_path(reference, hypothesis, costs)
    moved = moved_tokens(reference, hypothesis, path) if with_moves else Counter()
    moves_left, moves_right = Counter(moved), Counter(moved)
    columns: list[tuple[str, str, str]] = []
    for left, right in path:
        expected = reference[left] if left >= 0 else ""
        found = hypothesis[right] if right >= 0 else ""
        if left >= 0 and right >= 0:
            mark = "." if expected == found else "s"
        elif left >= 0:
            mark = _taken(moves_left, expected, "d")
        else:
            mark = _taken(moves_right, found, "i")
        columns.append((expected, mark, found))
    widths = [max(len(cell) for cell in column) for column in columns]
    lines: list[str] = []
    for row, heading in enumerate(("reference", "", "output")):
        cells = (column[row].ljust(width) for column, width in zip(columns, widths, strict=True))
        lines.append(f"{heading:<10} {' '.join(cells)}".rstrip())
    return lines


def moved_tokens(
    reference: Sequence[str], hypothesis: Sequence[str], path: Sequence[tuple[int, int]]
) -> Counter[str]:
    """The tokens that are deleted here and inserted there, with how often."""
    deleted = Counter(reference[left] for left, right in path if right < 0)
    inserted = Counter(hypothesis[right] for left, right in path if left < 0)
    return deleted & inserted


def _taken(moves: Counter[str], token: str, otherwise: str) -> str:
    if moves[token] <= 0:
        return otherwise
    moves[token] -= 1
    return "m"


def draw_treelets(
    reference: Sequence[str],
    heads: Sequence[int],
    hypothesis: Sequence[str],
    costs: Costs,
    *,
    with_moves: bool,
) -> list[str]:
    """A line for every treelet in which something is wrong, and one for tokens of no node."""
    places, treelets = _native.treelet_details(
        reference, np.array(heads, dtype=np.int32), hypothesis, costs
    )
    lines: list[str] = []
    for head, substitutions, insertions, deletions, moves in treelets:
        members = [node for node in range(len(reference)) if node == head or heads[node] == head]
        found = sorted(
            (node for node in members if places[node] >= 0), key=lambda node: places[node]
        )
        replaced = [
            node
            for node in members
            if places[node] >= 0 and hypothesis[places[node]] != reference[node]
        ]
        counts = {
            "substituted": substitutions + sum(heads[node] == head for node in replaced),
            "moved": moves if with_moves else 0,
            "inserted": insertions - moves if with_moves else insertions,
            "deleted": deletions - moves if with_moves else deletions,
        }
        if heads[head] < 0 and head in replaced:
            counts["substituted"] += 1
        wrong = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        if wrong:
            expected = " ".join(reference[node] for node in members)
            got = " ".join(hypothesis[places[node]] for node in found)
            lines.append(
                f"treelet of {reference[head]}: {expected} → {got or '(nothing)'} ({wrong})"
            )
    used = {place for place in places if place >= 0}
    loose = [token for place, token in enumerate(hypothesis) if place not in used]
    if loose:
        lines.append(f"in no treelet: {' '.join(loose)} ({len(loose)} inserted)")
    return lines
