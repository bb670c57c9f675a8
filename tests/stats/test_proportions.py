"""Shares with Wilson's and exact intervals; paired shares with McNemar's test and Tango's interval."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from wellput.core.errors import InputError
from wellput.core.estimates import Estimate
from wellput.stats.proportions import (
    DifferenceOfShares,
    clopper_pearson,
    share_interval,
    wilson,
)


@pytest.mark.parametrize(
    ("a", "b", "n"),
    [
        (1, 7, 21),
        (9, 1, 30),
        (40, 20, 160),
        (0, 6, 12),
        (12, 12, 40),
        (0, 0, 9),
        (24, 0, 50),
        (3, 22, 99),
    ],
)
def test_p_is_mcnemars_exact_where_few_items_differ(a: int, b: int, n: int) -> None:
    is_exact = a + b < 25
    expected = mcnemar([[n - a - b, a], [b, 0]], exact=is_exact, correction=False).pvalue
    found = DifferenceOfShares(a, b, n).estimate
    assert found.p_value == pytest.approx(expected, rel=1e-12)
    assert found.method == ("exact mcnemar" if is_exact else "mcnemar")


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
@pytest.mark.parametrize(
    ("hits", "n"),
    [
        (0, 1),
        (1, 1),
        (0, 8),
        (8, 8),
        (3, 29),
        (29, 29),
        (1, 30),
        (30, 30),
        (970, 1000),
        (1500, 3000),
        (1, 5000),
    ],
)
def test_intervals_of_a_share_are_statsmodels(hits: int, n: int, confidence: float) -> None:
    for method, found in (
        ("wilson", wilson(hits, n, confidence=confidence)),
        ("beta", clopper_pearson(hits, n, confidence=confidence)),
    ):
        low, high = proportion_confint(hits, n, alpha=1 - confidence, method=method)
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
        assert found.low is not None and found.high is not None
        assert 0 <= found.low < found.high <= 1


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
@pytest.mark.parametrize(
    ("hits", "n"), [(0, 0), (5, 3), (-1, 3), (1.5, 3), (np.nan, 3), (1, np.inf), (3, 10**400)]
)
def test_what_is_no_share_is_refused(
    interval: Callable[..., Estimate], hits: float, n: int
) -> None:
    with pytest.raises(InputError, match="is no share"):
        interval(hits, n)
    with pytest.raises(InputError, match="between 0 and 1"):
        interval(1, 3, confidence=95)


def test_whole_numbers_may_be_floats() -> None:
    assert clopper_pearson(2.0, 3.0) == clopper_pearson(2, 3)  # type: ignore[arg-type]


def test_the_interval_of_a_share_is_exact_for_few_items() -> None:
    assert share_interval(29, 29) == clopper_pearson(29, 29)
    assert share_interval(30, 30) == wilson(30, 30)
    assert [share_interval(n, n).method for n in (29, 30)] == ["exact", "wilson"]


def score_statistic(a: int, b: int, n: int, difference: float) -> float:
    """By definition: the variance is that of the most likely shares with this difference."""

    def loss(q: float) -> float:
        cells = np.array([q + difference, q, 1 - 2 * q - difference])
        return -float(np.array([a, b, n - a - b]) @ np.log(cells))

    low, high = max(0.0, -difference), (1 - difference) / 2
    q = minimize_scalar(loss, bounds=(low + 1e-12, high - 1e-12), options={"xatol": 1e-12}).x
    return float((a - b - n * difference) / np.sqrt(n * (2 * q + difference - difference**2)))


@pytest.mark.parametrize(("a", "b", "n"), [(1, 7, 21), (9, 2, 30), (40, 20, 160)])
def test_ends_and_margins_are_those_of_the_score_test(a: int, b: int, n: int) -> None:
    found = DifferenceOfShares(a, b, n, confidence=0.9)
    estimate = found.estimate
    assert estimate.low is not None and estimate.high is not None
    critical = norm.ppf(0.95)
    assert score_statistic(a, b, n, estimate.low) == pytest.approx(critical, abs=1e-4)
    assert score_statistic(a, b, n, estimate.high) == pytest.approx(-critical, abs=1e-4)
    expected = max(norm.sf(score_statistic(a, b, n, -0.5)), norm.cdf(score_statistic(a, b, n, 0.5)))
    assert found.equivalence_p(0.5) == pytest.approx(expected, rel=1e-3)


def test_the_interval_reaches_0_where_only_the_score_test_leaves_it_out() -> None:
    # 5 items differ, all in one direction: exact p = 2 / 2⁵ = .0625, by the score test .025.
    found = DifferenceOfShares(5, 0, 40).estimate
    assert found.p_value == 0.0625
    assert found.low == 0.0
    assert score_statistic(5, 0, 40, 0.0) > norm.ppf(0.975)


def test_no_differing_item_bounds_the_difference() -> None:
    # Wilson's interval of 0 among 30 on either side.
    found = DifferenceOfShares(0, 0, 30).estimate
    end = 1.959964**2 / (30 + 1.959964**2)
    assert (found.low, found.high) == pytest.approx((-end, end), abs=1e-6)
    assert found.p_value == 1.0


@given(
    st.integers(0, 40), st.integers(0, 40), st.integers(1, 40), st.sampled_from([0.8, 0.95, 0.99])
)
def test_p_is_small_just_where_the_interval_leaves_zero_out(
    a: int, b: int, ties: int, confidence: float
) -> None:
    found = DifferenceOfShares(a, b, a + b + ties, confidence).estimate
    assert found.low is not None and found.high is not None and found.p_value is not None
    assert found.low <= found.value <= found.high
    assume(abs(found.p_value - (1 - confidence)) > 1e-9)
    assert (found.p_value < 1 - confidence) == (found.low > 0 or found.high < 0)
