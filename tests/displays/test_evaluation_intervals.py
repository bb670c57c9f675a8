"""Intervals of the frequencies of displays contain the score and stay within its bounds."""

from __future__ import annotations

import pytest

import wellput

LIMITS = {"display-entropy": (0, 10), "display-commonest": (0, 1), "display-distance": (0, 1)}


@pytest.mark.parametrize("seed", [1, 2])
def test_intervals_contain_the_score_and_stay_within_bounds(seed: int) -> None:
    corpus = wellput.displays.example(n=30, seed=seed).evalset
    chosen = wellput.displays.select(corpus, strategy="rule,majority,weighted").evalset
    evaluated = wellput.displays.evaluate(chosen, metrics=list(LIMITS), confidence=True)
    intervals = 0
    for score in evaluated.result.scores:
        low, high = LIMITS[score.metric]
        if score.low is not None and score.high is not None:
            assert low <= score.low <= score.score <= score.high <= high
            intervals += 1
    assert intervals >= 9
