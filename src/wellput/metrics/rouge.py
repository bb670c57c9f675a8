"""ROUGE-L of Lin (2004), with rouge-score's digits.

Precision is the length of the longest common subsequence of hypothesis and reference over the length of
the hypothesis; recall is the same over the length of the reference. The score is their harmonic mean;
1 is perfect. Words are runs of ASCII letters and digits in lower-case text, so text in other
scripts has none and scores 0. There is no stemming.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from wellput import _native
from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.metrics.base import BaseMetric, lowered, lowered_lists, ratio


@dataclass(frozen=True)
class RougeL(BaseMetric):
    """The F-measure of the longest common subsequence; a corpus is the mean of its segments.

    With several references a segment takes the one with the highest F. A hypothesis or a reference
    without words scores 0, even if neither has words, as in rouge-score.

    >>> metric = RougeL()
    >>> batch = Batch.from_texts(["the cat sat"], [["the black cat sat down"]])
    >>> [round(float(score), 4) for score in metric.score(metric.statistics(batch))]  # 2 · 3 / (3 + 5)
    [0.75]
    """

    family: ClassVar[str] = "rouge-l"
    about: ClassVar[str] = "F-score of the longest common subsequence of words"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    perfect: ClassVar[Mapping[str, float]] = {"score": 1.0, "precision": 1.0, "recall": 1.0}
    paper: ClassVar[str] = "Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries"

    def statistics(self, batch: Batch) -> Floats:
        return _native.rouge_l_statistics(
            lowered(batch.texts), lowered_lists(batch.references), batch.threads
        )

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., 0], statistics[..., 3])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        return {
            "precision": ratio(statistics[..., 1], statistics[..., 3]),
            "recall": ratio(statistics[..., 2], statistics[..., 3]),
        }

    def signature(self) -> str:
        return "case:lc|tok:rouge|stem:no"
