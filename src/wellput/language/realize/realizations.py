"""`Realization`, a sentence made from a tree, and `RealizationModel`, which makes it.

A model is one way of putting the words of a tree in order: FERGUS, FERGUS with weights, the
baseline LR, the learned realizer (`--model` names them). It sees trees without order and without
the capitals of first words, which `realizer.py` takes off. A *system*, which generates the outputs
of an evaluation set, is a `Realizer` with such a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from wellput.language.realize.inputs import InputTree
from wellput.language.realize.lattice import Lattice


@dataclass(frozen=True)
class Realization:
    """A sentence: its words, the nodes of the tree they stand for, the model's score (a natural
    logarithm, to compare realizations of one tree) and, where there is an n-gram model, its log10
    probability."""

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
    """A tree's realizations, best first. `is_exact` is False where the search left out some orders.
    Supertags (as text, by node) and the lattice are kept for display."""

    tree: InputTree
    best: tuple[Realization, ...]
    is_exact: bool
    supertags: tuple[str, ...] = ()
    lattice: Lattice | None = None


class RealizationModel(Protocol):
    """Realizes many trees at a time."""

    @property
    def name(self) -> str:
        """The name by which users choose it: `fergus`, `lr`, …"""

    def realize(
        self, trees: Sequence[InputTree], *, n_best: int = 1, threads: int = 1
    ) -> list[Realized]:
        """One for each tree."""
