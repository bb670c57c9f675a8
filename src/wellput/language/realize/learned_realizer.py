"""The learned realizer: labels by a discriminative chooser, order by a learned orderer.

An order network (`order_network.py`) may help the orderer; the shipped realizer has one.

It takes the three kinds of input (`inputs.py`). For `words` it chooses labels first; `lemmas` it
inflects first, and chooses the wording (`not` or `n't`) when the order is known. It can add words that
an input leaves out. `realizer.py` takes off the capitals that would tell the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

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
from wellput.language.realize.label_chooser import Label, LabelChooser
from wellput.language.realize.order_network import OrderNetwork
from wellput.language.realize.orderer import Orderer, RankedOrder
from wellput.language.realize.wording import WORDING_WEIGHT, Forms, WordingChooser, possible_forms
from wellput.language.trees.supertags import induce_supertags

ORDERER_KINDS: tuple[LabelKind, ...] = ("words", "labels")


@dataclass(frozen=True, eq=False)
class LearnedRealizer(StoredModel):
    """There are two orderers: `labels` for inputs with labels, `words` for inputs without.
    `share_weight` is the weight of a wording's frequency beside the n-gram model; with a `wording`
    chooser its probabilities take their place. The n-gram model and the order network have their own
    files and fingerprints."""

    kind: ClassVar[str] = "learned realizer"
    noun: ClassVar[str] = "realizer"

    chooser: LabelChooser
    orderers: Mapping[LabelKind, Orderer]
    inserter: Inserter
    inflector: Inflector
    share_weight: float = 0.0
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
        """The realizer of a file, with the n-gram model it was tuned with and, if there is one, the
        order network that was tuned with both."""
        with cls.reading(path) as file:
            realizer = cls._of_file(file, ngrams)
            if network is not None:
                realizer = realizer.with_network(network)
            # Made here, not at the first use: they refuse weights that are damaged.
            _ = realizer.chooser.kernel, [one.kernel for one in realizer.orderers.values()]
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
        tuned["shares"] = self.share_weight
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
        """The best orders of each tree. A realization's score is its difference to the best one. The
        returned tree has the words that were added."""
        trees = self.completer.with_sure_labels(trees, threads)
        results: dict[int, Realized] = {}
        for kind, places in by_label_kind(trees).items():
            own = self.completer.prepared([trees[place] for place in places], kind, threads)
            results |= zip(places, self._orders(own, kind, n_best, threads), strict=True)
        return [results[place] for place in range(len(trees))]

    @property
    def completer(self) -> Completer:
        return Completer(self.inserter, self.inflector, self.chooser, self.insert)

    def _orders(
        self, own: Sequence[PreparedTree], kind: LabelKind, n_best: int, threads: int
    ) -> list[Realized]:
        trees = [prepared.tree for prepared in own]
        forest = forest_of(trees, kind)
        labels = self.completer.labels(trees, kind, threads)
        orderer = self.orderers[kind]
        if n_best == 1:
            found = [[ranked] for ranked in orderer.order(forest, labels, threads=threads)]
        else:
            found = orderer.best_orders(forest, labels, n_best, threads=threads)
        alternatives = [
            self._alternatives(prepared, ranked.places)
            for prepared, orders in zip(own, found, strict=True)
            for ranked in orders
        ]
        weight = self.share_weight if self.wording is None else WORDING_WEIGHT
        wordings = iter(
            choose_wording(alternatives, orderer.ngrams, share_weight=weight, threads=threads)
        )
        return [
            _realized(tree, own_labels, orders, [next(wordings) for _ in orders])
            for tree, own_labels, orders in zip(trees, labels, found, strict=True)
        ]

    def _alternatives(self, prepared: PreparedTree, places: Sequence[int]) -> Sequence[Forms]:
        """The forms that the words may have, in this order."""
        forms = [prepared.forms[place] for place in places]
        nodes = [prepared.tree.nodes[place] for place in places]
        are_open = [node.lemma != UNKNOWN_LABEL for node in nodes]
        if self.wording is None or not any(are_open):
            return forms
        possible = [
            possible_forms(node, own) if is_open else own
            for node, own, is_open in zip(nodes, forms, are_open, strict=True)
        ]
        return self.wording.scored(possible, are_open)


def _realized(
    tree: InputTree,
    labels: Sequence[Label],
    orders: Sequence[RankedOrder],
    wordings: Sequence[Sequence[str]],
) -> Realized:
    best = tuple(
        Realization(tuple(words), tuple(ranked.places), ranked.loss)
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
    places[-1] = 0
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
