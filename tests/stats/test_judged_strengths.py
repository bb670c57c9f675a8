"""Strengths with intervals for other judges: against refits, and by coverage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from wellput.stats.judged_strengths import judged_strengths
from wellput.stats.preferences import Choices
from wellput.stats.strengths import bradley_terry

WORTH = np.array([0.6, 0.1, -0.7])
SYSTEMS = ("A", "B", "C")
PAIRS = np.array([(0, 1), (0, 2), (1, 2)])


def study(rng: np.random.Generator, n_judges: int, n_items: int, taste: float) -> dict[str, Any]:
    """Every judge chooses in one pair of each item."""
    judges, items = (grid.ravel() for grid in np.indices((n_judges, n_items)))
    tastes = rng.normal(0, taste, (n_judges, 3))
    first, second = PAIRS[rng.integers(0, 3, len(judges))].T
    gap = WORTH[first] - WORTH[second] + tastes[judges, first] - tastes[judges, second]
    chosen = np.where(rng.random(len(judges)) < expit(gap), "a", "b").astype("<U3")
    chosen[rng.random(len(judges)) < 0.1] = "tie"
    return {"first": first, "second": second, "choices": chosen, "judges": judges, "items": items}


def test_leaving_out_a_judge_in_one_step_is_nearly_a_new_fit() -> None:
    trials = study(np.random.default_rng(1), 8, 60, 0.5)
    fitted = judged_strengths(**trials, systems=SYSTEMS)
    counts = Choices.of_places(trials["first"], trials["second"], trials["choices"], SYSTEMS)
    assert [s.value for s in fitted.strengths] == [s.value for s in bradley_terry(counts).strengths]

    def variance(units: Any) -> Any:
        logs = []
        for unit in np.unique(units):
            kept = units != unit
            left = Choices.of_places(
                trials["first"][kept], trials["second"][kept], trials["choices"][kept], SYSTEMS
            )
            logs.append(bradley_terry(left).logs)
        n = len(logs)
        return (n - 1) * np.var(logs, axis=0)

    judges, items = variance(trials["judges"]), variance(trials["items"])
    answers = variance(trials["judges"] * 1000 + trials["items"])
    expected = np.sqrt(np.maximum.reduce([judges + items - answers, judges, items]))
    for strength, error in zip(fitted.strengths, expected, strict=True):
        assert strength.low is not None and strength.high is not None
        # t of the 97.5th percentile lies between 1.96 (many judges) and 2.37 (7 degrees of freedom).
        assert 1.9 * error < (strength.high - strength.low) / 2 < 2.45 * error


def test_intervals_hold_for_other_judges() -> None:
    rng = np.random.default_rng(3)
    # The truth is the mean over all possible judges, whose tastes differ.
    many = study(rng, 2000, 150, 0.8)
    counts = Choices.of_places(many["first"], many["second"], many["choices"], SYSTEMS)
    truth = bradley_terry(counts).logs
    ours = wald = 0
    for _ in range(120):
        trials = study(rng, 6, 60, 0.8)
        fitted = judged_strengths(**trials, systems=SYSTEMS)
        plain = bradley_terry(
            Choices.of_places(trials["first"], trials["second"], trials["choices"], SYSTEMS)
        )
        for robust, naive, true in zip(fitted.strengths, plain.strengths, truth, strict=True):
            assert robust.low is not None and robust.high is not None
            assert naive.low is not None and naive.high is not None
            ours += robust.low <= true <= robust.high
            wald += naive.low <= true <= naive.high
    # 360 intervals, three per study: a coverage of .95 is below .9 once in 500 times.
    assert ours / 360 > 0.9
    assert wald / 360 < 0.8


def test_one_judge_gives_no_interval_and_infinite_strengths_none() -> None:
    trials = study(np.random.default_rng(0), 1, 40, 0.0)
    assert [s.low for s in judged_strengths(**trials, systems=SYSTEMS).strengths] == [None] * 3
    always = judged_strengths(
        [0, 0], [1, 1], ["a", "a"], judges=[0, 1], items=[0, 1], systems=["A", "B"]
    )
    assert [s.value for s in always.strengths] == [pytest.approx(np.inf), pytest.approx(-np.inf)]
    assert always.strengths[0].low is None


def test_many_units_are_left_out_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = study(np.random.default_rng(5), 12, 40, 0.4)
    one_by_one = judged_strengths(**trials, systems=SYSTEMS)
    monkeypatch.setattr("wellput.stats.judged_strengths.MAX_UNITS_ONE_BY_ONE", 1)
    at_once = judged_strengths(**trials, systems=SYSTEMS)
    for slow, quick in zip(one_by_one.strengths, at_once.strengths, strict=True):
        assert slow.low is not None and quick.low is not None
        assert quick.value - quick.low == pytest.approx(slow.value - slow.low, rel=0.2)
