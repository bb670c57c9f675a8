"""The unraveler: from a tree with a supertag at every node to the lattice of all its orders.

Bottom-up, a node's automaton puts its word and its daughters' phrases in every order that the grammar's
places allow (`realize.treelets`). A phrase is one automaton, however many places it may take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

import numpy as np

from wellput.core.metric import Floats
from wellput.language.realize.inputs import InputTree
from wellput.language.realize.lattice import Automaton, Lattice
from wellput.language.realize.treelets import treelet_shape
from wellput.trees.supertags import Grammar

S = TypeVar("S")

Precedence = Callable[[int, Sequence[int]], Floats]
"""Of a node and its daughters: an array whose entry i, j is the log weight of the i-th daughter
standing before the j-th; the node itself comes last."""

FormWeight = Callable[[str], float]


@dataclass(frozen=True, eq=False)
class Unraveled:
    """A lattice, the node that each of its words belongs to, and whether an automaton had to be
    restricted because a node has too many daughters that may stand anywhere."""

    lattice: Lattice
    nodes: tuple[int, ...]
    is_restricted: bool


def unravel(
    tree: InputTree,
    supertags: Sequence[S],
    grammar: Grammar[S],
    *,
    precedence: Precedence | None = None,
    form_weight: FormWeight = lambda _: 0.0,
) -> Unraveled:
    """The lattice of a tree. Its arcs weigh what `precedence` says of their order and, where a node has
    several forms, `form_weight` of the form."""
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
