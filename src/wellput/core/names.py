"""Names as people give them: in a list, or separated by commas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Names: TypeAlias = str | Iterable[str]
"""Names in a list, or separated by commas."""


def listed(names: Names) -> list[str]:
    """Names from a list of texts, each of which may hold several, separated by commas.

    >>> listed(["a, b", "c"])
    ['a', 'b', 'c']
    """
    texts = [names] if isinstance(names, str) else names
    return [piece for text in texts for one in text.split(",") if (piece := one.strip())]
