"""Scores by slice: the items that have the same value of a tag, such as the domain.

Every slice is a `ScoreResult`, made from the rows of the whole result. P-values of slices are corrected
by Holm's method for the differences of all slices together; those of the whole result do not change.

A `SliceTest` says whether the difference of two systems depends on the slice. Slices are small, so it
says little that a difference is shown in one slice and not in another. Therefore the differences of
the slices are compared with each other, by Welch's analysis of variance, with the standard errors that
the slices' own tests use (of clusters, if items have them). A cluster may have items in several
slices; the differences of these slices then vary together, and the test is cautious.
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
"""More slices than this cannot be read in a table, and no difference would pass the correction."""


def slice_masks(
    tags: Sequence[Mapping[str, str]], by: str
) -> tuple[dict[str, NDArray[np.bool_]], int]:
    """The items of each value of a tag, in the order of the values, and the number of items without
    one."""
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
    asked: Inference,
    on_phase: OnPhase,
) -> tuple[ScoreResult, ...]:
    """The results of the slices, compared as the whole was."""
    tests = asked.test is not None and bool(pairs)
    on_slice = on_phase("comparing systems in slices", len(masks))
    parts: list[tuple[str, dict[str, ScoreTable], list[Comparison]]] = []
    for name, items in masks.items():
        tables = {metric: table.of_items(items) for metric, table in whole.tables.items()}
        compared: list[Comparison] = []
        if tests:
            complete = {
                metric: table
                for metric, table in tables.items()
                if metric in testable and table.present.any(axis=1).all()
            }
            compared = compare_systems(complete, pairs, asked, n_slices=len(masks))
        parts.append((name, tables, compared))
        on_slice(1)
    every = iter(corrected([one for *_, compared in parts for one in compared]))
    found: list[ScoreResult] = []
    for name, tables, compared in parts:
        own = [next(every) for _ in compared]
        found.append(_slice(whole, {by: name}, tables, own, asked))
    return tuple(found)


def _slice(
    whole: ScoreResult,
    by: Mapping[str, str],
    tables: Mapping[str, ScoreTable],
    compared: Sequence[Comparison],
    asked: Inference,
) -> ScoreResult:
    scores = [
        _score(whole[system, metric], table, system, asked)
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
                scores, compared, baseline, whole.higher_is_better, asked.resampling.alpha, clusters
            )
        ),
        differences=tuple(compared),
        comparisons=tuple(compared) if asked.all_pairs else (),
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


def _score(whole: Score, table: ScoreTable, system: str, asked: Inference) -> Score:
    row = table.row(system)
    is_present = table.present[row]
    sums = block_sum(table.statistics[row])
    score = replace(
        whole,
        score=float(table.aggregate(sums)) if is_present.any() else float("nan"),
        n=int(is_present.sum()),
        left_out=0,
        undefined=int(np.isnan(table.scores_of(row)[is_present]).sum()),
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
    if not asked.has_intervals or not is_present.any():
        return score
    interval = asked.resampling.interval(table, system, by_bootstrap=asked.draws == "bs")
    return replace(score, low=interval.low, high=interval.high)


MIN_DEGREES_OF_FREEDOM = 5
"""A slice whose difference has fewer degrees of freedom is left out: its error is too uncertain."""


@dataclass(frozen=True, slots=True)
class SliceTest:
    """Tests that score of `a` − score of `b` is the same in all slices, under one metric.

    `deltas` has the difference in each slice that is tested, `n` the number of their items.
    `statistic` is Welch's F; `freedom` has its degrees of freedom, of numerator and denominator.
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
    measured: dict[tuple[str, str, str], dict[str, MeasuredDifference]] = {}
    for name, tables in slices.items():
        for metric, table in tables.items():
            for (a, b), found in measured_differences(table, pairs).items():
                if found.freedom >= MIN_DEGREES_OF_FREEDOM:
                    measured.setdefault((metric, a, b), {})[name] = found
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
    found = list(by_slice.values())
    test = welch_test(
        np.array([one.center for one in found]),
        np.array([one.error for one in found]),
        np.array([one.freedom for one in found]),
    )
    return SliceTest(
        metric=metric,
        a=a,
        b=b,
        deltas={name: one.delta for name, one in by_slice.items()},
        n=sum(one.n for one in found),
        statistic=test.statistic,
        freedom=test.freedom,
        p_value=test.p_value,
        p_adjusted=test.p_value,
    )
