"""The test of circular choices: whether one strength for each system explains all choices."""

from __future__ import annotations

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from scipy.special import fdtrc

import wellput
from wellput import Preference
from wellput.agreement.rankings.checks import pairs_fit_p_value
from wellput.agreement.rankings.fitted_question import fit_question
from wellput.agreement.rankings.judgment_design import question_data
from wellput.agreement.rankings.ranked_questions import rank_answers
from wellput.stats.mixed.laplace import LaplaceMixed


def _choices_of_pairs(shares: dict[str, float], *, seed: int = 3) -> list[Preference]:
    """120 choices of each pair by six judges; `shares` says how often its first system wins."""
    rng = np.random.default_rng(seed)
    return [
        Preference(
            f"J{judge}", f"i{item}", pair[0], pair[1], "q", "a" if rng.random() < share else "b"
        )
        for pair, share in shares.items()
        for judge in range(6)
        for item in range(20)
    ]


def test_circular_preferences_are_said() -> None:
    """A beats B, B beats C and C beats A, each in about three of four: the best strengths are equal."""
    circular = _choices_of_pairs({"AB": 0.75, "BC": 0.75, "CA": 0.75})
    found = wellput.rank(circular, permutations=9).rankings[0]
    assert any("preferences may be circular" in note for note in found.notes)
    agreed = rank_answers(circular)[0]
    assert any("preferences may be circular" in note for note in agreed.notes)


@pytest.mark.parametrize("share", [0.6, 0.75, 0.99, 1.0])
def test_the_test_of_circles_is_pearsons_where_choices_are_independent(share: float) -> None:
    """Three systems, one circle: the model of each pair is saturated, and Rao's statistic is Pearson's
    Σ (observed − expected)² / expected. A perfect circle is the clearest, though its own model has no
    finite estimate."""
    choices = _choices_of_pairs({"AB": share, "BC": share, "CA": share})
    fitted = fit_question(question_data("q", choices), random=["judge:system"])
    assert isinstance(fitted.fitted, LaplaceMixed)
    assert all(value < 1e-6 for value in fitted.fitted.components.values())
    pearson = 0.0
    strengths = dict(zip(fitted.data.system_names, fitted.effects, strict=True))
    for pair in ("AB", "BC", "CA"):
        own = [one.choice == "a" for one in choices if one.system_a + one.system_b == pair]
        chance = 1 / (1 + np.exp(strengths[pair[1]] - strengths[pair[0]]))
        for seen, expected in ((sum(own), chance), (len(own) - sum(own), 1 - chance)):
            pearson += (seen - len(own) * expected) ** 2 / (len(own) * expected)
    p_value = pairs_fit_p_value(fitted)
    assert p_value == pytest.approx(fdtrc(1, fitted.freedom.min(), pearson), rel=1e-4)


def test_circles_are_tested_with_the_confidence_that_was_asked_for() -> None:
    choices = _choices_of_pairs({"AB": 0.6, "BC": 0.6, "CA": 0.6})
    p_value = pairs_fit_p_value(fit_question(question_data("q", choices)))
    assert p_value is not None and 1e-9 < p_value < 0.05
    for confidence, is_said in ((1 - 2 * p_value, True), (1 - p_value / 2, False)):
        ranking = wellput.rank(choices, confidence=confidence, permutations=9).rankings[0]
        assert any("preferences may be circular" in note for note in ranking.notes) == is_said


def test_choices_that_fit_strengths_are_not_called_circular() -> None:
    """Odds of 2 : 1 and 2 : 1 give 4 : 1 (.67, .67, .80)."""
    choices = _choices_of_pairs({"AB": 2 / 3, "BC": 2 / 3, "AC": 4 / 5})
    p_value = pairs_fit_p_value(fit_question(question_data("q", choices)))
    assert p_value is not None and p_value > 0.2
    two = [one for one in choices if one.system_b == "B"]
    assert pairs_fit_p_value(fit_question(question_data("q", two))) is None


@pytest.mark.parametrize(("seed", "systems"), [(6, "ABCD"), (8, "ABCD"), (7, "ABC")])
def test_circles_that_a_covariate_explains_are_not_tested(seed: int, systems: str) -> None:
    """In each pair of the only circle the first output is longer by as much as in every other pair, so
    length and the circle cannot be told apart."""
    rng = np.random.default_rng(seed)
    length: dict[tuple[str, str], float] = {}
    choices = []
    for first, second in zip(systems, systems[1:] + systems[0], strict=True):
        for n in range(8):
            item = f"{first}{second}{n}"
            length[second, item] = rng.normal()
            length[first, item] = length[second, item] + 2.0
            choices += [
                Preference(
                    f"J{judge}", item, first, second, "q", "a" if rng.random() < 0.5 else "b"
                )
                for judge in range(5)
            ]
    data = question_data("q", choices, covariates={"length": length})
    assert pairs_fit_p_value(fit_question(data)) is None


def test_circles_that_are_too_many_to_be_tested_take_no_memory() -> None:
    """20 systems have 190 pairs, of which 171 close a circle: a column each would be 5 MB."""
    rng = np.random.default_rng(5)
    choices = [
        Preference("J", f"i{item}", f"s{a}", f"s{b}", "q", "a" if rng.random() < 0.6 else "b")
        for a, b in combinations(range(20), 2)
        for item in range(20)
    ]
    fitted = fit_question(question_data("q", choices), random=())
    tracemalloc.start()
    try:
        assert pairs_fit_p_value(fitted) is None
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
