"""What the pages of papers share: tables and numbers in Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, numbers_from: int | None = None
) -> str:
    """A table; columns from `numbers_from` on are aligned at the right."""
    first = len(heads) if numbers_from is None else numbers_from
    line = "".join("| ---: " if place >= first else "| --- " for place in range(len(heads)))
    lines = [f"| {' | '.join(heads)} |", line + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def p_text(p: float) -> str:
    """As papers write it: `.034`, `< .001`; empty for NaN."""
    if p != p:
        return ""
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def minus(text: str) -> str:
    """The text with minus signs in place of the hyphens of numbers."""
    return text.replace("-", "−")


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
