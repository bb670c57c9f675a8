"""The nouns `Realization` and `RealizationModel`: what comes out of realizing, and what makes it.

A model is one way of putting the words of a tree in order: FERGUS, FERGUS with weights, the
baseline LR, the learned realizer (`--model` names them). It sees trees without order and without
the capitals of first words, which `realize.realizer` takes off. What generates the outputs of an
evaluation set, a *system*, is a `Realizer` with such a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from wellput.language.realize.inputs import InputTree
from wellput.language.realize.lattice import Lattice


@dataclass(frozen=True)
class Realization:
    """A sentence: its words, the nodes of the tree they stand for, the system's score (a natural
    logarithm; good for comparing realizations of one tree) and, where there is an n-gram model, its
    log10 probability."""

    words: tuple[str, ...]
    nodes: tuple[int, ...]
    score: float
    log_prob: float | None = None

    @property
    def text(self) -> str:
        """The words with one space between them."""
        return " ".join(self.words)


@dataclass(frozen=True)
class Realized:
    """A tree's realizations, best first. `is_exact` is False where the search had to leave something
    out; supertags (as they are written, by node) and the lattice are there to be shown."""

    tree: InputTree
    best: tuple[Realization, ...]
    is_exact: bool
    supertags: tuple[str, ...] = ()
    lattice: Lattice | None = None


class RealizationModel(Protocol):
    """Realizes many trees at a time."""

    @property
    def name(self) -> str:
        """As it is chosen: `fergus`, `lr`, …"""

    def realize(
        self, trees: Sequence[InputTree], *, n_best: int = 1, threads: int = 1
    ) -> list[Realized]:
        """One for each tree."""
