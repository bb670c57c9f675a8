"""NIST (Doddington 2002): matched n-grams count by the information that they have, so that rare n-grams
count more. Scores are exactly the same as NLTK's.

An n-gram has log2(A / B) bits of information, where B is the number of its occurrences in all
references, and A that of the n-gram without its last token. `prepare` counts occurrences before the
first output is scored, and the signature has a fingerprint of the references.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.metrics.base import BaseMetric, as_text, lowered, lowered_lists, ratio
from wellput.text import tokenizers
from wellput.text.tokenizers import TokenizerName

# Makes the length penalty 1/2 for an output of 2/3 of the reference's length (equation 3).
_BETA = math.log(0.5) / math.log(1.5) ** 2


@dataclass(frozen=True)
class Nist(BaseMetric):
    """Bits of matched information per n-gram, summed over the orders 1 to n, times a length penalty;
    there is no upper bound.

    As in NLTK, the reference with the highest precision is chosen for each order (the longest, if
    several are equal), and the length penalty uses the chosen references. A segment's score uses the
    information (weights) of n-grams in the references of the whole corpus; NLTK's `sentence_nist`
    uses only the references of the sentence. If all outputs are too short for n-grams of an order,
    the order adds nothing; NLTK divides by zero there. If the references have no words, the score is
    undefined.

    Statistics: the matched information for the orders 1 to n, the number of n-grams for the orders 1
    to n, the tokens of the output, and the tokens of the chosen references, summed over the orders.

    >>> references = [["the cat sat", "a cat"]]
    >>> metric = Nist(n=1).prepare(references)
    >>> scores = metric.score(metric.statistics(Batch.from_texts(["the cat"], references)))
    >>> round(float(scores[0]), 4)  # (log2(5/1) + log2(5/2)) / 2, halved for 2 words of 3
    0.911
    """

    family: ClassVar[str] = "nist"
    about: ClassVar[str] = "information in the matched n-grams; rare ones count more"
    paper: ClassVar[str] = (
        "Doddington 2002, Automatic Evaluation of Machine Translation Quality Using N-gram "
        "Co-Occurrence Statistics"
    )
    bounds: ClassVar[Bounds] = (0.0, None)
    perfect: ClassVar[Mapping[str, float]] = {"length_penalty": 1.0}

    n: int = 5
    lowercase: bool = False
    tokenize: TokenizerName = "13a"
    _weights: _native.NgramCounter | None = field(
        default=None, init=False, repr=False, compare=False
    )
    _fingerprint: str = field(default="", init=False, repr=False)

    def __post_init__(self) -> None:
        self.require(1 <= self.n <= 9, f"n is the highest order of n-grams, 1 to 9, not {self.n}.")

    def prepare(self, references: Iterable[Sequence[str]]) -> Self:
        # The name of the kernel's tokenizer: `none` if texts are tokenized in Python.
        _, tokenizer = tokenizers.with_native_tokenizer((), self.tokenize)
        weights = _native.NgramCounter(self.n, tokenizer)
        digests = 0  # a sum, so that the order of the items does not matter
        for row in references:
            texts = lowered(row) if self.lowercase else row
            weights.add(tokenizers.with_native_tokenizer(texts, self.tokenize)[0])
            for text in texts:
                digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
                digests += int.from_bytes(digest, "big")
        prepared = replace(self)
        object.__setattr__(prepared, "_weights", weights)
        object.__setattr__(prepared, "_fingerprint", f"{digests % 2**256:064x}"[:8])
        return prepared

    def statistics(self, batch: Batch) -> Floats:
        if self._weights is None:
            raise InputError("nist must see all references first: call prepare(references).")
        hypotheses, references = batch.texts, batch.references
        if self.lowercase:
            hypotheses, references = lowered(hypotheses), lowered_lists(references)
        # Tokenizers written in Python are applied here, those in C++ by the kernel.
        hypotheses, _ = tokenizers.with_native_tokenizer(hypotheses, self.tokenize)
        references, _ = tokenizers.lists_with_native_tokenizer(references, self.tokenize)
        try:
            return _native.nist_statistics(hypotheses, references, self._weights, batch.threads)
        except ValueError as error:
            raise InputError(
                f"nist: the outputs of {batch.system or 'the system'} come with {error}. "
                "prepare(references) must see every reference before scoring."
            ) from error

    def score(self, statistics: Floats) -> Floats:
        scores: Floats = self._precisions(statistics).sum(axis=-1) * self._penalty(statistics)
        return scores

    def components(self, statistics: Floats) -> dict[str, Floats]:
        precisions = self._precisions(statistics)
        return {
            **{f"information_{i + 1}": precisions[..., i] for i in range(self.n)},
            "length_penalty": self._penalty(statistics),
            "length": statistics[..., 2 * self.n],
            "reference_length": statistics[..., 2 * self.n + 1] / self.n,
        }

    def signature(self) -> str:
        weights = f"|weights:{self._fingerprint}" if self._fingerprint else ""
        tokenizer = tokenizers.tokenizer_signature(self.tokenize)
        return f"n:{self.n}|lowercase:{as_text(self.lowercase)}|tok:{tokenizer}{weights}"

    def _precisions(self, statistics: Floats) -> Floats:
        """Bits per n-gram for each order; 0 for an order without n-grams."""
        bits = ratio(statistics[..., : self.n], statistics[..., self.n : 2 * self.n])
        return np.nan_to_num(bits, nan=0.0)

    def _penalty(self, statistics: Floats) -> Floats:
        """The length penalty: 1 if the output is at least as long as the references, 0 if it is
        empty."""
        share = ratio(self.n * statistics[..., 2 * self.n], statistics[..., 2 * self.n + 1])
        log = np.log(share, out=np.full(share.shape, -np.inf), where=share > 0)
        penalty: Floats = np.exp(_BETA * np.minimum(log, 0.0) ** 2)
        return np.where(np.isnan(share), np.nan, penalty)
