"""A metric that `wellput fit` fitted to judgments: `FittedModel`, the numbers that a JSON file
contains, and `FittedMetric`, which scores with them (`-m ./quality.json`).

The score of a segment is (intercept + Σ coefficient · predictor) / scale. A predictor is the segment
score of a metric (`sta`) or one of its components (`ssa.substitutions`). The file has a format
version and a card that says how the model was fitted. The hash depends on everything that affects the
scores, so two files with the same hash give the same scores.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from wellput.core.errors import InputError, did_you_mean
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, LearnsFromOutputs, Metric, Need
from wellput.core.result import strict_json
from wellput.core.source import EvalSource
from wellput.io import check_writable, replacing_text
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.metrics.base import BaseMetric, ratio
from wellput.metrics.registry import SCORE_FILE, create

FILE_KIND = "fitted metric"
FORMAT_VERSION = 1
FILE_KEYS = ("wellput", "format", "predictors", "intercept", "scale", "card")
PREDICTOR_KEYS = ("metric", "component", "coefficient", "perfect")
FILE_ADVICE = "`wellput fit` makes such files; they are not meant to be edited."


@dataclass(frozen=True, slots=True)
class Predictor:
    """One term of the model: the metric with its options, the metric's component (None for its
    score), the coefficient, and the value that a perfect output has (None if there is no such
    value)."""

    metric: str
    component: str | None
    coefficient: float
    perfect: float | None

    @property
    def name(self) -> str:
        return predictor_name(self.metric, self.component)


@dataclass(frozen=True)
class FittedModel:
    """A linear model of judgments. `card` says to which data it was fitted and how well it predicts."""

    predictors: tuple[Predictor, ...]
    intercept: float
    scale: float = 1.0
    card: Mapping[str, Any] = field(default_factory=dict)

    def predict(self, values: Floats) -> Floats:
        """The scores of rows of k predictor values: shape (..., k) -> (...); NaN where a value is
        NaN."""
        weights = np.array([predictor.coefficient for predictor in self.predictors])
        with np.errstate(over="ignore", invalid="ignore"):  # a file may hold any numbers
            return np.asarray((self.intercept + values @ weights) / self.scale, dtype=np.float64)

    @property
    def perfect(self) -> float | None:
        """The score of a perfect output; None if a predictor has no perfect value."""
        total = self.intercept
        for predictor in self.predictors:
            if predictor.perfect is None:
                return None
            total += predictor.coefficient * predictor.perfect
        return total / self.scale

    @property
    def hash(self) -> str:
        """Twelve hexadecimal digits, the beginning of a hash of everything that affects the scores."""
        hashed = {key: value for key, value in self.to_dict().items() if key != "card"}
        canonical = json.dumps(hashed, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    def to_dict(self) -> dict[str, Any]:
        """The content of the file; undefined numbers of the card are still NaN."""
        return {
            "wellput": FILE_KIND,
            "format": FORMAT_VERSION,
            "predictors": [
                {key: getattr(predictor, key) for key in PREDICTOR_KEYS}
                for predictor in self.predictors
            ],
            "intercept": self.intercept,
            "scale": self.scale,
            "card": dict(self.card),
        }

    def to_json(self) -> str:
        """The text of the file: strict JSON, in which undefined numbers of the card are null."""
        strict = {**self.to_dict(), "card": strict_json(self.card)}
        return json.dumps(strict, ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str, name: str) -> FittedModel:
        """The model in a text that `to_json` wrote; `name` is the file's name in messages.

        Raises one InputError that lists everything wrong with the file.
        """
        try:
            value = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name} is not JSON: {error}. {FILE_ADVICE}") from None
        if not isinstance(value, dict) or value.get("wellput") != FILE_KIND:
            raise InputError(
                f'{name} is not a fitted metric: it lacks "wellput": "{FILE_KIND}". {FILE_ADVICE}'
            )
        if value.get("format") != FORMAT_VERSION:
            raise InputError(
                f"{name} has format {value.get('format')!r}; this wellput reads format "
                f"{FORMAT_VERSION}. Fit the metric again, or update wellput."
            )
        problems = list(_problems(value))
        if problems:
            raise InputError.collect(f"{name} is not a valid fitted metric:", problems, FILE_ADVICE)
        return cls(
            predictors=tuple(
                Predictor(
                    metric=entry["metric"],
                    component=entry["component"],
                    coefficient=float(entry["coefficient"]),
                    perfect=None if entry["perfect"] is None else float(entry["perfect"]),
                )
                for entry in value["predictors"]
            ),
            intercept=float(value["intercept"]),
            scale=float(value["scale"]),
            card=value["card"],
        )


def split_predictor(name: str) -> tuple[str, str | None]:
    """A predictor's metric and component.

    >>> split_predictor("ssa:lowercase=true.substitutions"), split_predictor("bleu:smooth_value=0.5")
    (('ssa:lowercase=true', 'substitutions'), ('bleu:smooth_value=0.5', None))
    """
    if SCORE_FILE.match(name):
        return name, None
    match = re.fullmatch(r"(.+)\.([a-z]\w*)", name)
    return (match[1], match[2]) if match else (name, None)


def predictor_name(metric: str, component: str | None) -> str:
    return metric if component is None else f"{metric}.{component}"


def _problems(value: Mapping[str, Any]) -> Sequence[str]:
    """Everything that is wrong with the file's content."""
    problems = [f"unknown key {key!r}" for key in value if key not in FILE_KEYS]
    problems += [f"no key {key!r}" for key in FILE_KEYS if key not in value]
    problems += [
        f"{key} is {value[key]!r}, not a finite number"
        for key in ("intercept", "scale")
        if key in value and not _is_number(value[key])
    ]
    if _is_number(value.get("scale")) and not value["scale"] > 0:
        problems.append(f"scale is {value['scale']!r}, not above 0")
    if not isinstance(value.get("card", {}), dict):
        problems.append("card is not an object")
    predictors = value.get("predictors", [])
    if not isinstance(predictors, list) or not predictors:
        return [*problems, "predictors is not a list with at least one predictor"]
    names: set[tuple[str, str]] = set()
    for number, entry in enumerate(predictors, start=1):
        entry_problems = _predictor_problems(entry)
        problems += [f"predictor {number}: {problem}" for problem in entry_problems]
        if not entry_problems:
            key = (entry["metric"], entry["component"])
            if key in names:
                problems.append(f"predictor {number}: {predictor_name(*key)} appears twice")
            names.add(key)
    return problems


def _predictor_problems(entry: object) -> list[str]:
    """Everything that is wrong with one entry of `predictors`."""
    if not isinstance(entry, dict) or set(entry) != set(PREDICTOR_KEYS):
        return [f"is not an object with exactly {', '.join(PREDICTOR_KEYS)}"]
    problems = []
    if not isinstance(entry["metric"], str) or not entry["metric"]:
        problems.append("metric is not the name of a metric")
    elif entry["metric"].lower().endswith(".json"):
        problems.append(f"{entry['metric']} is itself a fitted metric, which cannot be a predictor")
    if entry["component"] is not None and not isinstance(entry["component"], str):
        problems.append("component is neither a name nor null")
    if not _is_number(entry["coefficient"]):
        problems.append("coefficient is not a finite number")
    if entry["perfect"] is not None and not _is_number(entry["perfect"]):
        problems.append("perfect is neither a finite number nor null")
    return problems


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not allowed")


@dataclass(frozen=True)
class FittedMetric:
    """The model's prediction for each segment, averaged over the segments that have a prediction.

    Statistics: the sum of the predictions, their number, and the sum of each predictor. A segment with
    an undefined predictor has no prediction and adds zeros. `metrics` has each metric of the predictors
    once, by its *spec*: its name with options, as the model has it.
    """

    name: str
    model: FittedModel
    metrics: Mapping[str, Metric]

    about = "fitted to judgments"
    paper = ""

    @classmethod
    def of(cls, model: FittedModel, name: str) -> FittedMetric:
        """The metric of a model. Raises InputError if it uses an unknown metric."""
        specs = dict.fromkeys(predictor.metric for predictor in model.predictors)
        metrics: dict[str, Metric] = {}
        for spec in specs:
            try:
                metrics[spec] = create(spec)
            except InputError as error:
                raise InputError(f"{name} uses the metric {spec}: {error}") from None
        return cls(name, model, metrics)

    @property
    def higher_is_better(self) -> bool | None:
        return True

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset().union(*(metric.needs for metric in self.metrics.values()))

    @property
    def output_kind(self) -> str:
        """`text`, unless one of the metrics scores outputs of another kind."""
        kinds = {getattr(metric, "output_kind", "text") for metric in self.metrics.values()}
        return min(kinds - {"text"}, default="text")

    @property
    def perfect(self) -> Mapping[str, float]:
        values = {p.name: p.perfect for p in self.model.predictors if p.perfect is not None}
        return values if self.model.perfect is None else {"score": self.model.perfect, **values}

    def prepare(self, references: Iterable[Sequence[str]]) -> Self:
        learning = [spec for spec, metric in self.metrics.items() if _learns(metric)]
        if len(learning) > 1:  # each metric reads the references from the beginning
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
        """The segment values of one predictor, from the statistics of its metric."""
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
        """Each predictor's mean over the segments that have a prediction."""
        return {
            predictor.name: ratio(statistics[..., place], statistics[..., 1])
            for place, predictor in enumerate(self.model.predictors, start=2)
        }

    def signature(self) -> str:
        """The model's hash, and the signature of each metric it uses."""
        parts = [f"{spec}({metric.signature()})" for spec, metric in self.metrics.items()]
        return "|".join([f"fitted:{self.model.hash}", *parts])


def _learns(metric: Metric) -> bool:
    """Whether a metric must see all references before scoring. If no metric must, the references, which
    may be many, are not read for this."""
    return getattr(type(metric), "prepare", None) is not BaseMetric.prepare


def load(path: PathLike) -> FittedMetric:
    """The metric in a file. Its name is the path as the user gave it, which no built-in metric has."""
    file = InputFile(path)
    check_readable(file)
    try:
        text = b"".join(file.chunks()).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a fitted metric: it is not UTF-8 text.") from None
    return FittedMetric.of(FittedModel.from_json(text, str(path)), str(path))


def check_savable(path: PathLike) -> None:
    """Raises an error for a path that `save_fitted` cannot write or that `load` would not recognize;
    called before long work begins."""
    if str(path) != "-" and Path(path).suffix.lower() != ".json":
        raise InputError(
            f"{path} must end in .json: that marks the file of a metric. Write {path}.json"
        )
    check_writable(path)


def save_fitted(model: FittedModel, path: PathLike) -> None:
    """Writes a model to a file that `load` can read, completely or not at all."""
    check_savable(path)
    with replacing_text(path) as file:
        file.write(model.to_json())
