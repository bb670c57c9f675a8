"""`RealizerParameters`: the parts of a realizer beside its tree model and n-gram model.

These are the words that are usually in lower case (`capitals`), the baseline LR, the weights of
daughters' orders, and the weight of the n-gram model. The English ones are in `realizer.wpm`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wellput.io.files import PathLike
from wellput.io.model_files import (
    fingerprint,
    load_model_file,
    noticing_damage,
    packed_strings,
    save_model_file,
)
from wellput.language.realize.baselines import LeftRight
from wellput.language.realize.capitals import Capitals
from wellput.language.realize.precedence import PrecedenceModel

KIND = "realizer"


@dataclass(frozen=True, eq=False)
class RealizerParameters:
    """`lm_weight` is the weight of the n-gram model's log probability in `fergus+`; the log weight of
    an order counts once."""

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
    def load(cls, path: PathLike) -> RealizerParameters:
        file = load_model_file(path, KIND)
        with noticing_damage(path, "realizer"):
            return cls(
                Capitals(frozenset(file.strings("ordinary"))),
                LeftRight.of_file(file, "left_right"),
                PrecedenceModel.of_file(file, "precedence"),
                float(file.arrays["weights"][0]),
                file.card,
            )
