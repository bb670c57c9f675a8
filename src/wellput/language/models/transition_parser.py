"""`TransitionParser`: builds the dependency tree of tagged words by a sequence of moves.

The moves are those of the arc-hybrid system; an averaged perceptron chooses each of them. It is
trained with a dynamic oracle, so the parser also learns what to do after a mistake (Goldberg & Nivre
2013). Parsing is greedy and takes time in proportion to the length of the sentence; the trees are
projective and have one root. Before parsing, a separate tagger gives each word a *hint* from the words
and tags around it: its probable relation and the side of its head. So the choice of a move can depend
on words that are farther away than those its other features read (Ouchi, Duh & Matsumoto 2014).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.tree import Tree
from wellput.io.files import PathLike
from wellput.io.model_files import (
    StoredModel,
    packed_strings,
)
from wellput.language.models.tagger import WEIGHTS_ARRAY, Tagger
from wellput.language.models.word_analysis import WordAnalysis
from wellput.language.trees.projectivity import projectivize

HINT_WEIGHTS = f"hints.{WEIGHTS_ARRAY}"
WEIGHT_UNIT = 0.1
"""Averaged weights are stored as whole multiples of this."""


class LabeledHead(NamedTuple):
    """The number of a word's head (0 for the root), and the word's relation to it."""

    head: int
    relation: str


class TransitionParser(StoredModel):
    """Trained weights with the names of their relations, the tagger of hints, and the analysis of
    words, which gives lemmas and universal parts of speech."""

    kind: ClassVar[str] = "transition-parser"
    noun: ClassVar[str] = "parser"

    def __init__(
        self,
        relations: Sequence[str],
        weights: NDArray[np.uint8],
        hinter: Tagger,
        word_analysis: WordAnalysis,
        *,
        card: Mapping[str, Any] | None = None,
    ) -> None:
        self.relations = relations
        self.weights = weights
        self.hinter = hinter
        self.word_analysis = word_analysis
        self.card = card or {}
        self._model = _native.ArcHybridModel(weights.tobytes(), len(relations))

    @classmethod
    def train(
        cls,
        trees: Sequence[Tree],
        tags: Sequence[Sequence[str]],
        hints: Sequence[Sequence[str]],
        hinter: Tagger,
        *,
        epochs: int = 10,
        min_updates: int = 6,
        min_weight: float = 0.0,
        runs: int = 1,
        seed: int = 1,
        on_epoch: Callable[[int], None] = lambda _: None,
    ) -> Self:
        """A parser trained on trees, with tags and hints that have the mistakes taggers make (see
        `parser_training.py`). Non-projective trees are made projective by lifting. Weights that change
        fewer than `min_updates` times, or whose absolute value is below `min_weight`, are left out.
        The weights are the mean of several training `runs`, which go over the trees in different
        orders."""
        relations = sorted({word.relation for tree in trees for word in tree.words})
        if not relations:
            raise InputError("There are no trees to train a parser on.")
        number = {relation: place for place, relation in enumerate(relations)}
        projective = [projectivize(tree) for tree in trees]
        words = [word for tree in projective for word in tree.words]
        models = [
            _native.train_arc_hybrid(
                [[word.form for word in tree.words] for tree in trees],
                tags,
                hints,
                heads=np.array([word.head for word in words], np.int32),
                labels=np.array([number[word.relation] for word in words], np.int32),
                n_labels=len(relations),
                epochs=epochs,
                min_updates=min_updates,
                weight_unit=WEIGHT_UNIT,
                seed=seed + run,
                on_epoch=on_epoch,
            )
            for run in range(runs)
        ]
        classes = 1 + 2 * len(relations)  # SHIFT; LEFT and RIGHT with each relation
        weights = _native.mean_weights(models, classes, min_weight / WEIGHT_UNIT)
        data = np.frombuffer(weights, np.uint8)
        return cls(relations, data, hinter, WordAnalysis.learn(trees))

    @classmethod
    def load(cls, path: PathLike) -> Self:
        with cls.reading(path) as file:
            relations, weights = file.strings("relations"), file.arrays["weights"]
            hinter = Tagger(file.strings("hints"), file.arrays[HINT_WEIGHTS])
            return cls(relations, weights, hinter, WordAnalysis.from_file(file), card=file.card)

    def arcs(
        self,
        sentences: Sequence[Sequence[str]],
        tags: Sequence[Sequence[str]],
        *,
        threads: int = 1,
    ) -> list[list[LabeledHead]]:
        """The labeled head of every word of every sentence."""
        hints = self.hinter.tag(sentences, given=tags, threads=threads)
        rows = iter(self._model.parse(sentences, tags, hints, threads).tolist())
        relations = self.relations
        return [
            [LabeledHead(head, relations[label]) for head, label in (next(rows) for _ in words)]
            for words in sentences
        ]

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            **packed_strings("relations", self.relations),
            **packed_strings("hints", self.hinter.tags),
            HINT_WEIGHTS: self.hinter.weights,
            **self.word_analysis.arrays(),
            "weights": self.weights,
        }


def hints_of(tree: Tree) -> list[str]:
    """The right hint for each word of a tree: its relation, and `<` or `>` for the side of its head
    (`=` for the root)."""
    return [
        word.relation + ("=" if word.head == 0 else "<" if word.head < number else ">")
        for number, word in enumerate(tree.words, start=1)
    ]
