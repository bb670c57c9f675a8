"""An interval and its p-value equal SciPy's t-test and never contradict each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from wellput.stats.student import FISHER_Z, IDENTITY, LOGIT, Scale, student_estimate

DIFFERENCES = np.array([0.3, -0.1, 0.5, 0.2, 0.4])


def test_a_mean_is_scipys_t_test() -> None:
    error = DIFFERENCES.std(ddof=1) / math.sqrt(5)
    estimate = student_estimate(DIFFERENCES.mean(), error, 4)
    test = stats.ttest_1samp(DIFFERENCES, 0)
    interval = test.confidence_interval()
    assert estimate.p_value == pytest.approx(test.pvalue)
    assert (estimate.low, estimate.high) == pytest.approx((interval.low, interval.high))


def test_a_correlations_interval_is_made_on_fishers_scale() -> None:
    estimate = student_estimate(0.6, 0.2, 5, scale=FISHER_Z)
    reach = stats.t.ppf(0.975, 5) * 0.2
    assert estimate.low == pytest.approx(math.tanh(math.atanh(0.6) - reach))
    assert estimate.high == pytest.approx(math.tanh(math.atanh(0.6) + reach))


def test_a_shares_interval_stays_between_0_and_1() -> None:
    estimate = student_estimate(0.95, 0.8, 5, scale=LOGIT, null=0.5)
    assert estimate.low is not None and estimate.high is not None
    assert 0 < estimate.low < 0.95 < estimate.high < 1


@pytest.mark.parametrize("error", [0.0, math.nan, math.inf])
def test_without_an_error_there_is_no_interval(error: float) -> None:
    estimate = student_estimate(0.5, error, 5)
    assert (estimate.low, estimate.high, estimate.p_value) == (None, None, None)


@given(
    value=st.floats(0.01, 0.99),
    error=st.floats(0.01, 2),
    freedom=st.floats(1, 50),
    null=st.floats(0.01, 0.99),
    confidence=st.sampled_from([0.8, 0.9, 0.95, 0.99]),
    scale=st.sampled_from([IDENTITY, FISHER_Z, LOGIT]),
)
def test_p_is_small_exactly_where_the_interval_does_not_contain_the_null(
    value: float, error: float, freedom: float, null: float, confidence: float, scale: Scale
) -> None:
    estimate = student_estimate(
        value, error, freedom, null=null, confidence=confidence, scale=scale
    )
    assert estimate.p_value is not None and estimate.low is not None and estimate.high is not None
    if abs(estimate.p_value - (1 - confidence)) > 1e-9:
        is_outside = not estimate.low <= null <= estimate.high
        assert is_outside == (estimate.p_value < 1 - confidence)
