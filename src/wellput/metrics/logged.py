"""Scores from the log of another evaluation tool, such as those of language-model graders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wellput.core.errors import InputError, did_you_mean
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need
from wellput.metrics.base import MeanMetric


@dataclass(frozen=True)
class Logged(MeanMetric):
    """The mean of the scores in the log; an output without a score is undefined."""

    family: ClassVar[str] = "logged"
    about: ClassVar[str] = "mean of a score in the log of an evaluation"
    needs: ClassVar[frozenset[Need]] = frozenset({"logged"})
    has_gaps: ClassVar[bool] = True

    scorer: str = ""

    def values(self, batch: Batch) -> Floats:
        scorer = self.scorer or self._only(batch)
        if not any(scorer in scores for scores in batch.logged):
            known = _names(batch)
            raise InputError(
                f"The log has no score {scorer!r} for {batch.system}.{did_you_mean(scorer, known)} "
                f"It has {', '.join(known) or 'none'}."
            )
        return np.array([scores.get(scorer, np.nan) for scores in batch.logged])

    def _only(self, batch: Batch) -> str:
        known = _names(batch)
        if len(known) > 1:
            raise InputError(
                f"The log has several scores: {', '.join(known)}. Choose one, for example "
                f"logged:scorer={known[0]}."
            )
        return known[0]


def _names(batch: Batch) -> list[str]:
    return list(dict.fromkeys(name for scores in batch.logged for name in scores))
