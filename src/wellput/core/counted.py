"""Nouns with their number, in sentences for people: `1 item`, `2,000 items`."""

from __future__ import annotations


def counted(n: int, noun: str, plural: str = "") -> str:
    """The number and the noun in the form that belongs to it; the plural ends in s unless given.

    >>> counted(1, "item"), counted(2000, "item"), counted(0, "entry", "entries")
    ('1 item', '2,000 items', '0 entries')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
