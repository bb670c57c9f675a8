"""The unraveler: makes the lattice of all word orders of a tree with a supertag at every node.

A supertag says where the words that depend on a word (its daughters) may stand beside it; see
`trees/supertags.py`. A *treelet* is a head with its daughters; its *members* are the head's own word
and the phrases of the daughters. From the bottom up, each treelet becomes an automaton that has its
members in every order that the grammar allows. A phrase is one automaton, however many places it may
take.

A treelet has a line with numbered places: an odd place (a slot) takes one member, an even place any
number in any order. A state of the automaton is the set of members placed so far and the place
reached, so all orders of k members need 2^k states instead of k! paths. A treelet with more than
`MAX_STATES` states is restricted: its members are sorted by their first places, and only the first
member that is not placed yet and the `WINDOW` - 1 members after it can be placed next. Treelets with
the same places have the same shape, which is cached.
"""

from __future__ import annotations

import math
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

# A treelet with more states is restricted.
MAX_STATES = 1024
WINDOW = 5
"""In a restricted treelet, only the first member that is not placed yet and the `WINDOW` - 1 members
after it can be placed next."""
MAX_WEIGHTS_AT_ONCE = 1 << 20
"""Steps times members whose weights are added up at once, which bounds the memory."""
PLACE_AFTER_ALL = 1 << 30
"""The place that a state has reached when all members are placed."""

MemberPlaces = tuple[int, ...]
"""The places where one member may stand."""
TreeletState = tuple[int, int]
"""The set of members placed so far, as the bits of a number, and the first place that is still free."""
TreeletSteps = dict[TreeletState, list[tuple[TreeletState, int]]]
"""From each state: the states that follow, each with the member that is placed."""


@dataclass(frozen=True, eq=False)
class TreeletShape:
    """The automaton of a treelet, with members in place of words. `steps` are rows (source state,
    target state, member), sorted by source; row i of `placed` has a bit for each member that is placed
    in state i. `is_restricted`: some orders are left out, because too many members may stand
    anywhere."""

    n_states: int
    steps: NDArray[np.int32]
    placed: NDArray[np.uint8]
    is_restricted: bool

    def weights(self, before: Floats, order: Sequence[int]) -> Floats:
        """The log weight of each step: that its member comes before those that are not placed yet.
        `before[i, j]` is the log weight of i coming before j, where member m is `order[m]`."""
        size = len(order)
        weights = np.empty(len(self.steps))
        n_rows = max(1, MAX_WEIGHTS_AT_ONCE // size)
        for first in range(0, len(weights), n_rows):
            _, targets, members = self.steps[first : first + n_rows].T
            is_placed = np.unpackbits(self.placed[targets], 1, size, "little")
            weights_before = before[np.ix_(np.take(order, members), order)]
            weights[first : first + n_rows] = ((is_placed == 0) * weights_before).sum(axis=1)
        return weights


@lru_cache(maxsize=20_000)
def treelet_shape(places: tuple[MemberPlaces, ...]) -> TreeletShape:
    """The automaton of all orders of a treelet's members. `places` has the places of each member,
    sorted.

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


def _explore(places: Sequence[MemberPlaces], window: int, is_shared: bool) -> TreeletSteps | None:
    """All states that can be reached and the steps from each, in the order of the number of members
    placed; None if there are too many states. Only the first member that is not placed yet and the
    `window` - 1 members after it can be placed next. With `is_shared`, a slot may take several
    members."""
    members_by_places: dict[MemberPlaces, int] = {}
    for member, own_places in enumerate(places):
        members_by_places[own_places] = members_by_places.get(own_places, 0) | 1 << member
    start = (0, 0)
    steps: TreeletSteps = {start: []}
    frontier = [start]
    max_states = MAX_STATES if window > WINDOW else math.inf
    while frontier:
        reached: dict[TreeletState, None] = {}
        for state in frontier:
            placed, place = state
            first = (~placed & (placed + 1)).bit_length() - 1  # the first member not placed yet
            for member in range(first, min(first + window, len(places))):
                at = -1 if placed >> member & 1 else _first_from(places[member], place)
                if at < 0:
                    continue
                after = at + (at % 2 and not is_shared)  # an odd place is then full
                target = _settled(placed | 1 << member, after, members_by_places)
                if target is not None:
                    steps[state].append((target, member))
                    reached.setdefault(target)
                    # Checked at every step, not once for each number of members placed: of thousands
                    # of members, each pair would be a state.
                    if len(steps) + len(reached) > max_states:
                        return None
        frontier = list(reached)
        steps.update((state, []) for state in frontier)
    return steps


def _settled(
    placed: int, place: int, members_by_places: Mapping[MemberPlaces, int]
) -> TreeletState | None:
    """The state with its place moved to the first place that an unplaced member can take; None if an
    unplaced member has no place left."""
    first = PLACE_AFTER_ALL
    for places, members in members_by_places.items():
        if members & ~placed:
            at = _first_from(places, place)
            if at < 0:
                return None
            first = min(first, at)
    return placed, first


def _first_from(places: MemberPlaces, minimum: int) -> int:
    """The first of the places that is not below the minimum; -1 if there is none."""
    for place in places:
        if place >= minimum:
            return place
    return -1


def _trimmed(steps: TreeletSteps, size: int, *, is_restricted: bool) -> TreeletShape | None:
    """The shape with only the states from which all members can be placed; None if the first state is
    not among them."""
    final = ((1 << size) - 1, PLACE_AFTER_ALL)
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
    bits = np.frombuffer(placed, np.uint8).reshape(-1, n_bytes)
    return TreeletShape(len(numbers), np.array(rows, np.int32), bits, is_restricted)


S = TypeVar("S")

Precedence = Callable[[int, Sequence[int]], Floats]
"""Takes a node and its daughters, and returns an array whose entry i, j is the log weight of daughter i
coming before daughter j. The last row and column stand for the node itself."""

FormWeight = Callable[[str], float]
"""The log weight of one of a node's several forms."""


@dataclass(frozen=True, eq=False)
class Unraveled:
    """A lattice, the number of the node of each of its words, and whether an automaton is restricted
    (leaves out some orders) because a node has too many daughters that may stand anywhere."""

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
    """The lattice of a tree. `precedence` gives the log weights of orders, which are put on the arcs;
    `form_weight` gives that of each form of a node that has several."""
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
            weights = shape.weights(precedence(node, daughters), order)
        automata.append(Automaton(shape.n_states, arcs, weights))
        labels[node] = ~(len(automata) - 1)
    if labels[0] >= 0:  # a tree of one word
        automata.append(_alternatives(0, [0.0]))
    return Unraveled(Lattice(tuple(words), tuple(automata)), nodes, is_restricted)


def _alternatives(first: int, weights: Iterable[float]) -> Automaton:
    """An automaton that takes one of several words, which have a weight each; their numbers begin with
    `first`."""
    arc_weights = np.array(list(weights))
    arcs = np.array([(0, 1, first + word) for word in range(len(arc_weights))], np.int32)
    return Automaton(2, arcs, arc_weights)
