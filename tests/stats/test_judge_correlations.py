from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import pearsonr

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.judges.correlations import (
    judges_against_rest,
    pair_correlations,
    pairwise_correlations,
    spearman_brown,
    split_half,
)

NAN = float("nan")


def panel(judges: int, units: int, *, noise: float = 1.0, seed: int = 0) -> Floats:
    """Ratings of the same quality (standard deviation 1) with each judge's noise."""
    rng = np.random.default_rng(seed)
    ratings: Floats = rng.normal(size=units) + noise * rng.normal(size=(judges, units))
    return ratings


def test_pairwise_correlations_by_hand() -> None:
    # A and B: 1; A and C: −1; B and C: −1. Mean −1/3; the squared deviations are 16/9, 4/9, 4/9,
    # their sum over n − 1 = 2 is 4/3.
    summary = pairwise_correlations([[1, 2, 3, 4], [2, 4, 6, 8], [4, 3, 2, 1]])
    assert summary.mean == pytest.approx(-1 / 3)
    assert (summary.min, summary.max, summary.n_pairs) == (-1, 1, 3)
    assert summary.sd == pytest.approx((4 / 3) ** 0.5)
    assert summary.reason == ""


def test_pairs_are_scipys_pearson_on_shared_units() -> None:
    ratings = panel(5, 40)
    ratings[np.random.default_rng(1).random(ratings.shape) < 0.3] = NAN
    for pair in pair_correlations(ratings):
        x, y = ratings[pair.first], ratings[pair.second]
        both = ~np.isnan(x + y)
        assert pair.estimate.value == pytest.approx(pearsonr(x[both], y[both]).statistic, abs=1e-12)
        assert pair.estimate.n == both.sum()


def test_a_constant_judge_is_left_out_and_named() -> None:
    summary = pairwise_correlations([[1, 2, 3, 5], [3, 3, 3, 3], [1, 2, 4, 4]])
    assert (summary.constant, summary.n_pairs, summary.undefined_pairs) == ((1,), 1, 2)
    assert summary.mean == summary.min == summary.max
    assert np.isnan(summary.sd) and "single pair" in summary.reason


def test_a_judge_of_nearly_equal_means_is_constant() -> None:
    row = [0.1 + 0.2, 0.3, 0.3, 0.3]  # differs from a constant by rounding alone
    assert pairwise_correlations(np.array([row, [1, 2, 3, 4]])).constant == (0,)


def test_two_shared_units_are_too_few() -> None:
    (pair,) = pair_correlations([[1, 2, NAN, 4], [2, 1, 3, NAN]])
    assert np.isnan(pair.estimate.value)
    assert pair.estimate.method == "undefined: 2 units in common, at least 3 are needed"
    summary = pairwise_correlations([[1, 2, NAN, 4], [2, 1, 3, NAN]])
    assert np.isnan(summary.mean) and summary.n_pairs == 0 and summary.reason


def test_huge_and_tiny_ratings_have_the_same_correlation() -> None:
    x, y = panel(2, 20)
    (pair,) = pair_correlations([x, y])
    (scaled,) = pair_correlations([x * 1e200, y * 1e-200])
    assert scaled.estimate.value == pytest.approx(pair.estimate.value, abs=1e-12)


def test_ratings_of_a_wrong_shape_or_infinite_are_refused() -> None:
    with pytest.raises(InputError, match="judges × units"):
        pairwise_correlations([1, 2, 3])
    with pytest.raises(InputError, match="judge 1, unit 0"):
        pairwise_correlations(np.array([[1, 2, 3], [np.inf, 2, 3]]))


def test_spearman_brown_by_hand() -> None:
    assert spearman_brown(0.5, 2) == pytest.approx(2 / 3)  # 2 · .5 / (1 + .5)
    assert spearman_brown(0.5, 3) == pytest.approx(0.75)  # 3 · .5 / (1 + 2 · .5)
    assert spearman_brown(-0.5, 2) == pytest.approx(-2 / 3)  # not −2: see the docstring
    assert spearman_brown(1.0, 2) == 1.0


def test_split_half_of_two_judges_is_their_stepped_up_correlation() -> None:
    ratings = panel(2, 30)
    r = pearsonr(*ratings).statistic
    assert split_half(ratings, n_splits=3).value == pytest.approx(2 * r / (1 + r))


def test_split_half_of_three_judges_steps_from_one_to_three() -> None:
    # One judge sits out each split, so the mean over the three splits is the mean correlation.
    ratings = panel(3, 30)
    expected = spearman_brown(pairwise_correlations(ratings).mean, 3)
    assert split_half(ratings, n_splits=4000).value == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("judges", [4, 5, 9])
@pytest.mark.parametrize("split", ["judges", "units"])
def test_split_half_finds_the_reliability_that_was_planted(judges: int, split: str) -> None:
    # The variance of the quality over that of the mean of k judges: 1 / (1 + 2.25 / k).
    ratings = panel(judges, 4000, noise=1.5)
    estimate = split_half(ratings, split=split, n_splits=50)  # type: ignore[arg-type]
    assert estimate.value == pytest.approx(1 / (1 + 2.25 / judges), abs=0.02)
    assert (estimate.n, estimate.seed) == (4000, 12345)


def test_split_half_of_a_crowd() -> None:
    """A hundred judges, three or four ratings per unit: no two judges share many units."""
    rng = np.random.default_rng(3)
    ratings = panel(100, 2000, noise=1.0)
    rank = np.argsort(rng.random(ratings.shape), axis=0).argsort(axis=0)
    ratings[rank >= 3 + (np.arange(2000) % 2)] = NAN
    estimate = split_half(ratings, split="units", n_splits=50)
    # 3 or 4 ratings: 1 / (1 + 1 / 3.5) with the mean number
    assert estimate.value == pytest.approx(3.5 / 4.5, abs=0.04)


def test_split_half_is_seeded() -> None:
    ratings = panel(6, 20)
    assert split_half(ratings, seed=4) == split_half(ratings, seed=4)
    assert split_half(ratings, seed=4) != split_half(ratings, seed=5)


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        ([[1.0, 2.0, 3.0, 4.0]], "0 units with two ratings"),
        ([[1.0, 2.0], [2.0, 1.0]], "2 units with two ratings"),
        ([[3.0] * 5, [3.0] * 5], "constant"),
        ([[NAN, NAN, NAN], [1.0, 2.0, 3.0]], "0 units"),
    ],
)
def test_undefined_split_half_has_a_reason(ratings: list[list[float]], reason: str) -> None:
    estimate = split_half(ratings)
    assert np.isnan(estimate.value) and reason in estimate.method


def test_judge_against_rest_by_hand() -> None:
    # The rest of judge 0 is the mean of the other two: (1, 3, 2, 4), identical to judge 0's.
    found = judges_against_rest([[1, 3, 2, 4], [0, 4, 2, 5], [2, 2, 2, 3]])
    assert found[0].correlation.value == pytest.approx(1.0)
    assert found[1].correlation.value == pytest.approx(
        pearsonr([0, 4, 2, 5], [1.5, 2.5, 2, 3.5]).statistic
    )
    assert not any(judge.is_outlier for judge in found)


def test_the_reversed_and_the_random_and_the_constant_judge_are_outliers() -> None:
    ratings = panel(12, 200, noise=0.5, seed=5)
    ratings[3] = -ratings[3]
    ratings[7] = np.random.default_rng(9).normal(size=200) + 0.2 * ratings[0]
    ratings[9] = 4.0
    found = judges_against_rest(ratings)
    assert [judge.judge for judge in found if judge.is_outlier] == [3, 7, 9]
    assert "not above 0" in found[3].reason
    assert "standard deviations below the median judge" in found[7].reason
    assert found[9].reason == "gave every unit the same rating"
    assert np.isnan(found[9].correlation.value)


def test_equal_judges_are_seldom_outliers() -> None:
    flagged = sum(
        judge.is_outlier
        for seed in range(50)
        for judge in judges_against_rest(panel(10, 60, noise=1.0, seed=seed))
    )
    assert flagged <= 10  # of 500


def test_a_spread_less_than_chance_makes_no_outliers() -> None:
    """Two of three judges often have almost the same correlation: this makes the third no outlier."""
    flagged = sum(
        "standard deviations" in judge.reason
        for seed in range(100)
        for judge in judges_against_rest(panel(3, 12, noise=0.5, seed=seed))
    )
    assert flagged <= 5  # of 300


def test_a_judge_alone_on_their_units_is_no_outlier() -> None:
    found = judges_against_rest([[1, 2, 3, NAN, NAN], [NAN, NAN, NAN, 1, 2]])
    assert all(np.isnan(judge.correlation.value) and not judge.is_outlier for judge in found)


@settings(max_examples=50)
@given(
    arrays(np.float64, (4, 8), elements=st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, NAN])),
    st.permutations(range(4)),
)
def test_the_order_of_judges_does_not_matter(ratings: Floats, order: list[int]) -> None:
    one, other = pairwise_correlations(ratings), pairwise_correlations(ratings[order])
    np.testing.assert_allclose(
        [one.mean, one.min, one.max, one.sd],
        [other.mean, other.min, other.max, other.sd],
        atol=1e-9,
    )
    assert {order[judge] for judge in other.constant} == set(one.constant)
    assert one.n_pairs + one.undefined_pairs == 6
    rest = judges_against_rest(ratings)
    shuffled = judges_against_rest(ratings[order])
    for judge, place in enumerate(order):
        assert shuffled[judge].is_outlier == rest[place].is_outlier


@pytest.mark.parametrize("cells_at_a_time", [1, 25, 1 << 21])
def test_each_judge_against_the_mean_of_the_others(
    monkeypatch: pytest.MonkeyPatch, cells_at_a_time: int
) -> None:
    """Judges are compared many at a time; one by one it is the same."""
    monkeypatch.setattr("wellput.stats.judges.correlations.CELLS_AT_A_TIME", cells_at_a_time)
    rng = np.random.default_rng(2)
    ratings = rng.normal(size=(9, 12))
    ratings[rng.random(ratings.shape) < 0.5] = np.nan
    ratings[0, 3:] = np.nan  # hardly a unit
    ratings[1, ~np.isnan(ratings[1])] = 4.0
    found = [entry.correlation for entry in judges_against_rest(ratings)]
    for judge, estimate in enumerate(found):
        others = np.delete(ratings, judge, axis=0)
        shared = ~np.isnan(ratings[judge]) & ~np.isnan(others).all(axis=0)
        assert estimate.n == shared.sum()
        if judge > 1 and shared.sum() > 2:
            rest = np.nanmean(others[:, shared], axis=0)
            expected = np.corrcoef(ratings[judge, shared], rest)[0, 1]
            assert estimate.value == pytest.approx(expected, abs=1e-12)
        else:
            assert np.isnan(estimate.value)
    assert "constant" in found[1].method
