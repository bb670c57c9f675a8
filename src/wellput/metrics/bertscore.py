"""BERTScore (Zhang et al. 2020): how similar the tokens of an output and a reference are in meaning.

Tokens are compared by the cosine of their vectors. For precision, each token of the output gets its
highest cosine with a token of the reference, and precision is the mean of these cosines. Recall is
the same for the tokens of the reference.
"""

from __future__ import annotations

import csv
import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from wellput.core.errors import InputError
from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.metrics.base import BaseMetric, ratio
from wellput.metrics.perplexity import Device

if TYPE_CHECKING:
    from wellput.language.models.token_vectors import EncodedText, KeptVectors

Part: TypeAlias = Literal["f", "precision", "recall"]
SCORE_PARTS: tuple[Part, ...] = ("precision", "recall", "f")
ROWS_AT_ONCE = 256
TEXTS_COUNTED_AT_ONCE = 1024


class Matched(NamedTuple):
    """The scores of one pair of texts."""

    precision: float
    recall: float
    f: float


NOTHING_MATCHED = Matched(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Idf:
    """For each token the number of references that have it (`counts`, by the token's number); and the
    number of all references."""

    counts: Counter[int]
    n_references: int

    def weights(self, numbers: Sequence[int]) -> Floats:
        """The weights of these tokens: log((N + 1) / (n + 1)) for a token that n of N references
        have, as in the package bert-score."""
        return np.array([math.log((self.n_references + 1) / (self.counts[n] + 1)) for n in numbers])

    @property
    def fingerprint(self) -> str:
        content = repr((self.n_references, sorted(self.counts.items())))
        return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True)
class Bertscore(BaseMetric):
    """BERTScore; the score is the mean over outputs of the F-measure, the precision or the recall
    (`part`). Statistics: precision, recall, F-measure, and 1 for each output.

    With several references, precision, recall and F-measure are each the highest among the
    references, as in the package bert-score. If the output or the reference is empty, the score is 0.
    With `baseline`, scores are rescaled afterwards.
    """

    family: ClassVar[str] = "bertscore"
    about: ClassVar[str] = "tokens matched by the cosine of their embeddings"
    paper: ClassVar[str] = "Zhang et al. 2020, BERTScore: Evaluating Text Generation with BERT"
    is_always_defined: ClassVar[bool] = True

    model: str | None = None
    layer: int | None = None
    part: Part = "f"
    idf: bool = False
    baseline: str | None = None
    device: Device = "auto"
    _idf: Idf | None = field(default=None, init=False, repr=False, compare=False)

    def prepare(self, references: Iterable[Sequence[str]]) -> Self:
        if not self.idf:
            return self
        source = self._vectors().source
        counts: Counter[int] = Counter()
        texts = [text for row in references for text in row]
        for begin in range(0, len(texts), TEXTS_COUNTED_AT_ONCE):
            for numbers in source.numbers(texts[begin : begin + TEXTS_COUNTED_AT_ONCE]):
                counts.update(set(numbers))
        prepared = replace(self)
        object.__setattr__(prepared, "_idf", Idf(counts, len(texts)))
        return prepared

    def statistics(self, batch: Batch) -> Floats:
        if self.idf and self._idf is None:
            raise InputError("bertscore:idf=true must see all references first: call prepare().")
        vectors = self._vectors()
        baseline = _baseline(self.baseline, self.layer) if self.baseline else np.zeros(3)
        statistics = np.ones((len(batch), len(SCORE_PARTS) + 1))
        for begin in range(0, len(batch), ROWS_AT_ONCE):
            rows = range(begin, min(begin + ROWS_AT_ONCE, len(batch)))
            texts = [text for row in rows for text in (batch.texts[row], *batch.references[row])]
            encoded = vectors.encode(texts)
            for row in rows:
                scores = np.array(
                    [
                        self._matched(encoded[batch.texts[row]], encoded[text])
                        for text in batch.references[row]
                    ]
                ).max(axis=0)
                # Unrelated texts, which score about as the baseline, get 0.
                statistics[row, :-1] = (scores - baseline) / (1 - baseline)
            batch.on_rows(len(rows))
        return statistics

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., SCORE_PARTS.index(self.part)], statistics[..., -1])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        return {
            part: ratio(statistics[..., place], statistics[..., -1])
            for place, part in enumerate(SCORE_PARTS)
        }

    def signature(self) -> str:
        hashed = "unset" if self.model is None else self._vectors().source.fingerprint[:12]
        fields = [f"model:{hashed}", f"layer:{'last' if self.layer is None else self.layer}"]
        fields.append(f"part:{self.part}")
        if self.idf:
            fields.append(f"idf:{self._idf.fingerprint[:8] if self._idf else 'yes'}")
        if self.baseline:
            values = ",".join(f"{value:g}" for value in _baseline(self.baseline, self.layer))
            fields.append(f"baseline:{values}")
        return "|".join(fields)

    def _matched(self, output: EncodedText, reference: EncodedText) -> Matched:
        """The scores of an output and one reference, whose tokens have vectors."""
        if not (output.has_words and reference.has_words):
            return NOTHING_MATCHED
        cosines = output.vectors @ reference.vectors.T
        # With a table of word vectors, equal words match even if the table lacks them.
        if self._vectors().source.equal_tokens_match:
            cosines[output.numbers[:, None] == reference.numbers[None, :]] = 1.0
        precision = _weighted_mean(cosines.max(axis=1), self._weights(output))
        recall = _weighted_mean(cosines.max(axis=0), self._weights(reference))
        total = precision + recall
        return Matched(precision, recall, 2 * precision * recall / total if total else 0.0)

    def _weights(self, text: EncodedText) -> Floats:
        """The weight of each token: with `idf` by its frequency in the references; otherwise 1, and 0
        for special tokens of the model."""
        if self._idf is None:
            return text.is_word.astype(np.float64)
        return self._idf.weights(text.numbers.tolist())

    def _vectors(self) -> KeptVectors:
        if self.model is None:
            raise InputError(
                "bertscore needs embeddings: bertscore:model=FOLDER with an encoder of the Hugging "
                "Face library (pip install 'wellput[neural]'), or a table of word vectors."
            )
        return _kept_vectors(self.model, self.layer, self.device)


def _weighted_mean(values: Floats, weights: Floats) -> float:
    """The weighted mean; 0 if all weights are 0, because every token is in every reference."""
    total = float(weights.sum())
    return float(values @ weights) / total if total else 0.0


@lru_cache(maxsize=8)
def _kept_vectors(path: str, layer: int | None, device: str) -> KeptVectors:
    from wellput.language.models.token_vectors import KeptVectors, load_vectors

    return KeptVectors(load_vectors(path, layer=layer, device=device))


@lru_cache(maxsize=4)
def _baseline(path: str, layer: int | None) -> Floats:
    """Precision, recall and F-measure of unrelated sentences, from a baseline file of the package
    bert-score, which has the columns LAYER, P, R and F. Without `layer`, those of the highest layer."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        by_layer = {int(row["LAYER"]): [float(row[part]) for part in "PRF"] for row in rows}
    except (OSError, KeyError, ValueError, TypeError):
        raise InputError(
            f"{path} is no baseline. Give a CSV file with the columns LAYER, P, R and F, as in the "
            "package bert-score."
        ) from None
    chosen = max(by_layer, default=0) if layer is None else layer
    if chosen not in by_layer:
        raise InputError(f"{path} has no baseline for layer {chosen}.")
    values = np.array(by_layer[chosen])
    if not (values < 1).all():  # also for NaN
        raise InputError(f"{path}: the baseline of layer {chosen} must be below 1.")
    return values
