"""Agreement of one more judge with people, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from wellput.stats.judges.one_more_judge import (
    judge_agreement,
    panel_correlation,
    repeat_consistency,
)

ITEMS = np.arange(12)
ONE_QUESTION = np.zeros(12, dtype=np.intp)


def test_shares_are_means_over_the_people_left_out() -> None:
    people = np.array([[1.0] * 12, [1.0] * 9 + [2.0] * 3, [1.0] * 12])
    judge = np.array([1.0] * 6 + [2.0] * 6)
    found = judge_agreement(people, judge, items=ITEMS, questions=ONE_QUESTION, scoring="accuracy")
    # A and C agree with B on 9 of 12 and with each other on all: A: (9/12 + 1) / 2 = 0.875, as C;
    # B: 0.75 with both. Mean (0.875 · 2 + 0.75) / 3 = 0.8333.
    assert found.people.value == pytest.approx(2.5 / 3)
    # The judge gives 1 on 6 and 2 on 6 trials, where B gave 2 on 3 of these: with A ½, B ¾, C ½.
    # Without A: (¾ + ½) / 2; without B: ½; without C: (½ + ¾) / 2.
    assert found.judge.value == pytest.approx((0.625 + 0.5 + 0.625) / 3)
    assert found.difference.value == pytest.approx(found.judge.value - found.people.value)
    assert found.judge.low is not None
    assert found.judge.low < found.judge.value


def test_correlations_are_within_questions() -> None:
    base = np.array([1.0, 2, 3, 4, 5, 6])
    people = np.tile(np.concatenate([base, base + 100]), (3, 1))
    judge = np.concatenate([base[::-1], base[::-1] + 100])
    questions = np.repeat([0, 1], 6)
    found = judge_agreement(people, judge, items=ITEMS, questions=questions, scoring="neg_rmse")
    assert found.people.value == pytest.approx(1)
    assert found.judge.value == pytest.approx(-1)  # over both questions together it would be +0.99
    panel = panel_correlation(people, judge, items=ITEMS, questions=questions)
    assert panel.value == pytest.approx(-1)


def test_consistency_of_labels_is_the_share_of_equal_pairs() -> None:
    # Trial 0: 1, 1, 2 has one equal pair of three; trial 1: two equal; trial 2 was answered once.
    answers = np.array([1.0, 1, 2, 3, 3, 9])
    trials = np.array([0, 0, 0, 1, 1, 2])
    found = repeat_consistency(answers, trials, trials, are_labels=True)
    assert found is not None
    assert found.value == pytest.approx((1 / 3 + 1) / 2)
    assert repeat_consistency(answers[3:], trials[3:], trials[3:], are_labels=True) is None


def test_consistency_of_two_trials_has_no_interval() -> None:
    found = repeat_consistency(
        np.array([1.0, 3, 4, 6]), np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), are_labels=False
    )
    assert found is not None and found.value > 0 and found.low is None


def test_consistency_of_numbers_is_icc1() -> None:
    # Trials (1, 3), (4, 6), (8, 8): means 2, 5, 8, variance of means 9; within: (2 + 2 + 0) / 3 = 4/3;
    # between 9 − (4/3) / 2 = 25/3; ICC1 = 25/3 / (25/3 + 4/3) = 25/29.
    answers = np.array([1.0, 3, 4, 6, 8, 8])
    trials = np.array([0, 0, 1, 1, 2, 2])
    found = repeat_consistency(answers, trials, trials, are_labels=False)
    assert found is not None
    assert found.value == pytest.approx(25 / 29)
