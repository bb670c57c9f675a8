"""The noun `TransitionParser`: from words and their tags to a dependency tree, move by move.

Arc-hybrid moves, each the best by an averaged perceptron, trained with a dynamic oracle, so that the
parser also learns what to do after a mistake (Goldberg & Nivre 2013). Greedy and linear in the
length of the sentence; the trees are projective and have one root.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.tree import Tree
from wellput.io.files import PathLike
from wellput.io.model_files import fingerprint, load_model_file, packed_strings, save_model_file
from wellput.language.word_analysis import WordAnalysis
from wellput.trees.projectivity import projectivize

KIND = "transition-parser"
UNIT = 0.1


class Arc(NamedTuple):
    """A word's head (0 for the root's) and its relation to it."""

    head: int
    relation: str


class TransitionParser:
    """Trained weights with the names of their relations, and what was learned of words."""

    def __init__(
        self,
        relations: Sequence[str],
        weights: NDArray[np.uint8],
        words: WordAnalysis,
        *,
        card: Mapping[str, Any] | None = None,
    ) -> None:
        self.relations = relations
        self.weights = weights
        self.words = words
        self.card = card or {}
        self._model = _native.ArcHybridModel(weights.tobytes(), len(relations))

    @classmethod
    def train(
        cls,
        trees: Sequence[Tree],
        tags: Sequence[Sequence[str]],
        *,
        epochs: int = 10,
        min_updates: int = 3,
        seed: int = 1,
        on_epoch: Callable[[int], None] = lambda _: None,
    ) -> Self:
        """From trees and the tags that a tagger gives their words: tags as they will be when parsing,
        mistakes included (see `parser_training`). Non-projective arcs are lifted."""
        relations = sorted({word.relation for tree in trees for word in tree.words})
        if not relations:
            raise InputError("A parser is trained from trees; there are none.")
        number = {relation: place for place, relation in enumerate(relations)}
        projective = [projectivize(tree) for tree in trees]
        weights = _native.train_arc_hybrid(
            [[word.form for word in tree.words] for tree in trees],
            tags,
            heads=np.array([w.head for tree in projective for w in tree.words], np.int32),
            labels=np.array([number[w.relation] for t in projective for w in t.words], np.int32),
            n_labels=len(relations),
            epochs=epochs,
            min_updates=min_updates,
            unit=UNIT,
            seed=seed,
            on_epoch=on_epoch,
        )
        return cls(relations, np.frombuffer(weights, np.uint8), WordAnalysis.learn(trees))

    @classmethod
    def load(cls, path: PathLike) -> Self:
        file = load_model_file(path, KIND)
        try:
            relations, weights = file.strings("relations"), file.arrays["weights"]
            return cls(relations, weights, WordAnalysis.from_file(file), card=file.card)
        except (KeyError, IndexError, ValueError):
            raise InputError(f"{path} is a damaged parser: train it again.") from None

    def save(self, path: PathLike, card: Mapping[str, Any] | None = None) -> None:
        """Writes a `.wpm` file; `card` says where the parser comes from."""
        save_model_file(path, KIND, self.card if card is None else card, self._arrays())

    @property
    def fingerprint(self) -> str:
        return fingerprint(KIND, self._arrays())

    def arcs(
        self,
        sentences: Sequence[Sequence[str]],
        tags: Sequence[Sequence[str]],
        *,
        threads: int = 1,
    ) -> list[list[Arc]]:
        """The arc of every word of every sentence."""
        rows = iter(self._model.parse(sentences, tags, threads).tolist())
        relations = self.relations
        return [
            [Arc(head, relations[label]) for head, label in (next(rows) for _ in words)]
            for words in sentences
        ]

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {
            **packed_strings("relations", self.relations),
            **self.words.arrays(),
            "weights": self.weights,
        }
