"""Rankings of slices, such as the items of each domain: all by one model, with p-values that are
corrected for all slices together.

That a difference is shown in one slice and not in another says little, because slices are small. So a
`SliceTest` asks whether the difference of two systems is the same in all slices, by Welch's analysis of
variance with the standard errors of the slices' own models. Slices often have judges in common; their
differences then vary together, and the test is cautious.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from wellput.agreement.rankings.fitted_question import FittedQuestion, pair_weights
from wellput.agreement.rankings.fitted_ranking import FittedRanking
from wellput.stats.corrections import holm
from wellput.stats.mixed.equations import Floats
from wellput.stats.welch import welch_test

MIN_FREEDOM = 5
"""A slice whose difference has fewer degrees of freedom is left out: its error is too uncertain."""


@dataclass(frozen=True, slots=True)
class SliceTest:
    """Tests that the first of two systems is equally far ahead of the second in all slices.

    `deltas` has the difference in each slice that is tested, as in the slice's ranking; the first
    system is the better one overall. `statistic` is Welch's F, with two degrees of `freedom`.
    `p_adjusted` is corrected by Holm's method for the pairs of the question.
    """

    question: str
    systems: tuple[str, str]
    deltas: Mapping[str, float]
    statistic: float
    freedom: tuple[float, float]
    p_value: float
    p_adjusted: float

    def to_dict(self) -> dict[str, Any]:
        """An entry of `slice_tests` in the JSON."""
        return {
            "question": self.question,
            "systems": self.systems,
            "deltas": dict(self.deltas),
            "statistic": self.statistic,
            "freedom": self.freedom,
            "p_value": self.p_value,
            "p_adjusted": self.p_adjusted,
        }


def adjusted_together(p_values: Sequence[Floats]) -> list[Floats]:
    """The p-values of several slices, corrected by Holm's method as one family."""
    ends = np.cumsum([len(part) for part in p_values])[:-1]
    return np.split(holm(np.concatenate(p_values)), ends)


def slice_tests(
    whole: FittedRanking,
    slices: Mapping[str, tuple[FittedQuestion, FittedRanking]],
) -> tuple[SliceTest, ...]:
    """A test for each pair that the whole compares; a pair that fewer than two slices can be tested for
    has none."""
    tests = []
    for pair in (one.systems for one in whole.differences):
        found: dict[str, tuple[float, float, float]] = {}
        deltas: dict[str, float] = {}
        for name, (question, ranking) in slices.items():
            measured = _measured(question, pair)
            if measured is not None:
                found[name] = measured
                deltas[name] = difference_of(ranking, pair)
        if len(found) > 1:
            test = welch_test(*(np.array(column) for column in zip(*found.values(), strict=True)))
            tests.append(
                SliceTest(
                    whole.question,
                    pair,
                    deltas,
                    test.statistic,
                    test.freedom,
                    test.p_value,
                    test.p_value,
                )
            )
    adjusted = holm(np.array([test.p_value for test in tests]))
    return tuple(
        replace(test, p_adjusted=float(p)) for test, p in zip(tests, adjusted, strict=True)
    )


def difference_of(ranking: FittedRanking, pair: tuple[str, str]) -> float:
    """How far the first of two systems is ahead of the second."""
    for one in ranking.differences:
        if one.systems == pair:
            return one.delta
        if one.systems == pair[::-1]:
            return -one.delta
    raise KeyError(pair)


def _measured(question: FittedQuestion, pair: tuple[str, str]) -> tuple[float, float, float] | None:
    """The difference on the model's scale, its error and its degrees of freedom; None where the slice
    lacks a system or says too little."""
    names = question.data.system_names
    if not set(pair) <= set(names):
        return None
    first, second = (names.index(name) for name in pair)
    low, high = sorted((first, second))
    place = list(combinations(range(len(names)), 2)).index((low, high))
    contrast = question.fitted.contrast(pair_weights(len(names))[[place]])
    value, error = float(contrast.values[0]), float(contrast.errors[0])
    freedom = float(question.freedom[place])
    if not error > 0 or freedom < MIN_FREEDOM:
        return None
    return (value if first < second else -value), error, freedom
