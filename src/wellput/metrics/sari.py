"""SARI of Xu et al. (2016), for simplified text, with exactly the same scores as EASSE.

A simplification adds n-grams to its source, keeps some and deletes others. The n-grams that it adds,
keeps and deletes are compared with those that the references add, keep and delete. This gives an
F-measure for each of the three operations and each length of n-grams from 1 to 4 words; the score is
their mean, in percent, and 100 is perfect. Counts are summed over a corpus before they are divided,
as in EASSE's `corpus_sari`; other programs average sentences instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from wellput import _native
from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need
from wellput.metrics.base import BaseMetric, lowered, lowered_lists
from wellput.text.tokenizers import (
    TokenizerName,
    lists_with_native_tokenizer,
    tokenizer_signature,
    with_native_tokenizer,
)

N_NGRAM_ORDERS = 4
"""N-grams of 1 to this many words are compared."""


@dataclass(frozen=True)
class Sari(BaseMetric):
    """How well n-grams are added, kept and deleted, against sources and references, in percent.

    For deleted n-grams, `deletion="precision"` takes the precision instead of the F-measure, as the
    paper does; EASSE's default is the F-measure. If no n-grams of some length were added, or none
    should have been, their F-measure is 0, so that even a copy of the only reference can score below
    100.

    >>> metric = Sari()
    >>> batch = Batch.from_texts(
    ...     ["the cat sat"], [["the cat sat", "the cat was sitting"]], sources=["the feline sat"]
    ... )
    >>> [round(float(score), 2) for score in metric.score(metric.statistics(batch))]
    [44.37]
    """

    family: ClassVar[str] = "sari"
    about: ClassVar[str] = "n-grams added, kept and deleted, against source and references"
    needs: ClassVar[frozenset[Need]] = frozenset({"references", "source"})
    bounds: ClassVar[Bounds] = (0.0, 100.0)
    is_always_defined: ClassVar[bool] = True
    perfect: ClassVar[Mapping[str, float]] = {}
    paper: ClassVar[str] = (
        "Xu et al. 2016, Optimizing Statistical Machine Translation for Text Simplification"
    )

    lowercase: bool = True
    tokenize: TokenizerName = "13a"
    deletion: Literal["f1", "precision"] = "f1"

    def statistics(self, batch: Batch) -> Floats:
        outputs = batch.texts
        sources_and_references: Sequence[Sequence[str]] = [
            [source or "", *references]
            for source, references in zip(batch.sources, batch.references, strict=True)
        ]
        if self.lowercase:
            outputs = lowered(outputs)
            sources_and_references = lowered_lists(sources_and_references)
        # Tokenizers written in Python are applied here, those in C++ by the kernel.
        outputs, tokenizer = with_native_tokenizer(outputs, self.tokenize)
        sources_and_references, _ = lists_with_native_tokenizer(
            sources_and_references, self.tokenize
        )
        return _native.sari_statistics(outputs, sources_and_references, tokenizer, batch.threads)

    def score(self, statistics: Floats) -> Floats:
        parts = self.components(statistics)
        mean: Floats = (parts["added"] + parts["kept"] + parts["deleted"]) / 3
        return mean

    def components(self, statistics: Floats) -> dict[str, Floats]:
        # The last three axes: the length of n-grams; the operation (added, kept, deleted); and three
        # numbers of n-grams with this operation: the correct ones, the output's, the references'.
        counts = statistics.reshape(*statistics.shape[:-1], N_NGRAM_ORDERS, 3, 3)
        correct, by_output, by_references = np.moveaxis(counts, -1, 0)
        precision, recall = _share(correct, by_output), _share(correct, by_references)
        f_measures = _share(2 * precision * recall, precision + recall)
        if self.deletion == "precision":
            f_measures[..., 2] = precision[..., 2]
        means = 100 * f_measures.mean(axis=-2)
        return {"added": means[..., 0], "kept": means[..., 1], "deleted": means[..., 2]}

    def signature(self) -> str:
        case = "lc" if self.lowercase else "mixed"
        return f"case:{case}|tok:{tokenizer_signature(self.tokenize)}|deletion:{self.deletion}"


def _share(part: Floats, whole: Floats) -> Floats:
    """part / whole; 0 where the whole is 0, as in EASSE."""
    result = np.zeros(np.broadcast_shapes(part.shape, whole.shape))
    np.divide(part, whole, out=result, where=whole != 0)
    return result
