"""`Paraphrased`: any metric, but with references that were rewritten to be closer to each output.

A paraphraser rewrites a batch once for all metrics. One pass over the items can score both `bleu` and
`bleu+context` (BLEU with the references of the paraphraser `context`).
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
        """The name of the paraphraser, such as "context"."""

    @property
    def signature(self) -> str:
        """The name, and the fingerprint of the paraphraser's model."""

    def rewrite_batch(self, batch: Batch) -> Batch:
        """The same rows with other references."""


@dataclass(frozen=True)
class Paraphrased:
    """A metric that gets rewritten references; everything else is as in the metric itself."""

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
        metric_signature = self.metric.signature()
        return "|".join(filter(None, [metric_signature, self.paraphraser.signature]))


def with_paraphrased_versions(
    metrics: Sequence[Metric], paraphrasers: Sequence[RewritesBatches]
) -> list[Metric]:
    """The metrics; each metric that uses references is followed by its `Paraphrased` versions, one
    for each paraphraser."""
    if not any("references" in metric.needs for metric in metrics):
        names = ", ".join(metric.name for metric in metrics)
        raise InputError(f"paraphrase= rewrites references, but these metrics use none: {names}.")
    all_metrics: list[Metric] = []
    for metric in metrics:
        all_metrics.append(metric)
        if "references" in metric.needs:
            all_metrics += [Paraphrased(metric, paraphraser) for paraphraser in paraphrasers]
    return all_metrics
