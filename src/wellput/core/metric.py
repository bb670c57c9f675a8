"""`Metric`: it turns text into statistics that can be added (such as BLEU's counts of matching
n-grams), and it turns sums of statistics into scores.

A segment score is the score of one row of statistics; a corpus score is the score of the sum of all
rows. So text is read only once: a bootstrap is a matrix product of the statistics, and a distributed
run adds the statistics of its partitions. A metric whose corpus score is the mean of its segment
scores has the statistics (sum, count). Statistics are never NaN: a segment whose score is undefined
has zeros as its statistics, and NaN as its score.
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
"""Metrics that ignore quality. They show what agreement a useful metric must exceed; wellput ranks no
systems by them."""


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
        """The fields that every item must have. An item without references is left out; an item without
        another needed field is an error."""
        ...

    @property
    def perfect(self) -> Mapping[str, float]:
        """The score of a perfect output (key `score`), and the perfect values of components. Components
        for which no value is perfect are absent."""
        ...

    def prepare(self, references: Iterable[Sequence[str]]) -> Self:
        """A copy of the metric that has learned from all references; called once before scoring."""
        ...

    def statistics(self, batch: Batch) -> Floats:
        """One row of k statistics for each row of the batch: shape (len(batch), k)."""
        ...

    def score(self, statistics: Floats) -> Floats:
        """Scores of summed statistics, shape (..., k) -> (...)."""
        ...

    def segment_score(self, statistics: Floats) -> Floats:
        """Scores of single rows: for most metrics the same as `score`. BLEU, for example, averages here
        only over the lengths of n-grams that the output has: a text of three words has no 4-grams."""
        ...

    def components(self, statistics: Floats) -> dict[str, Floats]:
        """Named parts of the score, each of shape (...)."""
        ...

    def signature(self) -> str:
        """Everything that must be equal for two scores to be comparable."""
        ...


@runtime_checkable
class LearnsFromOutputs(Protocol):
    """A metric that must see the outputs of all systems before it can score an output, for example to
    count words."""

    def prepare_outputs(self, source: EvalSource) -> Self:
        """A copy of the metric that has learned from the source; called once before scoring."""
        ...


@runtime_checkable
class GivesMetric(Protocol):
    """An object that can be used as a metric, such as the result of `wellput.fit`."""

    def as_metric(self) -> Metric: ...


MetricSpec: TypeAlias = str | Metric | GivesMetric | Callable[..., Any]
"""A metric: its name, a metric object, the result of `wellput.fit`, or a function of an output."""
