"""Scores of slices. A slice is all items that have the same value of a tag, such as the domain "news".

Every slice has a `ScoreResult`, made from the rows (segment statistics) of the result for all items.
P-values of slices are corrected by Holm's method for the differences of all slices together; p-values
of the result for all items do not change.

A `SliceTest` tests whether the difference of two systems depends on the slice. Slices are small, so a
difference may be significant in one slice and not in another by chance. Therefore the differences of
the slices are compared with each other by Welch's analysis of variance, with the same standard errors
as in the tests of single slices (those of clusters, if items have clusters). If a cluster has items
in several slices, the differences of these slices vary together, and the test rejects too rarely.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wellput.core.clusters import tag_values
from wellput.core.errors import InputError
from wellput.core.estimates import ScoreTable, block_sum
from wellput.core.scores import Score
from wellput.core.work import OnPhase
from wellput.engine.differences import (
    MeasuredDifference,
    compare_systems,
    corrected,
    measured_differences,
    scores_with_differences,
)
from wellput.engine.result import Comparison, ScoreResult
from wellput.engine.scoring_plan import Inference
from wellput.stats.corrections import holm
from wellput.stats.student import welch_test

MAX_SLICES = 100
"""A table of more slices would be unreadable, and after the correction no difference would be
significant."""


def slice_masks(
    tags: Sequence[Mapping[str, str]], by: str
) -> tuple[dict[str, NDArray[np.bool_]], int]:
    """For each value of the tag `by`, in alphabetical order, which items have this value; and the
    number of items without the tag."""
    values = tag_values(tags, by, keyword="by")
    names = sorted({value for value in values if value is not None})
    if len(names) > MAX_SLICES:
        shown = ", ".join(names[:3])
        raise InputError(
            f"by={by!r} has {len(names):,} values ({shown}, …), and scores by slice are for at most "
            f"{MAX_SLICES}. Give a tag with fewer values; cluster={by!r} may be what you want."
        )
    codes = np.array([-1 if value is None else names.index(value) for value in values])
    return {name: codes == code for code, name in enumerate(names)}, int((codes < 0).sum())


def slices_of(
    whole: ScoreResult,
    masks: Mapping[str, NDArray[np.bool_]],
    by: str,
    pairs: Sequence[tuple[str, str]],
    testable: frozenset[str],
    inference: Inference,
    on_phase: OnPhase,
) -> tuple[ScoreResult, ...]:
    """The results of the slices; systems are compared as in `whole`, the result of all items."""
    has_tests = inference.test is not None and bool(pairs)
    on_slice = on_phase("comparing systems in slices", len(masks))
    # For each slice: its name, its tables by metric, and its differences, not yet corrected.
    parts: list[tuple[str, dict[str, ScoreTable], list[Comparison]]] = []
    for name, items in masks.items():
        tables = {metric: table.of_items(items) for metric, table in whole.tables.items()}
        compared: list[Comparison] = []
        if has_tests:
            tables_to_test = {  # a metric is tested if every system has an item in the slice
                metric: table
                for metric, table in tables.items()
                if metric in testable and table.present.any(axis=1).all()
            }
            compared = compare_systems(tables_to_test, pairs, inference, n_slices=len(masks))
        parts.append((name, tables, compared))
        on_slice(1)
    all_corrected = iter(corrected([pair for *_, compared in parts for pair in compared]))
    results: list[ScoreResult] = []
    for name, tables, compared in parts:
        slice_pairs = [next(all_corrected) for _ in compared]
        results.append(_slice(whole, {by: name}, tables, slice_pairs, inference))
    return tuple(results)


def _slice(
    whole: ScoreResult,
    by: Mapping[str, str],
    tables: Mapping[str, ScoreTable],
    compared: Sequence[Comparison],
    inference: Inference,
) -> ScoreResult:
    """The result of one slice. `by` has the tag and its value, `compared` the corrected differences."""
    scores = [
        _score(whole[system, metric], table, system, inference)
        for metric, table in tables.items()
        for system in whole.systems
    ]
    clusters = next(iter(tables.values())).clusters
    baseline = next((score.baseline for score in whole.scores if score.baseline), None)
    return replace(
        whole,
        items=len(next(iter(tables.values())).items),
        scores=tuple(
            scores_with_differences(
                scores,
                compared,
                baseline,
                whole.higher_is_better,
                inference.resampling.alpha,
                clusters,
            )
        ),
        differences=tuple(compared),
        comparisons=tuple(compared) if inference.all_pairs else (),
        skipped=(),
        left_out=(),
        explanations=(),
        tables=tables,
        clusters=clusters,
        error_sources=(),
        by=by,
        slices=(),
        slice_tests=(),
    )


def _score(whole: Score, table: ScoreTable, system: str, inference: Inference) -> Score:
    """A system's score in a slice, whose items `table` has; `whole` is its score for all items."""
    row = table.row(system)
    is_present = table.present[row]
    sums = block_sum(table.statistics[row])
    score = replace(
        whole,
        score=float(table.aggregate(sums)) if is_present.any() else float("nan"),
        n=int(is_present.sum()),
        left_out=0,
        undefined=int(np.isnan(table.scores_of(row)[is_present]).sum()),
        undefined_reasons={},  # counted for all items only
        components={
            name: float(value) for name, value in table.components(sums).items() if is_present.any()
        },
        low=None,
        high=None,
        baseline=None,
        delta=None,
        delta_low=None,
        delta_high=None,
        p_value=None,
        p_adjusted=None,
        p_is_bound=False,
        effect_size=None,
        equivalence_p=None,
        equivalence_p_adjusted=None,
        n_common=None,
        is_worse=None,
    )
    if not inference.has_intervals or not is_present.any():
        return score
    interval = inference.resampling.interval(
        table, system, by_bootstrap=inference.random_procedure == "bs"
    )
    return replace(score, low=interval.low, high=interval.high)


MIN_DEGREES_OF_FREEDOM = 5
"""A slice with fewer degrees of freedom is left out of the test: its standard error is too
uncertain."""


@dataclass(frozen=True, slots=True)
class SliceTest:
    """A test of the hypothesis that the difference (score of `a` − score of `b`) is the same in all
    slices, under one metric.

    `deltas` has the difference in each tested slice, `n` the number of items in these slices.
    `statistic` is Welch's F; `freedom` has the degrees of freedom of its numerator and denominator.
    `p_adjusted` is corrected by Holm's method for all pairs and metrics.
    """

    metric: str
    a: str
    b: str
    deltas: Mapping[str, float]
    n: int
    statistic: float
    freedom: tuple[float, float]
    p_value: float
    p_adjusted: float


def slice_tests(
    slices: Mapping[str, Mapping[str, ScoreTable]], pairs: Sequence[tuple[str, str]]
) -> tuple[SliceTest, ...]:
    """A test for each pair under each metric; `slices` has the tables of each slice by metric. A pair
    has no test if fewer than two slices can be tested."""
    # By metric and pair of systems: the difference in each slice.
    measured: dict[tuple[str, str, str], dict[str, MeasuredDifference]] = {}
    for name, tables in slices.items():
        for metric, table in tables.items():
            for (a, b), difference in measured_differences(table, pairs).items():
                if difference.freedom >= MIN_DEGREES_OF_FREEDOM:
                    measured.setdefault((metric, a, b), {})[name] = difference
    tests = [
        _tested(metric, a, b, by_slice)
        for (metric, a, b), by_slice in measured.items()
        if len(by_slice) > 1
    ]
    adjusted = holm(np.array([test.p_value for test in tests]))
    return tuple(
        replace(test, p_adjusted=float(p)) for test, p in zip(tests, adjusted, strict=True)
    )


def _tested(metric: str, a: str, b: str, by_slice: Mapping[str, MeasuredDifference]) -> SliceTest:
    """The test of one pair under one metric, not yet corrected; `by_slice` has its difference in each
    slice."""
    differences = list(by_slice.values())
    test = welch_test(
        np.array([difference.center for difference in differences]),
        np.array([difference.error for difference in differences]),
        np.array([difference.freedom for difference in differences]),
    )
    return SliceTest(
        metric=metric,
        a=a,
        b=b,
        deltas={name: difference.delta for name, difference in by_slice.items()},
        n=sum(difference.n for difference in differences),
        statistic=test.statistic,
        freedom=test.freedom,
        p_value=test.p_value,
        p_adjusted=test.p_value,
    )
