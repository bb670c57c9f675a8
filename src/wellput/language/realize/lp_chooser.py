"""The LP chooser: the most probable paths of a lattice under an n-gram model.

Exact while no state of a sub-lattice has more than `width` pieces that differ in their first or last
words; past it the best are kept, and `is_exact` says that something was left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from wellput import _native
from wellput.core.errors import InputError
from wellput.language.ngrams import NgramModel
from wellput.language.realize.lattice import Lattice

WIDTH = 200
MAX_ORDER = 4


@dataclass(frozen=True)
class Path:
    """Words by their numbers in the lattice. `score` is natural: the arcs' weights and `lm_weight`
    times the log probability; `log_prob` is the n-gram model's own, log10."""

    words: tuple[int, ...]
    score: float
    log_prob: float


@dataclass(frozen=True)
class Choice:
    """The best paths with different word sequences, best first."""

    paths: tuple[Path, ...]
    is_exact: bool


def choose_paths(
    lattices: Sequence[Lattice],
    model: NgramModel,
    *,
    lm_weight: float = 1.0,
    n_best: int = 1,
    width: int = WIDTH,
    threads: int = 1,
) -> list[Choice]:
    """The best paths of each lattice."""
    if model.order > MAX_ORDER:
        raise InputError(
            f"The LP chooser takes n-gram models up to order {MAX_ORDER}; this one has {model.order}."
        )
    automata = [automaton for lattice in lattices for automaton in lattice.automata]
    found = _native.best_paths(
        model.vocabulary,
        model.levels,
        [list(lattice.words) for lattice in lattices],
        np.array([0, *accumulate(len(lattice.automata) for lattice in lattices)]),
        np.array([0, *accumulate(len(automaton.arcs) for automaton in automata)]),
        np.array([automaton.n_states for automaton in automata], np.int64),
        np.concatenate([automaton.arcs for automaton in automata] or [np.zeros((0, 3), np.int32)]),
        np.concatenate([automaton.weights for automaton in automata] or [np.zeros(0)]),
        lm_weight * math.log(10),
        n_best,
        width,
        threads,
    )
    return [
        Choice(
            tuple(Path(tuple(words), score, log_prob) for score, log_prob, words in paths), exact
        )
        for paths, exact in found
    ]
