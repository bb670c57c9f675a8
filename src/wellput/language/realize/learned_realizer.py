"""The learned realizer: a chooser gives the words of a tree labels, and an orderer puts them in order.

A label is a part of speech with a relation (`label_chooser.py`). An order network (`order_network.py`)
may help the orderer; the shipped realizer has one.

The realizer takes three kinds of input (`inputs.py`). For the kind `words` it chooses labels first.
The words of the kind `lemmas` it inflects first, and it chooses among several forms (`not` or `n't`)
when the order is known. It can add words that an input leaves out. `realizer.py` takes off the
capitals that would tell the order.

The `Orderer` puts the words of labeled, unordered trees in order, from the bottom up: each head and
its daughters (the words that depend on it), whose own phrases are already in order, get the order with
the best score. The score is a sum: learned weights for which of two daughters comes first and for
which two and three of them stand side by side (ordering_features.h in native/), the score of an n-gram
model where words of different phrases meet, and the order network's log probability of each step. The
orderer uses beam search; where nothing was dropped from the beam, the order is the best possible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.tree import Tree, Word
from wellput.io.files import PathLike
from wellput.io.model_files import ModelFile, StoredModel, packed_strings
from wellput.language.models.ngrams import NgramModel
from wellput.language.realize.completer import (
    Completer,
    LabelKind,
    PreparedTree,
    by_label_kind,
    forest_of,
)
from wellput.language.realize.inflector import Inflector, choose_wording
from wellput.language.realize.inputs import UNKNOWN_LABEL, InputTree, Realization, Realized
from wellput.language.realize.inserter import Inserter, Insertion
from wellput.language.realize.label_chooser import Forest, Label, LabelChooser
from wellput.language.realize.order_network import OrderNetwork
from wellput.language.realize.wording import WORDING_WEIGHT, Forms, WordingChooser, possible_forms
from wellput.language.trees.supertags import induce_supertags

WEIGHT_UNIT = 0.01
"""Learned weights are stored as whole multiples of this, and scores are counted in it."""
SPACE_INSIDE = "_"
"""Stands for a space inside a word."""
BEAM_WIDTH = 16
TRAINING_BEAM_WIDTH = 16


class RankedOrder(NamedTuple):
    """An order of a tree's words, as their numbers, the first word first. `relative_score` is its score
    minus the best score (0 or less), in units of the model's weights. `is_exact` says that the search
    dropped nothing: every head stands in the best order with its daughters."""

    places: Sequence[int]
    relative_score: float
    is_exact: bool


@dataclass(frozen=True, eq=False)
class Orderer:
    """Puts labeled words in order by learned weights (linear_weights.h in native/), an n-gram model
    and an order network; the last two may be None. The n-gram model adds `ngram_weight` times log10 of
    the ratio between the n-gram probability of the words and the product of their single
    probabilities. The network adds `network_weight` times its log probability; it relies less on
    labels if `are_labels_chosen`."""

    weights: bytes
    ngrams: NgramModel | None = None
    ngram_weight: float = 0.0
    width: int = BEAM_WIDTH
    network: OrderNetwork | None = None
    network_weight: float = 1.0
    are_labels_chosen: bool = False

    @cached_property
    def kernel(self) -> _native.Orderer:
        """The orderer in C++, with its n-gram model and network."""
        kernel = _native.Orderer(self.weights)
        if self.ngrams is not None and self.ngram_weight:
            # The kernel counts in units of the weights.
            weight = self.ngram_weight / WEIGHT_UNIT
            kernel.use_ngrams(self.ngrams.vocabulary, self.ngrams.levels, weight)
        if self.network is not None and self.network_weight:
            kernel.use_network(self.network.kernel, self.network_weight / WEIGHT_UNIT)
        return kernel

    def _network_inputs(
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
            *kernel_trees(forest, labels), self.width, threads, self._network_inputs(forest, labels)
        )
        return [
            RankedOrder(order, 0.0, bool(is_exact))
            for order, is_exact in zip(forest.by_tree(places.tolist()), exact, strict=True)
        ]

    def best_orders(
        self,
        forest: Forest,
        labels: Sequence[Sequence[Label]],
        n_best: int,
        *,
        threads: int = 1,
    ) -> list[list[RankedOrder]]:
        """Up to `n_best` orders of each tree, best first. Where several heads do not stand in the best
        order with their daughters, each of them is scored as if the others did."""
        orders_of_trees = self.kernel.best_orders(
            *kernel_trees(forest, labels),
            n_best,
            self.width,
            threads,
            self._network_inputs(forest, labels),
        )
        return [
            [RankedOrder(places, relative_score, False) for places, relative_score in orders]
            for orders in orders_of_trees
        ]


KernelTrees = tuple[Sequence[Sequence[str]], list[list[str]], list[list[str]], NDArray[np.int32]]


def kernel_trees(forest: Forest, labels: Sequence[Sequence[Label]]) -> KernelTrees:
    """The forms, parts of speech and relations of each tree's words, and the heads, as the C++ code
    takes them. Spaces inside words become `_`, as in the text of n-gram models."""
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
    """How an orderer is trained. Weights that change fewer than `min_updates` times, or whose
    absolute value is below `min_weight`, are left out."""

    epochs: int = 4
    min_updates: int = 6
    min_weight: float = 0.13
    seed: int = 1


def train_orderer(
    forest: Forest,
    labels: Sequence[Sequence[Label]],
    settings: OrdererTraining,
    on_epoch: Callable[[int, int], None] = lambda *_: None,
) -> bytes:
    """The weights of an orderer from trees whose words stand in the right order."""
    return _native.train_orderer(
        *kernel_trees(forest, labels),
        epochs=settings.epochs,
        min_updates=settings.min_updates,
        weight_unit=WEIGHT_UNIT,
        min_weight=settings.min_weight,
        width=TRAINING_BEAM_WIDTH,
        seed=settings.seed,
        on_epoch=on_epoch,
    )


ORDERER_KINDS: tuple[LabelKind, ...] = ("words", "labels")


@dataclass(frozen=True, eq=False)
class LearnedRealizer(StoredModel):
    """The learned realizer. It has two `orderers`: `labels` for inputs with labels, `words` for
    inputs without. Where a word may have several forms, `form_frequency_weight` is the weight of a
    form's frequency beside the n-gram model; with a `wording` chooser, the chooser's probabilities
    take the place of frequencies. `insert` says which words are added. The n-gram model and the order
    network have their own files and fingerprints."""

    kind: ClassVar[str] = "learned realizer"
    noun: ClassVar[str] = "realizer"

    chooser: LabelChooser
    orderers: Mapping[LabelKind, Orderer]
    inserter: Inserter
    inflector: Inflector
    form_frequency_weight: float = 0.0
    insert: frozenset[Insertion] = frozenset()
    wording: WordingChooser | None = None
    card: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return "learned"

    @classmethod
    def load(
        cls, path: PathLike, ngrams: NgramModel | None, network: OrderNetwork | None = None
    ) -> LearnedRealizer:
        """The realizer of a file, with the n-gram model with which it was tuned and, if there is one,
        the order network that was tuned with both."""
        with cls.reading(path) as file:
            realizer = cls._of_file(file, ngrams)
            if network is not None:
                realizer = realizer.with_network(network)
            # These are made on loading, not at the first use, because they raise errors for damaged
            # weights.
            _ = realizer.chooser.kernel, [orderer.kernel for orderer in realizer.orderers.values()]
            return realizer

    @classmethod
    def _of_file(cls, file: ModelFile, ngrams: NgramModel | None) -> LearnedRealizer:
        tuned = dict(zip(file.strings("tuned.names"), file.arrays["tuned"].tolist(), strict=True))
        return cls(
            LabelChooser.of_file(file, "chooser"),
            {
                kind: Orderer(file.arrays[f"orderer.{kind}"].tobytes(), ngrams, tuned[kind])
                for kind in ORDERER_KINDS
            },
            Inserter.of_file(file, "inserter"),
            Inflector.of_file(file, "inflector"),
            tuned["shares"],
            card=file.card,
        )

    def with_network(self, network: OrderNetwork) -> LearnedRealizer:
        """The realizer with an order network, and the weights that were tuned with it."""
        orderers: dict[LabelKind, Orderer] = {
            kind: replace(
                orderer,
                network=network,
                network_weight=network.tuned[kind].network,
                ngram_weight=network.tuned[kind].ngrams,
                are_labels_chosen=kind == "words",
            )
            for kind, orderer in self.orderers.items()
        }
        return replace(self, orderers=orderers, wording=network.wording)

    def arrays(self) -> dict[str, NDArray[Any]]:
        tuned = {str(kind): orderer.ngram_weight for kind, orderer in self.orderers.items()}
        tuned["shares"] = self.form_frequency_weight  # the file's name for it
        arrays = {
            **self.chooser.arrays("chooser"),
            **self.inflector.arrays("inflector"),
            **self.inserter.arrays("inserter"),
            **packed_strings("tuned.names", list(tuned)),
            "tuned": np.array(list(tuned.values()), np.float64),
        }
        for kind, orderer in self.orderers.items():
            arrays[f"orderer.{kind}"] = np.frombuffer(orderer.weights, np.uint8)
        return arrays

    def realize(
        self, trees: Sequence[InputTree], *, n_best: int = 1, threads: int = 1
    ) -> list[Realized]:
        """The best realizations of each tree. The score of a realization is its difference to the
        score of the best one. The returned trees have the words that were added."""
        trees = self.completer.with_sure_labels(trees, threads)
        results: dict[int, Realized] = {}
        for kind, places in by_label_kind(trees).items():
            prepared = self.completer.prepared([trees[place] for place in places], kind, threads)
            results |= zip(places, self._ordered(prepared, kind, n_best, threads), strict=True)
        return [results[place] for place in range(len(trees))]

    @property
    def completer(self) -> Completer:
        """The part that inflects lemmas and adds missing words."""
        return Completer(self.inserter, self.inflector, self.chooser, self.insert)

    def _ordered(
        self, prepared_trees: Sequence[PreparedTree], kind: LabelKind, n_best: int, threads: int
    ) -> list[Realized]:
        """The realizations of completed trees, which all have labels or all have none (`kind`)."""
        trees = [prepared.tree for prepared in prepared_trees]
        forest = forest_of(trees, kind)
        labels = self.completer.labels(trees, kind, threads)
        orderer = self.orderers[kind]
        if n_best == 1:
            orders_of_trees = [
                [ranked] for ranked in orderer.order(forest, labels, threads=threads)
            ]
        else:
            orders_of_trees = orderer.best_orders(forest, labels, n_best, threads=threads)
        alternatives = [
            self._alternatives(prepared, ranked.places)
            for prepared, orders in zip(prepared_trees, orders_of_trees, strict=True)
            for ranked in orders
        ]
        weight = self.form_frequency_weight if self.wording is None else WORDING_WEIGHT
        wordings = iter(
            choose_wording(
                alternatives, orderer.ngrams, form_frequency_weight=weight, threads=threads
            )
        )
        return [
            _realized(tree, tree_labels, orders, [next(wordings) for _ in orders])
            for tree, tree_labels, orders in zip(trees, labels, orders_of_trees, strict=True)
        ]

    def _alternatives(self, prepared: PreparedTree, places: Sequence[int]) -> Sequence[Forms]:
        """The forms that each word may have, for the words in this order."""
        forms = [prepared.forms[place] for place in places]
        nodes = [prepared.tree.nodes[place] for place in places]
        are_inflected = [node.lemma != UNKNOWN_LABEL for node in nodes]
        if self.wording is None or not any(are_inflected):
            return forms
        possible = [
            possible_forms(node, node_forms) if is_inflected else node_forms
            for node, node_forms, is_inflected in zip(nodes, forms, are_inflected, strict=True)
        ]
        return self.wording.scored(possible, are_inflected)


def _realized(
    tree: InputTree,
    labels: Sequence[Label],
    orders: Sequence[RankedOrder],
    wordings: Sequence[Sequence[str]],
) -> Realized:
    """The realizations of a tree from its orders, best first, and the chosen forms of the words of
    each."""
    best = tuple(
        Realization(tuple(words), tuple(ranked.places), ranked.relative_score)
        for ranked, words in zip(orders, wordings, strict=True)
    )
    return Realized(
        tree, best, is_exact=orders[0].is_exact, supertags=supertags_of(tree, labels, best[0])
    )


def supertags_of(
    tree: InputTree, labels: Sequence[Label], realization: Realization
) -> tuple[str, ...]:
    """The supertag of each node, from the labels and the order."""
    places = {node: place for place, node in enumerate(realization.nodes, start=1)}
    places[-1] = 0  # the head of the root
    words = [
        Word(
            form,
            places[tree.heads[node]],
            xpos=labels[node].category,
            relation=labels[node].relation,
        )
        for form, node in zip(realization.words, realization.nodes, strict=True)
    ]
    supertags = induce_supertags(Tree(tuple(words)))
    return tuple(str(supertags[places[node] - 1]) for node in range(len(tree)))
