"""The unraveler: from a tree with a supertag at every node to the lattice of all its orders.

Bottom-up, a node's automaton has its word and its daughters' phrases in every order that the
grammar's places allow. A phrase is one automaton, however many places it may take.

A treelet, a head and its daughters, has a line with places (see `trees/supertags.py`): odd ones take
one word or phrase, even ones any number in any order. A state is the set of daughters placed so far,
with the place reached; so all orders of k daughters need 2^k states, not k! paths. A treelet with
more than `MAX_STATES` states is restricted: with the daughters sorted by their first places, none may
overtake more than `WINDOW` - 1 others. Shapes recur, so they are cached by the daughters' places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats
from wellput.language.realize.inputs import InputTree
from wellput.language.realize.lattice import Automaton, Lattice
from wellput.language.trees.supertags import OrderingGrammar

MAX_STATES = 1024
WINDOW = 5
"""In a restricted treelet, a daughter may overtake fewer than this many others."""
PLACE_BEHIND_ALL = 1 << 30

TreeletPlaces = tuple[int, ...]
TreeletState = tuple[int, int]
TreeletSteps = dict[TreeletState, list[tuple[TreeletState, int]]]


@dataclass(frozen=True, eq=False)
class TreeletShape:
    """`steps` are rows (source, target, member), sorted by source; `unplaced[i]` says which members
    come after the one that step i places."""

    n_states: int
    steps: NDArray[np.int32]
    unplaced: NDArray[np.bool_]
    is_restricted: bool


@lru_cache(maxsize=20_000)
def treelet_shape(places: tuple[TreeletPlaces, ...]) -> TreeletShape:
    """The orders of members that may stand at these places, sorted as `places` are.

    >>> treelet_shape(((0, 2), (1,), (2,))).steps.tolist()  # an adjunct, a head, one that follows it
    [[0, 1, 0], [0, 2, 1], [1, 3, 1], [2, 3, 0], [2, 4, 2], [3, 5, 2], [4, 5, 0]]
    """
    for is_shared in (False, True):  # slots are shared where there are more daughters than slots
        for window in (len(places), WINDOW):
            steps = _explore(places, window, is_shared)
            if steps is not None:
                break
        assert steps is not None
        if (shape := _trimmed(steps, len(places), is_restricted=window < len(places))) is not None:
            return shape
    raise AssertionError("sorted members always have an order")


def _explore(places: Sequence[TreeletPlaces], window: int, is_shared: bool) -> TreeletSteps | None:
    """The states by the number of members placed, from none on; None if there are too many."""
    by_places: dict[TreeletPlaces, int] = {}
    for member, own in enumerate(places):
        by_places[own] = by_places.get(own, 0) | 1 << member
    start = (0, 0)
    steps: TreeletSteps = {start: []}
    frontier = [start]
    while frontier:
        reached: dict[TreeletState, None] = {}
        for state in frontier:
            placed, place = state
            first = (~placed & (placed + 1)).bit_length() - 1
            for member in range(first, min(first + window, len(places))):
                at = -1 if placed >> member & 1 else _first_from(places[member], place)
                if at < 0:
                    continue
                after = at + (at % 2 and not is_shared)
                target = _settled(placed | 1 << member, after, by_places)
                if target is not None:
                    steps[state].append((target, member))
                    reached.setdefault(target)
        frontier = list(reached)
        steps.update((state, []) for state in frontier)
        if len(steps) > MAX_STATES and window > WINDOW:
            return None
    return steps


def _settled(
    placed: int, place: int, by_places: Mapping[TreeletPlaces, int]
) -> TreeletState | None:
    """The state with its place moved to the first that a member can take; None if a member has no
    place left."""
    first = PLACE_BEHIND_ALL
    for own, members in by_places.items():
        if members & ~placed:
            at = _first_from(own, place)
            if at < 0:
                return None
            first = min(first, at)
    return placed, first


def _first_from(places: TreeletPlaces, place: int) -> int:
    for own in places:
        if own >= place:
            return own
    return -1


def _trimmed(steps: TreeletSteps, size: int, *, is_restricted: bool) -> TreeletShape | None:
    """Only the states from which all can be placed; None if the first is not among them."""
    final = ((1 << size) - 1, PLACE_BEHIND_ALL)
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


S = TypeVar("S")

Precedence = Callable[[int, Sequence[int]], Floats]
"""Takes a node and its daughters; entry i, j of the array is the log weight of the i-th daughter
before the j-th. The node itself comes last."""

FormWeight = Callable[[str], float]


@dataclass(frozen=True, eq=False)
class Unraveled:
    """A lattice, the node of each of its words, and whether an automaton was restricted because a node
    has too many daughters that may stand anywhere."""

    lattice: Lattice
    nodes: tuple[int, ...]
    is_restricted: bool


def unravel(
    tree: InputTree,
    supertags: Sequence[S],
    grammar: OrderingGrammar[S],
    *,
    precedence: Precedence | None = None,
    form_weight: FormWeight = lambda _: 0.0,
) -> Unraveled:
    """The lattice of a tree. `precedence` gives the weights of arcs by their order, `form_weight` that
    of a form where a node has several."""
    words = [form for node in tree.nodes for form in node.forms]
    nodes = tuple(number for number, node in enumerate(tree.nodes) for _ in node.forms)
    firsts = [0, *accumulate(len(node.forms) for node in tree.nodes)]
    automata: list[Automaton] = []
    labels = [0] * len(tree)
    is_restricted = False
    for node in reversed(range(len(tree))):
        anchor = firsts[node]
        if len(tree.nodes[node].forms) > 1:
            automata.append(_alternatives(anchor, map(form_weight, tree.nodes[node].forms)))
            anchor = ~(len(automata) - 1)
        daughters = tree.daughters[node]
        if not daughters:
            labels[node] = anchor
            continue
        places = [grammar.places(supertags[node], supertags[d]) for d in daughters]
        places.append((grammar.anchor(supertags[node]),))
        order = sorted(range(len(places)), key=places.__getitem__)
        shape = treelet_shape(tuple(places[member] for member in order))
        is_restricted |= shape.is_restricted
        members = np.array([labels[daughters[m]] if m < len(daughters) else anchor for m in order])
        arcs = shape.steps.copy()
        arcs[:, 2] = members[shape.steps[:, 2]]
        if precedence is None:
            weights = np.zeros(len(arcs))
        else:
            before = precedence(node, daughters)[np.ix_(order, order)]
            weights = (shape.unplaced * before[shape.steps[:, 2]]).sum(axis=1)
        automata.append(Automaton(shape.n_states, arcs, weights))
        labels[node] = ~(len(automata) - 1)
    if labels[0] >= 0:  # a tree of one word
        automata.append(_alternatives(0, [0.0]))
    return Unraveled(Lattice(tuple(words), tuple(automata)), nodes, is_restricted)


def _alternatives(first: int, weights: Iterable[float]) -> Automaton:
    """One of the words that begin at `first`, a weight for each."""
    weighed = np.array(list(weights))
    arcs = np.array([(0, 1, first + word) for word in range(len(weighed))], np.int32)
    return Automaton(2, arcs, weighed)
