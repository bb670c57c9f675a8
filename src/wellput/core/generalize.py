"""What an interval holds for: the one option `generalize`, and the words beneath every table."""

from __future__ import annotations

from typing import Literal, TypeAlias

from wellput.core.errors import InputError

Generalize: TypeAlias = Literal["items", "systems", "both"]

WORDS: dict[Generalize, str] = {
    "items": "these systems, other items",
    "systems": "other systems, these items",
    "both": "other systems and other items",
}


def only_items(generalize: Generalize) -> None:
    """Refuses what a comparison of systems on one set of items cannot say."""
    if generalize == "items":
        return
    if generalize in WORDS:
        raise InputError(
            f"generalize={generalize!r} is not for comparing systems: their scores are about "
            f"{WORDS['items']}. Leave it out, or give generalize='items'."
        )
    raise InputError(f"generalize={generalize!r} is none of {', '.join(WORDS)}.")


def holds_for(generalize: Generalize) -> str:
    """The sentence beneath a table.

    >>> holds_for("items")
    'Intervals and p hold for these systems, other items.'
    """
    return f"Intervals and p hold for {WORDS[generalize]}."
