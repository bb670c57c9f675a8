"""How long outputs are, by themselves and against their references."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from wellput import _native
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need
from wellput.core.table import Bounds
from wellput.metrics.base import NOTHING, BaseMetric, MeanMetric, ratio
from wellput.text.tokenizers import TokenizerName, prepare, prepare_lists, signature


@dataclass(frozen=True)
class Length(MeanMetric):
    """Tokens of an output, on average; an empty one has 0. Neither good nor bad."""

    family: ClassVar[str] = "length"
    bounds: ClassVar[Bounds] = (0.0, None)
    about: ClassVar[str] = "tokens per output"
    needs: ClassVar[frozenset[Need]] = NOTHING

    tokenize: TokenizerName = "13a"

    @property
    def higher_is_better(self) -> bool | None:
        return None

    def values(self, batch: Batch) -> Floats:
        texts, tokenizer = prepare(batch.texts, self.tokenize)
        without = [()] * len(batch)
        return _native.token_counts(texts, without, tokenizer, batch.threads)[:, 0]

    def signature(self) -> str:
        return f"tok:{signature(self.tokenize)}"


@dataclass(frozen=True)
class LengthRatio(BaseMetric):
    """Tokens of the outputs over tokens of the references, pooled; 1 is as long as a reference.

    Of several references the one closest in length counts, of two as close the shorter (as in
    BLEU's brevity penalty). Undefined where the references have no tokens.

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
        texts, tokenizer = prepare(batch.texts, self.tokenize)
        references, _ = prepare_lists(batch.references, self.tokenize)
        return _native.token_counts(texts, references, tokenizer, batch.threads)

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., 0], statistics[..., 1])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        return {"length": statistics[..., 0], "reference_length": statistics[..., 1]}

    def signature(self) -> str:
        return f"tok:{signature(self.tokenize)}"
