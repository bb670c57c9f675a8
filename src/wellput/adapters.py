"""Use wellput's metrics in Hugging Face's evaluate (`compute(predictions=, references=)`) and in
scikit-learn (`scoring=`). Neither library is needed to import this.

Each prediction has one reference or a list of references. The functions return scores only; for
intervals and tests use `wellput.score`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet
from wellput.core.metric import Metric
from wellput.engine.score import score_source
from wellput.metrics.registry import create, create_all

SYSTEM = "predictions"
"""The name of the only system in an evalset of this module."""
References = Iterable[str | Sequence[str]]


@dataclass(frozen=True)
class MetricModule:
    """One or more metrics, used like a module of Hugging Face's evaluate: call `compute`."""

    metrics: tuple[Metric, ...]

    def compute(
        self,
        *,
        predictions: Iterable[str],
        references: References | None = None,
        sources: Iterable[str] | None = None,
    ) -> dict[str, float]:
        """One score of all predictions together for each metric, by the metric's name."""
        evalset = _evalset(predictions, references, sources)
        result = score_source(evalset, self.metrics)
        return {name: result[SYSTEM, name].score for name in result.metrics}


def evaluate(metrics: str | Metric | Iterable[str | Metric]) -> MetricModule:
    """Makes an object with the method `compute`, as `evaluate.load` and `evaluate.combine` do.

    >>> evaluate("exact,gsa").compute(predictions=["a cat"], references=[["the cat", "a cat"]])
    {'exact': 1.0, 'gsa': 1.0}
    """
    return MetricModule(tuple(create_all(metrics)))


@dataclass(frozen=True)
class ScoreFunction:
    """A function for `sklearn.metrics.make_scorer`. Higher is always better, so scores of metrics such
    as TER, where lower is better, are negated (`sign` is -1)."""

    metric: Metric
    sign: int

    def __call__(self, y_true: References, y_pred: Iterable[str]) -> float:
        value = score_source(_evalset(y_pred, y_true), [self.metric])[
            SYSTEM, self.metric.name
        ].score
        if math.isnan(value):
            raise InputError(f"{self.metric.name} is undefined for these predictions.")
        return self.sign * value


@dataclass(frozen=True)
class Scorer:
    """A value for scikit-learn's argument `scoring=`, for an estimator that predicts texts."""

    function: ScoreFunction

    def __call__(self, estimator: Any, inputs: Any, references: References) -> float:
        return self.function(references, estimator.predict(inputs))


def score_function(metric: str | Metric) -> ScoreFunction:
    """A function of references and predictions, for scikit-learn's `make_scorer`.

    >>> score_function("ter")(["a cat sat"], ["a cat sat"])
    -0.0
    """
    created = create(metric)
    if created.higher_is_better is None:
        raise InputError(
            f"{created.name} cannot choose a model: a high value is neither good nor bad."
        )
    return ScoreFunction(created, 1 if created.higher_is_better else -1)


def scorer(metric: str | Metric) -> Scorer:
    """A scorer for scikit-learn's `cross_val_score`, `GridSearchCV` and the like."""
    return Scorer(score_function(metric))


def _evalset(
    predictions: Iterable[str], references: References | None, sources: Iterable[str] | None = None
) -> EvalSet:
    texts = _column(predictions)
    if missing := [place for place, text in enumerate(texts, 1) if text is None]:
        raise InputError(
            f'Prediction {missing[0]} is missing ({len(missing)} in all); an empty one is "".'
        )
    return EvalSet.of(
        {SYSTEM: texts},
        None if references is None else _column(references),
        sources=None if sources is None else _column(sources),
    )


def _column(values: Iterable[Any]) -> Sequence[Any]:
    """Turns arrays, such as cells of a data frame, into lists. A single text is returned as it is:
    `EvalSet.of` refuses it."""
    if isinstance(values, str):
        return values
    return [entry.tolist() if hasattr(entry, "tolist") else entry for entry in values]
