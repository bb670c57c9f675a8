"""The noun `Lattice`: the word sequences that a grammar leaves open, with shared sub-lattices.

A lattice is a list of automata without circles. An arc carries a word, or an earlier automaton: any of
that automaton's paths may stand in its place. The automaton of a phrase that could stand in many places
exists once, and so the lattice stays small where its word sequences are countless. The last
automaton is the whole; `flat_arcs` puts all the others in their places, which is what other tools read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats

EPSILON = "<eps>"


@dataclass(frozen=True, eq=False)
class Automaton:
    """Arcs are rows (source, target, label), sorted by source, each to a higher state. State 0 comes
    first, the last state is final. A label is a word's number, or ~a of automaton a."""

    n_states: int
    arcs: NDArray[np.int32]
    weights: Floats


class FlatArc(NamedTuple):
    source: int
    target: int
    word: int
    weight: float


@dataclass(frozen=True, eq=False)
class Lattice:
    """`words` are those on the arcs, the word `""` standing for none; weights of arcs add up to a log
    weight of the path."""

    words: tuple[str, ...]
    automata: tuple[Automaton, ...]

    @property
    def n_arcs(self) -> int:
        """The arcs that are stored."""
        return sum(len(automaton.arcs) for automaton in self.automata)

    @cached_property
    def n_flat_arcs(self) -> int:
        """The arcs once every sub-lattice is put in all its places."""
        sizes: list[int] = []
        for automaton in self.automata:
            labels = automaton.arcs[:, 2].tolist()
            sizes.append(sum(1 if label >= 0 else sizes[~label] for label in labels))
        return sizes[-1]

    @cached_property
    def n_paths(self) -> int:
        """How many paths there are; equal words make different paths."""
        totals: list[int] = []
        for automaton in self.automata:
            ways = [1] + [0] * (automaton.n_states - 1)
            for source, target, label in automaton.arcs.tolist():
                ways[target] += ways[source] * (1 if label >= 0 else totals[~label])
            totals.append(ways[-1])
        return totals[-1]

    def flat_arcs(self) -> Iterator[FlatArc]:
        """The whole as one automaton from state 0 to state 1, arcs in no particular order."""
        used = 2
        waiting = [(len(self.automata) - 1, 0, 1, 0.0)]
        while waiting:
            number, first, last, weight = waiting.pop()
            automaton = self.automata[number]
            inner = automaton.n_states - 2
            states = [first, *range(used, used + inner), last]
            used += inner
            rows = zip(automaton.arcs.tolist(), automaton.weights.tolist(), strict=True)
            for (source, target, label), own in rows:
                # What it cost to come here is paid on the first arc.
                cost = own + (weight if source == 0 else 0.0)
                if label >= 0:
                    yield FlatArc(states[source], states[target], label, cost)
                else:
                    waiting.append((~label, states[source], states[target], cost))

    def paths(self) -> Iterator[tuple[tuple[int, ...], float]]:
        """Every path's words and weight; for small lattices."""
        leaving: dict[int, list[FlatArc]] = {}
        for arc in self.flat_arcs():
            leaving.setdefault(arc.source, []).append(arc)
        waiting: list[tuple[int, tuple[int, ...], float]] = [(0, (), 0.0)]
        while waiting:
            state, words, weight = waiting.pop()
            if state == 1:
                yield words, weight
            for arc in leaving.get(state, ()):
                longer = (*words, arc.word) if self.words[arc.word] else words
                waiting.append((arc.target, longer, weight + arc.weight))
