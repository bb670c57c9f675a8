"""Derivations and the display schedules over them, checked once, where they are read."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

from wellput.core.displays import MOTIONS, SPAN, extents_of, span_ends
from wellput.core.errors import did_you_mean

KINDS = (("label", str, "a text"), ("word", str, "a text"), ("features", dict, "an object"))
"""What a node may have, beside its id and its children."""


def check_derivation(derivation: Any, complain: Callable[[str], None]) -> Set[str]:
    """The node ids of a derivation `{"id": …, "label": …, "children": […]}`."""
    seen: set[str] = set()
    waiting = [derivation]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict):
            complain("every node of the derivation must be an object")
            continue
        name = node.get("id")
        if not isinstance(name, str) or not name:
            complain('every node of the derivation needs an "id", a text')
        elif name in seen:
            complain(f"the derivation has two nodes {name}")
        elif SPAN in name:
            complain(f"the derivation has a node {name}: {SPAN} stands between the ends of a span")
        else:
            seen.add(name)
        for key, kind, what in KINDS:
            value = node.get(key)
            if value is not None and not isinstance(value, kind):
                complain(f"{key} of derivation node {name} must be {what}")
        children = node.get("children")
        if children is None:
            continue
        if isinstance(children, list):
            waiting.extend(children)
        else:
            complain(f"children of derivation node {name} must be a list")
    return seen


def check_schedule(
    schedule: dict[str, Any],
    nodes: Set[str] | None,
    name: str,
    complain: Callable[[str], None],
    *,
    derivation: Any = None,
) -> None:
    """A schedule gives nodes, or spans of nodes, of the derivation their motions:
    `{"n1": ["nd=d", "bw=u"], "n2..n4": ["ln=l"]}`. `nodes` is None where there is no derivation."""
    is_sound = True
    for key, motions in schedule.items():
        if nodes is not None and key not in nodes:
            is_sound = False
            for end in dict.fromkeys(span_ends(key)):
                if end not in nodes:
                    within = f" (in the span {key})" if SPAN in key else ""
                    complain(f"{name} has node {end}{within}, which is not in the derivation")
        if not isinstance(motions, list) or not all(isinstance(motion, str) for motion in motions):
            complain(f"{name}: node {key} must have a list of texts")
            continue
        if not MOTIONS.keys() >= set(motions):
            for motion in dict.fromkeys(motions):
                if motion not in MOTIONS:
                    hint = (
                        did_you_mean(motion, list(MOTIONS)) or f" There are {', '.join(MOTIONS)}."
                    )
                    complain(f"{name}: node {key} has the unknown motion {motion!r}.{hint}")
        if len(set(motions)) < len(motions):
            complain(f"{name}: node {key} has a motion twice ({', '.join(motions)})")
    if not is_sound and nodes is not None and derivation is not None:
        _check_spans(schedule, nodes, derivation, name, complain)


def _check_spans(
    schedule: dict[str, Any],
    nodes: Set[str],
    derivation: Any,
    name: str,
    complain: Callable[[str], None],
) -> None:
    """A span runs forward: its last node ends behind the words of its first."""
    spans = [key for key in schedule if key not in nodes and set(span_ends(key)) <= nodes]
    extents = extents_of(derivation) if spans else {}
    for key in spans:
        first, last = (extents[end] for end in span_ends(key))
        if last[1] <= first[1]:
            complain(f"{name} has the span {key}, whose last node does not end behind its first")
