"""Differences of paired shares: McNemar's test and Tango's interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm
from statsmodels.stats.contingency_tables import mcnemar

from wellput.stats.proportions import DifferenceOfShares


@pytest.mark.parametrize(("a", "b", "n"), [(1, 7, 21), (9, 1, 30), (40, 20, 160), (0, 6, 12)])
def test_p_is_mcnemars(a: int, b: int, n: int) -> None:
    expected = mcnemar([[n - a - b, a], [b, 0]], exact=False, correction=False).pvalue
    assert DifferenceOfShares(a, b, n).estimate.p_value == pytest.approx(expected)


def score_statistic(a: int, b: int, n: int, difference: float) -> float:
    """By definition: the variance is that of the most likely shares with this difference."""

    def loss(q: float) -> float:
        cells = np.array([q + difference, q, 1 - 2 * q - difference])
        return -float(np.array([a, b, n - a - b]) @ np.log(cells))

    low, high = max(0.0, -difference), (1 - difference) / 2
    q = minimize_scalar(loss, bounds=(low + 1e-12, high - 1e-12), options={"xatol": 1e-12}).x
    return float((a - b - n * difference) / np.sqrt(n * (2 * q + difference - difference**2)))


@pytest.mark.parametrize(("a", "b", "n"), [(1, 7, 21), (9, 3, 30), (40, 20, 160)])
def test_ends_and_margins_are_those_of_the_score_test(a: int, b: int, n: int) -> None:
    found = DifferenceOfShares(a, b, n, confidence=0.9)
    estimate = found.estimate
    assert estimate.low is not None and estimate.high is not None
    critical = norm.ppf(0.95)
    assert score_statistic(a, b, n, estimate.low) == pytest.approx(critical, abs=1e-4)
    assert score_statistic(a, b, n, estimate.high) == pytest.approx(-critical, abs=1e-4)
    expected = max(norm.sf(score_statistic(a, b, n, -0.5)), norm.cdf(score_statistic(a, b, n, 0.5)))
    assert found.equivalence_p(0.5) == pytest.approx(expected, rel=1e-3)


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
