"""The orders of a head and her daughters that a grammar allows, as an automaton over daughters.

A treelet's line has places (see `trees.supertags`): odd ones take one word or phrase, even ones any
number in any order. A state is the set of daughters that stand already, with the place reached; so all
orders of k daughters need 2^k states, not k! paths. A treelet with more than `MAX_STATES` states is
restricted: with the daughters sorted by their first places, none may overtake more than `WINDOW` - 1
others. Shapes recur, so automata are kept by the daughters' places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

MAX_STATES = 1024
WINDOW = 5
LAST = 1 << 30  # behind every place

Places = tuple[int, ...]
State = tuple[int, int]
Steps = dict[State, list[tuple[State, int]]]


@dataclass(frozen=True, eq=False)
class TreeletShape:
    """`steps` are rows (source, target, member), sorted by source; `unplaced[i]` says which members
    come later than the one that step i puts."""

    n_states: int
    steps: NDArray[np.int32]
    unplaced: NDArray[np.bool_]
    is_restricted: bool


@lru_cache(maxsize=20_000)
def treelet_shape(places: tuple[Places, ...]) -> TreeletShape:
    """The orders of members that may stand at these places, sorted as `places` are.

    >>> treelet_shape(((0, 2), (1,), (2,))).steps.tolist()  # an adjunct, a head, one that follows it
    [[0, 1, 0], [0, 2, 1], [1, 3, 1], [2, 3, 0], [2, 4, 2], [3, 5, 2], [4, 5, 0]]
    """
    for is_shared in (False, True):  # slots are shared where more daughters than slots came
        for window in (len(places), WINDOW):
            steps = _explore(places, window, is_shared)
            if steps is not None:
                break
        assert steps is not None
        if (shape := _trimmed(steps, len(places), is_restricted=window < len(places))) is not None:
            return shape
    raise AssertionError("sorted members always have an order")


def _explore(places: Sequence[Places], window: int, is_shared: bool) -> Steps | None:
    """The states reached from none placed, in order of how many are; None if there are too many."""
    alike: dict[Places, int] = {}
    for member, own in enumerate(places):
        alike[own] = alike.get(own, 0) | 1 << member
    start = (0, 0)
    steps: Steps = {start: []}
    frontier = [start]
    while frontier:
        reached: dict[State, None] = {}
        for state in frontier:
            placed, place = state
            first = (~placed & (placed + 1)).bit_length() - 1
            for member in range(first, min(first + window, len(places))):
                at = -1 if placed >> member & 1 else _first_from(places[member], place)
                if at < 0:
                    continue
                after = at + (at % 2 and not is_shared)
                target = _settled(placed | 1 << member, after, alike)
                if target is not None:
                    steps[state].append((target, member))
                    reached.setdefault(target)
        frontier = list(reached)
        steps.update((state, []) for state in frontier)
        if len(steps) > MAX_STATES and window > WINDOW:
            return None
    return steps


def _settled(placed: int, place: int, alike: Mapping[Places, int]) -> State | None:
    """The state with its place moved on to the first that can be taken; None if one cannot stand."""
    first = LAST
    for own, members in alike.items():
        if members & ~placed:
            at = _first_from(own, place)
            if at < 0:
                return None
            first = min(first, at)
    return placed, first


def _first_from(places: Places, place: int) -> int:
    for own in places:
        if own >= place:
            return own
    return -1


def _trimmed(steps: Steps, size: int, *, is_restricted: bool) -> TreeletShape | None:
    """Only the states from which all can be placed; None if the first is not among them."""
    final = ((1 << size) - 1, LAST)
    useful = {final}
    for state in reversed(steps):
        if any(target in useful for target, _ in steps[state]):
            useful.add(state)
    if (0, 0) not in useful:
        return None
    numbers = {state: number for number, state in enumerate(s for s in steps if s in useful)}
    rows = [
        (numbers[state], numbers[target], member)
        for state, targets in steps.items()
        if state in useful
        for target, member in targets
        if target in useful
    ]
    n_bytes = (size + 7) // 8
    placed = b"".join(placed.to_bytes(n_bytes, "little") for placed, _ in numbers)
    bits = np.unpackbits(np.frombuffer(placed, np.uint8).reshape(-1, n_bytes), 1, size, "little")
    array = np.array(rows, np.int32)
    return TreeletShape(len(numbers), array, bits[array[:, 1]] == 0, is_restricted)
