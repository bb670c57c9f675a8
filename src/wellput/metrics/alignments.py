"""What is wrong in an output: `AlignmentStep`, one column of an alignment, and `WrongTreelet`, both
drawn as text for `--explain`; `Blames` is a metric that can say which characters are wrong.

An alignment is drawn in three lines as in the paper's example (2): the reference, a mark for each
column, the output. `.` is unchanged, `s` substituted, `d` deleted, `i` inserted, `m` moved (it marks
both the old and the new place).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from wellput import _native
from wellput.core.evalset import Batch

Costs = tuple[int, int, int]


class AlignmentStep(NamedTuple):
    """One column of an alignment: the places of its tokens (−1 where there is none) and its mark."""

    reference: int
    hypothesis: int
    mark: str


class WrongTreelet(NamedTuple):
    """A treelet with errors: its head and its members in the reference, the members that the output
    has, in the output's order, and the counts of each kind of error."""

    head: int
    members: Sequence[int]
    found: Sequence[int]
    counts: Mapping[str, int]


def aligned(
    reference: Sequence[str], hypothesis: Sequence[str], costs: Costs, *, with_moves: bool
) -> list[AlignmentStep]:
    """The cheapest alignment, column by column."""
    path = _native.alignment_path(reference, hypothesis, costs)
    moved = moved_tokens(reference, hypothesis, path) if with_moves else Counter()
    moves_left, moves_right = Counter(moved), Counter(moved)
    steps: list[AlignmentStep] = []
    for left, right in path:
        if left >= 0 and right >= 0:
            mark = "." if reference[left] == hypothesis[right] else "s"
        elif left >= 0:
            mark = _taken(moves_left, reference[left], "d")
        else:
            mark = _taken(moves_right, hypothesis[right], "i")
        steps.append(AlignmentStep(left, right, mark))
    return steps


def origins(
    reference: Sequence[str], hypothesis: Sequence[str], steps: Sequence[AlignmentStep]
) -> dict[int, int]:
    """For each moved token of the output, its place in the reference. Equal tokens are matched in their
    order.

    >>> reference, output = ["a", "cat", "sat"], ["sat", "a", "cat"]
    >>> origins(reference, output, aligned(reference, output, (3, 3, 4), with_moves=True))
    {0: 2}
    """
    waiting: dict[str, list[int]] = {}
    for step in steps:
        if step.mark == "m" and step.reference >= 0:
            waiting.setdefault(reference[step.reference], []).append(step.reference)
    return {
        step.hypothesis: waiting[hypothesis[step.hypothesis]].pop(0)
        for step in steps
        if step.mark == "m" and step.hypothesis >= 0
    }


def draw_alignment(
    reference: Sequence[str], hypothesis: Sequence[str], costs: Costs, *, with_moves: bool
) -> list[str]:
    """The alignment as three lines.

    >>> print(*draw_alignment(["a", "cat", "sat"], ["sat", "a", "cat"], (3, 3, 4), with_moves=True),
    ...       sep="\\n")
    reference      a cat sat
               m   . .   m
    output     sat a cat
    """
    columns = [
        (
            reference[step.reference] if step.reference >= 0 else "",
            step.mark,
            hypothesis[step.hypothesis] if step.hypothesis >= 0 else "",
        )
        for step in aligned(reference, hypothesis, costs, with_moves=with_moves)
    ]
    widths = [max(len(cell) for cell in column) for column in columns]
    lines: list[str] = []
    for row, heading in enumerate(("reference", "", "output")):
        cells = (column[row].ljust(width) for column, width in zip(columns, widths, strict=True))
        lines.append(f"{heading:<10} {' '.join(cells)}".rstrip())
    return lines


def moved_tokens(
    reference: Sequence[str], hypothesis: Sequence[str], path: Sequence[tuple[int, int]]
) -> Counter[str]:
    """The tokens that are deleted in one place and inserted in another, with their counts."""
    deleted = Counter(reference[left] for left, right in path if right < 0)
    inserted = Counter(hypothesis[right] for left, right in path if left < 0)
    return deleted & inserted


def _taken(moves: Counter[str], token: str, otherwise: str) -> str:
    if moves[token] <= 0:
        return otherwise
    moves[token] -= 1
    return "m"


def wrong_treelets(
    reference: Sequence[str],
    heads: Sequence[int],
    hypothesis: Sequence[str],
    costs: Costs,
    *,
    with_moves: bool,
) -> tuple[list[WrongTreelet], list[int], list[int]]:
    """The treelets with errors; the place of each reference token in the output, −1 where it has none;
    and the places of output tokens that belong to no node."""
    places, treelets = _native.treelet_details(
        reference, np.array(heads, dtype=np.int32), hypothesis, costs
    )
    wrong: list[WrongTreelet] = []
    for head, substitutions, insertions, deletions, moves in treelets:
        members = [node for node in range(len(reference)) if node == head or heads[node] == head]
        found = sorted(
            (node for node in members if places[node] >= 0), key=lambda node: places[node]
        )
        replaced = [node for node in found if hypothesis[places[node]] != reference[node]]
        counts = {
            "substituted": substitutions + sum(heads[node] == head for node in replaced),
            "moved": moves if with_moves else 0,
            "inserted": insertions - moves if with_moves else insertions,
            "deleted": deletions - moves if with_moves else deletions,
        }
        if heads[head] < 0 and head in replaced:
            counts["substituted"] += 1
        if any(counts.values()):
            wrong.append(WrongTreelet(head, members, found, counts))
    used = {place for place in places if place >= 0}
    loose = [place for place in range(len(hypothesis)) if place not in used]
    return wrong, list(places), loose


def draw_treelets(
    reference: Sequence[str],
    heads: Sequence[int],
    hypothesis: Sequence[str],
    costs: Costs,
    *,
    with_moves: bool,
) -> list[str]:
    """A line for every treelet with errors, and one for tokens that belong to no node."""
    wrong, places, loose = wrong_treelets(
        reference, heads, hypothesis, costs, with_moves=with_moves
    )
    lines: list[str] = []
    for treelet in wrong:
        what = ", ".join(f"{count} {name}" for name, count in treelet.counts.items() if count)
        expected = " ".join(reference[node] for node in treelet.members)
        got = " ".join(hypothesis[places[node]] for node in treelet.found)
        lines.append(
            f"treelet of {reference[treelet.head]}: {expected} → {got or '(nothing)'} ({what})"
        )
    if loose:
        tokens = " ".join(hypothesis[place] for place in loose)
        lines.append(f"in no treelet: {tokens} ({len(loose)} inserted)")
    return lines


Blamed = list[tuple[int, int]]
"""Spans of characters: the first, and the first after the span."""


@runtime_checkable
class Blames(Protocol):
    """A metric that points at words."""

    def blamed(self, batch: Batch) -> list[Blamed]:
        """The wrong parts of each output."""
        ...


def token_spans(text: str, tokens: Sequence[str]) -> list[tuple[int, int] | None]:
    """Where each token stands in the text, in characters, without regard to case; None for a token that
    the text does not have, such as one that the tokenizer rewrote.

    >>> token_spans("Hello, world.", ["hello", ",", "world", "."])
    [(0, 5), (5, 6), (7, 12), (12, 13)]
    """
    plain = text.lower() if len(text.lower()) == len(text) else text
    found: list[tuple[int, int] | None] = []
    at = 0
    is_lost = False
    for token in tokens:
        start = plain.find(token.lower() if plain is not text else token, at)
        # Text between two tokens was rewritten: the token that stands for it has no place, and the next
        # token may stand anywhere after it.
        if start < 0 or (plain[at:start].strip() and not is_lost):
            found.append(None)
            is_lost = True
            continue
        is_lost = False
        at = start + len(token)
        found.append((start, at))
    return found
