"""ROUGE of Lin (2004): `rouge-1`, `rouge-2`, `rouge-l` and `rouge-lsum`. Scores are exactly the same
as those of the package rouge-score.

Precision is the number of units that output and reference have in common, divided by the units of the
output; recall is the same number divided by the units of the reference. The score is their harmonic
mean; 1 is perfect. The units are words or pairs of words; for `rouge-l` and `rouge-lsum`, the common
units are the words of the longest common subsequence. A word is a sequence of ASCII letters and
digits in the lower-case text, so text in other scripts has no words and the score 0.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from wellput import _native
from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.metrics.base import BaseMetric, lowered, lowered_lists, ratio

_NON_WORD = re.compile(r"[^a-z0-9\n]+")
MIN_STEMMED_LETTERS = 4
"""Shorter words are not stemmed, as in rouge-score."""


@dataclass(frozen=True)
class _Rouge(BaseMetric):
    """The base class of the ROUGE metrics. With several references, the one with the highest
    F-measure counts; the score of a corpus is the mean of its segments. If the hypothesis, the
    reference or both have no words, the score is 0, as in rouge-score. `stem` compares the stems
    of words (Porter's, as in rouge-score's `use_stemmer`).

    Statistics: F-measure, precision, recall, and 1 for each segment."""

    bounds: ClassVar[Bounds] = (0.0, 1.0)
    perfect: ClassVar[Mapping[str, float]] = {"score": 1.0, "precision": 1.0, "recall": 1.0}
    paper: ClassVar[str] = "Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries"

    stem: bool = False

    @abstractmethod
    def _text_statistics(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]], threads: int
    ) -> Floats:
        """The statistics of these texts, which are in lower case (and stemmed, with `stem`)."""

    def statistics(self, batch: Batch) -> Floats:
        outputs, references = lowered(batch.texts), lowered_lists(batch.references)
        if self.stem:
            outputs = [_stemmed(text) for text in outputs]
            references = [[_stemmed(text) for text in row] for row in references]
        return self._text_statistics(outputs, references, batch.threads)

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., 0], statistics[..., 3])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        return {
            "precision": ratio(statistics[..., 1], statistics[..., 3]),
            "recall": ratio(statistics[..., 2], statistics[..., 3]),
        }

    def signature(self) -> str:
        return f"case:lc|tok:rouge|stem:{'porter' if self.stem else 'no'}"


def _stemmed(text: str) -> str:
    """The stems of the words of a lower-case text, with the same line breaks.

    >>> _stemmed("the ferries are\\nleaving.")
    'the ferri are\\nleav'
    """
    from wellput.text.porter import stem

    return "\n".join(
        " ".join(stem(word) if len(word) >= MIN_STEMMED_LETTERS else word for word in line.split())
        for line in _NON_WORD.sub(" ", text).split("\n")
    )


@dataclass(frozen=True)
class Rouge1(_Rouge):
    """The F-measure of common words.

    >>> metric = Rouge1()
    >>> batch = Batch.from_texts(["sat the cat"], [["the black cat sat down"]])
    >>> [round(float(score), 4) for score in metric.score(metric.statistics(batch))]  # 2 · 3 / (3 + 5)
    [0.75]
    """

    family: ClassVar[str] = "rouge-1"
    about: ClassVar[str] = "F-score of common words"

    def _text_statistics(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]], threads: int
    ) -> Floats:
        return _native.rouge_n_statistics(outputs, references, 1, threads)


@dataclass(frozen=True)
class Rouge2(_Rouge):
    """The F-measure of common pairs of neighboring words.

    >>> metric = Rouge2()
    >>> batch = Batch.from_texts(["the cat sat"], [["the black cat sat down"]])
    >>> [round(float(score), 4) for score in metric.score(metric.statistics(batch))]  # 2 · 1 / (2 + 4)
    [0.3333]
    """

    family: ClassVar[str] = "rouge-2"
    about: ClassVar[str] = "F-score of common pairs of words"

    def _text_statistics(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]], threads: int
    ) -> Floats:
        return _native.rouge_n_statistics(outputs, references, 2, threads)


@dataclass(frozen=True)
class RougeL(_Rouge):
    """The F-measure of the longest common subsequence of the whole texts.

    >>> metric = RougeL()
    >>> batch = Batch.from_texts(["the cat sat"], [["the black cat sat down"]])
    >>> [round(float(score), 4) for score in metric.score(metric.statistics(batch))]  # 2 · 3 / (3 + 5)
    [0.75]
    """

    family: ClassVar[str] = "rouge-l"
    about: ClassVar[str] = "F-score of the longest common subsequence of words"

    def _text_statistics(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]], threads: int
    ) -> Floats:
        return _native.rouge_l_statistics(outputs, references, threads)


@dataclass(frozen=True)
class RougeLsum(_Rouge):
    """The F-measure of longest common subsequences of sentences; every line is a sentence.

    A word of a reference sentence counts if it is in the longest common subsequence with any sentence
    of the output, so the order of sentences does not matter.

    >>> batch = Batch.from_texts(["It rained.\\nDinner is late."], [["Dinner is late.\\nIt rained."]])
    >>> [float(one.score(one.statistics(batch))[0]) for one in (RougeLsum(), RougeL())]
    [1.0, 0.6]
    """

    family: ClassVar[str] = "rouge-lsum"
    about: ClassVar[str] = "F-score of longest common subsequences, sentence by sentence (lines)"

    def _text_statistics(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]], threads: int
    ) -> Floats:
        return _native.rouge_lsum_statistics(outputs, references, threads)
