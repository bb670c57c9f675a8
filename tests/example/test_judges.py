"""The demo's judges: what outputs are worth, and that each part of a rating can be recovered."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from wellput.core.evalset import EvalSet
from wellput.core.judgment import Judgment
from wellput.core.metric import Floats
from wellput.example.harbor import (
    EXAMPLE_QUESTION,
    HIGHEST_RATING,
    LOWEST_RATING,
    N_JUDGES,
    NOISE_SD,
    JudgeEffects,
    harbor_example,
    judges_of_item,
    read_worths,
    simulated_judgments,
)


@pytest.fixture(scope="module")
def example() -> EvalSet:
    return harbor_example()


@pytest.fixture(scope="module")
def judgments(example: EvalSet) -> list[Judgment]:
    return simulated_judgments(example)


def test_every_output_and_no_other_has_a_worth_in_halves_from_1_to_7(example: EvalSet) -> None:
    worths = read_worths()
    assert list(worths) == [item.id for item in example]
    for item in example:
        known = {system: worth for system, worth in worths[item.id].items() if worth == worth}
        assert list(worths[item.id]) == list(example.systems)
        assert set(known) == set(item.outputs)
        assert all(
            LOWEST_RATING <= worth <= HIGHEST_RATING and worth * 2 % 1 == 0
            for worth in known.values()
        )


def test_equal_texts_are_worth_the_same_and_references_much(example: EvalSet) -> None:
    worths = read_worths()
    for item in example:
        given: dict[str, float] = {}
        for system, text in item.outputs.items():
            worth = worths[item.id][system]
            assert given.setdefault(str(text), worth) == worth
            if text in item.references:
                assert worth >= 6.5


def test_ratings_are_reproducible_whole_numbers_and_labeled_simulated(
    example: EvalSet, judgments: list[Judgment]
) -> None:
    assert judgments == simulated_judgments(example)
    assert {j.question for j in judgments} == {EXAMPLE_QUESTION} and "simulated" in EXAMPLE_QUESTION
    assert {j.judge for j in judgments} == {f"simulated {n}" for n in range(1, N_JUDGES + 1)}
    assert {j.value for j in judgments} == set(range(LOWEST_RATING, HIGHEST_RATING + 1))


def test_four_judges_rate_each_output_and_share_the_work_evenly(
    example: EvalSet, judgments: list[Judgment]
) -> None:
    rated = Counter((j.item, j.system) for j in judgments)
    assert rated == {(item.id, system): 4 for item in example for system in item.outputs}
    items = Counter(judge for judge, _ in {(j.judge, j.item) for j in judgments})
    assert set(items.values()) == {len(example) / 2}
    # In 14 items there are 14 × 6 pairs of judges: 3 for each of the 28.
    pairs = Counter(pair for place in range(14) for pair in combinations(judges_of_item(place), 2))
    assert len(pairs) == 28 and set(pairs.values()) == {3}


def test_a_part_of_the_example_is_rated_as_in_the_whole(
    example: EvalSet, judgments: list[Judgment]
) -> None:
    kept = ("smooth", "careful")
    part = EvalSet(
        [item._replace(outputs={s: item.outputs[s] for s in kept}) for item in list(example)[20:40]]
    )
    whole = {(j.judge, j.item, j.system): j.value for j in judgments}
    ratings = simulated_judgments(part)
    assert len(ratings) == 20 * 2 * 4
    assert all(whole[j.judge, j.item, j.system] == j.value for j in ratings)


@pytest.fixture(scope="module")
def beyond_worth(example: EvalSet, judgments: list[Judgment]) -> Floats:
    """Items × systems × judges: rating − worth. NaN where no judge rated, and where the worth is so
    near to an end of the scale that ratings were clipped."""
    worths = read_worths()
    beyond = np.full((len(example), len(example.systems), N_JUDGES), np.nan)
    items, systems = list(worths), list(example.systems)
    for j in judgments:
        worth = worths[j.item][j.system]
        if 2.5 <= worth <= 5.5:
            place = items.index(j.item), systems.index(j.system), int(j.judge.split()[1]) - 1
            beyond[place] = j.number - worth
    return beyond


@pytest.fixture(scope="module")
def effects(example: EvalSet) -> JudgeEffects:
    return JudgeEffects.drawn(len(example), len(example.systems))


def test_severity_can_be_recovered(beyond_worth: Floats, effects: JudgeEffects) -> None:
    """Each judge has some 80 such ratings: noise leaves 0.1 in their mean, tendencies as much."""
    found = -np.nanmean(beyond_worth, axis=(0, 1))
    assert np.corrcoef(found, effects.severity)[0, 1] > 0.9
    assert np.abs(found - effects.severity).max() < 0.4


def test_tendency_can_be_recovered(beyond_worth: Floats, effects: JudgeEffects) -> None:
    """Of template and jumbled, of which each judge has about 25 such ratings: noise leaves 0.2."""
    systems = [1, 5]
    found = np.nanmean(beyond_worth[:, systems] + effects.severity, axis=0)
    assert np.corrcoef(found.ravel(), effects.tendency[systems].ravel())[0, 1] > 0.7


def test_difficulty_can_be_recovered(beyond_worth: Floats, effects: JudgeEffects) -> None:
    """Each item has some 10 such ratings, so noise leaves 0.3, as much as there is to be found."""
    beyond = beyond_worth + effects.severity - effects.tendency
    found = -np.nanmean(beyond, axis=(1, 2))
    assert np.corrcoef(found, effects.difficulty)[0, 1] > 0.5


def test_the_rest_is_noise_and_rounding(beyond_worth: Floats, effects: JudgeEffects) -> None:
    """Rounding to whole numbers has a variance of 1/12."""
    rest = beyond_worth - (effects.total - effects.noise)
    assert np.nanstd(rest) == pytest.approx((NOISE_SD**2 + 1 / 12) ** 0.5, rel=0.1)
    assert np.nanmean(rest) == pytest.approx(0, abs=0.1)
