"""`Metric`: it turns text into additive sufficient statistics, and their sums into scores.

A segment score is the score of one row of statistics, a corpus score is the score of the summed rows.
A bootstrap is one matrix product, a distributed run is a sum over partitions; text is read only once.
A metric that does not decompose gives (sum, count): the mean of its segments. Statistics are never
NaN; a segment whose score is undefined adds zeros, and its score is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wellput.core.evalset import Batch
from wellput.core.source import EvalSource

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Need: TypeAlias = Literal["references", "tree", "derivation", "original", "source", "logged"]
SENTINELS = ("random", "length-only")
"""Metrics that know nothing of quality. They show what others must exceed, and rank no systems."""


def is_sentinel(metric: str) -> bool:
    """Whether the metric of this name, with options or without, is a sentinel."""
    return metric.partition(":")[0] in SENTINELS


@runtime_checkable
class Metric(Protocol):
    """The interface of every metric. `BaseMetric` in `wellput.metrics.base` has the defaults."""

    @property
    def name(self) -> str:
        """The metric's name and the options that were given: `chrf:word_order=2`."""
        ...

    @property
    def higher_is_better(self) -> bool | None:
        """None if a high value is neither good nor bad, such as a length."""
        ...

    @property
    def needs(self) -> frozenset[Need]:
        """What every item must have. An item without references is left out; an item without something
        else is an error."""
        ...

    @property
    def perfect(self) -> Mapping[str, float]:
        """The score of a perfect output, under the key `score`, and the values of its components; only
        those that have a perfect value."""
        ...

    def prepare(self, references: Iterable[Sequence[str]]) -> Self:
        """The metric with what it learns from all references; called once before scoring."""
        ...

    def statistics(self, batch: Batch) -> Floats:
        """One row per row of the batch: shape (len(batch), k)."""
        ...

    def score(self, statistics: Floats) -> Floats:
        """Scores of summed statistics, shape (..., k) -> (...)."""
        ...

    def segment_score(self, statistics: Floats) -> Floats:
        """Scores of single rows: the same as `score`, except for BLEU's effective order."""
        ...

    def components(self, statistics: Floats) -> dict[str, Floats]:
        """Named parts of the score, each of shape (...)."""
        ...

    def signature(self) -> str:
        """Everything that must be equal for two scores to be comparable."""
        ...


@runtime_checkable
class LearnsFromOutputs(Protocol):
    """A metric that must see the outputs of all systems before it can score one, for example to count
    them."""

    def prepare_outputs(self, source: EvalSource) -> Self:
        """The metric with what it learns from the source; called once before scoring."""
        ...


@runtime_checkable
class GivesMetric(Protocol):
    """Something that can be used as a metric: a fit."""

    def as_metric(self) -> Metric: ...


MetricSpec: TypeAlias = str | Metric | GivesMetric | Callable[..., Any]
"""A metric by name, as an object, as a fit, or as a function of an output."""
