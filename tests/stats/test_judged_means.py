"""Means over judges × items: the jackknife against a plain loop and SciPy, and its calibration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from wellput.core.metric import Floats
from wellput.stats.corrections import holm
from wellput.stats.judged_means import CrossedMeans


def crossed(ratings: Floats) -> CrossedMeans:
    """The means of judges × groups × items, NaN where there is no value."""
    judges, groups, items = np.nonzero(~np.isnan(ratings))
    return CrossedMeans.of(
        ratings[judges, groups, items],
        groups=groups,
        judges=judges,
        items=items,
        n_groups=ratings.shape[1],
    )


def jackknife_by_hand(ratings: Floats, units: list[Any]) -> float:
    """The variance of the difference of the two groups' means when each unit is set to missing."""
    found = []
    for unit in units:
        kept = ratings.copy()
        kept[unit] = np.nan
        found.append(np.nanmean(kept[:, 0]) - np.nanmean(kept[:, 1]))
    n = len(units)
    return float((n - 1) / n * ((np.array(found) - np.mean(found)) ** 2).sum())


@given(seed=st.integers(0, 10_000), n_judges=st.integers(3, 5), n_items=st.integers(3, 6))
def test_the_interval_is_that_of_leaving_out_one_by_one(
    seed: int, n_judges: int, n_items: int
) -> None:
    rng = np.random.default_rng(seed)
    ratings = rng.normal(size=(n_judges, 2, n_items))
    ratings[rng.random(ratings.shape) < 0.2] = np.nan
    ratings[:2, :, 0], ratings[:2, :, 1] = 1.0, -1.0 - rng.random()  # nothing ends without values
    there = ~np.isnan(ratings)
    judges = [np.s_[j] for j in range(n_judges) if there[j].any()]
    items = [np.s_[:, :, i] for i in range(n_items) if there[:, :, i].any()]
    answers = [
        np.s_[j, :, i] for j in range(n_judges) for i in range(n_items) if there[j, :, i].any()
    ]
    v_judges, v_items, v_answers = (
        jackknife_by_hand(ratings, units) for units in (judges, items, answers)
    )
    variance = max(v_judges + v_items - v_answers, v_judges, v_items)
    freedom = variance**2 / (v_judges**2 / (len(judges) - 1) + v_items**2 / (len(items) - 1))
    fewest = min(len(judges), len(items)) - 1
    freedom = fewest if fewest < 2 else min(freedom, math.sqrt(freedom * fewest))
    value = np.nanmean(ratings[:, 0]) - np.nanmean(ratings[:, 1])
    reach = stats.t.ppf(0.975, freedom) * math.sqrt(variance)
    estimate = crossed(ratings).difference(0, 1)
    assert estimate.value == pytest.approx(value)
    assert estimate.low == pytest.approx(value - reach)
    assert estimate.high == pytest.approx(value + reach)


@pytest.mark.parametrize("shape", [(1, 2, 20), (20, 2, 1)])
def test_one_judge_or_one_item_is_scipys_paired_t_test(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(3)
    ratings = rng.normal(size=shape) + np.array([0.5, 0.0])[None, :, None]
    expected = stats.ttest_rel(ratings[:, 0].ravel(), ratings[:, 1].ravel())
    bounds = expected.confidence_interval()
    found = crossed(ratings).difference(0, 1)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx((bounds.low, bounds.high))


def test_a_mean_worked_by_hand() -> None:
    # Two judges, three items, one group: rows 1 2 3 and 3 4 5, mean 3. Without a judge 4 and 2:
    # V = 1/2 · (1 + 1) = 1. Without an item 3.5, 3, 2.5: V = 2/3 · (.25 + .25) = 1/3. Without one
    # answer (18 − x) / 5 = 3.4, 3.2, 3, 3, 2.8, 2.6: V = 5/6 · (.16 + .04 + 0 + 0 + .04 + .16) = 1/3.
    # 1 + 1/3 − 1/3 = 1; two judges leave 1 degree of freedom: 12.706 · 1.
    estimate = crossed(np.array([[[1.0, 2.0, 3.0]], [[3.0, 4.0, 5.0]]])).mean(0)
    assert estimate.value == 3
    assert estimate.low == pytest.approx(3 - 12.7062, abs=1e-4)
    assert estimate.high == pytest.approx(3 + 12.7062, abs=1e-4)
    assert estimate.p_value is None


def test_what_is_always_alike_has_no_interval() -> None:
    ratings = np.ones((3, 2, 4))
    estimate = crossed(ratings).difference(0, 1)
    assert (estimate.value, estimate.low, estimate.p_value) == (0, None, None)


def test_a_group_of_one_judge_among_several_has_no_interval() -> None:
    ratings = np.random.default_rng(0).normal(size=(4, 2, 6))
    ratings[1:, 1] = np.nan
    means = crossed(ratings)
    assert means.difference(0, 1).low is None
    assert means.mean(0).low is not None


WORLDS = {
    "few judges": (3, 60, 0.3, 1.0),
    "a panel": (6, 60, 0.3, 1.0),
    "judges who agree on systems": (6, 60, 0.0, 1.0),
    "a fifth missing": (6, 100, 0.3, 0.8),
    "a crowd": (30, 60, 0.3, 0.1),
}


@pytest.mark.parametrize("world", WORLDS)
def test_a_difference_that_is_not_there_is_seldom_found(world: str) -> None:
    """Ratings from 1 to 7 with severity, difficulty, tastes (judge × system), outputs (item × system)
    and noise. In 400 studies a rate of .05 exceeds .08 once in 200 times."""
    n_judges, n_items, taste, share = WORLDS[world]
    rng = np.random.default_rng(11)
    found = 0
    for _ in range(400):
        felt = (
            4
            + rng.normal(0, 0.5, (n_judges, 1, 1))
            + rng.normal(0, 0.5, (1, 1, n_items))
            + rng.normal(0, taste, (n_judges, 2, 1))
            + rng.normal(0, 0.6, (1, 2, n_items))
            + rng.normal(0, 0.8, (n_judges, 2, n_items))
        )
        ratings = np.clip(felt.round(), 1, 7)
        ratings[rng.random(ratings.shape) > share] = np.nan
        p_value = crossed(ratings).difference(0, 1).p_value
        found += p_value is not None and p_value < 0.05
    assert found / 400 < 0.08


@pytest.mark.heavy
def test_three_judges_keep_the_level() -> None:
    """In 4,000 studies a rate of .05 exceeds .06 once in 500 times. With Satterthwaite's degrees of
    freedom alone it is .067."""
    rng = np.random.default_rng(4)
    shape = (3, 2, 60)
    judges, groups, items = (place.ravel() for place in np.indices(shape))
    found = 0
    for _ in range(4000):
        ratings = (
            rng.normal(0, 0.5, (3, 2, 1))
            + rng.normal(0, 0.6, (1, 2, 60))
            + rng.normal(0, 0.8, shape)
        )
        p_value = (
            CrossedMeans.of(ratings.ravel(), groups=groups, judges=judges, items=items, n_groups=2)
            .difference(0, 1)
            .p_value
        )
        found += p_value is not None and p_value < 0.05
    assert found / 4000 < 0.06


def test_two_judges_are_taken_with_great_caution() -> None:
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(400):
        ratings = rng.normal(0, 1.0, (2, 2, 1)) + rng.normal(0, 0.8, (2, 2, 60))
        p_value = crossed(ratings).difference(0, 1).p_value
        found += p_value is not None and p_value < 0.05
    assert found / 400 < 0.06


def test_unanimous_shares_are_told_apart_when_there_are_enough_items() -> None:
    def share(n_items: int) -> float:
        ratings = np.zeros((4, 2, n_items))
        ratings[:, 0] = 1.0
        judges, groups, items = np.nonzero(~np.isnan(ratings))
        found = CrossedMeans.of(
            ratings[judges, groups, items],
            groups=groups, judges=judges, items=items, n_groups=2, are_shares=True,
        ).difference(0, 1)  # fmt: skip
        assert found.high == 1 and found.low is not None and found.p_value is not None
        assert (found.p_value < 0.05) == (found.low > 0)
        return found.p_value

    # 3 items: 5/7 and 2/7, variance 2 · (5/7 · 2/7) / 7 = .0583, t = 4.14 with 2 df: p = .054.
    assert share(3) == pytest.approx(0.054, abs=0.001)
    assert share(40) < 0.001


def test_judges_who_happen_to_agree_are_not_surer_than_usual() -> None:
    """Three judges differ about all systems except the first two: they may agree about these by
    chance."""
    rng = np.random.default_rng(4)
    ratings = rng.normal(size=(1, 6, 40)) + 0.2 * rng.normal(size=(3, 6, 40))
    tastes = rng.normal(size=(3, 6, 1))
    tastes[:, :2] = 0.0
    alone = crossed(ratings[:, :2] + tastes[:, :2]).difference(0, 1)
    among = crossed(ratings + tastes).difference(0, 1)
    assert alone.value == among.value
    assert alone.low is not None and among.low is not None
    assert alone.high is not None and among.high is not None
    assert among.high - among.low > 2 * (alone.high - alone.low)


@pytest.mark.slow
def test_no_difference_is_found_among_many_equal_systems_by_three_judges() -> None:
    """After Holm's correction. With each pair's own variance over judges, .27 of such studies find
    one."""
    rng = np.random.default_rng(1)
    studies, found = 100, 0
    for _ in range(studies):
        ratings = (
            0.6 * rng.normal(size=(1, 10, 200))
            + 0.3 * rng.normal(size=(3, 10, 1))
            + 0.8 * rng.normal(size=(3, 10, 200))
        )
        means = crossed(ratings)
        p_values = [means.difference(a, b).p_value for a in range(10) for b in range(a)]
        found += bool((holm(np.array(p_values, dtype=float)) < 0.05).any())
    assert found <= 10  # 5 expected at most: 10 is exceeded once in 90 times


def test_a_pair_that_one_judge_rated_says_nothing_about_other_judges() -> None:
    """Unless other pairs show how much judges differ."""
    ratings = np.full((2, 2, 20), np.nan)
    ratings[0, 0], ratings[1, 1] = 3.0 + np.arange(20) % 2, 1.0 + np.arange(20) % 3
    assert crossed(ratings).difference(0, 1).p_value is None
    assert crossed(ratings).mean(0).low is None
