"""Rankings wherever they are shown: those of `wellput rank`, or plain means with a reason."""

from __future__ import annotations

import numpy as np
import pytest

import wellput
from wellput.agreement.panel import Exclusion, normalized, panels
from wellput.agreement.rankings.plain_ranking import winner_sentence
from wellput.agreement.rankings.ranked_questions import judgments_of, rank_answers, rank_question
from wellput.core.judgment import Judgment, PairwiseChoice, Preference

JUDGES, ITEMS = [f"J{n}" for n in range(5)], [f"i{n}" for n in range(12)]


def ratings() -> list[Judgment]:
    rng = np.random.default_rng(3)
    return [
        Judgment(
            judge, item, system, "quality", float(rng.normal(worth, 1)), {"document": item[:2]}
        )
        for judge in JUDGES
        for item in ITEMS
        for system, worth in (("A", 5.0), ("B", 4.0), ("C", 2.0))
    ]


def choices(*pairs: tuple[str, str, PairwiseChoice]) -> list[Preference]:
    return [
        Preference(judge, item, a, b, "better", choice)
        for judge in JUDGES
        for item in ITEMS
        for a, b, choice in pairs
    ]


def test_it_is_the_ranking_of_rank() -> None:
    (shown,) = rank_answers(ratings())
    assert shown.to_dict() == wellput.rank(ratings(), permutations=10).rankings[0].to_dict()


def test_agree_has_the_ranking_of_rank() -> None:
    demo = wellput.demo(no_report=True)
    entry = demo.agreement.ranking[0].to_dict()
    expected = wellput.rank(demo.judgments, permutations=10).rankings[0].to_dict()
    assert entry["systems"] == expected["systems"]
    assert entry["differences"] == expected["differences"]
    assert entry["variance"] == expected["variance"]


def test_the_json_of_agree_has_the_keys_of_rank_whether_a_model_was_fitted_or_not() -> None:
    (asked,) = wellput.rank(ratings(), permutations=10).to_dict()["questions"]
    (fitted,) = rank_answers(ratings())
    (plain,) = rank_answers(choices(("A", "B", "a"), ("C", "A", "b")))
    assert fitted.to_dict()["model"] == "linear" and plain.to_dict()["model"] is None
    assert asked.keys() == fitted.to_dict().keys() == plain.to_dict().keys()


def test_left_out_judgments_and_scales_are_those_of_the_panel() -> None:
    answers = ratings()
    panel = panels(answers, "ABC", ITEMS)["quality"]
    panel = panel.without(Exclusion("quality", "a mistake", judge="J0", item="i0"))
    kept = judgments_of(panel, answers)
    assert len(kept) == len(answers) - 3
    assert kept[0] is answers[3]  # with its value and its further columns
    on_scale = judgments_of(normalized(panel, "z"), answers)
    own = [one.number for one in on_scale if one.judge == "J1"]
    assert np.mean(own) == pytest.approx(0, abs=1e-12)
    assert np.std(own, ddof=1) == pytest.approx(1)
    assert on_scale[0].extra == {"document": answers[3].extra["document"]}


def test_a_system_that_won_everything_has_no_interval_but_a_sentence() -> None:
    (ranking,) = rank_answers(choices(("A", "B", "a"), ("C", "A", "b")))
    first = ranking.systems[0]
    assert (first.system, first.estimate, first.low) == ("A", 1.0, None)
    assert ranking.to_dict()["model"] is None
    assert all(np.isnan(one.p_value) for one in ranking.differences)
    assert [one.delta for one in ranking.differences_from_first] == [1.0, 1.0]
    sentence = winner_sentence(ranking)
    assert "A has the highest win rate, 100%, but how sure that is cannot be said." in sentence
    assert "A won all 120 comparisons and B lost all 60 comparisons" in sentence


def test_too_many_systems_are_ranked_without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pair of 20,000 systems would be 200 million differences."""
    for room in ("ranked_questions", "fitted_question"):
        monkeypatch.setattr(f"wellput.agreement.rankings.{room}.MAX_RANKED_SYSTEMS", 2)
    (shown,) = rank_answers(ratings())
    assert [row.system for row in shown.systems] == ["A", "B", "C"]
    assert [one.systems for one in shown.differences] == [("A", "B"), ("A", "C")]
    assert shown.refusal.startswith("3 systems were judged, and at most 2 are compared by a model.")
    with pytest.raises(wellput.InputError, match="at most 2 are compared by a model"):
        wellput.rank(ratings())


def test_a_group_that_won_everything_is_named() -> None:
    even: list[tuple[str, str, PairwiseChoice]] = [
        ("A", "B", "a"), ("A", "B", "b"), ("C", "D", "a"), ("C", "D", "b"), ("A", "C", "a"),
    ]  # fmt: skip
    ranking = rank_question("better", choices(*even))
    assert ranking.refusal.startswith("A and B won every comparison with the others")


def test_equal_answers_have_no_leader() -> None:
    (ranking,) = rank_answers(
        [Judgment("J", item, system, "q", 3.0) for item in "xy" for system in "AB"]
    )
    assert winner_sentence(ranking) == "All 4 judgments are the same, so no system is ahead."


def test_a_system_of_one_judge_is_named() -> None:
    answers = [one for one in ratings() if one.system != "C" or one.judge == "J2"]
    ranking = rank_question("quality", answers)
    assert ranking.notes[0].startswith("C was judged by one judge only")


def test_a_running_study_has_ranks_but_no_intervals_of_systems() -> None:
    rng = np.random.default_rng(2)
    answers = [
        Judgment(f"J{j}", f"i{i}", system, "quality", float(rng.normal(worth, 1)))
        for j in range(6)
        for i in range(30)
        for system, worth in (("A", 5.0), ("B", 3.0))
    ]
    (early,) = rank_answers(answers[:120], sequential=True)
    assert early.sequential and not early.has_tests and "Too early" in early.refusal
    (later,) = rank_answers(answers, sequential=True)
    (fixed,) = rank_answers(answers)
    assert later.systems[0].low is None and later.systems[0].rank_high == 1
    assert later.differences[0].p_value > fixed.differences[0].p_value
