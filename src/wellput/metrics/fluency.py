"""Fluency from models of English, without references: how well an output is put, not what it says."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need
from wellput.core.table import Bounds
from wellput.metrics.base import NOTHING, BaseMetric, ratio

if TYPE_CHECKING:
    from wellput.language.fluency_features import FluencyModels
    from wellput.language.fluency_model import FluencyModel

FILE = "fluency.wpm"
WRITTEN = ("capital", "stop")
"""Features of how a sentence is written down, not put."""
WORTH_SAYING = 0.02
"""What a feature must cost to be named in an explanation."""


@dataclass(frozen=True)
class Fluency(BaseMetric):
    """The mean over outputs of a score in [0, 1]. Statistics: the sum of the scores, the sums of the
    features, the number of outputs with words, and that of all."""

    family: ClassVar[str] = "fluency"
    about: ClassVar[str] = "how well it is put, by models of English"
    needs: ClassVar[frozenset[Need]] = NOTHING
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    is_always_defined: ClassVar[bool] = True

    model: str | None = None
    written: bool = True

    def statistics(self, batch: Batch) -> Floats:
        model = _model(self.model)
        features = self._features(batch)
        has_words = ~np.isnan(features[:, 0])
        rows = np.column_stack(
            [model.scores(features), features, has_words, np.ones(len(features))]
        )
        rows[~has_words, :-1] = 0.0
        return rows

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., 0], statistics[..., -1])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        from wellput.language.fluency_features import FEATURES

        return {
            name: ratio(statistics[..., place], statistics[..., -2])
            for place, name in enumerate(FEATURES, start=1)
        }

    def explain(self, batch: Batch) -> list[str]:
        """The features that pull an output's score down, the strongest first."""
        from wellput.language.fluency_features import FEATURES
        from wellput.metrics.pulls import pulls_down

        features = self._features(batch)
        contributions = _model(self.model).contributions(features)
        return pulls_down(batch.texts, FEATURES, features, contributions, least=WORTH_SAYING)

    def signature(self) -> str:
        models = sha256(_models().fingerprint.encode()).hexdigest()
        written = str(self.written).lower()
        return (
            f"model:{_model(self.model).fingerprint[:12]}|english:{models[:12]}|written:{written}"
        )

    def _features(self, batch: Batch) -> Floats:
        if "fluency features" not in batch.memo:
            found = _models().features(batch.texts, threads=batch.threads)
            batch.memo["fluency features"] = found
        features: Floats = batch.memo["fluency features"].copy()
        if not self.written:
            from wellput.language.fluency_features import FEATURES

            for name in WRITTEN:
                column = features[:, list(FEATURES).index(name)]
                column[~np.isnan(column)] = 1.0
        return features


@lru_cache(maxsize=4)
def _model(folder: str | None) -> FluencyModel:
    from wellput.language.fluency_model import FluencyModel
    from wellput.language.shipped import shipped
    from wellput.metrics.trained_folder import model_in

    file = shipped(FILE) if folder is None else model_in(folder, FILE, option="--no-gleu")
    return FluencyModel.load(file)


@lru_cache(maxsize=1)
def _models() -> FluencyModels:
    from wellput.language.fluency_features import english_models

    return english_models()
