from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.core.evalset import Batch
from wellput.metrics.error_rates import Exact
from wellput.metrics.registry import create


@pytest.mark.parametrize(
    ("output", "references", "expected"),
    [
        ("a cat", ["a cat"], 1),
        ("a cat", ["the cat", "a cat"], 1),
        ("a cat", ["the cat"], 0),
        ("A cat", ["a cat"], 0),
        ("  a \t cat\n", ["a\u00a0cat"], 1),
        ("", [""], 1),
        ("", [" "], 1),
        ("", ["a"], 0),
    ],
)
def test_by_hand(output: str, references: list[str], expected: float) -> None:
    assert Exact().values(Batch.from_texts([output], [references]))[0] == expected


def test_the_score_is_the_share_of_matches() -> None:
    metric = create("exact:lowercase=true")
    batch = Batch.from_texts(["A cat", "b", "c"], [["a CAT"], ["b"], ["d"]])
    assert metric.score(metric.statistics(batch).sum(axis=0)) == pytest.approx(2 / 3)
    assert metric.signature() == "lowercase:true"


@given(st.text(), st.lists(st.text(), max_size=3))
def test_identity_matches_and_one_more_reference_never_unmatches(
    text: str, others: list[str]
) -> None:
    metric = Exact()
    assert metric.values(Batch.from_texts([text], [[*others, text]]))[0] == 1
    before = metric.values(Batch.from_texts([text], [others]))[0]
    assert metric.values(Batch.from_texts([text], [[*others, "x"]]))[0] >= before
