"""`RealizerParameters`: the parts of a realizer beside its tree model and n-gram model; `FergusParts`:
all of them together, with the completer.

These are the words that are usually in lower case (`capitals`), the baseline LR, the weights of
daughters' orders, and the weight of the n-gram model. The English ones are in `realizer.wpm`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from wellput.core.errors import OutputError
from wellput.io.files import PathLike
from wellput.io.model_files import (
    StoredModel,
    packed_strings,
)
from wellput.language.models.ngram_files import save_model
from wellput.language.models.ngrams import NgramModel
from wellput.language.models.tree_model import TreeModel
from wellput.language.realize.baselines import LeftRight
from wellput.language.realize.capitals import Capitals
from wellput.language.realize.completer import Completer
from wellput.language.realize.precedence import PrecedenceModel
from wellput.language.shipped import COMPLETER_FILE, NGRAMS_FILE, REALIZER_FILE, TREE_MODEL_FILE


@dataclass(frozen=True, eq=False)
class RealizerParameters(StoredModel):
    """`lm_weight` is the weight of the n-gram model's log probability in `fergus+`; the log weight of
    an order counts once."""

    kind: ClassVar[str] = "realizer"
    noun: ClassVar[str] = "realizer"

    capitals: Capitals
    left_right: LeftRight
    precedence: PrecedenceModel
    lm_weight: float = 1.0
    card: Mapping[str, Any] = field(default_factory=dict)

    def arrays(self) -> dict[str, Any]:
        return {
            **packed_strings("ordinary", sorted(self.capitals.ordinary)),
            **self.left_right.arrays("left_right"),
            **self.precedence.arrays("precedence"),
            "weights": np.array([self.lm_weight]),
        }

    @classmethod
    def load(cls, path: PathLike) -> RealizerParameters:
        with cls.reading(path) as file:
            return cls(
                Capitals(frozenset(file.strings("ordinary"))),
                LeftRight.of_file(file, "left_right"),
                PrecedenceModel.of_file(file, "precedence"),
                float(file.arrays["weights"][0]),
                file.card,
            )


@dataclass(frozen=True, eq=False)
class FergusParts:
    """What fergus, fergus+ and lr need; a folder has a file of each. The completer is for inputs of
    lemmas, and for those that leave words out."""

    tree_model: TreeModel
    ngrams: NgramModel
    parameters: RealizerParameters
    completer: Completer

    @property
    def fingerprints(self) -> dict[str, str]:
        return {
            TREE_MODEL_FILE: self.tree_model.fingerprint,
            NGRAMS_FILE: self.ngrams.fingerprint,
            REALIZER_FILE: self.parameters.fingerprint,
            COMPLETER_FILE: self.completer.fingerprint,
        }

    def save(self, path: PathLike) -> None:
        folder = made_folder(path)
        self.tree_model.save(folder / TREE_MODEL_FILE)
        save_model(self.ngrams, folder / NGRAMS_FILE)
        self.parameters.save(folder / REALIZER_FILE)
        self.completer.save(folder / COMPLETER_FILE)


def made_folder(path: PathLike) -> Path:
    """The folder, which is made if missing."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"The folder {path} cannot be made: {error.strerror}.") from None
    return folder
