"""The noun `RealizerModel`: what realizing needs beside a tree model and an n-gram model, in one file.

Which words are ordinary ones (`capitals`), the baseline LR, the weights of daughters' orders, and how
much each part counts. The English one is `realizer.wpm`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wellput.core.tree import Tree
from wellput.io.files import PathLike
from wellput.io.model_files import fingerprint, load_model_file, packed_strings, save_model_file
from wellput.realize.baselines import LeftRight, train_left_right
from wellput.realize.capitals import Capitals, learn_capitals
from wellput.realize.precedence import PrecedenceModel, train_precedence

KIND = "realizer"
SEED = 12345


@dataclass(frozen=True, eq=False)
class RealizerModel:
    """`lm_weight` is what the n-gram model's log probability counts in `fergus+`, where the log weight
    of an order counts 1."""

    capitals: Capitals
    left_right: LeftRight
    precedence: PrecedenceModel
    lm_weight: float = 1.0
    card: Mapping[str, Any] = field(default_factory=dict)

    def save(self, path: PathLike) -> None:
        save_model_file(path, KIND, self.card, self._arrays())

    @property
    def fingerprint(self) -> str:
        return fingerprint(KIND, self._arrays())

    def _arrays(self) -> dict[str, Any]:
        return {
            **packed_strings("ordinary", sorted(self.capitals.ordinary)),
            **self.left_right.arrays("left_right"),
            **self.precedence.arrays("precedence"),
            "weights": np.array([self.lm_weight]),
        }

    @classmethod
    def load(cls, path: PathLike) -> RealizerModel:
        file = load_model_file(path, KIND)
        return cls(
            Capitals(frozenset(file.strings("ordinary"))),
            LeftRight.of_file(file, "left_right"),
            PrecedenceModel.of_file(file, "precedence"),
            float(file.arrays["weights"][0]),
            file.card,
        )


def train_realizer_model(
    trees: Sequence[Tree],
    *,
    seed: int = SEED,
    card: Mapping[str, Any] | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> RealizerModel:
    """From treebank trees in their order; `tune` finds the weights afterwards."""
    capitals = learn_capitals(trees)
    lowered = [capitals.lowered_tree(tree) for tree in trees]
    on_progress(len(trees))
    left_right = train_left_right(lowered, rng=np.random.default_rng(seed))
    precedence = train_precedence(lowered)
    words = sum(len(tree.words) for tree in trees)
    stated = {"trees": len(trees), "words": words, "seed": seed, **(card or {})}
    return RealizerModel(capitals, left_right, precedence, card=stated)
