"""Ratings against scores: what is left out and why, and the regression lines."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reporting.html.evaluations import small_evaluation, small_judgments
from wellput.agreement.analysis import AgreementOptions
from wellput.agreement.correlations import Uncertainty
from wellput.agreement.panel import Exclusion
from wellput.core.judgment import Preference
from wellput.reporting.html.people import regression_line

QUICK = Uncertainty(n_resamples=50)


def test_what_is_left_out_is_still_there_with_its_reason() -> None:
    options = AgreementOptions(
        exclusions=[Exclusion("", "a typing error", item="i2", system="B")], uncertainty=QUICK
    )
    people = small_evaluation(options=options).people
    assert people is not None
    assert people.left_out["quality"] == {(1, 1): "a typing error"}
    assert not np.isnan(people.ratings["quality"]).any()


def test_leaving_out_one_judge_of_two_leaves_no_output_out() -> None:
    options = AgreementOptions(
        exclusions=[Exclusion("", "pressed one button", judge="J2")], uncertainty=QUICK
    )
    evaluation = small_evaluation(options=options)
    assert evaluation.people is not None and evaluation.people.left_out["quality"] == {}
    assert evaluation.agreement is not None
    assert [row["reason"] for row in evaluation.agreement.excluded] == ["pressed one button"]


def test_an_output_of_which_all_judges_are_left_out_names_every_reason() -> None:
    judgments = [j for j in small_judgments() if j.judge == "J1" or j.item != "i1"]
    options = AgreementOptions(
        exclusions=[Exclusion("", "slept", judge="J1", item="i1")], uncertainty=QUICK
    )
    people = small_evaluation(answers=judgments, options=options).people
    assert people is not None
    assert set(people.left_out["quality"].values()) == {"slept"}
    assert len(people.left_out["quality"]) == 3


def test_the_line_is_the_least_squares_line() -> None:
    # y = 2x + 1 at x = 0, 1, 2, with residuals +e, −2e, +e, which change neither slope nor mean.
    line = regression_line(np.array([0.0, 1.0, 2.0]), np.array([1.3, 2.4, 5.3]))
    assert line is not None
    assert (line["low"], line["high"], line["n"]) == (0, 2, 3)
    assert line["at_low"] == pytest.approx(1.0) and line["at_high"] == pytest.approx(5.0)
    assert line["r_squared"] == pytest.approx(8 / 8.54)  # S_xy² / (S_xx S_yy): 4² / (2 · 8.54)
    assert line["equation"] == "rating = 1.000 + 2.000 × score (R² = 0.94, n = 3)"
    falling = regression_line(np.array([0.0, 1.0, 2.0]), -np.arange(3.0), names=("words", "score"))
    assert falling is not None
    assert falling["equation"] == "score = 0.000 − 1.000 × words (R² = 1.00, n = 3)"


def test_no_line_through_points_one_above_the_other() -> None:
    assert regression_line(np.ones(4), np.arange(4.0)) is None
    assert regression_line(np.array([1.0, np.nan, 2.0]), np.arange(3.0)) is None


def test_choices_become_shares_of_offers() -> None:
    answers = [
        Preference("J1", "i1", "A", "B", "better", "a"),
        Preference("J2", "i1", "A", "B", "better", "tie"),
        Preference("J1", "i2", "B", "C", "better", "b"),
    ]
    people = small_evaluation(answers=answers).people
    assert people is not None
    shares = people.ratings["better"]
    assert shares[:2, 0].tolist() == [0.75, 0.25]
    assert shares[1:, 1].tolist() == [0.0, 1.0]
    assert np.isnan(shares).sum() == shares.size - 4
