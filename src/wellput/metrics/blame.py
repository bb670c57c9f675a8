"""`Blames`: a metric that can say which characters of an output are wrong, as `--explain` draws it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from wellput.core.evalset import Batch

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
