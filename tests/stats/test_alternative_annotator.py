"""The alternative annotator test, worked by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.stats.corrections import benjamini_yekutieli
from wellput.stats.judges.alternative_annotator import alternative_annotator_test

NAN = float("nan")


def test_each_person_is_left_out_and_ties_count_for_both() -> None:
    # Trials:      1  2  3  4
    people = np.array(
        [
            [1.0, 1, 2, 3],  # A
            [1.0, 2, 2, 3],  # B
            [1.0, 2, 3, 1],  # C
        ]
    )
    machine = np.array([1.0, 2, 2, 1])
    found = alternative_annotator_test(
        people, machine, scoring="accuracy", epsilon=0.1, min_trials=4
    )
    # Without A: share of B and C who agree with A: 1, 0, ½, ½; with the machine: 1, 1, ½, ½.
    # As good in 4 of 4; A less machine: 0, −1, 0, 0: mean −¼, sd ½, t = (−¼ − 0.1) / ¼ = −1.4 (3 df).
    # Without B: B 1, ½, ½, ½; machine 1, ½, ½, ½: all equal, p = 0.
    # Without C: C 1, ½, 0, 0; machine 1, ½, 1, 0: 0, 0, −1, 0: p as for A.
    assert [one.advantage_probability for one in found.people] == [1, 1, 1]
    p = 0.1280  # Student's t with 3 df below −1.4, R: pt(-1.4, 3) = 0.1280
    assert [round(one.p_value, 4) for one in found.people] == [pytest.approx(p, abs=1e-4), 0.0, p]
    # Benjamini & Yekutieli of 0, p, p: times 3 (1 + ½ + ⅓) / rank: 0, and p · 5.5 / 3 for both.
    assert found.people[0].p_adjusted == pytest.approx(p * 5.5 / 3, abs=1e-3)
    assert [one.is_beaten_in_published_test for one in found.people] == [False, True, False]
    assert found.winning_rate == pytest.approx(1 / 3)
    assert found.passed is False


def test_squared_differences_decide_for_numbers() -> None:
    # Left out A (3, 3): rest is (1, 5) on both trials; machine 3, 1. RMSE of A: 2, 2; of the machine
    # 2 (a tie) and √8 (worse).
    people = np.array([[3.0, 3], [1, 1], [5, 5]])
    found = alternative_annotator_test(
        people, np.array([3.0, 1]), scoring="neg_rmse", epsilon=0.2, min_trials=2
    )
    assert found.people[0].advantage_probability == 0.5
    # A less machine: 0, 1: mean ½, sd √½, error ½, t = (0.5 − 0.2) / 0.5 = 0.6 with 1 df:
    # p = ½ + arctan(0.6) / π.
    assert found.people[0].p_value == pytest.approx(0.5 + math.atan(0.6) / math.pi)


def test_trials_and_people_with_too_few_answers_do_not_count() -> None:
    people = np.array([[1.0, 1, 1, NAN], [1, 1, NAN, 1], [NAN, NAN, NAN, 1]])
    machine = np.array([1.0, 1, 1, NAN])
    found = alternative_annotator_test(people, machine, scoring="accuracy", min_trials=2)
    assert found.n_trials == 2  # the third has one person, the fourth no machine
    assert [one.judge for one in found.people] == [0, 1]
    nobody = alternative_annotator_test(people, machine, scoring="accuracy", min_trials=3)
    assert nobody.passed is None
    assert math.isnan(nobody.winning_rate)


def test_mirrored_answers_tie_in_spite_of_rounding() -> None:
    people = np.array([[0.1] * 3, [0.3] * 3, [0.1] * 3])
    machine = np.array([0.1 + 0.2 - 0.2] * 3)  # 0.1 up to rounding
    found = alternative_annotator_test(people, machine, scoring="neg_rmse", min_trials=3)
    assert found.people[0].advantage_probability == 1


def test_wrong_options_are_refused() -> None:
    with pytest.raises(InputError, match="epsilon"):
        alternative_annotator_test(np.ones((2, 3)), np.ones(3), scoring="accuracy", epsilon=2)
    with pytest.raises(InputError, match="two trials"):
        alternative_annotator_test(np.ones((2, 3)), np.ones(3), scoring="accuracy", min_trials=1)


def test_benjamini_yekutieli_equals_statsmodels() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p_values = np.array([0.001, 0.2, 0.03, 0.04, 0.9])
    expected = multitest.multipletests(p_values, method="fdr_by")[1]
    assert benjamini_yekutieli(p_values) == pytest.approx(expected, abs=1e-12)


def with_leads(leads: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[Any, Any]:
    """Answers of A and B, and of a machine: compared with B, A alone wins where `leads` is 1, the
    machine alone where it is −1, both where it is 0."""
    a, b = np.where(leads == -1, 1.0, 0.0), np.zeros(len(leads))
    return np.array([a, b]), np.where(leads == 1, 1.0, 0.0)


def test_trials_of_one_item_count_together() -> None:
    # A less machine on three items: (−1, −1), (0, 0), (1, −1); mean −⅓.
    # Sums of what exceeds the mean: −4/3, 2/3, 2/3; divided by 6: −2/9, 1/9, 1/9, squares 6/81.
    # Error: √(3/2 · 6/81) = ⅓; t = (−⅓ − 0.1) / ⅓ = −1.3 with 2 df. R: pt(-1.3, 2) = 0.1616.
    people, machine = with_leads(np.array([-1.0, -1, 0, 0, 1, -1]))
    found = alternative_annotator_test(
        people, machine, scoring="accuracy", min_trials=6, clusters=np.array([0, 0, 1, 1, 2, 2])
    )
    one = found.people[0].clustered
    assert one is not None
    assert (one.n_clusters, one.is_beaten) == (3, False)
    assert one.p_value == pytest.approx(0.1616, abs=1e-4)
    apart = alternative_annotator_test(people, machine, scoring="accuracy", min_trials=6)
    assert [p.p_value for p in apart.people] == [p.p_value for p in found.people]
    assert not apart.is_clustered and found.is_clustered


def test_one_trial_an_item_is_the_published_test() -> None:
    people, machine = with_leads(np.array([-1.0, -1, 0, 0, 1, -1]))
    found = alternative_annotator_test(
        people, machine, scoring="accuracy", min_trials=6, clusters=np.arange(6)[::-1]
    )
    assert not found.is_clustered
    assert (found.beaten_rate, found.passes_deciding_test) == (found.winning_rate, found.passed)


def test_the_clustered_test_keeps_its_level_where_the_published_one_does_not() -> None:
    """The machine loses 0.1 more than it wins, as much as is allowed; trials of an item are alike."""
    rng = np.random.default_rng(5)
    published = clustered = 0
    places = np.repeat(np.arange(30), 6)
    for _ in range(400):
        felt = (
            np.sqrt(0.3) * rng.normal(size=(30, 1)) + np.sqrt(0.7) * rng.normal(size=(30, 6))
        ).ravel()
        # 40% above 0.2533, 30% below −0.5244: 0.1 more lost than won.
        people, machine = with_leads(
            np.where(felt > 0.2533, 1.0, np.where(felt < -0.5244, -1.0, 0.0))
        )
        found = alternative_annotator_test(people, machine, scoring="accuracy", clusters=places)
        one = found.people[0]
        assert one.clustered is not None
        published += one.p_value < 0.05
        clustered += one.clustered.p_value < 0.05
    assert published / 400 > 0.1
    assert clustered / 400 < 0.05 + 3 * 0.011
