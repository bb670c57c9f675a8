"""What the report says and shows first, and the pairs of systems below it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import wellput
from tests.reporting.html.evaluations import (
    ladder_evalset,
    ladder_judgments,
    ladder_systems,
    small_evaluation,
    small_judgments,
)
from wellput.agreement.rankings.plain_ranking import RankedSystem, Ranking, SystemDifference
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment, Preference
from wellput.reporting.html.answer import NO_JUDGMENTS_NOTE, shown_range
from wellput.reporting.html.pairs import pair_matrix


def row(estimate: float, low: float | None = None, high: float | None = None) -> RankedSystem:
    return RankedSystem("A", estimate, low, high, 1, 1, 1, 1, 10, estimate)


def cell(picture: Any, metric: str, system: str) -> Any:
    (column,) = [column for column in picture["metrics"] if column["metric"] == metric]
    return column["cells"][[row["system"] for row in picture["systems"]].index(system)]


def test_systems_stand_in_peoples_order_with_the_rank_under_each_metric() -> None:
    # Six systems; the last gives the reference as the first does, so ssa scores both 1 and puts
    # them first and second: the last stands above four that people prefer to it, s01 may be first.
    evaluation = small_evaluation(ladder_evalset(6), ladder_judgments(6), metrics="ssa,random")
    (answer,) = evaluation.answers
    picture = answer.picture
    assert [row["system"] for row in picture["systems"]] == ladder_systems(6)
    assert [row["ranks"] for row in picture["systems"]] == ["1", "2", "3", "4", "5", "6"]
    assert [column["metric"] for column in picture["metrics"]] == ["ssa"]  # random ranks nobody
    last = cell(picture, "ssa", "s06")
    assert (last["rank"], last["score"], last["misplaced"]) == (2, 1.0, 4)
    # A tie is no agreement: s01 is not strictly ahead of s06 either.
    assert last["above"] == ["s01", "s02", "s03", "s04", "s05"]
    second = cell(picture, "ssa", "s02")
    assert (second["rank"], second["misplaced"], second["below"]) == (3, -1, ["s06"])
    first = cell(picture, "ssa", "s01")
    assert (first["rank"], first["misplaced"]) == (1, 0)
    assert evaluation.order == ladder_systems(6)


def test_the_sentences_name_the_winner_and_what_fools_the_metric() -> None:
    (answer,) = small_evaluation(ladder_evalset(6), ladder_judgments(6), metrics="ssa").answers
    first, second = answer.sentences
    assert first.startswith("People prefer s01 (50.22) to each of the 5 others")
    assert second.endswith("ssa is fooled by s06: it ranks s06 2 of 6, people rank it last.")


def test_of_several_questions_each_is_named() -> None:
    judgments = ladder_judgments(3) + ladder_judgments(3, "clarity")
    answers = small_evaluation(ladder_evalset(3), judgments, metrics="ssa").answers
    assert [answer.question for answer in answers] == ["quality", "clarity"]
    assert [answer.sentences[0].split(":")[0] for answer in answers] == ["quality", "clarity"]


def test_without_judgments_the_metrics_order_the_systems() -> None:
    evaluation = small_evaluation(ladder_evalset(4), [], metrics="ssa,ter,length")
    (answer,) = evaluation.answers
    assert answer.sentences[1] == NO_JUDGMENTS_NOTE
    # s01 and s04 share the first place under both metrics; a length ranks nobody.
    assert [row["system"] for row in answer.picture["systems"]] == ["s01", "s04", "s02", "s03"]
    assert [column["metric"] for column in answer.picture["metrics"]] == ["ssa", "ter"]
    assert [cell(answer.picture, "ter", s)["rank"] for s in ladder_systems(4)] == [1, 3, 4, 1]
    assert [c["is_lower_better"] for c in answer.picture["metrics"]] == [False, True]


def test_where_no_metric_ranks_systems_all_are_drawn_unranked() -> None:
    (answer,) = small_evaluation(ladder_evalset(2), [], metrics="length").answers
    assert [c["rank"] for c in answer.picture["metrics"][0]["cells"]] == [None, None]


def test_systems_that_nobody_judged_come_last_and_are_named() -> None:
    judgments = [j for j in small_judgments() if j.system != "A"]
    evaluation = small_evaluation(answers=judgments)
    (answer,) = evaluation.answers
    assert [row["system"] for row in answer.picture["systems"]] == ["B", "C"]
    assert evaluation.order == ["B", "C", "A"]
    assert "Nobody judged A." in answer.notes


def test_choices_are_shares_on_an_axis_from_0_to_1() -> None:
    choices = [
        Preference(judge, f"i{n}", "A", "C", "better", "b" if n == 1 and judge == "J1" else "a")
        for judge in ("J1", "J2")
        for n in range(1, 7)
    ]
    (answer,) = small_evaluation(answers=choices).answers
    assert answer.picture["is_share"] and answer.picture["domain"] == (0.0, 1.0)
    assert answer.picture["systems"][0]["value"] == pytest.approx(11 / 12)


def test_one_judge_of_one_item_gives_no_interval_and_no_group() -> None:
    alone = [Judgment("J", "i1", system, "quality", v) for system, v in (("A", 2.0), ("B", 1.0))]
    (answer,) = small_evaluation(answers=alone).answers
    assert [row["low"] for row in answer.picture["systems"]] == [None, None]
    assert [row["ranks"] for row in answer.picture["systems"]] == ["1", "2"]
    assert not any("95%" in note for note in answer.notes)


def test_the_axis_shows_the_whole_scale_unless_the_systems_are_close() -> None:
    assert shown_range([row(2.0), row(6.0)], (1.0, 7.0)) == (1.0, 7.0)
    assert shown_range([row(80.0, 78.0, 82.0), row(85.0)], (0.0, 100.0)) == (78.0, 85.0)
    assert shown_range([row(3.0)], (1.0, 7.0)) == (1.0, 7.0)


def test_a_pair_under_a_metric_for_which_lower_is_better() -> None:
    # 200 resamples, or Holm's method could call no pair of three real.
    evalset = EvalSet.of({"A": ["a b c d"] * 12, "B": ["x y z d"] * 12}, ["a b c d"] * 12)
    result = small_evaluation(evalset, [], metrics="ter,ssa,length-only").result
    ter, ssa, length = pair_matrix(result, (), ["A", "B"]).scorers
    # TER of A is 0, of B 75: the difference is −75, and A is better.
    assert [(pair.delta, pair.ahead) for pair in ter.pairs] == [(-75.0, 1)]
    assert [(pair.delta, pair.ahead) for pair in ssa.pairs] == [(0.75, 1)]
    assert [(pair.delta, pair.ahead) for pair in length.pairs] == [(0.0, 0)]
    assert list(ter.order) == list(ssa.order) == ["A", "B"]


def test_people_are_the_first_scorer_and_whoever_is_ahead_is_better() -> None:
    # Of seconds the fewest are best: the first is ahead with a negative difference.
    gap = SystemDifference(("A", "B"), -3.0, -4.0, -2.0, 0.001, 0.001)
    rows = (row(5.0), RankedSystem("B", 8.0, None, None, 2, 2, 2, 2, 10, 8.0))
    ranking = Ranking("seconds", "mean", rows, (gap,), 2, 5, 20)
    result = small_evaluation().result
    people, *metrics = pair_matrix(result, [ranking], ["A", "B", "C"]).scorers
    assert (people.name, people.question) == ("people: seconds", "seconds")
    assert [(pair.delta, pair.ahead) for pair in people.pairs] == [(-3.0, 1)]
    assert [scorer.metric for scorer in metrics] == list(result.metrics)


def test_machine_judges_are_not_called_people() -> None:
    machines = [replace(one, judge=f"model:{one.judge}") for one in small_judgments()]
    evaluation = small_evaluation(answers=machines, metrics="gsa")
    (answer,) = evaluation.answers
    assert answer.picture["who"] == "machine judges"
    assert answer.tables[0].title == "Whom machine judges prefer: quality"
    assert evaluation.agreement is not None
    pairs = pair_matrix(evaluation.result, evaluation.agreement.ranking, ["A", "B", "C"])
    assert pairs.scorers[0].name == "machine judges: quality"
    (people,) = small_evaluation(metrics="gsa").answers
    assert people.picture["who"] == "people"


def test_the_pairs_hold_for_other_documents_where_items_have_them() -> None:
    outputs = {"A": "a b c d", "B": "a b d"}
    for document, units in (("d", "documents"), (None, "items")):
        items = [
            Item(f"i{n}", outputs, ("a b c d",), document=document and f"d{n // 2}")
            for n in range(6)
        ]
        result = wellput.score(EvalSet(items), "gsa", all_pairs=True)
        assert pair_matrix(result, (), ["A", "B"]).units == units
