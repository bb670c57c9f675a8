"""Whether the difference of two systems is the same in all slices, or depends on the slice.

That a difference is shown in one slice and not in another says little: slices are small. So the
differences of the slices are compared with each other, by Welch's analysis of variance, with the
standard errors that the slices' own tests use (of clusters, where items have them). A cluster may have
items in several slices; the differences of these slices then vary together, and the test is cautious.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wellput.core.estimates import ScoreTable
from wellput.engine.differences import MeasuredDifference, measured_differences
from wellput.stats.corrections import holm
from wellput.stats.welch import welch_test

MIN_FREEDOM = 5
"""A slice whose difference has fewer degrees of freedom is left out: its error is too uncertain."""


@dataclass(frozen=True, slots=True)
class SliceTest:
    """Tests that score of `a` − score of `b` is the same in all slices, under one metric.

    `deltas` has the difference in each slice that is tested, `n` the number of their items.
    `statistic` is Welch's F; `freedom` has its degrees of freedom, of numerator and denominator.
    `p_adjusted` is corrected by Holm's method
    for all pairs and metrics.
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
                if found.freedom >= MIN_FREEDOM:
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
