"""`ScoreResult`, the scores of all systems under all metrics, and `Comparison`, the difference of two
systems under one metric.

`ErrorSources` says how much of the uncertainty of a score comes from documents, items and samples. It
is computed only if items have clusters (such as documents) or outputs have several samples: for the
tested differences, or for scores if no differences are tested.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from wellput.core.clusters import Clusters
from wellput.core.errors import InputError
from wellput.core.estimates import ScoreTable
from wellput.core.result import Result
from wellput.core.scores import MIN_ITEMS_FOR_CLAIMS, Score

if TYPE_CHECKING:
    from wellput.engine.slices import SliceTest
    from wellput.stats.clusters import ErrorParts


@dataclass(frozen=True, slots=True)
class ErrorSources:
    """The parts of the variance of a mean segment score, or of a mean difference from `baseline`."""

    system: str
    baseline: str | None
    metric: str
    parts: ErrorParts

    def to_dict(self) -> dict[str, Any]:
        """An entry of `error_sources` in the JSON."""
        names = {"system": self.system, "baseline": self.baseline, "metric": self.metric}
        return names | asdict(self.parts)


def error_sources(
    tables: Sequence[ScoreTable], compared: Sequence[Comparison]
) -> tuple[ErrorSources, ...]:
    """The sources of error of every tested difference, or of every score if no difference is tested."""
    sources: list[ErrorSources] = []
    for table in tables:
        if table.samples is None and table.clusters is None:
            continue
        pairs: list[tuple[str, str | None]] = [
            (comparison.a, comparison.b)
            for comparison in compared
            if comparison.metric == table.scorer
        ]
        for system, baseline in pairs or [(system, None) for system in table.systems]:
            if (parts := _parts(table, system, baseline)) is not None:
                sources.append(ErrorSources(system, baseline, table.scorer, parts))
    return tuple(sources)


def _parts(table: ScoreTable, system: str, baseline: str | None) -> ErrorParts | None:
    """The parts of the variance of a system's mean score, or of its mean difference from `baseline`,
    over the items that have a score; None without samples and clusters."""
    from wellput.stats.clusters import error_parts, variances_of_means  # loaded only where needed

    rows = [table.row(name) for name in (system, baseline) if name is not None]
    scores = [table.scores_of(row) for row in rows]
    is_scored = np.logical_and.reduce([~np.isnan(row_scores) for row_scores in scores])
    values = scores[0][is_scored] - (scores[1][is_scored] if baseline is not None else 0.0)
    variances = None
    if table.samples is not None:
        samples = [table.samples[row, is_scored] for row in rows]
        sample_variances = [
            variances_of_means(squares, counts)
            for _, squares, counts in (row_samples.T for row_samples in samples)
            if (counts > 1).any()
        ]
        variances = np.sum(sample_variances, axis=0) if sample_variances else None
    codes = None if table.clusters is None else table.clusters.codes[is_scored]
    if variances is None and codes is None:
        return None
    return error_parts(values, variances, codes)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of two systems under one metric: `delta` is the score of `a` minus the score of
    `b`, on the `n` items that both have.

    `p_adjusted` and `equivalence_p_adjusted` are corrected by Holm's method for all differences of
    the result. `method` is the name of the test that gives the p-value, for example "mcnemar" or "exact
    mcnemar" for metrics whose segment scores are 0 or 1. The other fields have the same meaning as in
    `Score`.
    """

    metric: str
    a: str
    b: str
    delta: float
    p_value: float
    p_adjusted: float
    n: int
    low: float | None = None
    high: float | None = None
    p_is_bound: bool = False
    effect_size: float | None = None
    equivalence_p: float | None = None
    equivalence_p_adjusted: float | None = None
    method: str = ""

    @property
    def swapped(self) -> Comparison:
        """The same comparison as b − a."""
        return replace(
            self,
            a=self.b,
            b=self.a,
            delta=-self.delta,
            low=None if self.high is None else -self.high,
            high=None if self.low is None else -self.low,
            effect_size=None if self.effect_size is None else -self.effect_size,
        )


def _record(row: Score | Comparison) -> dict[str, Any]:
    """The fields by name, like `asdict`, but without deep copies, which take seconds for thousands of
    systems."""
    values = ((field.name, getattr(row, field.name)) for field in fields(row))
    return {name: dict(value) if isinstance(value, Mapping) else value for name, value in values}


@dataclass(frozen=True, slots=True)
class SkippedPartition:
    """A partition that could not be evaluated, so that its items are in no score, and the reason."""

    partition: str
    reason: str


@dataclass(frozen=True, slots=True)
class UnscoredItems:
    """Items that these metrics do not score: the reason, the number of items, and the first items'
    ids."""

    reason: str
    metrics: tuple[str, ...]
    n: int
    first: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class ScoreResult(Result):
    """Scores of all systems under all metrics, and the options with which they can be computed again.

    `differences` has every difference that was tested. `comparisons` is the same if all pairs were
    tested, otherwise empty. If items were also scored by the values of a tag, `slices` has a result for
    each value; the slice's `by` has the tag and the value. `in_no_slice` is the number of items without
    the tag, and `slice_tests` say whether differences depend on the value. `tags` has the tags of each
    item, if rows were kept. `run` is the id under which the result was stored.
    """

    presented_by: ClassVar[str] = "wellput.reporting.score:score_report"

    items: int
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    scores: tuple[Score, ...]
    seed: int
    n_resamples: int
    confidence: float = 0.95
    test: str | None = None
    alpha: float = 0.05
    margin: Mapping[str, float] = field(default_factory=dict)
    differences: tuple[Comparison, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    skipped: tuple[SkippedPartition, ...] = ()
    explanations: tuple[str, ...] = ()
    run: str | None = None
    left_out: tuple[UnscoredItems, ...] = ()
    notes: tuple[str, ...] = ()
    tables: Mapping[str, ScoreTable] = field(default_factory=dict, repr=False)
    higher_is_better: Mapping[str, bool | None] = field(default_factory=dict, repr=False)
    clusters: Clusters | None = field(default=None, repr=False)
    error_sources: tuple[ErrorSources, ...] = field(default=(), repr=False)
    by: Mapping[str, str] | None = None
    slices: tuple[ScoreResult, ...] = field(default=(), repr=False)
    in_no_slice: int = 0
    slice_tests: tuple[SliceTest, ...] = field(default=(), repr=False)
    tags: tuple[Mapping[str, str], ...] = field(default=(), repr=False)

    def __getitem__(self, key: tuple[str, str]) -> Score:
        """The score of a system under a metric: `result["A", "bleu"]`."""
        if (score := self._score_of.get(key)) is not None:
            return score
        raise InputError(
            f"No score of system {key[0]!r} under {key[1]!r}; there are systems "
            f"{', '.join(self.systems)} and metrics {', '.join(self.metrics)}."
        )

    @cached_property
    def _score_of(self) -> dict[tuple[str, str], Score]:
        return {(score.system, score.metric): score for score in reversed(self.scores)}

    def table(self, metric: str) -> ScoreTable:
        """The segment scores and statistics under one metric, for systems × items."""
        if metric not in self.tables:
            raise InputError(f"No rows were kept for {metric!r}: score with keep_rows=True.")
        return self.tables[metric]

    @property
    def n_tests(self) -> int:
        """The number of tested differences, for which p-values are corrected."""
        return sum(not math.isnan(pair.p_value) for pair in self.differences)

    def is_significant(self, p_adjusted: float | None, n_items: int | None) -> bool:
        """Whether a test on this many items is significant: it shows a difference or, for a test of
        equivalence, that the difference is smaller than the margin."""
        return (
            p_adjusted is not None
            and p_adjusted < self.alpha
            and (n_items or 0) >= MIN_ITEMS_FOR_CLAIMS
            and not (self.clusters is not None and self.clusters.are_few)
        )

    def beaten(self, metric: str) -> frozenset[str] | None:
        """The systems that a test showed to be significantly worse than another system. None if
        nothing was tested, if there are too few items or clusters, or if neither high nor low scores
        are better."""
        higher_is_better = self.higher_is_better[metric]
        tests = [pair for pair in self.differences if pair.metric == metric]
        if self.clusters is not None and self.clusters.are_few:
            return None
        if higher_is_better is None or not tests:
            return None
        if min(pair.n for pair in tests) < MIN_ITEMS_FOR_CLAIMS:
            return None
        significant = [
            pair for pair in tests if pair.delta and self.is_significant(pair.p_adjusted, pair.n)
        ]
        return frozenset(
            pair.b if (pair.delta > 0) == higher_is_better else pair.a for pair in significant
        )

    @property
    def worse(self) -> tuple[Score, ...]:
        """The scores that are significantly worse than the score of the baseline."""
        return tuple(score for score in self.scores if score.is_worse)

    def records(self) -> list[dict[str, Any]]:
        """A record for each system under each metric, and for each slice."""
        own_records = [_record(score) for score in self.scores]
        if not self.slices:
            return own_records
        parts = ((self, own_records), *((part, part.records()) for part in self.slices))
        return [{"by": part.slice_name, **record} for part, records in parts for record in records]

    @property
    def slice_name(self) -> str | None:
        """The tag and the value of this slice, as in "domain news"; None for the result of all
        items."""
        if self.by is None:
            return None
        return ", ".join(f"{tag} {value}" for tag, value in self.by.items())

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput score`."""
        return {
            "items": self.items,
            "systems": list(self.systems),
            "scores": [_record(score) for score in self.scores],
            "pairs": [_record(comparison) for comparison in self.comparisons],
            "skipped": [asdict(skipped) for skipped in self.skipped],
            "left_out": [asdict(left_out) for left_out in self.left_out],
            "notes": list(self.notes),
            "test": self.test,
            "correction": "holm",
            "generalize": "items",
            "cluster": None if self.clusters is None else self.clusters.unit,
            "clusters": None if self.clusters is None else self.clusters.n,
            "alpha": self.alpha,
            "margin": dict(self.margin),
            "confidence": self.confidence,
            "resamples": self.n_resamples,
            "seed": self.seed,
            "error_sources": [source.to_dict() for source in self.error_sources],
            "by": [part.values_of_slice() for part in self.slices] if self.slices else None,
            "slice_tests": [asdict(test) for test in self.slice_tests] if self.slices else None,
        }

    def values_of_slice(self) -> dict[str, Any]:
        """The entry for this slice under `by` in the JSON."""
        return {
            "by": dict(self.by or {}),
            "items": self.items,
            "clusters": None if self.clusters is None else self.clusters.n,
            "scores": [_record(score) for score in self.scores],
            "pairs": [_record(comparison) for comparison in self.comparisons],
        }
