from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellput.core.evalset import Batch
from wellput.metrics.registry import create
from wellput.metrics.surface import Length, LengthRatio


def test_length_by_hand() -> None:
    metric = Length(tokenize="none")
    rows = metric.statistics(Batch.from_texts(["a b c", "", "d"], [()] * 3))
    np.testing.assert_array_equal(rows, [[3, 1], [0, 1], [1, 1]])
    assert metric.score(rows.sum(axis=0)) == pytest.approx(4 / 3)
    assert metric.higher_is_better is None
    assert metric.needs == frozenset()


@pytest.mark.parametrize(
    ("output", "references", "expected"),
    [
        ("a b c", ["a b c d"], 3 / 4),
        ("a b c", ["a b c d", "a b"], 3 / 2),  # as close: the shorter
        ("a b c", ["a b", "a b c d"], 3 / 2),
        ("a b c", ["a", "a b c d e f", "a b c d"], 3 / 4),
        ("", ["a b", "a"], 0.0),
        ("a", [""], math.nan),
        ("", [""], math.nan),
        ("a", ["", "b c"], math.nan),  # as close as two words, and shorter
    ],
)
def test_length_ratio_by_hand(output: str, references: list[str], expected: float) -> None:
    metric = LengthRatio(tokenize="none")
    score = metric.score(metric.statistics(Batch.from_texts([output], [references])))[0]
    assert score == expected or (math.isnan(score) and math.isnan(expected))


def test_length_ratio_is_pooled() -> None:
    # (1 + 5) / (2 + 4), not the mean of 1/2 and 5/4.
    metric = create("length-ratio:tokenize=none")
    rows = metric.statistics(Batch.from_texts(["a", "a b c d e"], [["a b"], ["a b c d"]]))
    assert metric.score(rows.sum(axis=0)) == 1.0
    assert metric.components(rows.sum(axis=0)) == {"length": 6.0, "reference_length": 6.0}
    assert metric.higher_is_better is None


@given(st.lists(st.tuples(st.text(), st.lists(st.text(), min_size=1, max_size=4))))
@settings(deadline=None)
def test_kernel_against_plain_python(items: list[tuple[str, list[str]]]) -> None:
    outputs = [output for output, _ in items] * 70
    references = [row for _, row in items] * 70
    expected = [
        [
            len(output.split()),
            min(
                (len(text.split()) for text in row),
                key=lambda length: (abs(length - len(output.split())), length),
            ),
        ]
        for output, row in zip(outputs, references, strict=True)
    ]
    for threads in (1, 3):
        batch = Batch.from_texts(outputs, references, threads=threads)
        rows = LengthRatio(tokenize="none").statistics(batch)
        np.testing.assert_array_equal(rows, np.array(expected).reshape(-1, 2))
        np.testing.assert_array_equal(Length(tokenize="none").values(batch), rows[:, 0])
