"""What the pages of papers share: numbers and lists in words."""

from __future__ import annotations

from collections.abc import Sequence


def p_text(p: float) -> str:
    """As papers write it: `.034`, `< .001`; empty for NaN."""
    if p != p:
        return ""
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
