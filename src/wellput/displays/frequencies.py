"""How often each display occurs in each context, and the two strategies that follow it: the most
common one (majority), or one drawn by relative frequency (weighted).

A context that the training sentences lack is shortened feature by feature, from the last, until they
have it. Counts are kept for every *level*, the number of features that are left; what a fold must not
see is subtracted.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats
from wellput.displays.corpus import Contexts, Integers


@dataclass(frozen=True, eq=False)
class Level:
    """Contexts cut to their first features. `of_context` has the place of each full context;
    `contexts`, `displays` and `counts` run along the pairs that occur, ordered by context."""

    of_context: Integers
    contexts: Integers
    displays: Integers
    counts: Integers

    @property
    def totals(self) -> Integers:
        size = int(self.of_context.max()) + 1
        return np.bincount(self.contexts, self.counts, minlength=size).astype(np.int64)


class Frequencies:
    """The counts of some nodes of known displays, by context."""

    def __init__(self, contexts: Contexts, displays: Integers, nodes: NDArray[np.bool_]) -> None:
        """`nodes` says which nodes of the corpus to count."""
        seen, inverse = np.unique(displays[nodes], return_inverse=True)
        pairs, counts = np.unique(
            contexts.codes[nodes] * max(len(seen), 1) + inverse, return_counts=True
        )
        context, display = pairs // max(len(seen), 1), pairs % max(len(seen), 1)
        self.seen = seen
        self.overall = np.bincount(inverse, minlength=len(seen))
        self.levels = [
            _level(of_context, context, display, counts) for of_context in _shortened(contexts)
        ]
        self.reached = self._reached()

    def _reached(self) -> Integers:
        """The longest level at which each context was counted; −1 where there is none at all."""
        reached = np.full(len(self.levels[0].of_context), -1, dtype=np.int64)
        for number, level in enumerate(self.levels):
            reached[level.totals[level.of_context] > 0] = number
        return reached

    def majority(self) -> Integers:
        """The most common display of each context; of equals the one more common in all, then the one
        with the lower code."""
        chosen = np.zeros(len(self.reached), dtype=np.int64)
        for number, level in enumerate(self.levels):
            order = np.lexsort(
                (-level.displays, self.overall[level.displays], level.counts, level.contexts)
            )
            last = np.flatnonzero(np.diff(level.contexts[order], append=-1))
            best = np.zeros(int(level.of_context.max()) + 1, dtype=np.int64)
            best[level.contexts[order[last]]] = self.seen[level.displays[order[last]]]
            here = self.reached == number
            chosen[here] = best[level.of_context[here]]
        return chosen

    def weighted(self, codes: Integers, draws: Floats) -> Integers:
        """A display for each node, by its context and a number drawn from [0, 1)."""
        chosen = np.zeros(len(codes), dtype=np.int64)
        reached = self.reached[codes]
        for number, level in enumerate(self.levels):
            here = reached == number
            if not here.any():
                continue
            ends = np.cumsum(level.counts)
            totals = level.totals
            places = level.of_context[codes[here]]
            target = np.floor(draws[here] * totals[places]) + (np.cumsum(totals) - totals)[places]
            chosen[here] = self.seen[level.displays[np.searchsorted(ends, target, side="right")]]
        return chosen


def _shortened(contexts: Contexts) -> list[Integers]:
    """The place of each full context among those cut to 0, 1, … of the features."""
    places: list[Integers] = []
    for length in range(len(contexts.names) + 1):
        short: dict[tuple[Hashable, ...], int] = {}
        codes = [short.setdefault(values[:length], len(short)) for values in contexts.values]
        places.append(np.array(codes, dtype=np.int64))
    return places


def _level(of_context: Integers, context: Integers, display: Integers, counts: Integers) -> Level:
    order = np.lexsort((display, of_context[context]))
    contexts, displays, counts = of_context[context][order], display[order], counts[order]
    is_first = np.ones(len(contexts), dtype=np.bool_)
    is_first[1:] = (np.diff(contexts) != 0) | (np.diff(displays) != 0)
    first = np.flatnonzero(is_first)
    added = np.add.reduceat(counts, first) if len(first) else counts
    return Level(of_context, contexts[first], displays[first], added.astype(np.int64))
