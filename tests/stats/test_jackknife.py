"""Intervals and p-values from one standard error: against SciPy, statsmodels and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest, t, ttest_1samp, ttest_rel
from statsmodels.stats.weightstats import ttost_paired

from wellput.core.metric import Floats
from wellput.metrics.base import ratio
from wellput.stats.jackknife import (
    effect_size,
    paired_jackknife,
    score_interval,
    scores_without_items,
)
from wellput.stats.proportions import wilson


def mean(statistics: Floats) -> Floats:
    return ratio(statistics[..., 0], statistics[..., 1])


def rows_of(values: Floats) -> Floats:
    return np.stack([values, np.ones_like(values)], axis=1)


def two_systems(n: int = 24, seed: int = 1) -> tuple[Floats, Floats]:
    """Their differences are symmetric around 0.3: without skewness all figures are Student's."""
    rng = np.random.default_rng(seed)
    items, errors = rng.normal(size=n), rng.normal(size=n // 2)
    return items + 0.3 + np.concatenate([errors, -errors]), items


def test_a_mean_has_the_paired_t_test() -> None:
    a, b = two_systems()
    found = paired_jackknife(rows_of(a), rows_of(b), mean, confidence=0.9).estimate
    test = ttest_rel(a, b)
    low, high = test.confidence_interval(0.9)
    assert found.p_value == pytest.approx(test.pvalue)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert (found.null, found.n) == (0.0, 24)


@pytest.mark.parametrize("margin", [0.1, 0.5, 1.0, 3.0])
def test_equivalence_is_statsmodels(margin: float) -> None:
    a, b = two_systems()
    found = paired_jackknife(rows_of(a), rows_of(b), mean)
    expected = ttost_paired(a, b, -margin, margin)[0]
    assert found.equivalence_p(margin) == pytest.approx(expected)


def test_the_effect_is_cohens_d_of_paired_items() -> None:
    a, b = two_systems()
    # t of the paired test is d times the root of n.
    expected = ttest_rel(a, b).statistic / math.sqrt(len(a))
    assert effect_size(a, b) == pytest.approx(expected)
    assert effect_size(np.array([1.0, np.nan, 3.0]), np.array([0.0, 1.0, 3.0])) == pytest.approx(
        0.5 / math.sqrt(0.5)
    )
    assert effect_size(np.array([1.0, 2.0]), np.array([0.0, 1.0])) is None


def test_a_score_without_bounds_has_students_interval() -> None:
    a, _ = two_systems()
    found = score_interval(rows_of(a), mean, confidence=0.95)
    low, high = ttest_1samp(a, 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_leaving_out_items_by_hand() -> None:
    # 3/4 of all; without the first 2/2, the second 2/3, the third 2/3. Their mean is 7/9, their
    # squared distances from it 4/81 + 1/81 + 1/81 = 6/81; times 2/3 that is 4/81, whose root is 2/9.
    statistics = np.array([[1.0, 2.0], [1.0, 1.0], [1.0, 1.0]])
    found = scores_without_items(statistics, mean)
    assert found.value == 0.75
    assert found.scores.tolist() == [1.0, 2 / 3, 2 / 3]
    estimate = score_interval(statistics, mean)
    reach = t.ppf(0.975, 2) * 2 / 9
    assert (estimate.low, estimate.high) == pytest.approx((0.75 - reach, 0.75 + reach))


def test_items_that_add_nothing_are_no_evidence() -> None:
    a, b = two_systems(12)
    silent = np.zeros((30, 2))
    few = paired_jackknife(rows_of(a), rows_of(b), mean)
    many = paired_jackknife(
        np.concatenate([rows_of(a), silent]), np.concatenate([rows_of(b), silent]), mean
    )
    assert many.estimate.p_value == pytest.approx(few.estimate.p_value)
    assert (many.estimate.low, many.estimate.high) == pytest.approx(
        (few.estimate.low, few.estimate.high)
    )
    assert many.inferred is not None and many.inferred.freedom == 11


@pytest.mark.parametrize(("hits", "n"), [(0, 50), (1, 50), (25, 50), (49, 50), (50, 50), (3, 4)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_wilson_is_scipys(hits: int, n: int, confidence: float) -> None:
    found = wilson(hits, n, confidence=confidence)
    expected = binomtest(hits, n).proportion_ci(confidence, "wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_a_share_of_items_has_wilsons_interval() -> None:
    never = score_interval(rows_of(np.zeros(50)), mean)
    assert never.low == 0.0 and never.high == pytest.approx(
        binomtest(0, 50).proportion_ci(method="wilson").high
    )
    # One token in every output is a length, not a share.
    assert score_interval(rows_of(np.ones(50)), mean, bounds=(0.0, None)).low is None
    # Twice the share is no share, although all items have 0 or 1.
    doubled = score_interval(rows_of(np.array([0.0, 1.0, 1.0])), lambda s: 2 * mean(s))
    assert doubled.method == "jackknife"


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (0.0, None), (None, 1.0)])
def test_an_interval_stays_within_bounds(bounds: tuple[float | None, float | None]) -> None:
    high = rows_of(np.array([0.99, 0.2, 1.0, 1.0, 0.98, 1.0]))
    low = rows_of(np.array([0.01, 0.8, 0.0, 0.0, 0.02, 0.0]))
    for statistics in (high, low):
        found = score_interval(statistics, mean, confidence=0.99, bounds=bounds)
        assert found.low is not None and found.high is not None
        assert found.low < found.value < found.high
        assert bounds[0] is None or found.low > bounds[0]
        assert bounds[1] is None or found.high < bounds[1]


def test_the_interval_of_a_score_on_its_bound_ends_there() -> None:
    """BLEU is 100 where all outputs equal their references; without the only long item, it is 0."""

    def all_or_nothing(statistics: Floats) -> Floats:
        return np.where(statistics[..., 0] > 0, 100.00000000000004, 0.0)

    statistics = np.array([[1.0, 6.0], [0.0, 2.0], [0.0, 2.0]])
    found = score_interval(statistics, all_or_nothing, bounds=(0.0, 100.0))
    assert (found.low, found.high) == (0.0, found.value)


def test_near_the_middle_of_wide_bounds_nothing_changes() -> None:
    a, _ = two_systems()
    free = score_interval(rows_of(a), mean)
    wide = score_interval(rows_of(a), mean, bounds=(-1e6, 1e6))
    assert (wide.low, wide.high) == pytest.approx((free.low, free.high), rel=1e-4)


def test_where_nothing_varies() -> None:
    same = rows_of(np.full(12, 0.1))
    identical = paired_jackknife(same, same, mean)
    assert (identical.estimate.p_value, identical.estimate.low) == (1.0, None)
    assert identical.equivalence_p(0.5) is None
    # Every item differs by 0.2: as likely as a coin that falls 12 times the same way.
    constant = paired_jackknife(same, rows_of(np.full(12, 0.3)), mean).estimate
    assert constant.p_value == pytest.approx(2 / 2**12)
    assert constant.low is None
    assert score_interval(same, mean).low is None


def test_few_differing_items_are_few_degrees_of_freedom() -> None:
    # Four of 30 items differ, all in one direction. With 29 degrees of freedom p would be .044;
    # a coin falls the same way four times with a probability of .125.
    better = rows_of(np.repeat([1.0, 0.5], [4, 26]))
    found = paired_jackknife(better, rows_of(np.full(30, 0.5)), mean)
    statistic = math.sqrt(30) * (2 / 30) / math.sqrt((4 * 0.25 - 30 * (2 / 30) ** 2) / 29)
    assert found.inferred is not None and found.inferred.freedom == 3
    assert 2 * t.sf(statistic, 29) == pytest.approx(0.044, abs=0.001)
    assert found.estimate.p_value == pytest.approx(2 * t.sf(statistic, 3))
    assert found.estimate.p_value == pytest.approx(0.125, abs=0.001)


def test_skewed_differences_are_taken_with_caution() -> None:
    a, b = two_systems()
    a[:2] -= 6.0  # two items on which a fails badly
    for better, worse in ((a, b), (b, a)):
        found = paired_jackknife(rows_of(better), rows_of(worse), mean).estimate
        test = ttest_rel(better, worse)
        low, high = test.confidence_interval(0.95)
        assert found.low is not None and found.high is not None and found.p_value is not None
        assert found.p_value >= test.pvalue - 1e-12
        assert found.low <= low + 1e-12 and found.high >= high - 1e-12
        assert found.high - found.low > 1.1 * (high - low)
        # The interval is longer on the side of the bad failures: other items may have more of them.
        longer = found.value - found.low > found.high - found.value
        assert longer == (better is a)


def test_one_differing_item_shows_nothing() -> None:
    one = rows_of(np.repeat([1.0, 0.5], [1, 29]))
    found = paired_jackknife(one, rows_of(np.full(30, 0.5)), mean).estimate
    assert (found.p_value, found.low) == (1.0, None)


def test_too_little_to_say_anything() -> None:
    one = rows_of(np.array([1.0]))
    alone = paired_jackknife(one, rows_of(np.array([2.0])), mean).estimate
    assert math.isnan(alone.p_value or 0) and alone.low is None
    none = paired_jackknife(
        np.zeros((0, 2)), np.zeros((0, 2)), lambda s: np.full(s.shape[:-1], np.nan)
    )
    assert math.isnan(none.estimate.p_value or 0)


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=40),
    st.sampled_from([0.5, 0.9, 0.95, 0.99]),
)
def test_p_is_small_just_where_the_interval_leaves_zero_out(
    pairs: list[tuple[float, float]], confidence: float
) -> None:
    a, b = (rows_of(np.array(column)) for column in zip(*pairs, strict=True))
    found = paired_jackknife(a, b, mean, confidence=confidence).estimate
    assume(found.low is not None and found.high is not None and found.p_value is not None)
    assert found.low is not None and found.high is not None and found.p_value is not None
    assume(abs(found.p_value - (1 - confidence)) > 1e-9)
    assert (found.p_value < 1 - confidence) == (found.low > 0 or found.high < 0)


def test_two_scores_of_zero_do_not_differ() -> None:
    """Two systems without any match: their statistics differ on every item, their scores never."""
    rng = np.random.default_rng(3)
    a, b = (np.column_stack([np.zeros(20), rng.random(20) + 1]) for _ in range(2))
    found = paired_jackknife(a, b, mean).estimate
    assert (found.value, found.p_value, found.low) == (0.0, 1.0, None)


def test_a_spread_that_is_small_beside_the_scores_counts() -> None:
    """The standard error is 2e-11 of the score; the paired t test has the same p-value."""
    rng = np.random.default_rng(4)
    values = 1e9 + rng.normal(size=(2, 5000))
    a, b = (np.column_stack([row, np.ones(5000)]) for row in values)
    found = paired_jackknife(a, b, mean).estimate
    expected = ttest_rel(values[0], values[1]).pvalue
    assert found.p_value == pytest.approx(expected, rel=0.01)
