"""Scores made elsewhere as a metric: `-m ./comet.csv`, of COMET, MetricX, BERTScore, a judge's grades.

A file may hold several metrics, each called what its `metric` column says. Higher is better, unless
`higher=false` says otherwise or the name is one of those for which lower is known to be better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

from wellput.core.errors import InputError, did_you_mean
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Metric, Need
from wellput.core.source import EvalSource
from wellput.io.external_scores import ExternalScores, read_external_scores
from wellput.metrics.base import NOTHING, MeanMetric
from wellput.metrics.directions import is_lower_better
from wellput.metrics.registry import SCORE_FILE

SHOWN_NAMES = 3


@dataclass(frozen=True, eq=False)
class ExternalMetric(MeanMetric):
    """The mean of the scores that a file gives; an output without one is undefined."""

    family: ClassVar[str] = "external"
    about: ClassVar[str] = "mean of scores made elsewhere"
    needs: ClassVar[frozenset[Need]] = NOTHING
    has_gaps: ClassVar[bool] = True

    scores: ExternalScores
    is_higher_better: bool = True
    own_name: str = ""

    @property
    def name(self) -> str:
        return self.own_name or self.scores.metric

    def by_path(self) -> ExternalMetric:
        """The same metric, named so that its file can be found again."""
        return replace(self, own_name=f"{self.scores.path}:metric={self.scores.metric}")

    @property
    def higher_is_better(self) -> bool | None:
        return self.is_higher_better

    def values(self, batch: Batch) -> Floats:
        return self.scores.of(batch.system, batch.ids)

    def prepare_outputs(self, source: EvalSource) -> ExternalMetric:
        """Refuses a file that is about other systems or other items than the evalset."""
        systems: dict[str, None] = {}
        items: list[str] = []
        has_system = has_item = False
        for item in chain.from_iterable(source.blocks()):
            has_item = has_item or item.id in self.scores.items
            has_system = has_system or any(name in self.scores.scores for name in item.outputs)
            if has_system and has_item:
                return self
            systems |= dict.fromkeys(item.outputs)
            if len(items) < SHOWN_NAMES:
                items.append(item.id)
        kind, own, others = (
            ("item", list(self.scores.items), items)
            if has_system
            else ("system", list(self.scores.scores), list(systems))
        )
        raise InputError(
            f"{self.scores.path} has no score of any {kind} of the evalset: it has {_some(own)}; the "
            f"evalset has {_some(others)}."
        )

    def signature(self) -> str:
        """The file's hash and what its `version` column says."""
        parts = [self.name, f"file:{self.scores.fingerprint}"]
        if self.scores.version:
            parts.append(f"release:{self.scores.version}")
        parts.append(f"higher:{str(self.is_higher_better).lower()}")
        return "|".join(parts)


def external_metrics(spec: str) -> list[ExternalMetric]:
    """The metrics of a file: all of them, or the one that `metric=` names."""
    match = SCORE_FILE.match(spec)
    if match is None:
        raise InputError(f"{spec} is not the path of a file of scores.")
    path, options = match.group(1), _options(spec, match.group(2))
    found = read_external_scores(path)
    wanted = options.get("metric")
    if wanted is not None and wanted not in found:
        raise InputError(
            f"{path} has no metric {wanted!r}.{did_you_mean(wanted, list(found))} It has "
            f"{', '.join(found)}."
        )
    chosen = found if wanted is None else {wanted: found[wanted]}
    return [
        ExternalMetric(scores, _is_higher_better(name, options)) for name, scores in chosen.items()
    ]


def _options(spec: str, text: str) -> dict[str, str]:
    options = dict(piece.split("=", 1) for piece in text.split(":") if piece)
    for name in options:
        if name not in ("metric", "higher"):
            hint = did_you_mean(name, ["metric", "higher"])
            raise InputError(
                f"{spec}: a file of scores has no option {name!r}.{hint} It has metric, higher."
            )
    if options.get("higher", "true") not in ("true", "false"):
        raise InputError(f"{spec}: higher is true or false, not {options['higher']!r}.")
    return options


def _is_higher_better(name: str, options: dict[str, str]) -> bool:
    if "higher" in options:
        return options["higher"] == "true"
    return not is_lower_better(name)


def with_own_names(metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics; those of files that share their name with another one are named by their path."""
    counts = Counter(metric.name for metric in metrics)
    return [
        metric.by_path()
        if isinstance(metric, ExternalMetric) and counts[metric.name] > 1
        else metric
        for metric in metrics
    ]


def _some(names: Sequence[str]) -> str:
    more = len(names) - SHOWN_NAMES
    return ", ".join(map(repr, names[:SHOWN_NAMES])) + (f" and {more:,} more" if more > 0 else "")
