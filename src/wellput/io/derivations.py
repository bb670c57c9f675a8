"""Derivations and the display schedules over them, checked lightly: shape and node ids."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any


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
        else:
            seen.add(name)
        for key in ("label", "word"):
            if not isinstance(node.get(key), str | None):
                complain(f"{key} of derivation node {name} must be a text")
        if not isinstance(node.get("features"), dict | None):
            complain(f"features of derivation node {name} must be an object")
        children = node.get("children")
        if children is None:
            continue
        if isinstance(children, list):
            waiting.extend(children)
        else:
            complain(f"children of derivation node {name} must be a list")
    return seen


def check_schedule(
    schedule: dict[str, Any], nodes: Set[str] | None, name: str, complain: Callable[[str], None]
) -> None:
    """A schedule gives nodes of the derivation their motions: `{"n1": ["nd=d", "bw=u"]}`."""
    for node, motions in schedule.items():
        if nodes is not None and node not in nodes:
            complain(f"{name} has node {node}, which is not in the derivation")
        if not isinstance(motions, list) or not all(isinstance(motion, str) for motion in motions):
            complain(f"{name}: node {node} must have a list of texts")
