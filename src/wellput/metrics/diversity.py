"""Diversity of an output's words, without references: type-token ratio and distinct n-grams.

The score is the mean over segments, so that it has an interval and can be tested. The figure over
the union of all outputs, which tells a system that always says the same from one that does not, is
no sum over segments: `union` gives it, without an interval.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from wellput import _native
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need
from wellput.core.table import Bounds
from wellput.metrics.base import NOTHING, MeanMetric, as_text, lowered, ratio
from wellput.text.tokenizers import TokenizerName, prepare, signature


@dataclass(frozen=True)
class Diversity(MeanMetric):
    """Different n-grams over all n-grams of an output; undefined where it has none.

    Case is ignored unless `lowercase=false`: a word is not another word for beginning a sentence.
    Ratios fall with length: compare outputs of similar length (see `length`).
    """

    needs: ClassVar[frozenset[Need]] = NOTHING

    tokenize: TokenizerName = "13a"
    lowercase: bool = True

    @property
    @abstractmethod
    def order(self) -> int:
        """The number of tokens in an n-gram."""

    def values(self, batch: Batch) -> Floats:
        texts, tokenizer = prepare(self._texts(batch), self.tokenize)
        counts = _native.distinct_ngrams(texts, self.order, tokenizer, batch.threads)
        return ratio(counts[:, 0], counts[:, 1])

    def union(self, batches: Iterable[Batch]) -> float:
        """Different n-grams over all n-grams of one system's outputs taken together; NaN if there
        are none. N-grams do not run from one output into the next."""
        _, tokenizer = prepare((), self.tokenize)
        counter = _native.NgramCounter(self.order, tokenizer)
        for batch in batches:
            texts, _ = prepare(self._texts(batch), self.tokenize)
            counter.add(texts)
        total = counter.total(self.order)
        return counter.distinct(self.order) / total if total else float("nan")

    def _texts(self, batch: Batch) -> list[str]:
        return lowered(batch.texts) if self.lowercase else list(batch.texts)

    def signature(self) -> str:
        return f"tok:{signature(self.tokenize)}|lowercase:{as_text(self.lowercase)}"


@dataclass(frozen=True)
class TypeTokenRatio(Diversity):
    """Different words over words.

    >>> metric = TypeTokenRatio()
    >>> batch = Batch.from_texts(["the cat saw the dog"], [()])
    >>> metric.values(batch)  # the, cat, saw, dog over five
    array([0.8])
    """

    family: ClassVar[str] = "ttr"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    about: ClassVar[str] = "different words / words of an output"

    @property
    def order(self) -> int:
        return 1


@dataclass(frozen=True)
class Distinct(Diversity):
    """Different n-grams over n-grams, for n from 1 to 3 (2 unless given)."""

    family: ClassVar[str] = "distinct"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    about: ClassVar[str] = "different n-grams / n-grams of an output"
    paper: ClassVar[str] = (
        "Li et al. 2016, A Diversity-Promoting Objective Function for Neural Conversation Models"
    )

    n: int = 2

    def __post_init__(self) -> None:
        self.require(1 <= self.n <= 3, f"n is the length of n-grams, 1 to 3, not {self.n}.")

    @property
    def order(self) -> int:
        return self.n

    def signature(self) -> str:
        return f"{super().signature()}|n:{self.n}"
