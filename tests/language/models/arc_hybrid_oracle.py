"""The arc-hybrid system in plain Python: states as tuples, all ways to the end."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

SHIFT, LEFT, RIGHT = range(3)


class State(NamedTuple):
    """The stack (0, what is above the root, at its bottom), the next word, arcs as (word, head)."""

    stack: tuple[int, ...]
    following: int
    arcs: frozenset[tuple[int, int]]


def initial() -> State:
    return State((0,), 1, frozenset())


def moves(state: State, n: int) -> Iterator[tuple[int, State]]:
    stack, following, arcs = state
    if following <= n:
        yield SHIFT, State((*stack, following), following + 1, arcs)
    if following <= n and len(stack) > 1:
        yield LEFT, State(stack[:-1], following, arcs | {(stack[-1], following)})
    if len(stack) > 2 or (len(stack) == 2 and following > n):
        yield RIGHT, State(stack[:-1], following, arcs | {(stack[-1], stack[-2])})


@cache
def trees_from(state: State, n: int) -> frozenset[frozenset[tuple[int, int]]]:
    """The sets of arcs of all trees that can be reached."""
    further = [after for _, after in moves(state, n)]
    if not further:
        return frozenset([state.arcs])
    return frozenset().union(*(trees_from(after, n) for after in further))


def best_overlap(state: State, n: int, gold: frozenset[tuple[int, int]]) -> int:
    """The most gold arcs that a tree reached from here can have."""
    return max(len(tree & gold) for tree in trees_from(state, n))
