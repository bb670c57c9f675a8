"""The nouns of facial displays: motions, displays, derivations with their nodes and words.

A motion is one movement of the head or brows (`nd=d`); a display is the set of motions on one node of
a sentence's derivation, or on a span of nodes written `first..last`; a schedule has the displays of a
sentence. In arrays a display is a whole number with a bit for each of its motions, 0 for none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Derivation: TypeAlias = Mapping[str, Any]
"""A node: `id`, and where it has them `label`, `word`, `features`, `children`."""

SPAN = ".."

MOTIONS: dict[str, str] = {
    "nd=d": "nod down",
    "nd=u": "nod up",
    "bw=u": "brows up",
    "bw=d": "brows down",
    "sq": "squint",
    "ln=l": "lean left",
    "ln=r": "lean right",
    "tn=l": "turn left",
    "tn=r": "turn right",
}
"""Every motion, in Foster's (2008) notation, with what it is in words. Left is the speaker's own."""

BITS: dict[str, int] = {motion: 1 << place for place, motion in enumerate(MOTIONS)}


def display_code(motions: Sequence[str]) -> int:
    """The display as a number.

    >>> display_code(["nd=d", "bw=u"]), display_code([])
    (5, 0)
    """
    return sum({BITS[motion] for motion in motions})


def display_motions(code: int) -> list[str]:
    """The motions of a display's number, in the order of `MOTIONS`.

    >>> display_motions(5)
    ['nd=d', 'bw=u']
    """
    return [motion for motion, bit in BITS.items() if code & bit]


def nodes_of(derivation: Derivation) -> Iterator[Derivation]:
    """The nodes depth first, a node before its children."""
    waiting = [derivation]
    while waiting:
        node = waiting.pop()
        yield node
        children = node.get("children")
        if children:
            waiting.extend(reversed(children))


def count_nodes(derivation: Derivation) -> int:
    """How many nodes there are; far quicker than counting what `nodes_of` yields."""
    count = 0
    waiting = [derivation]
    while waiting:
        children = waiting.pop().get("children")
        count += 1
        if children:
            waiting += children
    return count


def words_of(derivation: Derivation) -> list[str]:
    """The words in their order.

    >>> words_of({"id": "a", "children": [{"id": "b", "word": "red"}, {"id": "c", "word": "tiles"}]})
    ['red', 'tiles']
    """
    return [node["word"] for node in nodes_of(derivation) if node.get("word") is not None]


def extents_of(derivation: Derivation) -> dict[str, tuple[int, int]]:
    """The places of each node's first word and of the one behind its last, by node id."""
    extents: dict[str, tuple[int, int]] = {}
    opened: list[tuple[Derivation, int]] = []
    n = 0
    waiting: list[Derivation | None] = [derivation]
    while waiting:
        node = waiting.pop()
        if node is None:  # all below the node opened last is done
            done, start = opened.pop()
            extents[done["id"]] = (start, n)
            continue
        opened.append((node, n))
        n += node.get("word") is not None
        waiting.append(None)
        waiting.extend(reversed(node.get("children") or ()))
    return extents


def span_ends(key: str) -> tuple[str, str]:
    """The first and the last node that a schedule's key names; the same one for a node.

    >>> span_ends("n3..n5"), span_ends("n3")
    (('n3', 'n5'), ('n3', 'n3'))
    """
    first, _, last = key.partition(SPAN)
    return first, last or first
