"""Motions, displays, derivations with their nodes and words, and schedules; how derivations and
schedules are checked when they are read.

A *derivation* is a tree over the words of a sentence. A *motion* is one movement of the head or face
(`nd=d` is a nod down); a *display* is the set of motions on one node of the derivation, or on a span of
nodes written `first..last`; a *schedule* has the displays of a sentence. In arrays a display is a whole
number, its *code*, with a bit for each of its motions, 0 for none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from wellput.core.errors import did_you_mean

if TYPE_CHECKING:
    from wellput.core.evalset import Item
    from wellput.displays.talking_head import HeadMedium

Derivation: TypeAlias = Mapping[str, Any]
"""A node of a tree: its `id` and, if it has them, `label`, `word`, `features`, `children`. A
derivation is given by its root."""
Schedule: TypeAlias = Mapping[str, Sequence[str]]
"""The displays of a sentence: the motions, by the id of the node or by the span of nodes."""

SPAN_MARK = ".."

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
"""Every motion in Foster's (2008) notation, and in words. Left is the speaker's left."""

MOTION_BITS: dict[str, int] = {motion: 1 << place for place, motion in enumerate(MOTIONS)}


def display_code(motions: Sequence[str]) -> int:
    """The code of the display with these motions.

    >>> display_code(["nd=d", "bw=u"]), display_code([])
    (5, 0)
    """
    return sum({MOTION_BITS[motion] for motion in motions})


def display_motions(code: int) -> list[str]:
    """The motions of the display with this code, in the order of `MOTIONS`.

    >>> display_motions(5)
    ['nd=d', 'bw=u']
    """
    return [motion for motion, bit in MOTION_BITS.items() if code & bit]


def unknown_motion(motion: object) -> str:
    """What a message says about a motion that does not exist.

    >>> unknown_motion("nd=x")
    "unknown motion 'nd=x'. Did you mean nd=u or nd=d?"
    """
    hint = did_you_mean(str(motion), list(MOTIONS)) or f" The motions are {', '.join(MOTIONS)}."
    return f"unknown motion {motion!r}.{hint}"


def schedules_of(item: Item) -> dict[str, Schedule]:
    """The outputs of an item that are schedules, by system."""
    return {
        system: output for system, output in item.outputs.items() if isinstance(output, Mapping)
    }


def nodes_of(derivation: Derivation) -> Iterator[Derivation]:
    """The nodes depth first, a node before its children."""
    to_visit = [derivation]
    while to_visit:
        node = to_visit.pop()
        yield node
        children = node.get("children")
        if children:
            to_visit.extend(reversed(children))


def count_nodes(derivation: Derivation) -> int:
    """The number of nodes, counted much faster than by `nodes_of`."""
    count = 0
    to_visit = [derivation]
    while to_visit:
        children = to_visit.pop().get("children")
        count += 1
        if children:
            to_visit += children
    return count


def words_of(derivation: Derivation) -> list[str]:
    """The words in their order.

    >>> words_of({"id": "a", "children": [{"id": "b", "word": "red"}, {"id": "c", "word": "tiles"}]})
    ['red', 'tiles']
    """
    return [node["word"] for node in nodes_of(derivation) if node.get("word") is not None]


def extents_of(derivation: Derivation) -> dict[str, tuple[int, int]]:
    """By node id: the place of the node's first word, and the place after its last word."""
    extents: dict[str, tuple[int, int]] = {}
    opened: list[tuple[Derivation, int]] = []
    n = 0
    to_visit: list[Derivation | None] = [derivation]
    while to_visit:
        node = to_visit.pop()
        if node is None:  # all nodes below the last opened node have been visited
            closed, start = opened.pop()
            extents[closed["id"]] = (start, n)
            continue
        opened.append((node, n))
        n += node.get("word") is not None
        to_visit.append(None)
        to_visit.extend(reversed(node.get("children") or ()))
    return extents


def span_ends(key: str) -> tuple[str, str]:
    """The first and the last node of a schedule's key. For a single node they are the same.

    >>> span_ends("n3..n5"), span_ends("n3")
    (('n3', 'n5'), ('n3', 'n3'))
    """
    first, _, last = key.partition(SPAN_MARK)
    return first, last or first


NODE_PART_TYPES = (
    ("label", str, "a text"),
    ("word", str, "a text"),
    ("features", dict, "an object"),
)
"""What a node may have besides its id and its children: the key, the type, and the type in words."""


def check_derivation(derivation: Any, complain: Callable[[str], None]) -> Set[str]:
    """The node ids of a derivation `{"id": …, "label": …, "children": […]}`; `complain` is called with
    each problem."""
    ids: set[str] = set()
    to_visit = [derivation]
    while to_visit:
        node = to_visit.pop()
        if not isinstance(node, dict):
            complain("every node of the derivation must be an object")
            continue
        name = node.get("id")
        if not isinstance(name, str) or not name:
            complain('every node of the derivation needs an "id", a text')
        elif name in ids:
            complain(f"the derivation has two nodes {name}")
        elif SPAN_MARK in name:
            complain(
                f"the derivation has a node {name}: only spans of nodes may have {SPAN_MARK} in them"
            )
        else:
            ids.add(name)
        for key, kind, type_words in NODE_PART_TYPES:
            value = node.get(key)
            if value is not None and not isinstance(value, kind):
                complain(f"{key} of derivation node {name} must be {type_words}")
        children = node.get("children")
        if children is None:
            continue
        if isinstance(children, list):
            to_visit.extend(children)
        else:
            complain(f"children of derivation node {name} must be a list")
    return ids


def check_schedule(
    schedule: Mapping[str, Any],
    nodes: Set[str] | None,
    name: str,
    complain: Callable[[str], None],
    *,
    derivation: Any = None,
) -> None:
    """Checks a schedule, which has motions for nodes and spans of nodes of the derivation:
    `{"n1": ["nd=d", "bw=u"], "n2..n4": ["ln=l"]}`. `nodes` has the ids of the derivation's nodes, None
    if there is no derivation. `complain` is called with each problem."""
    has_only_nodes = True
    for key, motions in schedule.items():
        if nodes is not None and key not in nodes:  # a span, or an unknown node
            has_only_nodes = False
            for end in dict.fromkeys(span_ends(key)):
                if end not in nodes:
                    within = f" (in the span {key})" if SPAN_MARK in key else ""
                    complain(f"{name} has node {end}{within}, which is not in the derivation")
        if not isinstance(motions, list) or not all(isinstance(motion, str) for motion in motions):
            complain(f"{name}: node {key} must have a list of texts")
            continue
        if not MOTIONS.keys() >= set(motions):
            for motion in dict.fromkeys(motions):
                if motion not in MOTIONS:
                    complain(f"{name}: node {key} has the {unknown_motion(motion)}")
        if len(set(motions)) < len(motions):
            complain(f"{name}: node {key} has a motion twice ({', '.join(motions)})")
    if not has_only_nodes and nodes is not None and derivation is not None:
        _check_spans(schedule, nodes, derivation, name, complain)


def _check_spans(
    schedule: Mapping[str, Any],
    nodes: Set[str],
    derivation: Any,
    name: str,
    complain: Callable[[str], None],
) -> None:
    """Complains of spans whose last node does not end after their first node."""
    spans = [key for key in schedule if key not in nodes and set(span_ends(key)) <= nodes]
    extents = extents_of(derivation) if spans else {}
    for key in spans:
        first, last = (extents[end] for end in span_ends(key))
        if last[1] <= first[1]:
            complain(f"{name} has the span {key}, whose last node does not end after its first")


class ScheduleKind:
    """Display schedules as a kind of outputs (`wellput.core.output_kinds`)."""

    name: ClassVar[str] = "display schedules"
    usual_metrics: ClassVar[str] = "display-f,display-accuracy,display-entropy,display-commonest"

    def knows(self, output: Mapping[str, Any]) -> bool:
        """True: any object is taken for a schedule; `check` complains if it is none."""
        return True

    def check(
        self,
        derivation: Any,
        outputs: Mapping[str, Mapping[str, Any]],
        complain: Callable[[str], None],
    ) -> None:
        nodes = None if derivation is None else check_derivation(derivation, complain)
        for system, schedule in outputs.items():
            name = f"the output of {system}"
            check_schedule(schedule, nodes, name, complain, derivation=derivation)

    def text_of(self, output: Schedule) -> str:
        return "; ".join(f"{node}: {', '.join(motions)}" for node, motions in output.items())

    def medium(self) -> HeadMedium:
        from wellput.displays.talking_head import HeadMedium

        return HeadMedium()
