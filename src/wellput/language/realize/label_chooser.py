"""The chooser of labels: a part of speech and a relation for every word of an unordered tree.

A word's *mother* is the word that it depends on, its *daughters* depend on it, and its *sisters* have
the same mother. The chooser is a discriminative model (the tree model of FERGUS is generative): an
averaged perceptron scores a label by the word, its mother, daughters and sisters, and by the mother's
label. The Viterbi algorithm finds the best labels for the whole tree. The learned realizer orders
words by these labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.tree import Tree
from wellput.io.model_files import ModelFile, packed_strings
from wellput.language.realize.inputs import UNKNOWN_LABEL

Numbers = NDArray[np.int32]

# Averaged weights are stored as multiples of this.
WEIGHT_UNIT = 0.01
TREES_A_BLOCK = 50  # neighboring trees that `jackknifed_labels` keeps together
LABELS_A_WORD = 8  # only the best labels of each word are considered


@dataclass(frozen=True, slots=True)
class Label:
    """A word's part of speech and its relation to its mother; `_` is unknown."""

    category: str
    relation: str


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as input of the C++ code: the words of each tree, and the heads of the words of all trees,
    one tree after the other. Heads count from 1 in each tree; a root has 0. `known` is empty, or has
    the label of each word as text: a feature for a chooser of bundles (`inserter.py`)."""

    forms: Sequence[Sequence[str]]
    heads: Numbers
    known: Sequence[Sequence[str]] = ()

    @classmethod
    def of_trees(cls, trees: Sequence[Tree]) -> Forest:
        """The forest of treebank trees, in their order."""
        return cls(
            [[word.form for word in tree.words] for tree in trees],
            np.array([word.head for tree in trees for word in tree.words], np.int32),
        )

    @cached_property
    def begins(self) -> list[int]:
        """The place of each tree's first word among all words, and the number of all words."""
        return [0, *accumulate(len(words) for words in self.forms)]

    def part(self, places: Sequence[int]) -> Forest:
        """The forest of the trees at these places (from 0)."""
        return Forest(
            [self.forms[place] for place in places],
            self.heads[self.words_of(places)],
            [self.known[place] for place in places] if self.known else (),
        )

    def words_of(self, places: Sequence[int]) -> NDArray[np.int64]:
        """The places, among all words, of the words of the trees at `places`."""
        spans = [np.arange(self.begins[place], self.begins[place + 1]) for place in places]
        return np.concatenate(spans) if spans else np.zeros(0, np.int64)

    def by_tree(self, values: Sequence[Any]) -> list[Sequence[Any]]:
        """Splits a list that has a value for each word into one list for each tree."""
        return [values[begin:end] for begin, end in pairwise(self.begins)]


@dataclass(frozen=True, eq=False)
class LabelChooser:
    """A trained chooser. `labels` are the labels it can choose. `local` and `edges` are the weights as
    bytes (class_weights.h and linear_weights.h in native/): those of a word's label by itself, and
    those of a label with the mother's. `usual_words` are hashes of the words (in lower case) that
    training had at least twice; `usual` is the usual label of each, as a place in `labels`."""

    labels: tuple[Label, ...]
    local: bytes
    edges: bytes
    usual_words: NDArray[np.uint32]
    usual: NDArray[np.uint16]

    @cached_property
    def kernel(self) -> _native.LabelChooser:
        """The chooser in C++."""
        return _native.LabelChooser(
            self.local,
            self.edges,
            [label.category for label in self.labels],
            [label.relation for label in self.labels],
            self.usual_words,
            self.usual,
        )

    def choose(
        self, forest: Forest, *, given: Sequence[Label] = (), threads: int = 1
    ) -> list[Sequence[Label]]:
        """The labels of each tree's words. `given` is empty or has, for each word of the forest, the
        part of its label that is known; this part is kept where the chooser has such a label."""
        numbers = self.numbers(forest, given=given, threads=threads)
        return forest.by_tree([self.labels[n] for n in numbers])

    def numbers(
        self, forest: Forest, *, given: Sequence[Label] = (), threads: int = 1
    ) -> list[int]:
        """The labels of the words of all trees, as places in `labels`; `given` as for `choose`."""
        rows = {label: row for row, label in enumerate(dict.fromkeys(given))}
        masks = [self._fitting(label) for label in rows]
        numbers = self.kernel.choose(
            forest.forms,
            forest.known,
            forest.heads,
            LABELS_A_WORD,
            threads,
            np.array([rows[label] for label in given], np.int32),
            np.array(masks, np.uint8).ravel(),
        )
        return [int(number) for number in numbers]

    def _fitting(self, given: Label) -> list[bool]:
        """For each label, whether it agrees with the known parts of `given`. If no label agrees with
        all of them, it need only have the same relation, or else the same universal relation (without
        subtype). If none has this either, all labels fit."""
        universal = given.relation.partition(":")[0]
        tests: list[Callable[[Label], bool]] = [
            lambda label: (
                given.category in (UNKNOWN_LABEL, label.category)
                and given.relation in (UNKNOWN_LABEL, label.relation)
            ),
            lambda label: given.relation == label.relation,
            lambda label: universal == label.relation.partition(":")[0],
        ]
        for fits in tests:
            is_fitting = [fits(label) for label in self.labels]
            if any(is_fitting):
                return is_fitting
        return [True] * len(self.labels)

    def probabilities(
        self, forest: Forest, *, threads: int = 1
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Two arrays with a row for each word: the places of its best few labels among `labels`, and
        the marginal probability of each, summed over all labels of the other words."""
        numbers, shares = self.kernel.probabilities(
            forest.forms, forest.known, forest.heads, LABELS_A_WORD, WEIGHT_UNIT, threads
        )
        return numbers.reshape(-1, LABELS_A_WORD), shares.reshape(-1, LABELS_A_WORD)

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        return {
            **packed_strings(f"{name}.categories", [label.category for label in self.labels]),
            **packed_strings(f"{name}.relations", [label.relation for label in self.labels]),
            f"{name}.local": np.frombuffer(self.local, np.uint8),
            f"{name}.edges": np.frombuffer(self.edges, np.uint8),
            f"{name}.usual_words": self.usual_words,
            f"{name}.usual": self.usual,
        }

    @classmethod
    def of_file(cls, file: ModelFile, name: str) -> LabelChooser:
        parts = zip(
            file.strings(f"{name}.categories"), file.strings(f"{name}.relations"), strict=True
        )
        return cls(
            tuple(Label(category, relation) for category, relation in parts),
            file.arrays[f"{name}.local"].tobytes(),
            file.arrays[f"{name}.edges"].tobytes(),
            np.array(file.arrays[f"{name}.usual_words"]),
            np.array(file.arrays[f"{name}.usual"]),
        )


@dataclass(frozen=True)
class ChooserTraining:
    """How a chooser is trained. Weights that change fewer than `min_updates` times, or whose absolute
    value is below `min_weight`, are left out. Labels that fewer than `min_count` words have are left
    out, too."""

    epochs: int = 3
    min_updates: int = 8
    min_count: int = 2
    min_weight: float = 0.07
    seed: int = 1


def train_chooser(
    forest: Forest,
    labels: Sequence[Label],
    settings: ChooserTraining,
    on_epoch: Callable[[int, int], None] = lambda *_: None,
) -> LabelChooser:
    """A chooser learned from trees; `labels` has the label of each word of the forest. `on_epoch` is
    called after each pass over the trees, with its number and the number of mistakes."""
    counts = Counter(labels)
    kept = [label for label, count in counts.items() if count >= settings.min_count] or list(counts)
    if not kept:
        raise InputError("There are no trees to train the chooser of labels on.")
    inventory = tuple(sorted(kept, key=lambda label: (label.category, label.relation)))
    number = {label: place for place, label in enumerate(inventory)}
    # A label that is left out has the number -1.
    label_numbers = np.array([number.get(label, -1) for label in labels], np.int32)
    usual_words, usual = _native.usual_labels(forest.forms, label_numbers)
    local, edges = _native.train_label_chooser(
        forest.forms,
        forest.known,
        forest.heads,
        label_numbers,
        [label.category for label in inventory],
        [label.relation for label in inventory],
        usual_words,
        usual,
        epochs=settings.epochs,
        min_updates=settings.min_updates,
        weight_unit=WEIGHT_UNIT,
        min_weight=settings.min_weight,
        width=LABELS_A_WORD,
        seed=settings.seed,
        on_epoch=on_epoch,
    )
    return LabelChooser(inventory, local, edges, usual_words, usual)


def jackknifed_labels(
    forest: Forest,
    labels: Sequence[Label],
    settings: ChooserTraining,
    *,
    folds: int,
    on_epoch: Callable[[int, int], None] = lambda *_: None,
) -> list[Label]:
    """Labels for the training trees, chosen by choosers that were not trained on them: the trees are
    divided into `folds` parts, and each part is labeled by a chooser trained on the others. An orderer
    that will get chosen labels should be trained on such labels. Parts are made of blocks of
    neighboring trees, because these are often from one document."""
    chosen: list[Label] = list(labels)
    block = min(TREES_A_BLOCK, max(1, len(forest.forms) // folds))
    for fold in range(folds):
        inside: list[int] = []  # the places of the trees to train on
        outside: list[int] = []  # those of the trees to label
        for place in range(len(forest.forms)):
            is_outside = place // block % folds == fold
            (outside if is_outside else inside).append(place)
        if not inside or not outside:
            continue
        inside_labels = [labels[word] for word in forest.words_of(inside)]
        chooser = train_chooser(forest.part(inside), inside_labels, settings, on_epoch)
        left_out = forest.part(outside)
        for word, number in zip(
            forest.words_of(outside).tolist(), chooser.numbers(left_out), strict=True
        ):
            chosen[word] = chooser.labels[number]
    return chosen
