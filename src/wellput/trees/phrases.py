"""Constituents made plain: without empty elements, without function tags.

`fold` is how a constituent is walked here: bottom-up, left to right, and without recursion, as a
tree that a program wrote can be deeper than Python's stack.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from wellput.core.tree import Constituent

EMPTY_ELEMENT = "-NONE-"
AFTER_CATEGORY = re.compile(r"[-=|]")

T = TypeVar("T")


def fold(constituent: Constituent, value: Callable[[Constituent, list[T]], T]) -> T:
    """The value of the whole, where `value` makes a node's out of the node and its parts' values."""
    order: list[Constituent] = []
    waiting = [constituent]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting.extend(node.children)
    done: list[T] = []
    for node in reversed(order):
        first = len(done) - len(node.children)
        done[first:] = [value(node, done[first:])]
    return done[0]


def category(label: str) -> str:
    """The label without function tags and indices; of two labels (`ADVP|PRT`) the first.

    >>> [category(label) for label in ("NP-SBJ-1", "NP=2", "-LRB-", "WP$")]
    ['NP', 'NP', '-LRB-', 'WP$']
    """
    return AFTER_CATEGORY.split(label, maxsplit=1)[0] or label


def function_tags(label: str) -> frozenset[str]:
    """The function tags of a label, indices left out.

    >>> sorted(function_tags("NP-LOC-PRD-2"))
    ['LOC', 'PRD']
    """
    _, *tags = AFTER_CATEGORY.split(label) if not label.startswith("-") else [label]
    return frozenset(tag for tag in tags if tag and not tag.isdigit())


def named(constituent: Constituent) -> Constituent:
    """What the nameless outermost bracket of a Penn file holds."""
    while not constituent.label and len(constituent.children) == 1:
        constituent = constituent.children[0]
    return constituent


def without_empty(constituent: Constituent) -> Constituent | None:
    """The constituent without empty elements and the phrases that held nothing else; None if it
    held nothing else itself."""

    def keep(node: Constituent, parts: list[Constituent | None]) -> Constituent | None:
        if node.word is not None:
            return None if node.label == EMPTY_ELEMENT else node
        kept = tuple(part for part in parts if part is not None)
        return Constituent(node.label, kept) if kept else None

    return fold(constituent, keep)


def plain(constituent: Constituent) -> Constituent | None:
    """The constituent without empty elements and function tags, None if nothing is left."""
    kept = without_empty(constituent)
    if kept is None:
        return None
    return fold(
        kept, lambda node, parts: Constituent(category(node.label), tuple(parts), node.word)
    )
