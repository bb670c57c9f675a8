"""Rankings of slices: corrected together, by one model, and tested against each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

import wellput
from tests.agreement.ranked_studies import simulated
from wellput import InputError, Judgment
from wellput.agreement.rankings.fitted_question import fit_question
from wellput.agreement.rankings.judgment_design import question_data
from wellput.stats.corrections import holm


def test_slices_by_a_further_column() -> None:
    ratings = [
        Judgment(
            one.judge, one.item, one.system, one.question,
            one.number + (12 if one.system == "C" and int(one.item[1:]) < 6 else 0),
            {"domain": "news" if int(one.item[1:]) < 6 else "chat"},
        )
        for one in simulated(4)
    ]  # fmt: skip
    found = wellput.rank(ratings, by="domain", permutations=10)
    firsts = {str(one.by): one.systems[0].system for one in found.rankings}
    assert firsts["{'domain': 'news'}"] == "C"
    assert firsts["{'domain': 'chat'}"] == "A"
    assert found.to_dict()["questions"][1]["by"] == {"domain": "chat"}
    with pytest.raises(
        InputError, match="neither a further column of the judgments nor a tag of evalset="
    ):
        wellput.rank(ratings, by="topic")
    assert found.answer.splitlines()[1].startswith("quality, domain chat: people prefer A")


def sliced(seed: int, *, more_in_news: float = 0.0) -> list[Judgment]:
    """24 items in two domains; in one of them, C gets `more_in_news`."""
    return [
        replace(
            one,
            value=one.number
            + (more_in_news if one.system == "C" and int(one.item[1:]) < 12 else 0),
            extra={"domain": "news" if int(one.item[1:]) < 12 else "chat"},
        )
        for one in simulated(seed, gap=0.3, items=24)
    ]


def test_p_values_of_slices_are_corrected_together_and_ranks_follow() -> None:
    found = wellput.rank(sliced(5, more_in_news=2), by="domain", permutations=10)
    slices = found.rankings[1:]
    every = [one for part in slices for one in part.differences]
    assert len(every) == 6
    expected = holm(np.array([one.p_value for one in every]))
    assert [one.p_adjusted for one in every] == pytest.approx(expected)
    for part in slices:
        for row in part.systems:
            ahead = sum(one.is_real and one.systems[1] == row.system for one in part.differences)
            assert row.rank_low == 1 + ahead
    uncorrected = wellput.rank(sliced(5), by="domain", correction="none", permutations=10)
    assert all(
        one.p_adjusted == one.p_value for part in uncorrected.rankings for one in part.differences
    )


def test_whether_a_difference_depends_on_the_slice_is_welchs_test_of_the_slices() -> None:
    """With two slices Welch's F is the squared difference of the two differences, divided by the sum of
    their squared errors; errors are half the interval divided by Student's quantile."""
    found = wellput.rank(sliced(5, more_in_news=2), by="domain", permutations=10)
    whole, *slices = found.rankings
    assert [test.systems for test in found.slice_tests] == [d.systems for d in whole.differences]
    test = next(one for one in found.slice_tests if set(one.systems) == {"A", "B"})
    errors = []
    for part, name in zip(slices, ("chat", "news"), strict=True):
        (one,) = (d for d in part.differences if set(d.systems) == {"A", "B"})
        assert abs(test.deltas[name]) == pytest.approx(abs(one.delta))
        assert one.low is not None
        assert one.high is not None
        own = [row for row in sliced(5, more_in_news=2) if row.extra["domain"] == name]
        freedom = fit_question(question_data("quality", own)).freedom[0]
        errors.append((one.high - one.low) / 2 / student.isf(0.025, freedom))
    gap = test.deltas["chat"] - test.deltas["news"]
    assert test.statistic == pytest.approx(gap**2 / (errors[0] ** 2 + errors[1] ** 2))
    shown = str(found)
    assert "How far C is ahead of A depends on domain, p < 0.001" in shown
    assert "domain chat differs from the whole: there people prefer A to C" in shown
    assert "corrected for all 6 differences of all slices" in shown


def test_where_slices_agree_a_sentence_says_so() -> None:
    shown = str(wellput.rank(sliced(6), by="domain", permutations=10))
    assert "No difference between systems is shown to depend on domain (smallest p" in shown
    assert "differs from the whole: there" not in shown
    assert "see below" not in shown.partition("domain chat")[2]


def test_all_slices_are_ranked_by_one_model() -> None:
    """Grades of 1 to 4. In one domain every answer about A is the highest, so the ordinal model has no
    estimate there; the slices then are linear, all of them. Without this, the whole's model is used."""
    rng = np.random.default_rng(2)
    graded = [
        Judgment(
            f"J{judge}", f"i{item}", system, "quality",
            4.0 if system == "A" and item < 10 else float(rng.integers(1, 5)),
            {"domain": "news" if item < 10 else "chat"},
        )
        for judge in range(4) for item in range(20) for system in "AB"
    ]  # fmt: skip
    whole, chat, news = wellput.rank(graded, by="domain", permutations=10).rankings
    assert (whole.fitted, chat.fitted, news.fitted) == ("ordinal", "linear", "linear")
    shown = str(wellput.rank(graded, by="domain", permutations=10))
    assert "All slices are by the linear model, so that they can be compared" in shown
    # Halves are not whole grades, so the answers of that slice alone would be taken as ratings.
    mixed = [
        replace(one, value=one.number + 0.5 if one.extra["domain"] == "news" else one.number)
        for one in graded
    ]
    found = wellput.rank(mixed, by="domain", permutations=10).rankings
    assert {one.fitted for one in found} == {"linear"}


def test_a_small_slice_is_refused_by_its_name() -> None:
    ratings = sliced(5)
    few = [replace(one, extra={"domain": "law"}) for one in ratings[:6]]
    found = wellput.rank([*ratings[6:], *few], by="domain", permutations=10)
    assert found.refused == {
        "quality, domain law": "quality, domain law: 6 judgments, too few to rank by."
    }
