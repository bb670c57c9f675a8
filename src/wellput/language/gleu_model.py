"""The noun `GleuModel`: the trained part of `gleu-fluency`, a linear support vector machine over four
features, each divided by its largest size in the training sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.io.files import PathLike
from wellput.io.model_files import save_model_file
from wellput.language.gleu_features import FEATURES
from wellput.language.linear_model import LinearModel, fit_linear

KIND = "gleu-fluency"


@dataclass(frozen=True, eq=False)
class GleuModel:
    """`constants` are frozen at training, so that a sentence's score does not depend on the others
    in the same file, as it did in the paper."""

    constants: Floats
    plane: LinearModel
    fingerprint: str = ""

    @classmethod
    def train(cls, features: Floats, is_real: NDArray[np.bool_]) -> GleuModel:
        """From rows of `GleuParsers.features`, real sentences and those put together from words."""
        largest = np.abs(features).max(axis=0)
        constants = np.where(largest > 0, largest, 1.0)
        plane = fit_linear(tuple(FEATURES), features / constants, is_real, loss="hinge")
        return cls(constants, plane)

    def normalized(self, features: Floats) -> Floats:
        return features / self.constants

    def distances(self, normalized: Floats) -> Floats:
        """Signed: above 0 is the side of real sentences."""
        return self.plane.distances(normalized)

    def contributions(self, normalized: Floats) -> Floats:
        """What each feature adds to the distance, compared with a feature at its training mean."""
        return self.plane.contributions(normalized) / float(np.linalg.norm(self.plane.weights))

    def save(self, path: PathLike, card: Mapping[str, Any]) -> None:
        save_model_file(path, KIND, card, {**self.plane.arrays(), "constants": self.constants})

    @classmethod
    def load(cls, path: PathLike) -> GleuModel:
        plane, file = LinearModel.load(path, KIND)
        if plane.features != tuple(FEATURES) or "constants" not in file.arrays:
            raise InputError(f"{path} is a damaged model of gleu-fluency: train it again.")
        return cls(file.arrays["constants"], plane, file.fingerprint)
