"""`CautiousStudent`: the more cautious of Student's t and of t corrected for skewness."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import t, ttest_1samp

from wellput.stats.student import CautiousStudent, hall_transformed, hall_untransformed

skews = st.floats(-1.0, 1.0)


@given(st.floats(-20, 20), skews)
def test_a_transformation_and_back(statistic: float, skew: float) -> None:
    # At t = −3 / skew the transformation is flat: digits are lost there and nearby.
    assume(abs(1 + skew * statistic / 3) > 0.05)
    there = hall_transformed(statistic, skew)
    assert hall_untransformed(there, skew) == pytest.approx(statistic, rel=1e-6, abs=1e-6)


def test_the_transformation_removes_skewness_from_t() -> None:
    # t of 30 exponential values has a skewness of about −1; Hall's first-order correction leaves a
    # small part of it.
    rng = np.random.default_rng(1)
    values = rng.exponential(size=(4000, 30)) - 1
    deviations = values - values.mean(axis=1, keepdims=True)
    skew = (deviations**3).sum(axis=1) / (deviations**2).sum(axis=1) ** 1.5
    statistics = values.mean(axis=1) / values.std(axis=1, ddof=1) * np.sqrt(30)
    corrected = [
        hall_transformed(float(x), float(g)) for x, g in zip(statistics, skew, strict=True)
    ]
    assert np.median(statistics) < -0.005
    low, high = np.mean(statistics < -2.045), np.mean(statistics > 2.045)
    assert low > 0.05 and high < 0.015
    low, high = np.mean(np.array(corrected) < -2.045), np.mean(np.array(corrected) > 2.045)
    assert 0.015 < low < 0.04 and 0.015 < high < 0.04


def test_without_skewness_it_is_students() -> None:
    found = CautiousStudent(0.5, 0.3, 11).estimate(confidence=0.9, n=12, method="t")
    reach = 0.3 * t.ppf(0.95, 11)
    assert (found.low, found.high) == pytest.approx((0.5 - reach, 0.5 + reach))
    assert found.p_value == pytest.approx(2 * t.sf(0.5 / 0.3, 11))


@given(st.floats(-3, 3), skews, st.sampled_from([0.8, 0.95, 0.99]))
def test_p_is_small_exactly_where_the_interval_does_not_contain_0(
    value: float, skew: float, confidence: float
) -> None:
    found = CautiousStudent(value, 0.7, 20, skew).estimate(confidence=confidence, n=21, method="t")
    assert found.low is not None and found.high is not None and found.p_value is not None
    assert found.low <= value <= found.high
    assume(abs(found.p_value - (1 - confidence)) > 1e-6)
    assert (found.p_value < 1 - confidence) == (found.low > 0 or found.high < 0)


@given(st.floats(-1, 1), skews, st.floats(0.1, 5))
def test_equivalence_is_a_90_percent_interval_within_the_margin(
    value: float, skew: float, margin: float
) -> None:
    student = CautiousStudent(value, 0.7, 20, skew)
    found = student.estimate(confidence=0.9, n=21, method="t")
    assert found.low is not None and found.high is not None
    p_value = student.equivalence_p(margin)
    assume(abs(p_value - 0.05) > 1e-6)
    assert (p_value < 0.05) == (found.low > -margin and found.high < margin)


@pytest.mark.heavy
def test_equal_systems_with_skewed_differences_are_seldom_told_apart() -> None:
    # Exponential differences on 30 items: Student's t calls about 1 in 14 of them real at .05.
    rejected = np.zeros(2)
    for study in range(2000):
        values = np.random.default_rng(study).exponential(size=30) - 1
        deviations = values - values.mean()
        skew = (deviations**3).sum() / (deviations**2).sum() ** 1.5
        error = values.std(ddof=1) / np.sqrt(30)
        found = CautiousStudent(values.mean(), error, 29, float(skew))
        p_value = found.estimate(confidence=0.95, n=30, method="t").p_value
        assert p_value is not None
        rejected += [ttest_1samp(values, 0).pvalue < 0.05, p_value < 0.05]
    students, cautious = rejected / 2000
    assert students > 0.065 > 0.055 > cautious
