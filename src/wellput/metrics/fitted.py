"""A metric fitted to judgments by `wellput fit`, loaded from its JSON file: `-m ./quality.json`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from wellput.core.errors import InputError, did_you_mean
from wellput.core.evalset import Batch
from wellput.core.fitted_model import FittedModel, Predictor
from wellput.core.metric import Floats, LearnsFromOutputs, Metric, Need
from wellput.core.source import EvalSource
from wellput.io import check_writable, replacing_text
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.metrics.base import BaseMetric, ratio
from wellput.metrics.registry import create


@dataclass(frozen=True)
class FittedMetric:
    """A prediction per sentence, averaged over the sentences that have one.

    Statistics: the sum of the predictions, how many there are, and the sum of each predictor. A
    sentence with an undefined predictor has no prediction and adds zeros. `metrics` are those that
    the predictors come from, each once, by the name in the model.
    """

    name: str
    model: FittedModel
    metrics: Mapping[str, Metric]

    about = "fitted to judgments"
    paper = ""

    @classmethod
    def of(cls, model: FittedModel, name: str) -> FittedMetric:
        """The metric of a model. Raises InputError where a metric that it stands on is unknown."""
        wanted = dict.fromkeys(predictor.metric for predictor in model.predictors)
        metrics: dict[str, Metric] = {}
        for spec in wanted:
            try:
                metrics[spec] = create(spec)
            except InputError as error:
                raise InputError(f"{name} stands on the metric {spec}: {error}") from None
        return cls(name, model, metrics)

    @property
    def higher_is_better(self) -> bool | None:
        return True

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset().union(*(metric.needs for metric in self.metrics.values()))

    @property
    def output_kind(self) -> str:
        kinds = {getattr(metric, "output_kind", "text") for metric in self.metrics.values()}
        return min(kinds - {"text"}, default="text")

    @property
    def perfect(self) -> Mapping[str, float]:
        known = {p.name: p.perfect for p in self.model.predictors if p.perfect is not None}
        return known if self.model.perfect is None else {"score": self.model.perfect, **known}

    def prepare(self, references: Iterable[Sequence[str]]) -> Self:
        learning = [spec for spec, metric in self.metrics.items() if _learns(metric)]
        if len(learning) > 1:  # each reads them from the beginning
            references = list(references)
        learned = {spec: self.metrics[spec].prepare(references) for spec in learning}
        return replace(self, metrics={**self.metrics, **learned})

    def prepare_outputs(self, source: EvalSource) -> Self:
        learned = {
            spec: metric.prepare_outputs(source)
            for spec, metric in self.metrics.items()
            if isinstance(metric, LearnsFromOutputs)
        }
        return replace(self, metrics={**self.metrics, **learned})

    def statistics(self, batch: Batch) -> Floats:
        rows = {spec: metric.statistics(batch) for spec, metric in self.metrics.items()}
        values = np.column_stack(
            [self._values(predictor, rows[predictor.metric]) for predictor in self.model.predictors]
        )
        defined = np.logical_and.reduce(np.isfinite(values), axis=1)
        values = np.where(defined[:, None], values, 0.0)
        predictions = np.where(defined, self.model.predict(values), 0.0)
        return np.column_stack([predictions, defined.astype(np.float64), values])

    def _values(self, predictor: Predictor, rows: Floats) -> Floats:
        metric = self.metrics[predictor.metric]
        if predictor.component is None:
            return metric.segment_score(rows)
        components = metric.components(rows)
        if predictor.component not in components:
            raise InputError(
                f"{self.name}: {metric.name} has no component {predictor.component!r}."
                f"{did_you_mean(predictor.component, list(components))}"
            )
        return components[predictor.component]

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., 0], statistics[..., 1])

    def segment_score(self, statistics: Floats) -> Floats:
        return self.score(statistics)

    def components(self, statistics: Floats) -> dict[str, Floats]:
        """Each predictor's mean over the sentences that have a prediction."""
        return {
            predictor.name: ratio(statistics[..., place], statistics[..., 1])
            for place, predictor in enumerate(self.model.predictors, start=2)
        }

    def signature(self) -> str:
        """The model's hash, and the signature of each metric it stands on."""
        parts = [f"{spec}({metric.signature()})" for spec, metric in self.metrics.items()]
        return "|".join([f"fitted:{self.model.hash}", *parts])


def _learns(metric: Metric) -> bool:
    """Whether a metric wants to see the references first; most do not, and a file of them is long."""
    return getattr(type(metric), "prepare", None) is not BaseMetric.prepare


def load(path: PathLike) -> FittedMetric:
    """The metric in a file. Its name is the path as given, so that it cannot be mistaken for a metric
    that is built in."""
    file = InputFile(path)
    check_readable(file)
    try:
        text = b"".join(file.chunks()).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a fitted metric: it is not UTF-8 text.") from None
    return FittedMetric.of(FittedModel.from_json(text, str(path)), str(path))


def check_savable(path: PathLike) -> None:
    """Refuses at once a path that `save` cannot write or `load` would not know."""
    if str(path) != "-" and Path(path).suffix.lower() != ".json":
        raise InputError(
            f"{path} must end in .json: a metric's file is known by that. Write {path}.json"
        )
    check_writable(path)


def save(model: FittedModel, path: PathLike) -> None:
    """Writes a model so that `load` finds it: whole or not at all."""
    check_savable(path)
    with replacing_text(path) as file:
        file.write(model.to_json())
