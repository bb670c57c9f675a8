"""The learned `Orderer`: puts the words of labeled, unordered trees into order.

From the bottom up, each head and its daughters, whose own phrases are already in order, are put into
the order with the best score. The score adds up which of two comes first, which two and three stand
side by side (ordering_features.h in native/), an n-gram model's score where words meet, and, if there
is one, the order network's log probability of each step. The search is a beam search; where it
dropped nothing, the order is the best possible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.language.models.ngrams import NgramModel
from wellput.language.realize.label_chooser import Forest, Label
from wellput.language.realize.order_network import OrderNetwork

WEIGHT_UNIT = 0.01
SPACE_INSIDE = "_"
BEAM_WIDTH = 16
TRAINING_BEAM_WIDTH = 16


class RankedOrder(NamedTuple):
    """Places of a tree's words, first word first; `loss` is the difference to the best score, in units
    of the model. `is_exact` where the search dropped nothing: every treelet has its best order."""

    places: Sequence[int]
    loss: float
    is_exact: bool


@dataclass(frozen=True, eq=False)
class Orderer:
    """Weights (linear_weights.h in native/) and an n-gram model, whose log10 gain in probability over
    single words counts `ngram_weight` times. The log probabilities of the network, if there is one,
    count `network_weight` times; it trusts labels less if `are_labels_chosen`."""

    weights: bytes
    ngrams: NgramModel | None = None
    ngram_weight: float = 0.0
    width: int = BEAM_WIDTH
    network: OrderNetwork | None = None
    network_weight: float = 1.0
    are_labels_chosen: bool = False

    @cached_property
    def kernel(self) -> _native.Orderer:
        kernel = _native.Orderer(self.weights)
        if self.ngrams is not None and self.ngram_weight:
            # The kernel counts in units of the weights.
            weight = self.ngram_weight / WEIGHT_UNIT
            kernel.use_ngrams(self.ngrams.vocabulary, self.ngrams.levels, weight)
        if self.network is not None and self.network_weight:
            kernel.use_network(self.network.kernel, self.network_weight / WEIGHT_UNIT)
        return kernel

    def _numbers(
        self, forest: Forest, labels: Sequence[Sequence[Label]]
    ) -> NDArray[np.int32] | None:
        if self.network is None:
            return None
        return self.network.numbers(forest, labels, are_chosen=self.are_labels_chosen)

    def order(
        self, forest: Forest, labels: Sequence[Sequence[Label]], *, threads: int = 1
    ) -> list[RankedOrder]:
        """The best order of each tree."""
        places, exact = self.kernel.order(
            *kernel_trees(forest, labels), self.width, threads, self._numbers(forest, labels)
        )
        return [
            RankedOrder(own, 0.0, bool(is_exact))
            for own, is_exact in zip(forest.by_tree(places.tolist()), exact, strict=True)
        ]

    def best_orders(
        self,
        forest: Forest,
        labels: Sequence[Sequence[Label]],
        n_best: int,
        *,
        threads: int = 1,
    ) -> list[list[RankedOrder]]:
        """Up to `n_best` orders of each tree, best first. Where several treelets are not in their best
        order, each is scored as if the others were."""
        found = self.kernel.best_orders(
            *kernel_trees(forest, labels),
            n_best,
            self.width,
            threads,
            self._numbers(forest, labels),
        )
        return [[RankedOrder(places, loss, False) for places, loss in tree] for tree in found]


KernelTrees = tuple[Sequence[Sequence[str]], list[list[str]], list[list[str]], NDArray[np.int32]]


def kernel_trees(forest: Forest, labels: Sequence[Sequence[Label]]) -> KernelTrees:
    """Spaces inside words become `_`, as in the text of n-gram models."""
    return (
        [
            [form.replace(" ", SPACE_INSIDE) for form in forms] if " " in "".join(forms) else forms
            for forms in forest.forms
        ],
        [[label.category for label in tree] for tree in labels],
        [[label.relation for label in tree] for tree in labels],
        forest.heads,
    )


@dataclass(frozen=True)
class OrdererTraining:
    """How to train. Weights that change less than `min_updates` times or are smaller than `smallest`
    are left out."""

    epochs: int = 4
    min_updates: int = 6
    smallest: float = 0.13
    seed: int = 1


def train_orderer(
    forest: Forest,
    labels: Sequence[Sequence[Label]],
    how: OrdererTraining,
    on_epoch: Callable[[int, int], None] = lambda *_: None,
) -> bytes:
    """The weights of an orderer from trees whose words stand in the right order."""
    return _native.train_orderer(
        *kernel_trees(forest, labels),
        epochs=how.epochs,
        min_updates=how.min_updates,
        unit=WEIGHT_UNIT,
        smallest=how.smallest,
        width=TRAINING_BEAM_WIDTH,
        seed=how.seed,
        on_epoch=on_epoch,
    )
