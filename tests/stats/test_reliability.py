"""The reliability of a panel's mean, and the ceiling: the correlation of true values with the means."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wellput.core.metric import Floats
from wellput.stats.judges.correlations import split_half
from wellput.stats.judges.reliability import panel_reliability

WORTH = np.array([-0.6, -0.2, 0.0, 0.3, 0.5])
N_ITEMS = 40
ITEM_OF_UNIT = np.tile(np.arange(N_ITEMS), len(WORTH))


def study(
    rng: np.random.Generator, n_judges: int, ratings_of_item: Floats
) -> tuple[Floats, Floats]:
    """The true values, systems × items, and ratings, judges × systems × items. Judges differ in
    severity and tastes. `ratings_of_item` judges, drawn for each output of an item, rate it."""
    shape = (n_judges, len(WORTH), N_ITEMS)
    true = WORTH[:, None] + rng.normal(0, 0.4, N_ITEMS) + rng.normal(0, 0.6, shape[1:])
    ratings = (
        true
        + rng.normal(0, 0.5, (n_judges, 1, 1))
        + rng.normal(0, 0.3, (n_judges, len(WORTH), 1))
        + rng.normal(0, 0.9, shape)
    )
    order = np.argsort(rng.random(shape), axis=0)
    ratings[order >= ratings_of_item] = np.nan
    return true, ratings


WORLDS = {
    "every judge rated everything": (6, np.full(N_ITEMS, 6)),
    "half of the items by one judge": (6, np.where(np.arange(N_ITEMS) < 20, 1, 6)),
    "a crowd of 40, three a trial": (40, np.full(N_ITEMS, 3)),
}


@pytest.mark.heavy
@pytest.mark.parametrize("world", WORLDS)
def test_the_ceiling_is_what_the_truth_correlates_with_the_means(world: str) -> None:
    n_judges, numbers = WORLDS[world]
    rng = np.random.default_rng(5)
    reached, ceilings, held = [], [], []
    for _ in range(150):
        true, ratings = study(rng, n_judges, numbers)
        reached.append(np.corrcoef(true.ravel(), np.nanmean(ratings, axis=0).ravel())[0, 1])
        found = panel_reliability(ratings.reshape(n_judges, -1), ITEM_OF_UNIT).ceiling
        ceilings.append(found.value)
        held.append((found.low, found.high))
    truth = np.mean(reached)
    error = math.hypot(np.std(reached), np.std(ceilings)) / math.sqrt(150)
    assert abs(np.mean(ceilings) - truth) < 3 * error
    # A coverage of .95 is below .9 once in 200 times.
    assert np.mean([low <= truth <= high for low, high in held]) > 0.9


def test_units_with_few_ratings_count_with_their_noise() -> None:
    """A ceiling by the mean number of ratings, 3.5, would be too high for units with one rating."""
    rng = np.random.default_rng(2)
    n_judges, numbers = WORLDS["half of the items by one judge"]
    _, ratings = study(rng, n_judges, numbers)
    units = ratings.reshape(n_judges, -1)
    found = panel_reliability(units, ITEM_OF_UNIT)
    assert found.reliability.value < 0.65
    halves = split_half(units, split="units", n_splits=50).value
    assert halves == pytest.approx(found.reliability.value, abs=0.12)


def test_of_a_complete_panel_it_is_cronbachs_alpha() -> None:
    ratings = np.array([[2.0, 4, 5, 1, 3, 6], [1.0, 5, 4, 2, 2, 7], [3.0, 3, 6, 2, 4, 5]])
    # Cronbach (1951): k / (k − 1) · (1 − Σ variances / variance of the sums).
    variances, of_sums = ratings.var(axis=1, ddof=1).sum(), ratings.sum(axis=0).var(ddof=1)
    alpha = 3 / 2 * (1 - variances / of_sums)
    found = panel_reliability(ratings)
    assert found.reliability.value == pytest.approx(alpha)
    assert found.ceiling.value == pytest.approx(math.sqrt(alpha))
    assert found.ceiling.low is not None and found.ceiling.high is not None
    assert found.ceiling.low < found.ceiling.value < found.ceiling.high < 1


def test_many_judges_and_items_are_left_out_in_groups() -> None:
    rng = np.random.default_rng(0)
    worth = rng.normal(size=300)
    ratings = worth + rng.normal(size=(150, 300))
    ratings[rng.random(ratings.shape) > 0.03] = np.nan
    one, other = (panel_reliability(ratings, seed=seed).ceiling for seed in (1, 2))
    assert one.value == other.value
    assert one.low is not None and other.low is not None
    assert one.low != other.low
    assert one.low == pytest.approx(other.low, abs=0.03)


def test_two_judges_have_a_ceiling_without_interval() -> None:
    found = panel_reliability([[1.0, 2, 3, 4], [2.0, 2, 3, 5]]).ceiling
    assert found.value > 0.9
    assert found.low is None
    assert "two judges" in found.method


def test_what_is_undefined_has_a_reason() -> None:
    assert "two judges and three units" in panel_reliability([[1.0, 2, 3]]).ceiling.method
    apart = np.full((2, 6), np.nan)
    apart[0, :3], apart[1, 3:] = (1, 2, 3), (1, 2, 3)
    assert "too few units" in panel_reliability(apart).reliability.method
    opposed = panel_reliability([[1.0, 2, 3, 4], [4.0, 3.1, 2, 1]])
    assert opposed.reliability.value < 0
    assert "no more than by chance" in opposed.ceiling.method


def test_one_item_has_a_ceiling_without_interval() -> None:
    """Five systems' outputs for one item: other items may be judged otherwise."""
    ratings = np.array([[1.0, 2, 3, 4, 5], [1.0, 2, 3, 5, 5], [2.0, 2, 3, 4, 5]])
    found = panel_reliability(ratings, items=np.zeros(5, np.intp)).ceiling
    assert found.value > 0.9
    assert found.low is None
    assert "one item" in found.method


def test_means_that_lose_their_spread_without_a_judge() -> None:
    """Without the first judge, nothing of the variance of the means is left."""
    ratings = [[0.0, 1, 1], [0.0, 1, 0], [1.0, 1, 0], [0.0, 0, 1]]
    assert panel_reliability(ratings).ceiling.low is None
