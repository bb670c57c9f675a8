from __future__ import annotations

import math

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.stats.resampling import (
    approximate_randomization,
    bootstrap,
    bootstrap_replicates,
    paired_bootstrap,
    percentile_interval,
)


def mean(statistics: Floats) -> Floats:
    """The score of (sum, count), NaN where the count is 0."""
    total, count = statistics[..., 0], statistics[..., 1]
    scores: Floats = np.divide(total, count, out=np.full(count.shape, np.nan), where=count != 0)
    return scores


def rows(*values: float) -> Floats:
    return np.array([[value, 1.0] for value in values])


def normal_rows(n: int, seed: int, shift: float = 0.0) -> Floats:
    return rows(*(np.random.default_rng(seed).normal(shift, 1.0, n)))


def test_bootstrap_interval_is_near_the_normal_one() -> None:
    x = normal_rows(400, seed=1)
    estimate = bootstrap(x, mean, n_resamples=4000, seed=2)
    half = 1.96 * x[:, 0].std() / 20
    assert estimate.value == pytest.approx(x[:, 0].mean())
    assert estimate.low == pytest.approx(estimate.value - half, abs=0.01)
    assert estimate.high == pytest.approx(estimate.value + half, abs=0.01)
    assert (estimate.n, estimate.seed, estimate.p_value) == (400, 2, None)
    assert estimate.method == "percentile bootstrap, 4000 resamples"


def test_a_higher_confidence_gives_a_wider_interval() -> None:
    x = normal_rows(50, seed=1)
    narrow, wide = (
        bootstrap(x, mean, n_resamples=500, seed=2, confidence=confidence)
        for confidence in (0.8, 0.99)
    )
    assert narrow.low is not None and narrow.high is not None
    assert wide.low is not None and wide.high is not None
    assert wide.low < narrow.low < narrow.high < wide.high


def test_the_same_seed_gives_the_same_estimate_on_any_number_of_threads() -> None:
    a, b = normal_rows(200, seed=1), normal_rows(200, seed=2)
    for test in (paired_bootstrap, approximate_randomization):
        estimates = [test(a, b, mean, n_resamples=300, seed=9, threads=t) for t in (1, 2, 5)]
        assert estimates[0] == estimates[1] == estimates[2]
        assert test(a, b, mean, n_resamples=300, seed=10) != estimates[0]


def test_randomization_of_few_items_by_hand() -> None:
    # Differences of the two systems: 1, 2, 3; the observed mean difference is 2. Of the eight ways
    # to set the signs only +++ and --- reach |2|: p = 2/8, up to the error of sampling 20,000 of
    # them (5 standard errors: 5 · sqrt(.25 · .75 / 20000) = .015).
    estimate = approximate_randomization(
        rows(2, 4, 6), rows(1, 2, 3), mean, n_resamples=20_000, seed=1
    )
    assert estimate.value == 2.0
    assert estimate.p_value == pytest.approx(2 / 8, abs=0.015)
    assert estimate.low is None


def test_paired_bootstrap_of_few_items_by_hand() -> None:
    # Differences -1, 1, 3 with mean 1. The 27 resamples' sums of three have |sum - 3| >= 3 (the
    # mean difference as far from its center as the observed 1) unless |sum - 3| is 0 or 2: sums 3
    # (7 ways) and 1, 5 (6 ways each). p = 8/27, and 5 · sqrt(.3 · .7 / 20000) = .016.
    a, b = rows(0, 2, 4), rows(1, 1, 1)
    estimate = paired_bootstrap(a, b, mean, n_resamples=20_000, seed=1)
    assert estimate.value == 1.0
    assert estimate.p_value == pytest.approx(8 / 27, abs=0.016)
    # 1/27 = 3.7% of the resamples are all -1, as many all 3: the 95% interval is the whole range.
    assert (estimate.low, estimate.high) == (-1.0, 3.0)


def test_a_planted_difference_is_found() -> None:
    # Half a standard deviation on 300 items: 6 standard errors.
    base, worse = normal_rows(300, seed=1), normal_rows(300, seed=2, shift=-0.5)
    for test in (paired_bootstrap, approximate_randomization):
        found = test(base, worse, mean, n_resamples=999, seed=1)
        assert found.value > 0
        assert found.p_value == 1 / 1000


def test_exchanging_the_systems_changes_the_sign_and_keeps_p() -> None:
    a, b = normal_rows(80, seed=1), normal_rows(80, seed=2)
    for test in (paired_bootstrap, approximate_randomization):
        one = test(a, b, mean, n_resamples=999, seed=1)
        other = test(b, a, mean, n_resamples=999, seed=1)
        assert one.value == -other.value
        assert one.p_value == other.p_value
    assert one.p_value is not None


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomization])
def test_identical_systems_differ_by_chance_only(test: object) -> None:
    assert callable(test)
    a = np.random.default_rng(1).random((50, 2))
    estimate = test(a, a.copy(), mean, n_resamples=99, seed=1)
    assert (estimate.value, estimate.p_value) == (0.0, 1.0)


def test_rounding_does_not_hide_a_resample_as_extreme_as_the_observed_one() -> None:
    # One item: every resample is the observed assignment or its mirror image, so p is 1 though
    # .1 - .3 and its mirror are sums of rounded numbers.
    estimate = approximate_randomization(rows(0.1), rows(0.3), mean, n_resamples=50, seed=1)
    assert estimate.p_value == 1.0


def test_no_items_no_estimate() -> None:
    nothing = np.zeros((0, 2))
    one = bootstrap(nothing, mean, n_resamples=10, seed=1)
    assert all(math.isnan(x) for x in (one.value, one.low or 0, one.high or 0))
    for test in (paired_bootstrap, approximate_randomization):
        estimate = test(nothing, nothing, mean, n_resamples=10, seed=1)
        assert estimate.p_value is not None and math.isnan(estimate.p_value)
        assert estimate.n == 0


def with_undefined(n_defined: int, n_undefined: int) -> Floats:
    return np.concatenate([np.zeros((n_undefined, 2)), normal_rows(n_defined, seed=1)])


def test_a_few_undefined_replicates_are_left_out_of_the_interval() -> None:
    # 3 of 6 items have a score: (1/2)^6 = 1.6% of the resamples have none that does.
    x = with_undefined(3, 3)
    replicates = bootstrap_replicates(x, mean, n_resamples=2000, seed=1)
    assert 0 < np.isnan(replicates).mean() < 0.03
    low, high = percentile_interval(replicates, confidence=0.95)
    assert x[3:, 0].min() <= low < high <= x[:, 0].max()


def test_many_undefined_replicates_leave_no_interval() -> None:
    # 1 of 4 items has a score: (3/4)^4 = 32% of the resamples have none.
    estimate = bootstrap(with_undefined(1, 3), mean, n_resamples=500, seed=1)
    assert not math.isnan(estimate.value)
    assert estimate.low is not None and math.isnan(estimate.low)
    assert estimate.high is not None and math.isnan(estimate.high)


def test_undefined_replicates_raise_p() -> None:
    # The systems differ by 5 on the one item that counts, but a third of the resamples lack it.
    a, b = with_undefined(1, 3), with_undefined(1, 3)
    b[-1, 0] -= 5
    estimate = paired_bootstrap(a, b, mean, n_resamples=2000, seed=1)
    assert estimate.p_value == pytest.approx(0.75**4, abs=0.05)


def test_an_undefined_score_has_no_p_value() -> None:
    a, b = rows(1.0, 2.0), np.zeros((2, 2))
    for test in (paired_bootstrap, approximate_randomization):
        estimate: Estimate = test(a, b, mean, n_resamples=20, seed=1)
        assert math.isnan(estimate.value)
        assert estimate.p_value is not None and math.isnan(estimate.p_value)


def test_bad_options_are_refused() -> None:
    a, b = rows(1.0, 2.0), rows(1.0)
    with pytest.raises(InputError, match="same items"):
        paired_bootstrap(a, b, mean, n_resamples=10, seed=1)
    with pytest.raises(InputError, match="same items"):
        approximate_randomization(a, b, mean, n_resamples=10, seed=1)
    with pytest.raises(InputError, match="resample"):
        bootstrap(a, mean, n_resamples=0, seed=1)
    with pytest.raises(InputError, match="seed"):
        bootstrap(a, mean, n_resamples=10, seed=-1)
    with pytest.raises(InputError, match="confidence"):
        bootstrap(a, mean, n_resamples=10, seed=1, confidence=95.0)


def test_more_resamples_than_can_be_drawn_are_refused() -> None:
    x, y = rows(1.0, 2.0), rows(2.0, 4.0)
    for test in (approximate_randomization, paired_bootstrap):
        with pytest.raises(InputError, match=r"t most 1,000,000,000"):
            test(x, y, mean, n_resamples=10**20, seed=1)
