"""Ranking by a mixed model: lme4's figures, what is said of them, and data that allow no ranking."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

import wellput
from tests.agreement.ranked_studies import LETTERS, golden_judgments, simulated
from tests.stats.mixed_studies import golden
from wellput import InputError, Judgment, Preference
from wellput.agreement.rankings.checks import (
    larger_studies,
    other_orders,
    permutation_p_value,
)
from wellput.agreement.rankings.fitted_question import fit_question, model_for, reliability_of
from wellput.agreement.rankings.judgment_design import question_data
from wellput.agreement.rankings.people_ranking import MANY_SYSTEMS, RankOptions, rank_judgments
from wellput.agreement.rankings.ranked_questions import rank_answers


@pytest.mark.parametrize("study", ["crossed", "replicated", "nested"])
def test_a_linear_ranking_has_lme4s_estimates_and_lmertests_p(study: str) -> None:
    """Against tests/golden/mixed_linear.json (lme4 1.1-31, lmerTest 3.1-3), with its random effects."""
    expected = golden("mixed_linear.json")[study]
    random = [name for name in expected["components"] if name != "Residual"]
    found = wellput.rank(golden_judgments(study), random=random, correction="none").rankings[0]
    by_system = {row.system: row.estimate for row in found.systems}
    effects = [by_system[LETTERS[place]] for place in range(len(by_system))]
    assert effects == pytest.approx(expected["effects"], rel=1e-4)
    for name in random:
        assert found.variance[name] == pytest.approx(
            expected["components"][name], rel=1e-3, abs=1e-3
        )
    differences = {frozenset(one.systems): one for one in found.differences}
    rows = zip(
        combinations(range(len(effects)), 2),
        expected["differences"],
        expected["difference_errors"],
        expected["freedom"],
        strict=True,
    )
    for (a, b), delta, error, freedom in rows:
        one = differences[frozenset((LETTERS[a], LETTERS[b]))]
        assert abs(one.delta) == pytest.approx(abs(delta), rel=1e-4)
        assert one.p_value == pytest.approx(2 * student.sf(abs(delta / error), freedom), rel=2e-3)
        assert one.low is not None
        assert one.high is not None
        half = error * student.isf(0.025, freedom)
        assert one.high - one.low == pytest.approx(2 * half, rel=1e-3)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "values", [(1.0, 3.0), (10.0, 20.0, 30.0), (0.5, 1.0, 1.5), (0.1, 0.2, 0.7)]
)
def test_ratings_without_noise_are_refused_in_a_sentence(values: tuple[float, ...]) -> None:
    judged = [
        Judgment(f"J{judge}", f"i{item}", LETTERS[place], "quality", value)
        for judge in range(2)
        for item in range(4)
        for place, value in enumerate(values)
    ]
    with pytest.raises(InputError, match="explain every value exactly"):
        wellput.rank(judged)
    (shown,) = rank_answers(judged)
    assert "explain every value exactly" in shown.refusal


def test_the_model_follows_from_the_scale() -> None:
    def of(values: list[float]) -> str:
        answers = [Judgment("J", str(n), "AB"[n % 2], "q", value) for n, value in enumerate(values)]
        return model_for(question_data("q", answers))

    assert of([0, 1, 1, 0]) == "binary"
    assert of([1, 2, 3, 4, 5]) == "ordinal"
    assert of([1, 2, 3, 4, 5, 6]) == "linear"
    assert of([0.5, 1.5, 2.5]) == "linear"
    choices = [Preference("J", "1", "A", "B", "q", "a")]
    assert model_for(question_data("q", choices)) == "bradley-terry"


def test_severe_judges_and_hard_items_do_not_change_the_order() -> None:
    """A is 2 better than B on every item; B met only the mild judge and the easy items."""
    ratings = []
    for judge, mildness in (("severe", 0.0), ("mild", 20.0)):
        for item, ease in (("hard", 0.0), ("easy", 10.0), ("middle", 5.0), ("fair", 4.0)):
            for n, (system, value) in enumerate((("A", 52.0), ("B", 50.0))):
                if system == "B" and (judge, item) == ("severe", "hard"):
                    continue
                noise = 0.01 * ((len(judge) * 7 + len(item) * 3 + n * 5) % 4)
                ratings.append(Judgment(judge, item, system, "q", value + mildness + ease + noise))
    found = wellput.rank(ratings).rankings[0]
    assert [row.system for row in found.systems] == ["A", "B"]
    raw = {row.system: row.raw_mean for row in found.systems}
    assert raw["B"] > raw["A"]
    assert found.differences[0].delta == pytest.approx(2, abs=0.05)


def test_p_and_interval_agree_and_ranks_follow_from_them() -> None:
    for seed in range(6):
        found = wellput.rank(simulated(seed, gap=0.35), permutations=10).rankings[0]
        for one in found.differences:
            assert one.low is not None
            assert one.high is not None
            assert (one.p_value < 0.05) == (not one.low <= 0 <= one.high)
        better = {row.system: 0 for row in found.systems}
        for one in found.differences:
            if one.is_real:
                better[one.systems[1]] += 1
        assert {row.system: row.rank_low - 1 for row in found.systems} == better


def test_what_the_study_cannot_tell_is_null_and_said() -> None:
    found = wellput.rank([one for one in simulated(1) if one.judge == "J1"], permutations=10)
    entry = found.to_dict()["questions"][0]
    assert entry["variance"]["judge"] is None
    assert entry["variance"]["document"] is None
    assert entry["variance"]["item"] > 0
    assert "this one judge" in entry["scope"]
    assert "there is only one judge" in str(found)


def test_a_clean_sweep_is_not_called_equal() -> None:
    choices = [Preference("J", str(n), "A", "B", "q", "a") for n in range(9)]
    with pytest.raises(InputError, match="A won all 9 comparisons and B lost all 9"):
        wellput.rank(choices)


def test_two_judges_have_one_degree_of_freedom() -> None:
    ratings = [one for one in simulated(9) if one.judge in ("J1", "J2")]
    fitted = fit_question(question_data("quality", ratings))
    assert fitted.freedom.tolist() == [1, 1, 1]


def test_few_items_have_few_degrees_of_freedom_but_one_item_is_not_a_sample() -> None:
    """Of one item nothing is said about others, so the judges alone count: 6 judges × 3 systems leave
    (6 − 1) (3 − 1) = 10."""
    few, one = (simulated(9, judges=6, items=n) for n in (3, 1))
    assert fit_question(question_data("quality", few)).freedom.tolist() == [2, 2, 2]
    fitted = fit_question(question_data("quality", one))
    assert fitted.freedom == pytest.approx([10, 10, 10])
    (found,) = wellput.rank(one, permutations=10).rankings
    assert found.scope == "these systems and this one item, other judges"


def test_the_scope_names_documents_where_these_are_random() -> None:
    ratings = golden_judgments("nested")

    def scope(judgments: list[Judgment], random: str = "") -> str:
        return wellput.rank(judgments, random=random, permutations=10).rankings[0].scope

    assert scope(ratings) == "these systems, other documents and other judges"
    assert (
        scope(ratings, "judge,item,document,judge:system,item:system")
        == "these systems, other items of these documents and other judges"
    )
    assert scope(ratings, "document,document:system") == (
        "these systems, other documents and these judges"
    )
    alone = [replace(one, extra={"document": "d"}) for one in simulated(1)]
    assert scope(alone) == "these systems, other items of this one document and other judges"
    several = [
        replace(one, extra={"document": f"d{sum(map(ord, one.item)) % 6}"}) for one in simulated(1)
    ]
    assert "twice the documents" in str(wellput.rank(several, permutations=10))


def test_the_scope_follows_the_random_effects() -> None:
    found = wellput.rank(simulated(1), random="judge,item", permutations=10).rankings[0]
    assert found.scope == "these systems, these items and these judges"
    with pytest.raises(InputError, match="have no column document"):
        wellput.rank(simulated(1), random="document")


def test_the_sentence_follows_the_confidence() -> None:
    ratings = simulated(2, gap=0.45)
    for confidence in (0.8, 0.999999):
        found = wellput.rank(ratings, confidence=confidence, permutations=10)
        ranking = found.rankings[0]
        is_open = all(row.rank_low == 1 and row.rank_high == 3 for row in ranking.systems)
        assert is_open == ("no difference is shown" in found.answer)


def test_small_ratings_are_shown_with_enough_decimals() -> None:
    """Ratings of a thousandth: 0.00 [0.00, 0.00] beside p < 0.001 would say nothing."""
    small = [replace(one, value=float(one.value) / 1000) for one in simulated(8, gap=0.8)]
    found = wellput.rank(small, permutations=10)
    (ranking,) = found.rankings
    narrowest = min((d.high or 0.0) - (d.low or 0.0) for d in ranking.differences) / 2
    assert 10**-ranking.decimals <= narrowest < 10 * 10**-ranking.decimals
    assert f"{ranking.systems[0].estimate:.{ranking.decimals}f}" in str(found)
    large = wellput.rank(simulated(8, gap=0.8), permutations=10).rankings[0]
    assert large.decimals == 2


def test_a_judge_of_its_own_for_each_system_is_said() -> None:
    ratings = [one for one in simulated(8) if one.judge == f"J{LETTERS.index(one.system)}"]
    found = wellput.rank(ratings, permutations=10).rankings[0]
    assert found.scope == "these systems, other items and these judges"
    assert any(
        "a severe judge cannot be distinguished from a bad system" in note for note in found.notes
    )


@pytest.mark.parametrize(("per_system", "freedom"), [(2, 2), (3, 4)])
def test_few_judges_for_each_system_have_their_own_degrees_of_freedom(
    per_system: int, freedom: int
) -> None:
    """Two systems with two judges each: four judges less two means."""
    rng = np.random.default_rng(1)
    ratings = [
        Judgment(f"{system}{judge}", f"i{item}", system, "q", float(5 + rng.normal()))
        for system in "AB"
        for judge in range(per_system)
        for item in range(30)
    ]
    data = question_data("q", ratings)
    assert data.judge_groups.of_systems.tolist() == [0, 1]
    assert data.judge_groups.n_judges.tolist() == [per_system, per_system]
    fitted = fit_question(data)
    assert fitted.freedom.max() <= freedom
    assert any("systems of both of these groups: A; B." in note for note in fitted.notes)
    assert data.judge_groups.freedom_of_systems.tolist() == [per_system - 1] * 2
    assert larger_studies(fitted) == []


def test_judges_of_whom_no_others_are_asked_do_not_limit_the_intervals_of_systems() -> None:
    """With --random item figures hold for these judges: two in each group are then not few."""
    rng = np.random.default_rng(1)
    ratings = [
        Judgment(f"{system}{judge}", f"i{item}", system, "q", float(5 + rng.normal()))
        for system in "AB"
        for judge in range(2)
        for item in range(30)
    ]
    found = wellput.rank(ratings, random=["item"], permutations=9).rankings[0]
    (difference,) = found.differences
    assert difference.low is not None and difference.high is not None
    for row in found.systems:
        assert row.low is not None and row.high is not None
        assert row.high - row.low < difference.high - difference.low


def test_one_judge_of_two_systems_joins_their_groups() -> None:
    shared = [one for one in simulated(8) if one.judge in ("J0", "J1") or one.system == "A"]
    data = question_data("q", shared)
    assert len(data.judge_groups.n_judges) == 1
    assert not any("groups" in note for note in fit_question(data).notes)


def test_widths_of_a_larger_study_are_those_of_the_confidence_that_was_asked_for() -> None:
    """With two judges a difference has one degree of freedom, whose quantiles are far apart: 12.7 for
    95%, 1.4 for 60%."""
    ratings = simulated(5, judges=2)
    widths = [
        wellput.rank(ratings, confidence=confidence, permutations=9)
        .questions[0]
        .larger_studies[0]
        .width_ratio
        for confidence in (0.6, 0.95)
    ]
    assert widths[0] > 2 * widths[1]


def test_a_larger_study_has_the_degrees_of_freedom_that_intervals_have() -> None:
    """Three documents of 8 items: 24 items are not few. Where systems differ by nothing but noise,
    only the error shrinks."""
    rng = np.random.default_rng(5)
    ratings = [
        Judgment(f"J{judge}", f"i{item}", system, "q", rng.normal(), {"document": f"d{item // 8}"})
        for judge in range(5)
        for item in range(24)
        for system in "AB"
    ]
    question = fit_question(question_data("q", ratings), random=["item", "item:system", "judge"])
    assert question.freedom.min() > 20
    components = {"item": 1.0, "residual": 1.0}
    known = replace(question, fitted=replace(question.fitted, components=components))
    (items,) = larger_studies(known)
    assert items.width_ratio == pytest.approx(np.sqrt(0.5))


def test_z_scores_of_judges_do_not_order_systems_that_have_no_judge_in_common() -> None:
    """A is far better than B, and B than C and D; each judge's own mean takes that away."""
    rng = np.random.default_rng(2)
    quality = {"A": 9.0, "B": 7.5, "C": 3.0, "D": 1.5}
    ratings = [
        Judgment(f"{group}{judge}", f"i{item}", system, "q", quality[system] + rng.normal(0, 0.5))
        for group in ("AB", "CD")
        for judge in range(4)
        for item in range(12)
        for system in group
    ]
    ways = {one.way: one for one in other_orders(fit_question(question_data("q", ratings)))}
    assert "by z-scores of each judge" not in ways
    assert ways["by raw means"].systems == ("A", "B", "C", "D")


@pytest.mark.parametrize(("judges", "items"), [(2, 40), (3, 30), (9, 5)])
def test_the_strength_of_one_of_two_systems_has_the_interval_of_their_difference(
    judges: int, items: int
) -> None:
    """A strength is half the difference, so that it differs from 0 just where the difference does."""
    rng = np.random.default_rng(4)
    choices = [
        Preference(f"J{judge}", f"i{item}", "A", "B", "q", "a" if rng.random() < 0.75 else "b")
        for judge in range(judges)
        for item in range(items)
    ]
    ranking = wellput.rank(choices, permutations=9).rankings[0]
    low, high = ranking.latent_bounds["A"]
    row = next(row for row in ranking.systems if row.system == "A")
    shares = [1 / (1 + np.exp(-2 * end)) for end in (low, high)]  # win rates average over judges
    assert (row.low, row.high) == pytest.approx(shares, rel=0.02)
    assert (ranking.differences[0].p_value < 0.05) == (low > 0)


def test_where_all_systems_look_equal_none_has_the_highest_win_rate() -> None:
    """Three judges and a perfect circle: every system wins half, but for rounding."""
    choices = [
        Preference(f"J{judge}", f"i{item}", pair[0], pair[1], "q", "a")
        for pair in ("AB", "BC", "CA")
        for judge in range(3)
        for item in range(10)
    ]
    assert wellput.rank(choices, permutations=9).answer == (
        "People do not tell the 3 systems apart: no difference is shown."
    )


def test_of_separated_answers_each_end_is_named() -> None:
    answers = [
        Judgment(f"J{judge}", f"i{item}", system, "q", value)
        for judge in range(4)
        for item in range(10)
        for system, value in (("A", 1.0), ("B", 0.0), ("C", float((item + judge) % 2)))
    ]
    notes = wellput.rank(answers, permutations=9).rankings[0].notes
    assert notes[0].startswith(
        "Every answer about A is the highest and every answer about B is the lowest"
    )


def test_against_compares_with_one_system_only() -> None:
    found = wellput.rank(simulated(2), against="B", permutations=10).rankings[0]
    assert [one.systems for one in found.differences] == [("A", "B"), ("B", "C")]
    shown = str(wellput.rank(simulated(2), against="B", permutations=10))
    assert "A is significantly ahead of B; C is significantly behind B." in shown
    last = str(wellput.rank(simulated(2), against="C", permutations=10))
    assert "A and B are significantly ahead of C." in last


def test_sequential_ranks_need_five_judges_and_are_wider() -> None:
    few = wellput.rank(simulated(2, judges=4, items=30), sequential=True, permutations=10).rankings[
        0
    ]
    assert all(np.isnan(one.p_value) and one.low is None for one in few.differences)
    assert "Too early" in few.refusal
    assert {(row.rank_low, row.rank_high) for row in few.systems} == {(1, 3)}
    ratings = simulated(2, gap=1.0, judges=6, items=30)
    once = wellput.rank(ratings, permutations=10).rankings[0]
    always = wellput.rank(ratings, sequential=True, permutations=10).rankings[0]
    for one, other in zip(once.differences, always.differences, strict=True):
        assert one.low is not None
        assert one.high is not None
        assert other.low is not None
        assert other.high is not None
        assert other.low < one.low < one.high < other.high
        assert (other.p_value < 0.05) == (not other.low <= 0 <= other.high)


def test_while_looking_again_and_again_no_p_of_one_look_is_printed() -> None:
    running = wellput.rank(simulated(2, judges=6, items=30), sequential=True)
    assert running.questions[0].permutation_p is None
    early = wellput.rank(simulated(2, judges=4, items=30), sequential=True)
    assert early.answer.startswith("Too early to distinguish systems")
    assert "p " not in early.answer


def test_machines_are_left_out_unless_asked_for() -> None:
    people = simulated(3)
    machine = [
        Judgment("model:big", one.item, one.system, one.question, 0.0) for one in people[::2]
    ]
    found = wellput.rank([*people, *machine], permutations=10)
    assert found.rankings[0].n_judges == 5
    assert [(one.judge, one.n) for one in found.excluded] == [("model:big", len(machine))]
    assert "a machine, not a person" in str(found)
    assert (
        wellput.rank([*people, *machine], judges="all", permutations=10).rankings[0].n_judges == 6
    )
    few = wellput.rank([*people, *machine], judges=["J0", "J1"], permutations=10)
    assert few.rankings[0].n_judges == 2


def test_choices_are_ranked_by_their_strengths() -> None:
    rng = np.random.default_rng(5)
    choices = []
    for judge in range(6):
        for item in range(15):
            for a, b in combinations(range(3), 2):
                won = rng.random() < 1 / (1 + np.exp(-1.2 * (b - a)))
                choices.append(
                    Preference(
                        f"J{judge}", f"i{item}", LETTERS[a], LETTERS[b], "q", "a" if won else "b"
                    )
                )
    found = wellput.rank(choices, permutations=99)
    ranking = found.rankings[0]
    assert ranking.fitted == "bradley-terry"
    assert [row.system for row in ranking.systems] == ["A", "B", "C"]
    assert ranking.systems[0].rank_high == 1
    latent = [entry["latent"] for entry in found.to_dict()["questions"][0]["systems"]]
    assert latent == sorted(latent, reverse=True)
    assert found.questions[0].permutation_p == pytest.approx(0.01)


def test_length_is_taken_out() -> None:
    """Judges like long outputs, and B's are longer; at equal length A is better."""
    rng = np.random.default_rng(6)
    texts: dict[str, list[str]] = {"A": [], "B": []}
    ratings = []
    for item in range(30):
        for system, quality, words in (("A", 1.0, 5), ("B", 0.0, 9)):
            n = int(words + rng.integers(-3, 4))
            texts[system].append(" ".join(["word"] * n))
            for judge in range(4):
                value = quality + 0.5 * n + rng.normal(0, 0.3)
                ratings.append(Judgment(f"J{judge}", str(item + 1), system, "q", float(value)))
    evalset = wellput.EvalSet.of(texts, [["word"]] * 30)
    assert wellput.rank(ratings, permutations=10).rankings[0].systems[0].system == "B"
    found = wellput.rank(ratings, evalset=evalset, covariates="length", permutations=10).rankings[0]
    assert found.systems[0].system == "A"
    assert found.differences[0].delta == pytest.approx(1, abs=0.3)
    assert found.covariate_effects["length"].p_value < 0.001
    with pytest.raises(InputError, match="give these as evalset="):
        wellput.rank(ratings, covariates="length")


@pytest.mark.parametrize(
    ("judgments", "message"),
    [
        ([Judgment("J", str(n), "A", "q", n) for n in range(4)], "a ranking needs two systems"),
        ([Judgment("J", "1", "A", "q", 3), Judgment("J", "1", "B", "q", 5.5)], "one judge judged one"),
        ([Judgment("J", str(n), "AB"[n % 2], "q", 3) for n in range(4)], "all 4 judgments are the"),
        (
            [Preference("J", str(n), *pair, "q", "b" if n % 2 else "a")
             for n in range(4) for pair in (("A", "B"), ("C", "D"))],
            "A, B; C, D",
        ),
        (
            [Preference("J", str(n), *pair, "q", "b" if n % 2 and pair != ("A", "B") else "a")
             for n in range(6) for pair in (("A", "B"), ("B", "C"))],
            "A won all 6 comparisons",
        ),
    ],
)  # fmt: skip
def test_data_that_allow_no_ranking_get_a_sentence(
    judgments: list[Judgment] | list[Preference], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        wellput.rank(judgments)


def test_a_system_that_always_passes_is_still_ranked() -> None:
    """No log odds fit 100 %: the linear model takes over and the note says why."""
    ratings = [
        Judgment(
            f"J{judge}",
            f"i{item}",
            system,
            "correct",
            float(system == "A" or (item + judge) % 3 > 0),
        )
        for judge in range(3)
        for item in range(12)
        for system in "AB"
    ]
    found = wellput.rank(ratings, permutations=10).rankings[0]
    assert found.fitted == "linear"
    assert found.systems[0].system == "A"
    assert any("Every answer about A is the highest" in note for note in found.notes)
    with pytest.raises(InputError, match=r"Use model='linear'\."):
        wellput.rank(ratings, model="binary")


def test_twice_the_judges_bring_most_where_judges_differ() -> None:
    rng = np.random.default_rng(7)
    taste = rng.normal(0, 3, (5, 3))
    ratings = [
        Judgment(f"J{j}", f"i{i}", LETTERS[s], "q", float(5 * s + taste[j, s] + rng.normal(0, 1)))
        for j in range(5)
        for i in range(10)
        for s in range(3)
    ]
    judges, items, both = larger_studies(fit_question(question_data("q", ratings)))
    assert judges.error_ratio < 0.8 < items.error_ratio
    assert both.error_ratio < judges.error_ratio
    assert both.reliability is not None
    assert judges.reliability is not None
    assert both.reliability >= judges.reliability


def test_larger_studies_by_hand() -> None:
    """5 judges, 10 items, 50 ratings a system: tastes 5 / 5 = 1, outputs 20 / 10 = 2, answers
    100 / 50 = 2.

    Twice the judges: .5 + 2 + 1 = 3.5 of 5; twice the items: 1 + 1 + 1 = 3; both: .5 + 1 + .5 = 2.
    """
    rng = np.random.default_rng(1)
    ratings = [
        Judgment(f"J{j}", f"i{i}", "AB"[s], "q", float(rng.normal()))
        for j in range(5)
        for i in range(10)
        for s in range(2)
    ]
    question = fit_question(question_data("q", ratings))
    components = {"judge:system": 5.0, "item:system": 20.0, "residual": 100.0}
    known = replace(question, fitted=replace(question.fitted, components=components))
    ratios = [study.error_ratio for study in larger_studies(known)]
    assert ratios == pytest.approx(np.sqrt([0.7, 0.6, 0.4]))


def test_reliability_by_hand() -> None:
    """Effects 0, 1, 2 have variance 1; of three independent errors of variance ¼ each that is ¼, so ¾
    of it is not error. Half the error variance: .75 / (.75 + .125)."""
    question = fit_question(question_data("quality", simulated(1)))
    exact = replace(question.fitted, effects=np.array([0.0, 1.0, 2.0]), covariance=np.eye(3) / 4)
    known = replace(question, fitted=exact)
    assert reliability_of(known) == pytest.approx(0.75)
    assert reliability_of(known, error_variance_ratio=0.5) == pytest.approx(0.75 / 0.875)


def test_the_permutation_test_is_uniform_where_systems_are_equal() -> None:
    p_values = [
        permutation_p_value(
            question_data("q", simulated(seed, gap=0.0, judges=3, items=5)),
            permutations=99,
            seed=seed,
        )
        for seed in range(120)
    ]
    found = np.array(p_values, float)
    # Of 120 draws 12 are expected below .1, with a standard deviation of 3.3.
    assert 3 <= (found <= 0.1).sum() <= 22
    assert 45 <= (found <= 0.5).sum() <= 75


def test_without_items_in_common_there_is_nothing_to_exchange() -> None:
    ratings = [Judgment("J", str(n), "AB"[n % 2], "q", n % 3) for n in range(8)]
    assert permutation_p_value(question_data("q", ratings), permutations=9, seed=0) is None


def test_judgments_without_a_covariate_are_counted_and_left_out() -> None:
    from wellput.core.evalset import EvalSet, Item

    items = [
        Item(str(n), {"A": "one two three", "B": "one " * (n % 3 + 1)}, ("one two",) if n else ())
        for n in range(12)
    ]
    ratings = [
        Judgment(f"J{who}", str(n), system, "q", (system == "A") + (who * n + n * n) % 5 / 2)
        for who in range(4)
        for n in range(12)
        for system in "AB"
    ]
    found = wellput.rank(ratings, evalset=EvalSet(items), covariates="chrf", permutations=10)
    assert found.rankings[0].n == 88  # without the four ratings of each system of item 0
    assert "Left out (no value of chrf): 8 judgments of A, B." in str(found)


def test_many_systems_are_announced() -> None:
    rng = np.random.default_rng(3)
    answers = [
        Judgment(judge, f"i{item}", f"s{system}", "q", float(rng.normal()))
        for judge in ("J1", "J2")
        for item in range(2)
        for system in range(MANY_SYSTEMS + 1)
    ]
    said: list[str] = []

    def on_phase(what: str, total: int | None = None) -> Any:
        said.append(what)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rank_judgments(answers, RankOptions(), on_phase=on_phase)
    assert said == ["ranking by q, 101 systems: this takes a while"]
    said.clear()
    few = [answer for answer in answers if answer.system in ("s0", "s1")]
    with pytest.raises(KeyboardInterrupt):
        rank_judgments(few, RankOptions(), on_phase=on_phase)
    assert said == ["ranking by q"]


def test_two_systems_have_one_interval() -> None:
    """The win rate of one of two systems is its share of the choices between them."""
    rng = np.random.default_rng(5)
    choices = [
        Preference(f"j{judge}", f"i{item}", "A", "B", "q", "a" if rng.random() < 0.7 else "b")
        for judge in range(5)
        for item in range(8)
    ]
    (ranking,) = wellput.rank(choices, permutations=10).rankings
    (gap,) = ranking.differences
    first, second = ranking.systems
    assert gap.low is not None and gap.high is not None
    assert (first.estimate, first.low, first.high) == pytest.approx(
        ((1 + gap.delta) / 2, (1 + gap.low) / 2, (1 + gap.high) / 2)
    )
    assert (second.low, second.high) == pytest.approx(((1 - gap.high) / 2, (1 - gap.low) / 2))


def test_four_judges_narrow_the_interval_of_two_by_more_than_the_error() -> None:
    """Two judges leave one degree of freedom (t 12.71), four at least three (t 3.18)."""
    rng = np.random.default_rng(1)
    ratings = [
        Judgment(f"J{j}", f"i{i}", "AB"[s], "q", float(rng.normal()))
        for j in range(2)
        for i in range(10)
        for s in range(2)
    ]
    question = fit_question(question_data("q", ratings))
    components = {"judge:system": 5.0, "item:system": 0.0, "residual": 0.0}
    known = replace(question, fitted=replace(question.fitted, components=components))
    judges = larger_studies(known)[0]
    quantiles = student.isf(0.025, 3) / student.isf(0.025, 1)
    assert judges.error_ratio == pytest.approx(np.sqrt(0.5))
    assert judges.width_ratio == pytest.approx(np.sqrt(0.5) * quantiles)


def test_shares_stay_between_0_and_1() -> None:
    # An item, its winner and its loser. Items 1 and 2 are of one document.
    chosen = {
        "Ann": "0BA 1AC 2BC 3BA 0BC 3CA 2AB 1BC 0CA 3BC 2AC 1BA",
        "Bob": "1AB 2AC 0BC 3BA 2CB 1AC 0AB 3CA 1BC 2AB 0CA 3BC",
    }
    answers = [
        Preference(
            judge, item, won, lost, "q", "a", {"document": "near" if item in "12" else "far"}
        )
        for judge, all_of_judge in chosen.items()
        for item, won, lost in map(tuple, all_of_judge.split())
    ]
    found = wellput.rank(answers, permutations=9).rankings[0]
    bounds = [bound for one in found.differences for bound in (one.low, one.high)]
    assert max(abs(bound) for bound in bounds if bound is not None) == 1
