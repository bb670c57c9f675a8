"""`vet` on judgments: trials, repeats, biases and the verdict, worked by hand or planted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import wellput
from wellput.agreement.machines.biases import family_of, judge_biases
from wellput.agreement.machines.comparison import machine_comparisons
from wellput.agreement.machines.judged_trials import (
    OutputKey,
    OutputValues,
    are_on_scale,
    judged_trials,
    on_question_scale,
)
from wellput.agreement.machines.vetting import VetOptions, VetResult, vet_judge
from wellput.core.errors import InputError
from wellput.core.judgment import Judgment, PairwiseChoice, Preference
from wellput.reporting.html.machines import machine_words
from wellput.reporting.vet import vet_report

JUDGE = "model:gpt-4o"
LENIENT = VetOptions(min_items=2)


def rating(judge: str, item: int | str, system: str, value: float | str, **extra: str) -> Judgment:
    return Judgment(judge, str(item), system, "q", value, extra)


def choice(judge: str, item: int | str, pair: str, won: PairwiseChoice) -> Preference:
    return Preference(judge, str(item), pair[0], pair[1], "q", won)


def test_a_choice_is_the_same_in_both_orders() -> None:
    trials = judged_trials(
        [choice("Kim", 1, "AB", "a"), choice("Lee", 1, "BA", "b"), choice(JUDGE, 1, "BA", "a")],
        JUDGE,
    )
    assert trials.people[:, 0].tolist() == [1, 1]
    assert trials.judge.tolist() == [0]


def test_who_answers_twice_counts_once() -> None:
    labels = [rating(JUDGE, 1, "A", label) for label in ("x", "y", "y")]
    found = judged_trials([rating("Kim", 1, "A", "y"), *labels], JUDGE)
    assert found.judge[0] == found.people[0, 0]
    numbers = [rating(JUDGE, 1, "A", value) for value in (2, 5)]
    assert judged_trials([rating("Kim", 1, "A", 1), *numbers], JUDGE).judge[0] == 3.5
    swapped = [choice(JUDGE, 1, "AB", "a"), choice(JUDGE, 1, "BA", "a")]
    assert judged_trials([choice("Kim", 1, "AB", "a"), *swapped], JUDGE).judge[0] == 0.5


def test_other_machines_are_not_people() -> None:
    found = judged_trials(
        [rating(name, 1, "A", 1) for name in ("Kim", "Lee", JUDGE, "model:llama")], JUDGE
    )
    assert found.people_names == ("Kim", "Lee")
    assert found.other_machines == ("model:llama",)


def test_a_question_that_only_the_judge_answered_counts_nothing() -> None:
    alone = [Judgment(JUDGE, str(n), "A", "style", n % 3 + 1.0, {}) for n in range(20)]
    found = vet_judge([*study(), *alone], JUDGE, LENIENT)
    assert found.biases.severity == pytest.approx(
        vet_judge(study(), JUDGE, LENIENT).biases.severity
    )


def study(severity: float = 0.0, *, noise: float = 0.5, seed: int = 1) -> list[Judgment]:
    """Three people and the judge on 40 items and two systems; system B is 2 points better."""
    rng = np.random.default_rng(seed)
    answers = []
    for item, system in product(range(40), "AB"):
        quality = 3 + 2 * (system == "B") + rng.normal()
        answers += [rating(p, item, system, quality + rng.normal()) for p in ("Kim", "Lee", "Mia")]
        answers.append(rating(JUDGE, item, system, quality + severity + noise * rng.normal()))
    return answers


def test_the_order_of_the_rows_does_not_change_the_interval_of_the_ceiling() -> None:
    """More than 40 answers are left out in random groups, which once followed the order of the rows."""
    rng = np.random.default_rng(5)
    tastes, items = rng.normal(size=(6, 3)), rng.normal(size=20)
    rows = [
        rating(judge, item, system, float(round(4 + tastes[j, s] + items[item] + rng.normal())))
        for j, judge in enumerate(["P1", "P2", "P3", "P4", "P5", JUDGE])
        for item in range(20)
        for s, system in enumerate("ABC")
    ]
    shuffled = [rows[place] for place in np.random.default_rng(1).permutation(len(rows))]
    first, second = (vet_judge(answers, JUDGE, LENIENT) for answers in (rows, shuffled))
    assert first.ceiling is not None
    assert second.ceiling is not None
    assert first.ceiling.low is not None
    assert (first.ceiling.low, first.ceiling.high) == pytest.approx(
        (second.ceiling.low, second.ceiling.high), abs=1e-12
    )


def test_the_order_of_the_rows_does_not_change_the_intervals_with_many_items() -> None:
    """More than 50 items are left out in groups, which once followed the order of the rows."""
    rng = np.random.default_rng(6)
    rows = [
        rating(judge, f"i{item}", system, float(round(4 + quality + rng.normal())))
        for item, quality in enumerate(rng.normal(size=70))
        for system in "AB"
        for judge in ("P1", "P2", "P3", JUDGE)
    ]
    shuffled = [rows[place] for place in np.random.default_rng(1).permutation(len(rows))]
    first, second = (
        _intervals(vet_judge(answers, JUDGE, LENIENT).to_dict()) for answers in (rows, shuffled)
    )
    assert len(first) > 3
    assert first == pytest.approx(second, abs=1e-9)


def _intervals(record: Any) -> list[float]:
    """All bounds of intervals in a record, sorted."""
    if isinstance(record, dict):
        own = [record[key] for key in ("low", "high") if record.get(key) is not None]
        return sorted(own + [bound for value in record.values() for bound in _intervals(value)])
    if isinstance(record, list):
        return sorted(bound for value in record for bound in _intervals(value))
    return []


def test_the_order_of_the_rows_does_not_change_a_metrics_answers() -> None:
    """A metric's scores are put on the question's scale by fits to the items of other folds."""
    rows = [rating(judge, f"i{n}", "A", n % 4 + 1) for judge in ("P1", "P2") for n in range(9)]
    scores: OutputValues = {("A", f"i{n}"): 10.0 * (n % 4) + n for n in range(9)}
    answers = []
    for order in (range(18), np.random.default_rng(1).permutation(18)):
        found = judged_trials([rows[place] for place in order], "chrf", scores=scores)
        assert found.is_refitted
        answers.append(dict(zip(found.trials, found.judge.tolist(), strict=True)))
    assert answers[0] == pytest.approx(answers[1])


@pytest.mark.parametrize(
    ("spread", "doubt"), [(0.0, "do not differ enough"), (0.4, "not shown to agree")]
)
def test_a_judge_in_the_middle_passes_but_stands_in_for_nobody(spread: float, doubt: str) -> None:
    rng = np.random.default_rng(2)
    answers = []
    for item, system in product(range(60), "AB"):
        answers += [rating(p, item, system, 3 + rng.normal()) for p in ("Kim", "Lee", "Mia")]
        answers.append(rating(JUDGE, item, system, 3 + spread * rng.choice([-1, 1])))
    found = vet_judge(answers, JUDGE, VetOptions())
    assert found.alt_test.passed
    assert doubt in found.verdict
    assert "It should not stand in for anyone" in found.verdict


def test_a_judge_that_knows_the_truth_passes_and_ranks() -> None:
    found = vet_judge(study(), JUDGE, VetOptions())
    assert found.alt_test.passed
    assert found.alt_test.winning_rate == 1
    assert found.agreement.judge.value > found.agreement.people.value
    assert found.pairs is not None
    assert (found.pairs.pairs, found.pairs.right) == (1, 1)
    assert found.verdict.startswith(f"{JUDGE} may stand in for one of these people")
    assert "agrees more with people than they do with each other (r = 0." in found.verdict


def shared_trials(counts: dict[str, int], value: float = 1.0) -> list[Judgment]:
    """Each person's first trials of Kim's; everyone gives 0 and 1 in turn, as the judge does."""
    longest = max(counts.values())
    return [
        rating(judge, item, "A", value * (item % 2))
        for judge, n in {**counts, JUDGE: longest}.items()
        for item in range(n)
    ]


def test_two_people_of_four_give_no_verdict() -> None:
    counts = {"Kim": 31, "Lee": 29, "Mia": 27, "Noa": 26}
    found = vet_judge(
        [*shared_trials(counts), rating("Lee", "30", "A", 0)],
        JUDGE,
        VetOptions(min_items=30),
    )
    assert found.alt_test.passed
    first = found.verdict.splitlines()[0]
    assert first.startswith(f"This is no verdict on whether {JUDGE} may stand in for people")
    assert "only 2 of 4 people have at least 30 trials with the judge" in first
    assert "(Mia 27, Noa 26 trials); min_items=25 would test 4." in first
    assert "may stand in for one of these people" not in found.verdict
    assert not found.to_dict()["alt_test"]["is_enough"]
    assert found.to_dict()["alt_test"]["untested"] == [
        {"judge": "Mia", "n": 27},
        {"judge": "Noa", "n": 26},
    ]
    enough = vet_judge(shared_trials(counts), JUDGE, VetOptions(min_items=25))
    assert enough.verdict.startswith(f"{JUDGE} may stand in for one of these people")


def test_the_report_repeats_that_there_is_no_verdict() -> None:
    (one,) = machine_comparisons(shared_trials({"Kim": 31, "Lee": 31, "Mia": 27, "Noa": 26}))
    words = machine_words(one)[0]
    assert words.startswith("This is no verdict")
    assert "; wellput vet --min-items 25 would test 4" in words


def test_three_people_of_seven_are_too_few_and_so_are_two_of_two() -> None:
    few = dict.fromkeys(("Noa", "Oda", "Pia", "Quy"), 6)
    three = vet_judge(shared_trials({"Kim": 40, "Lee": 40, "Mia": 40, **few}), JUDGE, VetOptions())
    assert "only 3 of 7 people have at least 30 trials" in three.verdict
    assert "would test" not in three.verdict  # six trials are too few for any limit
    two = vet_judge(shared_trials({"Kim": 40, "Lee": 40}), JUDGE, VetOptions())
    assert "only 2 people shared trials with it" in two.verdict


def with_scores(values: list[float], people: float = 1.0) -> VetResult:
    """Kim, Lee and Mia on 40 items; the judge is a file of scores."""
    counts = dict.fromkeys(("Kim", "Lee", "Mia"), 40)
    answers = [one for one in shared_trials(counts, people) if one.judge != JUDGE]
    scores: OutputValues = {("A", str(item)): values[item % len(values)] for item in range(40)}
    return vet_judge(answers, "./scores.csv", VetOptions(), scores=scores)


def test_scores_on_the_scale_are_taken_as_they_are() -> None:
    # People say 0, 1, 0, 1 …; the scores 0, 1, 1, 1 …: on every fourth item a point more.
    found = with_scores([0.0, 1.0, 1.0, 1.0])
    assert not found.is_refitted
    assert found.biases.severity is not None
    assert found.biases.severity.value == pytest.approx(0.25)
    shrunk = with_scores([0.1, 0.9, 0.8, 0.7])
    assert shrunk.is_refitted
    assert shrunk.biases.severity is None
    assert shrunk.biases.by_system == ()
    assert "fitted to people's answers" in shrunk.biases.missing["severity"]


@pytest.mark.parametrize(
    ("scores", "people", "is_on"),
    [
        ([0, 1], [0, 1], True),
        ([0.5, 1], [0, 1], False),
        ([1, 2, 4.5], [1, 2, 3, 4, 5], True),
        ([0, 5], [1, 5], False),
        ([0.3, 0.9], [0, 1, 2, 3, 4], False),  # covers too little of the scale: a similarity
        ([12, 90], range(101), True),
        ([12.5, 90], range(101), False),  # as BLEU beside answers from 0 to 100
    ],
)
def test_which_scores_are_on_the_scale(
    scores: Sequence[float], people: Sequence[float], is_on: bool
) -> None:
    assert are_on_scale(np.array(scores, float), np.array(people, float)) is is_on


def test_each_row_of_agreement_names_its_measure() -> None:
    table = vet_report(with_scores([0.0, 1.0, 1.0, 1.0])).tables[1]
    assert [row[1] for row in table.rows][:4] == [
        "share of equal answers", "share of equal answers", "difference of these", "κ (beyond chance)",
    ]  # fmt: skip


def test_a_severe_judge_is_for_ranking_not_for_means() -> None:
    found = vet_judge(study(-0.6, noise=0.1, seed=2), JUDGE, VetOptions(epsilon=0.2))
    severity = found.biases.severity
    assert severity is not None
    assert severity.low is not None
    assert severity.high is not None
    assert severity.low < -0.6 < severity.high < 0
    assert "for ranking systems, not for their means" in found.verdict
    assert "points less than people do" in found.verdict


def test_severity_is_the_mean_gap_of_each_system() -> None:
    answers = []
    for item in range(6):
        answers += [rating(p, item, s, 3) for p in ("Kim", "Lee") for s in "AB"]
        answers += [rating(JUDGE, item, "A", 3 + item % 2), rating(JUDGE, item, "B", 2)]
    found = judge_biases(judged_trials(answers, JUDGE))
    # A: gaps 0, 1, 0, 1, 0, 1: mean ½; B: −1. Their average is −¼; A deviates by +¾, B by −¾.
    assert [row.severity.value for row in found.by_system] == [0.5, -1]
    assert found.severity is not None
    assert found.severity.value == -0.25
    assert [row.deviation.value for row in found.by_system if row.deviation] == [0.75, -0.75]


def test_position_is_what_the_first_wins_beyond_half() -> None:
    answers = []
    for item in range(8):
        answers += [choice(p, item, "AB", "a") for p in ("Kim", "Lee")]
        # Shown in both orders, the judge takes the first, except on items 0 and 1, where A wins.
        answers.append(choice(JUDGE, item, "AB", "a"))
        answers.append(choice(JUDGE, item, "BA", "b" if item < 2 else "a"))
    found = judge_biases(judged_trials(answers, JUDGE)).position
    # Of 16 choices the first was taken in 14: 14/16 − 1/2 = 0.375.
    assert found is not None
    assert found.value == pytest.approx(0.375)
    one_order = [a for a in answers if a.judge != JUDGE or a.system_a == "A"]
    missing = judge_biases(judged_trials(one_order, JUDGE))
    assert missing.position is None
    assert "both orders" in missing.missing["position"]


def test_position_of_ratings_is_for_each_place_earlier() -> None:
    answers = []
    for item, (place, system) in product(range(10), enumerate("ABC", start=1)):
        order = (place + item) % 3 + 1
        answers += [rating(p, item, system, 3 + item % 2) for p in ("Kim", "Lee")]
        value = 5 + item % 2 - 0.5 * order + 0.01 * (item % 3)
        answers.append(rating(JUDGE, item, system, value, order=str(order)))
    vetted = wellput.vet(answers, JUDGE, min_items=5)
    assert vetted.biases.position is not None
    assert vetted.biases.position.value == pytest.approx(0.5, abs=0.02)
    assert "position: for each place earlier" in str(vetted)
    assert "It favors outputs shown earlier: 0.5" in str(vetted)
    assert "How many points more it gives than people do." in str(vetted)


def test_length_is_what_a_doubling_adds_within_systems() -> None:
    rng = np.random.default_rng(3)
    answers: list[Judgment] = []
    lengths: dict[OutputKey, float] = {}
    for item, system in product(range(12), "AB"):
        size = 2.0 ** rng.integers(3, 8)
        lengths[system, str(item)] = size
        answers += [rating(p, item, system, 3) for p in ("Kim", "Lee")]
        answers.append(
            rating(JUDGE, item, system, 3 + 0.25 * math.log2(size) + 5 * (system == "B"))
        )
    found = judge_biases(judged_trials(answers, JUDGE), lengths=lengths)
    assert found.length is not None
    assert found.length.value == pytest.approx(0.25)


def test_self_preference_is_for_the_own_family() -> None:
    answers = []
    for item in range(10):
        for system, gap in (("gpt-3.5", 1.0), ("llama", 0.0), ("bart", 0.5)):
            answers += [rating(p, item, system, 3) for p in ("Kim", "Lee")]
            answers.append(rating(JUDGE, item, system, 3 + gap + 0.1 * (item % 2)))
    found = judge_biases(judged_trials(answers, JUDGE), own=["gpt-3.5"])
    assert found.self_preference is not None
    assert found.self_preference.value == pytest.approx(1 - 0.25)
    assert judge_biases(judged_trials(answers, JUDGE)).self_preference is None
    asked = wellput.vet(answers, JUDGE, own="gpt-3.5", min_items=5).biases.self_preference
    assert asked is not None
    assert asked.value == found.self_preference.value


@pytest.mark.parametrize(
    ("name", "family"),
    [("model:openai/gpt-4o", "gpt"), ("GPT4", "gpt"), ("7b-llama", "llama"), ("M22", "m22")],
)
def test_the_family_is_the_first_word(name: str, family: str) -> None:
    assert family_of(name) == family


def test_labels_have_no_severity_and_consistency_counts_equal_answers() -> None:
    answers = [rating(p, item, "A", "xy"[item % 2]) for p in ("Kim", "Lee") for item in range(12)]
    answers += [rating(JUDGE, item, "A", "x") for item in range(12)]
    answers += [rating(JUDGE, item, "A", "x" if item else "y") for item in range(12)]
    found = vet_judge(answers, JUDGE, LENIENT)
    assert found.alt_test.scoring == "accuracy"
    assert found.agreement.judge.value == pytest.approx(0.5)
    assert found.biases.severity is None
    assert found.consistency is not None
    assert found.consistency.value == pytest.approx(11 / 12)
    with pytest.raises(InputError, match="labels"):
        vet_judge(answers, JUDGE, VetOptions(scoring="neg_rmse"))


def test_a_metric_is_turned_to_the_scale_by_fits_that_do_not_see_the_item() -> None:
    items = np.repeat(np.arange(20), 2)
    scores = np.arange(40.0)
    people = 1 + scores / 10
    questions = np.zeros(40, np.intp)
    assert on_question_scale(scores, people, items, questions) == pytest.approx(people)
    spoiled = people.copy()
    spoiled[items == 7] = 1000
    own = on_question_scale(scores, spoiled, items, questions)[items == 7]
    assert own == pytest.approx(people[items == 7])  # fold 7 also has item 17, which is not spoiled


def test_questions_of_different_scales_have_no_common_severity() -> None:
    answers = []
    for item in range(12):
        for question, scale in (("q", 1), ("r", 20)):
            for judge in ("Kim", "Lee", JUDGE):
                value = scale * ((item + len(judge)) % 5)
                answers.append(Judgment(judge, str(item), "A", question, float(value)))
    found = vet_judge(answers, JUDGE, LENIENT)
    assert found.biases.severity is None
    assert "different scales" in found.biases.missing["severity"]


def test_nothing_in_common_is_refused() -> None:
    answers = [rating("Kim", 1, "A", 1), rating("Lee", 1, "A", 2), rating(JUDGE, 2, "A", 1)]
    with pytest.raises(InputError, match="answered no trial"):
        vet_judge(answers, JUDGE, LENIENT)
    with pytest.raises(InputError, match=f"Did you mean {JUDGE}"):
        vet_judge(answers, "gpt-4o", LENIENT)


def test_the_verdict_rests_on_whole_items() -> None:
    """On 12 items people say −1, 0 and 1 and the judge 0: it beats the first and the last. On 8 all
    people say 0 and the judge 1. Kim less judge is −0.2 on average: with 10 alike trials an item,
    t is −4.3 over 200 trials, but −1.3 over 20 items."""
    answers = []
    for item, system in product(range(20), range(10)):
        is_won = item < 12
        values = {"Kim": -1.0 * is_won, "Lee": 0.0, "Mia": 1.0 * is_won, JUDGE: float(not is_won)}
        answers += [rating(name, item, str(system), value) for name, value in values.items()]
    found = vet_judge(answers, JUDGE, VetOptions(scoring="neg_rmse"))
    test = found.alt_test
    assert test.is_clustered
    assert [one.is_beaten_in_published_test for one in test.people] == [True, False, True]
    assert [one.is_beaten for one in test.people] == [False, False, False]
    assert (test.passed, test.passes_deciding_test) == (True, False)
    assert "not shown to be able to stand in" in found.verdict
    assert (
        "it beat 0 of 3 people (allowance: a person's share of nearer answers may be up to 0.1 higher; "
        "2 by the published test" in found.verdict
    )
    values = found.to_dict()["alt_test"]
    assert values["clustered"] == {
        "winning_rate": test.beaten_rate,
        "passed": test.passes_deciding_test,
    }
    columns = vet_report(found).tables[0].columns
    assert columns[-2:] == ["as published: p (BY)", "beaten"]


def test_the_size_of_the_scale_does_not_matter() -> None:
    rows = study(0.1)
    small = [replace(row, value=1e-12 * float(row.value)) for row in rows]
    one, other = (vet_judge(given, JUDGE, VetOptions()) for given in (rows, small))
    assert one.biases.severity is not None and other.biases.severity is not None
    assert other.biases.severity.p_value == pytest.approx(one.biases.severity.p_value)
    assert other.pairs == one.pairs


def test_a_judge_that_is_always_a_point_lower_has_a_p_value() -> None:
    people = [rating(p, item, "A", item % 5) for p in ("Kim", "Lee") for item in range(12)]
    judge = [rating(JUDGE, item, "A", item % 5 - 1) for item in range(12)]
    found = vet_judge(people + judge, JUDGE, VetOptions(min_items=10))
    severity = found.biases.severity
    assert severity is not None
    assert (severity.value, severity.low) == (-1.0, None)
    assert severity.p_value == 2**-11  # twelve items on one side: 2 · ½¹²
    assert severity.method == "no interval: all differences are equal; sign test"
    assert "1.00 points less than people do on average, for every item alike." in found.verdict
    assert "sign test" in str(found)
    same = [rating(JUDGE, item, "A", item % 5) for item in range(12)]
    equal = vet_judge(people + same, JUDGE, VetOptions(min_items=10)).biases.severity
    assert equal is not None and (equal.value, equal.p_value) == (0.0, 1.0)


def test_equal_means_are_neither_right_nor_reversed() -> None:
    quality = {"A": 1.0, "B": 3.0, "C": 5.0}
    judged = {"A": 2.0, "B": 2.0, "C": 1.0}  # A = B, and C last instead of first
    rng = np.random.default_rng(1)
    answers = []
    for item, system in product(range(20), "ABC"):
        answers += [
            rating(p, item, system, quality[system] + 0.1 * rng.normal()) for p in ("K", "L")
        ]
        answers.append(rating(JUDGE, item, system, judged[system]))
    found = vet_judge(answers, JUDGE, VetOptions())
    assert found.pairs is not None
    assert (found.pairs.pairs, found.pairs.right, found.pairs.tied) == (3, 0, 1)
    assert set(found.pairs.against) == {("C", "A"), ("C", "B")}
    assert (
        "Of the 3 pairs of systems that these people tell apart, it orders 0 as they do; to 1 it"
        in found.verdict
    )


def test_a_copy_of_peoples_mean_is_noticed() -> None:
    answers = [one for one in study() if one.judge != JUDGE]
    means: dict[tuple[str, str], list[float]] = {}
    for one in answers:
        means.setdefault((one.item, one.system), []).append(one.number)
    copy = [rating(JUDGE, item, system, float(np.mean(v))) for (item, system), v in means.items()]
    assert (
        "may have been made from these judgments"
        in vet_judge(answers + copy, JUDGE, VetOptions()).verdict
    )
    assert "may have been made" not in vet_judge(study(), JUDGE, VetOptions()).verdict


@pytest.mark.parametrize("knows", [False, True])
def test_a_judge_that_gives_the_most_frequent_label_stands_in_for_nobody(knows: bool) -> None:
    """People say `good` to 80% of the outputs, each for reasons of their own unless the judge knows."""
    rng = np.random.default_rng(3)
    answers = []
    for item in range(80):
        truth = rng.random() < 0.8
        for person in ("Kim", "Lee", "Mia"):
            own = truth if knows and rng.random() < 0.9 else rng.random() < 0.8
            answers.append(rating(person, item, "A", "good" if own else "bad"))
        answers.append(rating(JUDGE, item, "A", "good" if truth or not knows else "bad"))
    found = vet_judge(answers, JUDGE, VetOptions(epsilon=0.2))
    assert found.alt_test.passed
    kappa = found.agreement.beyond_chance
    assert kappa is not None
    if knows:
        assert kappa.low is not None and kappa.low > 0.3
        assert found.verdict.startswith(f"{JUDGE} may stand in for one of these people")
    else:
        assert kappa.value == pytest.approx(0, abs=1e-12)
        assert "not shown to agree with people more than by chance (κ = 0.00" in found.verdict
        assert "It should not stand in for anyone" in found.verdict


def test_agreement_on_equal_answers_shows_nothing() -> None:
    """κ is 0/0 where all answers are the same: undefined, not 0."""
    names = ("Kim", "Lee", "Mia", JUDGE)
    answers = [rating(name, item, "A", "good") for item in range(40) for name in names]
    found = vet_judge(answers, JUDGE, VetOptions())
    kappa = found.agreement.beyond_chance
    assert kappa is not None and math.isnan(kappa.value)
    assert (
        "all answers are equal: whether it would notice a difference is not shown" in found.verdict
    )
    assert "people disagree" not in found.verdict


def test_a_judge_that_passes_but_agrees_less_is_warned_of() -> None:
    """People rate alike on the whole scale; the judge sees half of it and stays near the middle."""
    rng = np.random.default_rng(6)
    answers = []
    for item in range(150):
        truth = rng.normal()
        answers += [rating(p, item, "A", truth + 1.3 * rng.normal()) for p in ("Kim", "Lee", "Mia")]
        answers.append(rating(JUDGE, item, "A", 0.25 * truth + 0.6 * rng.normal()))
    first, second, *_ = vet_judge(answers, JUDGE, VetOptions()).verdict.splitlines()
    assert first.startswith(f"{JUDGE} may stand in for one of these people")
    assert second.startswith("But it agrees less with people than they do with each other (r = 0.")


def test_a_judge_on_another_scale_than_people_is_noticed() -> None:
    def found(top: int) -> str:
        answers = [
            rating(judge, item, system, 1 + (item + len(system) + len(judge)) % points)
            for judge, points in (("Kim", 5), ("Lee", 5), (JUDGE, top))
            for item in range(35)
            for system in ("A", "BB")
        ]
        return str(wellput.vet(answers, JUDGE))

    assert f"{JUDGE} answers from 1 to 7, people from 1 to 5." in found(7)
    assert "answers from" not in found(5)
