"""The weights of `fergus+`: which of two daughters on one side of their mother comes first.

A treebank gives counts for pairs of daughters on one side of one mother: by their relations; with the
sizes of their phrases (short before long, on the right); with their categories; with their words. Each
narrower count is interpolated with the wider ones. The weight of a treelet's order is the sum over its
pairs, so that an automaton over sets of daughters can have it on its arcs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats
from wellput.core.tree import Tree
from wellput.io.model_files import ModelFile, packed_strings
from wellput.language.realize.inputs import InputTree
from wellput.language.trees.supertags import Supertag, induce_supertags

# How many observations the next wider estimate counts for, from the widest to the narrowest. Nearby
# values change nothing on EWT dev.
PRIORS = (2.0, 4.0, 4.0, 2.0)
MIN_PAIR_COUNT = 2
MAX_PAIR_COUNT = 65535
MAX_SIZE_CLASS = 5


class Phrase(NamedTuple):
    """A daughter: her supertag's relation, category and side, her word, and the size class of her
    phrase (1, 2-3, 4-7, 8-15, more)."""

    relation: str
    category: str
    side: str
    form: str
    size: int


@dataclass(frozen=True)
class PrecedenceModel:
    """How often a pair was seen in this order, by the pair's key."""

    counts: Mapping[str, int]
    _known: dict[tuple[Phrase, Phrase], float] = field(default_factory=dict, repr=False)

    def probability(self, first: Phrase, second: Phrase) -> float:
        """The probability that the first comes before the second, on one side of their mother."""
        found = self._known.get((first, second))
        if found is None:
            found = 0.5
            keys = zip(_keys(first, second), _keys(second, first), PRIORS, strict=True)
            for before, after, prior in keys:
                seen, reverse = self.counts.get(before, 0), self.counts.get(after, 0)
                found = (seen + prior * found) / (seen + reverse + prior)
            if len(self._known) < MAX_PAIR_COUNT:
                self._known[first, second] = found
        return found

    def weights(self, phrases: Sequence[Phrase]) -> Floats:
        """Log weights of the i-th before the j-th. The mother comes last and has weight 0, because
        sides are fixed."""
        found = np.zeros((len(phrases) + 1, len(phrases) + 1))
        for i, j in combinations(range(len(phrases)), 2):
            if phrases[i].side == phrases[j].side:
                probability = self.probability(phrases[i], phrases[j])
                found[i, j], found[j, i] = log(probability), log(1 - probability)
        return found

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        keys = sorted(self.counts)
        numbers = np.array([min(self.counts[key], MAX_PAIR_COUNT) for key in keys], np.uint16)
        return {**packed_strings(f"{name}.pairs", keys), f"{name}.counts": numbers}

    @classmethod
    def of_file(cls, file: ModelFile, name: str) -> PrecedenceModel:
        counts = file.arrays[f"{name}.counts"].tolist()
        return cls(dict(zip(file.strings(f"{name}.pairs"), counts, strict=True)))


def train_precedence(trees: Iterable[Tree]) -> PrecedenceModel:
    """From treebank trees in their order, without the capitals of first words."""
    counts: Counter[str] = Counter()
    for tree in trees:
        heads = [word.head - 1 for word in tree.words]
        forms = [word.form for word in tree.words]
        phrases = _phrases(forms, induce_supertags(tree), _sizes(heads))
        sisters: dict[tuple[int, str], list[Phrase]] = {}
        for head, phrase in zip(heads, phrases, strict=True):
            sisters.setdefault((head, phrase.side), []).append(phrase)
        for line in sisters.values():
            for first, second in combinations(line, 2):
                counts.update(_keys(first, second))
    return PrecedenceModel({key: count for key, count in counts.items() if count >= MIN_PAIR_COUNT})


def phrases_of(tree: InputTree, supertags: Sequence[Supertag]) -> list[Phrase]:
    """The phrases of an input's nodes, in their order."""
    return _phrases([node.form for node in tree.nodes], supertags, _sizes(tree.heads))


def _phrases(
    forms: Sequence[str], supertags: Sequence[Supertag], sizes: Sequence[int]
) -> list[Phrase]:
    return [
        Phrase(tag.relation, tag.category, tag.side, form, min(size.bit_length(), MAX_SIZE_CLASS))
        for form, tag, size in zip(forms, supertags, sizes, strict=True)
    ]


def _sizes(heads: Sequence[int]) -> list[int]:
    """The number of nodes in each node's subtree; -1 is the head of the root."""
    waiting = [0] * len(heads)
    for head in heads:
        if head >= 0:
            waiting[head] += 1
    sizes = [1] * len(heads)
    done = [node for node, left in enumerate(waiting) if not left]
    for node in done:
        if (head := heads[node]) >= 0:
            sizes[head] += sizes[node]
            waiting[head] -= 1
            if not waiting[head]:
                done.append(head)
    return sizes


def _keys(a: Phrase, b: Phrase) -> Iterator[str]:
    """The keys of a pair, from the widest to the narrowest."""
    relations = f"{a.side}{a.relation} {b.relation}"
    yield relations
    yield f"{relations} {a.size}{b.size}"
    yield f"{relations} {a.size}{b.size} {a.category} {b.category}"
    yield f"{relations} {a.form} {b.form}"
