"""Any metric on references that are rewritten to be closer to each output.

A batch is rewritten once for all metrics. One pass scores both `bleu` and `bleu+context`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

from wellput.core.errors import InputError
from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Metric, Need


class RewritesBatches(Protocol):
    """The part of `paraphrase.references.Paraphraser` that is used here."""

    @property
    def method(self) -> str:
        """Its name."""

    @property
    def signature(self) -> str:
        """The method, and the fingerprint of its model."""

    def rewrite_batch(self, batch: Batch) -> Batch:
        """The same rows with other references."""


@dataclass(frozen=True)
class Paraphrased:
    """A metric that sees rewritten references; everything else is as in the metric itself."""

    metric: Metric
    paraphraser: RewritesBatches

    @property
    def name(self) -> str:
        return f"{self.metric.name}+{self.paraphraser.method}"

    @property
    def higher_is_better(self) -> bool | None:
        return self.metric.higher_is_better

    @property
    def needs(self) -> frozenset[Need]:
        return self.metric.needs

    @property
    def perfect(self) -> Mapping[str, float]:
        return self.metric.perfect

    @property
    def bounds(self) -> Bounds:
        bounds: Bounds = getattr(self.metric, "bounds", (None, None))
        return bounds

    def prepare(self, references: Iterable[Sequence[str]]) -> Self:
        return replace(self, metric=self.metric.prepare(references))

    def statistics(self, batch: Batch) -> Floats:
        key = ("paraphrased", self.paraphraser.signature)
        return self.metric.statistics(
            batch.shared(key, lambda: self.paraphraser.rewrite_batch(batch))
        )

    def score(self, statistics: Floats) -> Floats:
        return self.metric.score(statistics)

    def segment_score(self, statistics: Floats) -> Floats:
        return self.metric.segment_score(statistics)

    def components(self, statistics: Floats) -> dict[str, Floats]:
        return self.metric.components(statistics)

    def signature(self) -> str:
        own = self.metric.signature()
        return "|".join([*([own] if own else []), self.paraphraser.signature])


def beside_paraphrased(
    metrics: Sequence[Metric], paraphrasers: Sequence[RewritesBatches]
) -> list[Metric]:
    """The metrics; each one that uses references is followed by itself on the references that each
    paraphraser rewrites."""
    if not any("references" in metric.needs for metric in metrics):
        names = ", ".join(metric.name for metric in metrics)
        raise InputError(f"paraphrase= rewrites references, but these metrics use none: {names}.")
    both: list[Metric] = []
    for metric in metrics:
        both.append(metric)
        if "references" in metric.needs:
            both += [Paraphrased(metric, paraphraser) for paraphraser in paraphrasers]
    return both
