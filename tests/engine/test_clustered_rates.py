"""Pass rates of items in documents: intervals stay between 0 and 1 and always have a width."""

from __future__ import annotations

import pytest

import wellput
from wellput.core.evalset import EvalSet, Item


def evalset(right: dict[str, list[int]], *, documents: int = 6) -> EvalSet:
    """Each system is right on the items whose numbers are listed, wrong on the others of 24."""
    return EvalSet(
        [
            Item(
                id=str(n),
                references=("yes",),
                outputs={name: "yes" if n in own else "no" for name, own in right.items()},
                document=f"d{n % documents}",
            )
            for n in range(24)
        ]
    )


def test_all_pass() -> None:
    every = list(range(24))
    result = wellput.score(
        evalset({"A": every, "B": every}), "exact", confidence=True, baseline="A"
    )
    score = result["B", "exact"]
    assert score.method == "wilson, clustered"
    assert score.low is not None and 0.4 < score.low < 0.9 and score.high == 1
    alone = wellput.score(
        evalset({"A": every, "B": every}), "exact", confidence=True, baseline="A", cluster="item"
    )["B", "exact"]
    assert alone.low is not None and alone.low > score.low
    # No item differs: Wilson's interval of 0 among 6 documents on either side.
    assert (score.delta_low, score.delta_high) == pytest.approx((-0.3903, 0.3903), abs=1e-4)
    assert (score.delta, score.p_value, score.n_common) == (0, 1, 24)


def test_differences_of_rates_stay_between_minus_1_and_1() -> None:
    result = wellput.score(
        evalset({"A": list(range(24)), "B": [0, 1, 2, 3, 8]}, documents=3),
        "exact",
        confidence=True,
        baseline="A",
    )
    score = result["B", "exact"]
    assert score.delta_low is not None and score.delta_high is not None
    assert -1 <= score.delta_low < score.delta_high <= 1
    assert "exact: the share of items that count 1" in str(result)
