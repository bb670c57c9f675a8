"""WER, the word error rate, with jiwer's digits.

Substitutions, insertions and deletions per reference word: 0 is perfect, and it can exceed 1. How
the errors divide into the three kinds depends on which of several cheapest alignments is taken; it
is the one jiwer takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wellput import _native
from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.core.table import Bounds
from wellput.metrics.base import BaseMetric, lowered, lowered_lists, ratio
from wellput.text.tokenizers import TokenizerName, prepare, prepare_lists
from wellput.text.tokenizers import signature as tokenizer_signature


@dataclass(frozen=True)
class Wer(BaseMetric):
    """Word error rate as a fraction; lower is better.

    A corpus is pooled: all errors over all reference words. With several references a segment
    counts against the one with the lowest rate, the first of them where rates are equal.

    `tokenize="none"` is jiwer's way: words are separated by a space, or by two or more whitespace
    characters of any kind; a single tab inside a text does not separate. The others are
    sacreBLEU's tokenizers.

    jiwer refuses empty references. Here an empty reference with an empty hypothesis is 0; with any
    other the segment is NaN, and its insertions count in a pooled score.

    >>> metric = Wer()
    >>> batch = Batch.from_texts(["the cat sat on mat"], [["the cat sat on the mat"]])
    >>> [round(float(score), 4) for score in metric.score(metric.statistics(batch))]  # 1 of 6
    [0.1667]
    """

    family: ClassVar[str] = "wer"
    about: ClassVar[str] = "word errors per reference word"
    bounds: ClassVar[Bounds] = (0.0, None)
    perfect: ClassVar[Mapping[str, float]] = {
        "score": 0.0,
        "substitutions": 0.0,
        "insertions": 0.0,
        "deletions": 0.0,
    }

    lowercase: bool = False
    tokenize: TokenizerName = "none"

    @property
    def higher_is_better(self) -> bool | None:
        return False

    def statistics(self, batch: Batch) -> Floats:
        hypotheses, references = batch.texts, batch.references
        if self.lowercase:
            hypotheses, references = lowered(hypotheses), lowered_lists(references)
        hypotheses, tokenizer = prepare(hypotheses, self.tokenize)
        references, _ = prepare_lists(references, self.tokenize)
        return _native.wer_statistics(hypotheses, references, tokenizer, batch.threads)

    def score(self, statistics: Floats) -> Floats:
        errors, length = statistics[..., :3].sum(axis=-1), statistics[..., 3]
        return np.where(errors == 0, 0.0, ratio(errors, length))

    def components(self, statistics: Floats) -> dict[str, Floats]:
        substitutions, insertions, deletions, length = np.moveaxis(statistics, -1, 0)
        return {
            "substitutions": substitutions,
            "insertions": insertions,
            "deletions": deletions,
            "hits": length - substitutions - deletions,
            "length": length,
        }

    def signature(self) -> str:
        case = "lc" if self.lowercase else "mixed"
        return f"case:{case}|tok:{tokenizer_signature(self.tokenize)}"
