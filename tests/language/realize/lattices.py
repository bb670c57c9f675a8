"""Small lattices and models for tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from wellput.language.models.ngram_training import train
from wellput.language.models.ngrams import NgramModel
from wellput.language.realize.baselines import random_heads
from wellput.language.realize.inputs import InputTree, Node, input_tree
from wellput.language.realize.lattice import Lattice
from wellput.language.realize.unraveler import unravel

SENTENCES = (
    "the cat sat on the mat",
    "a cat saw the dog on a mat",
    "the dog saw a cat",
    "on the mat the dog sat",
)
WORDS = ["the", "a", "cat", "dog", "mat", "saw", "sat", "on", "yak"]


def trained(order: int = 3) -> NgramModel:
    return train([list(SENTENCES)], order=order).model


class LetteredGrammar:
    """Supertags are two lists of places: the anchor's, and those on the mother's line."""

    def anchor(self, mother: tuple[int, tuple[int, ...]]) -> int:
        return mother[0]

    def places(
        self, mother: tuple[int, tuple[int, ...]], daughter: tuple[int, tuple[int, ...]]
    ) -> tuple[int, ...]:
        return daughter[1]


@st.composite
def lattices(draw: st.DrawFn, max_nodes: int = 6, *, weighted: bool = True) -> Lattice:
    """The lattice of a random tree with random places, alternatives and weights."""
    n = draw(st.integers(1, max_nodes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tree = random_input(n, rng)
    places = [(0, 2), (0,), (4,), (0, 4), (1,), (0, 2, 4)]
    supertags = [(3, places[int(rng.integers(len(places)))]) for _ in range(n)]

    def precedence(_: int, daughters: object) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        size = len(daughters) + 1  # type: ignore[arg-type]
        return rng.normal(size=(size, size))

    found = unravel(tree, supertags, LetteredGrammar(), precedence=precedence if weighted else None)
    return found.lattice


def random_input(n: int, rng: np.random.Generator) -> InputTree:
    nodes = [
        Node(tuple(dict.fromkeys(rng.choice(WORDS, size=rng.choice([1, 1, 1, 2])).tolist())))
        for _ in range(n)
    ]
    return input_tree(nodes, [head - 1 for head in random_heads(n, rng)])
