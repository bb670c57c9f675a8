"""Unicode forms: é is one character in NFC and two in NFD (e and an accent). Texts in different forms
look the same and share no n-gram with such a letter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from unicodedata import is_normalized


def count_in_other_form(outputs: Iterable[object], references: Iterable[Sequence[str]]) -> int:
    """How many outputs are in NFC while a reference of theirs is not, or the other way round. A text of
    ASCII characters is the same in all forms; outputs that are not texts do not count."""
    return sum(
        isinstance(output, str) and not output.isascii() and _is_other(output, own)
        for output, own in zip(outputs, references, strict=True)
    )


def _is_other(text: str, references: Sequence[str]) -> bool:
    is_composed = is_normalized("NFC", text)
    return any(
        is_normalized("NFC", reference) != is_composed
        for reference in references
        if not reference.isascii()
    )
