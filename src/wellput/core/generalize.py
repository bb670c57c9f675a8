"""What an interval holds for: the one option `generalize`, and the words beneath every table."""

from __future__ import annotations

from typing import Literal, TypeAlias

Generalize: TypeAlias = Literal["items", "systems", "both"]

WORDS: dict[Generalize, str] = {
    "items": "these systems, other items",
    "systems": "other systems, these items",
    "both": "other systems and other items",
}


def holds_for(generalize: Generalize) -> str:
    """The sentence beneath a table.

    >>> holds_for("items")
    'Intervals and p hold for these systems, other items.'
    """
    return f"Intervals and p hold for {WORDS[generalize]}."
