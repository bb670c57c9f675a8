"""SARI of Xu et al. (2016), for simplified text, with EASSE's digits.

A simplification adds n-grams to its source, keeps some and deletes others. Each of the three is
compared with what the references add, keep and delete: an F-measure for n-grams of 1 to 4 words,
averaged over the orders and then over the three, in percent; 100 is perfect. Counts are summed over a
corpus before they are divided, as in EASSE's `corpus_sari`; other programs average sentences instead.
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
from wellput.text.tokenizers import TokenizerName, prepare, prepare_lists
from wellput.text.tokenizers import tokenizer_signature as tokenizer_signature

N_NGRAM_ORDERS = 4


@dataclass(frozen=True)
class Sari(BaseMetric):
    """How well n-grams are added, kept and deleted, against sources and references, in percent.

    `deletion="precision"` does not ask whether all that the references delete was deleted, as in the
    paper; EASSE's default is the F-measure. An order in which nothing was added, or nothing should
    have been, has an F of 0, so that even a copy of the only reference can score below 100.

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
        texts: Sequence[Sequence[str]] = [
            [source or "", *references]
            for source, references in zip(batch.sources, batch.references, strict=True)
        ]
        if self.lowercase:
            outputs, texts = lowered(outputs), lowered_lists(texts)
        outputs, tokenizer = prepare(outputs, self.tokenize)
        texts, _ = prepare_lists(texts, self.tokenize)
        return _native.sari_statistics(outputs, texts, tokenizer, batch.threads)

    def score(self, statistics: Floats) -> Floats:
        parts = self.components(statistics)
        mean: Floats = (parts["added"] + parts["kept"] + parts["deleted"]) / 3
        return mean

    def components(self, statistics: Floats) -> dict[str, Floats]:
        counts = statistics.reshape(*statistics.shape[:-1], N_NGRAM_ORDERS, 3, 3)
        correct, by_output, by_references = np.moveaxis(counts, -1, 0)
        precision, recall = _share(correct, by_output), _share(correct, by_references)
        figures = _share(2 * precision * recall, precision + recall)
        if self.deletion == "precision":
            figures[..., 2] = precision[..., 2]
        means = 100 * figures.mean(axis=-2)
        return {"added": means[..., 0], "kept": means[..., 1], "deleted": means[..., 2]}

    def signature(self) -> str:
        case = "lc" if self.lowercase else "mixed"
        return f"case:{case}|tok:{tokenizer_signature(self.tokenize)}|deletion:{self.deletion}"


def _share(part: Floats, whole: Floats) -> Floats:
    """The quotient, 0 where the divisor is 0, as EASSE has it."""
    result = np.zeros(np.broadcast_shapes(part.shape, whole.shape))
    np.divide(part, whole, out=result, where=whole != 0)
    return result
