"""Realizers' sentences against the order of trees: Table 1 of the paper, and tests of differences."""

from __future__ import annotations

import pytest

from wellput.core.tree import Multiword, Tree, Word
from wellput.engine.realization import ORDER_METRICS, evaluate_order

TARGET = "There was no cost estimate for the second phase"
LR = "There was estimate for phase the second no cost"
HEADS = (5, 5, 5, 5, 0, 5, 9, 9, 6)
FIGURE_2 = Tree(tuple(map(Word, TARGET.split(), HEADS)))


def test_table_1() -> None:
    result = evaluate_order({"LR": [LR]}, [FIGURE_2], metrics=("ssa", "gsa", "sta", "gta"))
    scores = [round(score.score, 2) for score in result.scores]
    assert scores == [0.44, 0.56, 0.33, 0.67]
    assert result.metrics == ("ssa", "gsa", "sta", "gta")


def test_capitals_and_multiword_tokens_make_no_difference() -> None:
    whole = Tree(FIGURE_2.words, (Multiword(1, 2, "Therewas"),), ("text = Therewas no cost",))
    result = evaluate_order({"A": [TARGET.upper()]}, [whole])
    assert result.metrics == ORDER_METRICS
    for metric in ORDER_METRICS:
        assert result["A", metric].score == pytest.approx(100 if metric == "bleu" else 1)


def test_differences_from_the_baseline_are_tested() -> None:
    result = evaluate_order(
        {"LR": [LR] * 20, "A": [TARGET] * 20}, [FIGURE_2] * 20, baseline="LR", n_resamples=200
    )
    better = result["A", "ssa"]
    assert better.delta == pytest.approx(5 / 9)
    # All 20 items differ by the same amount: the chance that a coin falls the same way 20 times.
    assert better.p_value == pytest.approx(2 / 2**20)
    assert result["LR", "ssa"].p_value is None
    assert set(result.tables) == set(ORDER_METRICS)
