"""Texts as a terminal may print them. A name in a file may hold escape sequences, which would color,
move or retitle the terminal, or marks that turn the order of the text around."""

from __future__ import annotations

KEPT = "\n"
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_ESCAPES = {
    code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    for code in (*_CONTROLS, *_DIRECTIONS)
    if chr(code) not in KEPT
}


def printable(text: str) -> str:
    """The text with control characters, except line feeds, as their escapes.

    >>> printable("\\x1b[31mred\\x07")
    '\\\\x1b[31mred\\\\x07'
    """
    return text if text.isprintable() else text.translate(_ESCAPES)
