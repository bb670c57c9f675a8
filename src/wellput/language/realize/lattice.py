"""`Lattice`, the word sequences that a grammar allows, and `choose_paths`, which finds its best paths.

A lattice is a list of acyclic automata. An arc carries a word, or an earlier automaton, of which any
path may stand in place of the arc. The automaton of a phrase exists once, however many places the
phrase may take, so a lattice of very many word sequences stays small. The last automaton stands for the
whole lattice. `flat_arcs` replaces the automata on arcs by their own arcs, as other tools need it.

`choose_paths`, the LP chooser of FERGUS (`fergus.py`), finds the n most probable paths under an n-gram
model. At each state of an automaton the search keeps the best partial word sequences: n of those with
the same first and last words, and n × `width` in all (at most 10 × `width`, but at least n). If a state
has more sequences, some are left out, and `is_exact` is False.

A lattice is written as text for OpenFst: one arc on each line, `source target word weight`, then the
final state. Weights are negative natural logarithms, as in the tropical semiring. `fstcompile
--acceptor --isymbols=FILE.syms` or pynini compile the text, with the symbol table that is written
beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.io.files import PathLike
from wellput.io.output import write_text
from wellput.language.models.ngrams import NgramModel

EMPTY_SYMBOL = "<eps>"


@dataclass(frozen=True, eq=False)
class Automaton:
    """Arcs are rows (source state, target state, label), sorted by source, each to a higher state.
    State 0 is the first state, and the last state is final. A label is the number of a word, or ~a
    (that is, -a - 1) for automaton number a. `weights` are natural logarithms, one for each arc."""

    n_states: int
    arcs: NDArray[np.int32]
    weights: Floats


class FlatArc(NamedTuple):
    """An arc that carries a word: its two states, the number of the word and its log weight."""

    source: int
    target: int
    word: int
    weight: float


@dataclass(frozen=True, eq=False)
class Lattice:
    """Automata, and the `words` that their labels number; `""` stands for no word. The log weight of a
    path is the sum of the weights of its arcs."""

    words: tuple[str, ...]
    automata: tuple[Automaton, ...]

    @property
    def n_arcs(self) -> int:
        """The number of arcs that are stored."""
        return sum(len(automaton.arcs) for automaton in self.automata)

    @cached_property
    def n_flat_arcs(self) -> int:
        """The number of arcs that `flat_arcs` gives."""
        sizes: list[int] = []
        for automaton in self.automata:
            labels = automaton.arcs[:, 2].tolist()
            sizes.append(sum(1 if label >= 0 else sizes[~label] for label in labels))
        return sizes[-1]

    @cached_property
    def n_paths(self) -> int:
        """The number of paths. Paths that differ only in which of two equal words they take are
        counted separately."""
        totals: list[int] = []
        for automaton in self.automata:
            ways = [1] + [0] * (automaton.n_states - 1)
            for source, target, label in automaton.arcs.tolist():
                ways[target] += ways[source] * (1 if label >= 0 else totals[~label])
            totals.append(ways[-1])
        return totals[-1]

    def flat_arcs(self) -> Iterator[FlatArc]:
        """The arcs of the whole lattice as one automaton from state 0 to state 1, in no particular
        order."""
        used = 2
        waiting = [(len(self.automata) - 1, 0, 1, 0.0)]
        while waiting:
            number, first, last, weight = waiting.pop()
            automaton = self.automata[number]
            inner = automaton.n_states - 2
            states = [first, *range(used, used + inner), last]
            used += inner
            rows = zip(automaton.arcs.tolist(), automaton.weights.tolist(), strict=True)
            for (source, target, label), arc_weight in rows:
                # The weight of the arc that this automaton replaces goes to its first arcs.
                flat_weight = arc_weight + (weight if source == 0 else 0.0)
                if label >= 0:
                    yield FlatArc(states[source], states[target], label, flat_weight)
                else:
                    waiting.append((~label, states[source], states[target], flat_weight))

    def paths(self) -> Iterator[tuple[tuple[int, ...], float]]:
        """The word numbers and the log weight of every path; only for small lattices."""
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


SEARCH_WIDTH = 200
"""The number of partial word sequences at each state that the search keeps by default."""
MAX_NGRAM_ORDER = 4
"""The kernel stores the words of a context in arrays of this size (lattice_search.h in native/)."""


@dataclass(frozen=True)
class LatticePath:
    """Words by their numbers in the lattice. `score` is a natural logarithm: the arcs' weights plus
    `lm_weight` times the log probability; `log_prob` is the n-gram model's log10 probability."""

    words: tuple[int, ...]
    score: float
    log_prob: float


@dataclass(frozen=True)
class BestPaths:
    """The best paths of a lattice, best first, each with another word sequence. `is_exact` is False
    where the search left out paths, so that a better one may exist."""

    paths: tuple[LatticePath, ...]
    is_exact: bool


def choose_paths(
    lattices: Sequence[Lattice],
    model: NgramModel,
    *,
    lm_weight: float = 1.0,
    n_best: int = 1,
    width: int = SEARCH_WIDTH,
    threads: int = 1,
) -> list[BestPaths]:
    """The `n_best` best paths of each lattice under an n-gram model; `lm_weight` is the weight of its
    log probability beside the weights of the arcs."""
    if model.order > MAX_NGRAM_ORDER:
        raise InputError(
            f"The LP chooser takes n-gram models up to order {MAX_NGRAM_ORDER}; this one "
            f"has {model.order}."
        )
    automata = [automaton for lattice in lattices for automaton in lattice.automata]
    try:
        paths_of_lattices = _native.best_paths(
            model.vocabulary,
            model.levels,
            [list(lattice.words) for lattice in lattices],
            np.array([0, *accumulate(len(lattice.automata) for lattice in lattices)]),
            np.array([0, *accumulate(len(automaton.arcs) for automaton in automata)]),
            np.array([automaton.n_states for automaton in automata], np.int64),
            np.concatenate(
                [automaton.arcs for automaton in automata] or [np.zeros((0, 3), np.int32)]
            ),
            np.concatenate([automaton.weights for automaton in automata] or [np.zeros(0)]),
            lm_weight * math.log(10),
            n_best,
            width,
            threads,
        )
    except ValueError as error:  # too many different words
        raise InputError(f"A tree cannot be realized: {error}.") from None
    return [
        BestPaths(
            tuple(LatticePath(tuple(words), score, log_prob) for score, log_prob, words in paths),
            exact,
        )
        for paths, exact in paths_of_lattices
    ]


MAX_WRITTEN_ARCS = 1_000_000
SPACE_SYMBOL = "␣"


def write_lattices(lattices: Sequence[Lattice], path: PathLike) -> None:
    """Writes one lattice to the path, or several to `path.1`, `path.2`, …; and the symbol table of all
    of them to `path.syms`."""
    for place, lattice in enumerate(lattices, 1):
        write_text(openfst_text(lattice), path if len(lattices) == 1 else f"{path}.{place}")
    write_text(symbols_text(lattices), f"{path}.syms")


def openfst_text(lattice: Lattice) -> str:
    """The lattice as the text of one OpenFst acceptor."""
    if lattice.n_flat_arcs > MAX_WRITTEN_ARCS:
        raise InputError(
            f"The lattice has {lattice.n_flat_arcs:,} arcs when written out; at most "
            f"{MAX_WRITTEN_ARCS:,} are written."
        )
    arcs = sorted(lattice.flat_arcs())
    lines = [_line(arc, symbol(lattice.words[arc.word])) for arc in arcs]
    return "".join([*lines, "1\n"])


def symbols_text(lattices: Iterable[Lattice]) -> str:
    """The symbol table: each word with its number, 0 for the empty word."""
    words = {symbol(word): None for lattice in lattices for word in lattice.words}
    words.pop(EMPTY_SYMBOL, None)
    return "".join(f"{word}\t{number}\n" for number, word in enumerate([EMPTY_SYMBOL, *words]))


def symbol(word: str) -> str:
    """The word as OpenFst can read it: white space, which separates the columns, becomes `␣`."""
    return SPACE_SYMBOL.join(word.split()) if word else EMPTY_SYMBOL


def _line(arc: FlatArc, word: str) -> str:
    """The arc as a line of OpenFst text."""
    return f"{arc.source}\t{arc.target}\t{word}\t{-arc.weight + 0.0:.9g}\n"  # + 0.0: no -0
