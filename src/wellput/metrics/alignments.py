"""Shows what is wrong in an output: `AlignmentStep`, one column of an alignment, and `WrongTreelet`,
a word with its direct dependents that has errors. Both are drawn as text for `--explain`. `Blames` is
the protocol of metrics that can say which characters are wrong.

An alignment is drawn in three lines, as in example (2) of Bangalore, Rambow & Whittaker 2000: the
reference, a mark for each column, and the output. `.` is unchanged, `s` substituted, `d` deleted, `i`
inserted, `m` moved (both the old and the new place have this mark).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from wellput import _native
from wellput.core.evalset import Batch

Costs = tuple[int, int, int]
"""The costs of an insertion, a deletion and a substitution."""


class AlignmentStep(NamedTuple):
    """One column of an alignment: the place of its token in the reference and in the hypothesis (−1 if
    there is no token), and its mark."""

    reference: int
    hypothesis: int
    mark: str


class WrongTreelet(NamedTuple):
    """A treelet (a word with its direct dependents) with errors. `head` and `members` are places in the
    reference; `found` are the members that the output has, in the order of the output; `counts` has the
    number of each kind of error."""

    head: int
    members: Sequence[int]
    found: Sequence[int]
    counts: Mapping[str, int]


def alignment_steps(
    reference: Sequence[str], hypothesis: Sequence[str], costs: Costs, *, with_moves: bool
) -> list[AlignmentStep]:
    """The cheapest alignment, column by column. With `with_moves`, a token that is deleted in one place
    and inserted in another is marked as moved."""
    path = _native.alignment_path(reference, hypothesis, costs)
    moved = moved_tokens(reference, hypothesis, path) if with_moves else Counter()
    moved_away, moved_here = Counter(moved), Counter(moved)
    steps: list[AlignmentStep] = []
    for reference_place, output_place in path:
        if reference_place >= 0 and output_place >= 0:
            mark = "." if reference[reference_place] == hypothesis[output_place] else "s"
        elif reference_place >= 0:
            mark = _move_or(moved_away, reference[reference_place], "d")
        else:
            mark = _move_or(moved_here, hypothesis[output_place], "i")
        steps.append(AlignmentStep(reference_place, output_place, mark))
    return steps


def origins(
    reference: Sequence[str], hypothesis: Sequence[str], steps: Sequence[AlignmentStep]
) -> dict[int, int]:
    """For each moved token of the output, its place in the reference. Equal tokens are matched in their
    order.

    >>> reference, output = ["a", "cat", "sat"], ["sat", "a", "cat"]
    >>> origins(reference, output, alignment_steps(reference, output, (3, 3, 4), with_moves=True))
    {0: 2}
    """
    unmatched: dict[str, list[int]] = {}
    for step in steps:
        if step.mark == "m" and step.reference >= 0:
            unmatched.setdefault(reference[step.reference], []).append(step.reference)
    return {
        step.hypothesis: unmatched[hypothesis[step.hypothesis]].pop(0)
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
        for step in alignment_steps(reference, hypothesis, costs, with_moves=with_moves)
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
    """The tokens that are deleted in one place and inserted in another, with their counts.
    `path` has the steps of the alignment without their marks."""
    deleted = Counter(
        reference[reference_place] for reference_place, output_place in path if output_place < 0
    )
    inserted = Counter(
        hypothesis[output_place] for reference_place, output_place in path if reference_place < 0
    )
    return deleted & inserted


def _move_or(moves: Counter[str], token: str, otherwise: str) -> str:
    """The mark "m" if the token is among the moved ones that have no mark yet, else `otherwise`."""
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
    """The treelets with errors; for each token of the reference its place in the output, or that of the
    token that replaces it, −1 if it was deleted; and the places of the output's tokens that neither
    match nor replace a token of the reference. `heads` has for each token of the reference the place of
    its head; `with_moves` counts moved tokens apart from deleted and inserted ones."""
    places, treelets = _native.treelet_details(
        reference, np.array(heads, dtype=np.int32), hypothesis, costs
    )
    daughters: list[list[int]] = [[] for _ in reference]
    for node, head in enumerate(heads):
        if head >= 0:
            daughters[head].append(node)
    wrong: list[WrongTreelet] = []
    for head, substitutions, insertions, deletions, moves in treelets:
        members = sorted([head, *daughters[head]])
        found = sorted(
            (node for node in members if places[node] >= 0), key=lambda node: places[node]
        )
        # The kernel's `substitutions` are tokens that stand in the place of another token of the same
        # treelet. Tokens that the output replaces by other words are not among them: each of these
        # counts once, in the treelet of its head or, if it is a root, in its own treelet.
        substituted = [node for node in found if hypothesis[places[node]] != reference[node]]
        counts = {
            "substituted": substitutions + sum(heads[node] == head for node in substituted),
            "moved": moves if with_moves else 0,
            "inserted": insertions - moves if with_moves else insertions,
            "deleted": deletions - moves if with_moves else deletions,
        }
        if heads[head] < 0 and head in substituted:
            counts["substituted"] += 1
        if any(counts.values()):
            wrong.append(WrongTreelet(head, members, found, counts))
    matched = {place for place in places if place >= 0}
    unmatched = [place for place in range(len(hypothesis)) if place not in matched]
    return wrong, list(places), unmatched


def draw_treelets(
    reference: Sequence[str],
    heads: Sequence[int],
    hypothesis: Sequence[str],
    costs: Costs,
    *,
    with_moves: bool,
) -> list[str]:
    """A line for every treelet with errors, and one for the output's tokens that are in no treelet. The
    arguments are those of `wrong_treelets`."""
    wrong, places, unmatched = wrong_treelets(
        reference, heads, hypothesis, costs, with_moves=with_moves
    )
    lines: list[str] = []
    for treelet in wrong:
        errors = ", ".join(f"{count} {name}" for name, count in treelet.counts.items() if count)
        expected = " ".join(reference[node] for node in treelet.members)
        actual = " ".join(hypothesis[places[node]] for node in treelet.found)
        lines.append(
            f"treelet of {reference[treelet.head]}: {expected} → {actual or '(nothing)'} ({errors})"
        )
    if unmatched:
        tokens = " ".join(hypothesis[place] for place in unmatched)
        lines.append(f"in no treelet: {tokens} ({len(unmatched)} inserted)")
    return lines


BlamedSpans = list[tuple[int, int]]
"""Spans of characters: the place of the first character, and of the first character after the span."""


@runtime_checkable
class Blames(Protocol):
    """A metric that can say which words of an output are wrong."""

    def blamed(self, batch: Batch) -> list[BlamedSpans]:
        """The spans of the wrong words of each output."""
        ...


def token_spans(text: str, tokens: Sequence[str]) -> list[tuple[int, int] | None]:
    """The span of each token in the text, in characters; case is ignored. None for a token that the
    text does not have, for example because the tokenizer rewrote it.

    >>> token_spans("Hello, world.", ["hello", ",", "world", "."])
    [(0, 5), (5, 6), (7, 12), (12, 13)]
    """
    plain = text.lower() if len(text.lower()) == len(text) else text
    spans: list[tuple[int, int] | None] = []
    end = 0
    is_after_rewritten = False
    for token in tokens:
        start = plain.find(token.lower() if plain is not text else token, end)
        # If text is skipped before the place found, this token stands for text that the tokenizer
        # rewrote, and was found farther on only by chance. It gets no span, and the next token may
        # follow after a gap.
        if start < 0 or (plain[end:start].strip() and not is_after_rewritten):
            spans.append(None)
            is_after_rewritten = True
            continue
        is_after_rewritten = False
        end = start + len(token)
        spans.append((start, end))
    return spans
