"""Metrics of the surface of texts: the length of an output, how often its words repeat, and sentinels.

`length` counts the output's tokens, `length-ratio` compares their number with that of the references.
`ttr` (type-token ratio) and `distinct` measure how many different words or n-grams an output has;
they need no references. Their score is the mean over segments, so it has an interval and can be
tested. `union` computes the same share for all outputs together, which shows whether a system always
says the same. It is not a sum over segments, so it has no interval.

Sentinels are metrics that ignore quality. They are shown beside other metrics when these are compared
with people's judgments; a metric that does not agree better with people than a sentinel is useless.
`random` shows how much agreement there is by chance, `length-only` how much the length of outputs
explains.
"""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wellput import _native
from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need
from wellput.metrics.base import NEEDS_NOTHING, BaseMetric, MeanMetric, as_text, lowered, ratio
from wellput.text.tokenizers import (
    TokenizerName,
    lists_with_native_tokenizer,
    tokenizer_signature,
    with_native_tokenizer,
)


@dataclass(frozen=True)
class Length(MeanMetric):
    """The mean number of tokens of an output; an empty output has 0. Neither high nor low is better."""

    family: ClassVar[str] = "length"
    bounds: ClassVar[Bounds] = (0.0, None)
    about: ClassVar[str] = "tokens per output"
    needs: ClassVar[frozenset[Need]] = NEEDS_NOTHING

    tokenize: TokenizerName = "13a"

    @property
    def higher_is_better(self) -> bool | None:
        return None

    def values(self, batch: Batch) -> Floats:
        # Tokenizers written in Python are applied here, those in C++ by the kernel.
        texts, tokenizer = with_native_tokenizer(batch.texts, self.tokenize)
        no_references = [()] * len(batch)
        return _native.token_counts(texts, no_references, tokenizer, batch.threads)[:, 0]

    def signature(self) -> str:
        return f"tok:{tokenizer_signature(self.tokenize)}"


@dataclass(frozen=True)
class LengthRatio(BaseMetric):
    """All tokens of the outputs divided by all tokens of the references; 1 means as long as the
    references.

    Of several references the one closest in length counts; of two equally close ones, the shorter one
    (as in BLEU's brevity penalty). Undefined if the references have no tokens.

    >>> metric = LengthRatio()
    >>> batch = Batch.from_texts(["a b c"], [["a b c d", "a b", "a b c d e"]])
    >>> metric.score(metric.statistics(batch))  # 3 / 2: a b and a b c d are equally close
    array([1.5])
    """

    family: ClassVar[str] = "length-ratio"
    bounds: ClassVar[Bounds] = (0.0, None)
    about: ClassVar[str] = "output tokens / reference tokens"

    tokenize: TokenizerName = "13a"

    @property
    def higher_is_better(self) -> bool | None:
        return None

    def statistics(self, batch: Batch) -> Floats:
        texts, tokenizer = with_native_tokenizer(batch.texts, self.tokenize)
        references, _ = lists_with_native_tokenizer(batch.references, self.tokenize)
        return _native.token_counts(texts, references, tokenizer, batch.threads)

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., 0], statistics[..., 1])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        return {"length": statistics[..., 0], "reference_length": statistics[..., 1]}

    def signature(self) -> str:
        return f"tok:{tokenizer_signature(self.tokenize)}"


@dataclass(frozen=True)
class Diversity(MeanMetric):
    """The share of distinct n-grams among all n-grams of an output; undefined if the output has no
    n-grams.

    Case is ignored unless `lowercase=false`: a word at the start of a sentence counts as the same
    word. The share falls with the length of outputs, so compare only outputs of similar length (see
    `length`).
    """

    needs: ClassVar[frozenset[Need]] = NEEDS_NOTHING

    tokenize: TokenizerName = "13a"
    lowercase: bool = True

    @property
    @abstractmethod
    def order(self) -> int:
        """The number of tokens in an n-gram."""

    def values(self, batch: Batch) -> Floats:
        texts, tokenizer = with_native_tokenizer(self._texts(batch), self.tokenize)
        counts = _native.distinct_ngrams(texts, self.order, tokenizer, batch.threads)
        return ratio(counts[:, 0], counts[:, 1])

    def union(self, batches: Iterable[Batch]) -> float:
        """The share of distinct n-grams in all outputs of one system together; NaN if there are no
        n-grams. The tokens of an n-gram are always from the same output."""
        # The name of the kernel's tokenizer: `none` if texts are tokenized in Python.
        _, tokenizer = with_native_tokenizer((), self.tokenize)
        counter = _native.NgramCounter(self.order, tokenizer)
        for batch in batches:
            texts, _ = with_native_tokenizer(self._texts(batch), self.tokenize)
            counter.add(texts)
        total = counter.total(self.order)
        return counter.distinct(self.order) / total if total else float("nan")

    def _texts(self, batch: Batch) -> list[str]:
        return lowered(batch.texts) if self.lowercase else list(batch.texts)

    def signature(self) -> str:
        return f"tok:{tokenizer_signature(self.tokenize)}|lowercase:{as_text(self.lowercase)}"


@dataclass(frozen=True)
class TypeTokenRatio(Diversity):
    """The share of distinct words in an output.

    >>> metric = TypeTokenRatio()
    >>> batch = Batch.from_texts(["the cat saw the dog"], [()])
    >>> metric.values(batch)  # the, cat, saw, dog over five
    array([0.8])
    """

    family: ClassVar[str] = "ttr"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    about: ClassVar[str] = "share of distinct words in an output"

    @property
    def order(self) -> int:
        return 1


@dataclass(frozen=True)
class Distinct(Diversity):
    """The share of distinct n-grams in an output, for n from 1 to 3 (by default 2)."""

    family: ClassVar[str] = "distinct"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    about: ClassVar[str] = "share of distinct n-grams in an output"
    paper: ClassVar[str] = (
        "Li et al. 2016, A Diversity-Promoting Objective Function for Neural Conversation Models"
    )

    n: int = 2

    def __post_init__(self) -> None:
        self.require(1 <= self.n <= 3, f"n is the length of n-grams, from 1 to 3, not {self.n}.")

    @property
    def order(self) -> int:
        return self.n

    def signature(self) -> str:
        return f"{super().signature()}|n:{self.n}"


@dataclass(frozen=True)
class Random(MeanMetric):
    """A number in [0, 1) from a hash of seed, system and item id: the same on every machine.

    The number does not depend on the output, on other items or on other systems.
    """

    family: ClassVar[str] = "random"
    about: ClassVar[str] = "chance: a hash of seed, system and item id"
    needs: ClassVar[frozenset[Need]] = NEEDS_NOTHING

    seed: int = 0

    def signature(self) -> str:
        return f"hash_seed:{self.seed}"  # in a signature `seed` is the seed of the resampling

    def values(self, batch: Batch) -> Floats:
        # The JSON list ends with a bracket, so the bytes show where the id begins: another seed,
        # system or id always gives other bytes.
        start = hashlib.blake2b(json.dumps([self.seed, batch.system]).encode(), digest_size=8)
        return np.array([_uniform(start, item) for item in batch.ids], dtype=np.float64)


def _uniform(start: hashlib.blake2b, item: str) -> float:
    """A number in [0, 1) from the hash `start`, continued with the item's id."""
    digest = start.copy()
    digest.update(item.encode("utf-8", "surrogatepass"))
    # 53 bits fit into a float exactly; rounding 64 bits could give 1.
    return (int.from_bytes(digest.digest(), "big") >> 11) / 2**53


@dataclass(frozen=True)
class LengthOnly(Length):
    """The number of tokens of an output, as if longer were better."""

    family: ClassVar[str] = "length-only"
    about: ClassVar[str] = "tokens per output, as if longer were better"

    @property
    def higher_is_better(self) -> bool | None:
        return True
