"""The noun `FluencyModel`: the trained part of `fluency`, a weighted sum of features made a score.

Weights are never negative: no feature that is higher in better sentences may count against one. The
score is where the sum falls among the sums of real sentences, smoothly: 0.7 for the middle one, 0.5 for
one that is worse than 98 in 100.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.io.files import PathLike
from wellput.io.model_files import save_model_file
from wellput.language.fluency_features import FEATURES
from wellput.language.linear_model import LinearModel, fit_severity

KIND = "fluency"
MIDDLE, LOW = 0.7, 0.5
LOW_SHARE = 0.02
"""The share of real sentences that score below `LOW`."""


@dataclass(frozen=True, eq=False)
class FluencyModel:
    """`curve` are the middle of the logistic curve and its steepness, in units of the sum."""

    sums: LinearModel
    curve: Floats
    fingerprint: str = ""

    @classmethod
    def train(cls, features: Floats, severity: Floats, weights: Floats) -> FluencyModel:
        """From rows of `FluencyModels.features`, how bad each is known to be (0: real), and how much
        each row counts."""
        sums = fit_severity(tuple(FEATURES), features, severity, weights)
        real = sums.scores(features[severity == 0])
        low, middle = np.quantile(real, [LOW_SHARE, 0.5])
        steepness = (_logit(MIDDLE) - _logit(LOW)) / max(middle - low, 1e-9)
        return cls(sums, np.array([low, steepness]))

    def scores(self, features: Floats) -> Floats:
        """In [0, 1]; NaN where features are."""
        return self.scores_of_sums(self.sums.scores(features))

    def scores_of_sums(self, sums: Floats) -> Floats:
        middle, steepness = self.curve
        return np.asarray(1 / (1 + np.exp(-np.clip(steepness * (sums - middle), -500, 500))))

    def contributions(self, features: Floats) -> Floats:
        """What each feature adds to the score: less than 0 if that would be higher with the feature at
        its training mean and all others as they are. For the curve, they do not add up exactly."""
        sums = self.sums.scores(features)[..., None]
        without = self.scores_of_sums(sums - self.sums.contributions(features))
        return np.asarray(self.scores_of_sums(sums) - without)

    def save(self, path: PathLike, card: Mapping[str, Any]) -> None:
        save_model_file(path, KIND, card, {**self.sums.arrays(), "curve": self.curve})

    @classmethod
    def load(cls, path: PathLike) -> FluencyModel:
        sums, file = LinearModel.load(path, KIND)
        if sums.features != tuple(FEATURES) or "curve" not in file.arrays:
            raise InputError(f"{path} is a damaged model of fluency: train it again.")
        return cls(sums, file.arrays["curve"], file.fingerprint)


def _logit(share: float) -> float:
    return float(np.log(share / (1 - share)))
