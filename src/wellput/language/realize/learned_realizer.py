"""The learned realizer: labels by a discriminative chooser, order by a learned orderer.

It takes the three kinds of input (`inputs.py`). For `words` it chooses labels first; `lemmas` it
inflects first, and chooses the wording (`not` or `n't`) when the order is known. It can add words that
an input leaves out. `realizer.py` takes off the capitals that would tell the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.core.tree import Tree, Word
from wellput.io.files import PathLike
from wellput.io.model_files import (
    ModelFile,
    fingerprint,
    load_model_file,
    noticing_damage,
    packed_strings,
    save_model_file,
)
from wellput.language.models.ngrams import NgramModel
from wellput.language.realize.completer import (
    Completer,
    LabelKind,
    PreparedTree,
    by_label_kind,
    forest_of,
)
from wellput.language.realize.inflector import Inflector, choose_wording
from wellput.language.realize.inputs import InputTree
from wellput.language.realize.inserter import Inserter, Insertion
from wellput.language.realize.label_chooser import Label, LabelChooser
from wellput.language.realize.orderer import Orderer, RankedOrder
from wellput.language.realize.realizations import Realization, Realized
from wellput.language.trees.supertags import induce_supertags

KIND = "learned realizer"
ORDERER_KINDS: tuple[LabelKind, ...] = ("words", "labels")


@dataclass(frozen=True, eq=False)
class LearnedRealizer:
    """There are two orderers: `labels` for inputs with labels, `words` for inputs without.
    `share_weight` is the weight of a wording's frequency beside the n-gram model."""

    chooser: LabelChooser
    orderers: Mapping[LabelKind, Orderer]
    inserter: Inserter
    inflector: Inflector
    share_weight: float = 0.0
    insert: frozenset[Insertion] = frozenset()
    card: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return "learned"

    @classmethod
    def load(cls, path: PathLike, ngrams: NgramModel | None) -> LearnedRealizer:
        """The realizer of a file, with the n-gram model it was tuned with."""
        file = load_model_file(path, KIND)
        with noticing_damage(path, "realizer"):
            realizer = cls._of_file(file, ngrams)
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

    def save(self, path: PathLike) -> None:
        save_model_file(path, KIND, self.card, self.arrays())

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the realizer alone; the n-gram model has its own."""
        return fingerprint(KIND, self.arrays())

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
            [prepared.forms[place] for place in ranked.places]
            for prepared, orders in zip(own, found, strict=True)
            for ranked in orders
        ]
        wordings = iter(
            choose_wording(
                alternatives, orderer.ngrams, share_weight=self.share_weight, threads=threads
            )
        )
        return [
            _realized(tree, own_labels, orders, [next(wordings) for _ in orders])
            for tree, own_labels, orders in zip(trees, labels, found, strict=True)
        ]


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
