"""`CompletingModel`: a model of word order behind the learned realizer's other abilities.

FERGUS and LR order words. The learned realizer also inflects lemmas and adds function words and
punctuation; a `CompletingModel` lets it do that first, and leaves the order, and the choice among
several forms of a word, to the other model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wellput.language.realize.inputs import InputTree
from wellput.language.realize.learned_realizer import LearnedRealizer
from wellput.language.realize.realizations import RealizationModel, Realized


@dataclass(frozen=True, eq=False)
class CompletingModel:
    """`ordering` puts the words in order that `completing` has inflected and added."""

    ordering: RealizationModel
    completing: LearnedRealizer

    @property
    def name(self) -> str:
        return self.ordering.name

    def realize(
        self, trees: Sequence[InputTree], *, n_best: int = 1, threads: int = 1
    ) -> list[Realized]:
        """The returned trees have the words that were added."""
        completed = self.completing.completed(trees, threads=threads)
        return self.ordering.realize(completed, n_best=n_best, threads=threads)
