"""Bootstrap intervals of agreement: kernel against oracle, and nlpstats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stats.test_correlation import GOLDEN, golden, study
from tests.stats.test_kernel import drawn_rows
from tests.stats.test_permutation import GROUPINGS, three_scorers
from wellput import _native
from wellput.core.errors import InputError
from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.stats.correlation import Coefficient, Correlation, correlate
from wellput.stats.correlation_resampling import (
    boot_both,
    boot_difference,
    boot_inputs,
    boot_systems,
    sign_p_value,
)

BOOTSTRAPS: dict[str, Callable[..., Estimate]] = {
    "both": boot_both,
    "systems": boot_systems,
    "inputs": boot_inputs,
}


def redrawn(scores: Floats, drawn: str, seed: int, resample: int) -> Floats:
    systems, items = scores.shape
    if drawn in ("systems", "both"):
        scores = scores[drawn_rows(systems, seed, 2 * resample)]
    if drawn in ("items", "both"):
        scores = scores[:, drawn_rows(items, seed, 2 * resample + 1)]
    return scores


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall", "kendall-c", "acc-t"])
@pytest.mark.parametrize("grouping", GROUPINGS)
@given(
    st.integers(0, 10**6),
    st.integers(4, 14),
    st.sampled_from([4, 12, 70]),
    st.integers(0, 2),
    st.sampled_from(["both", "systems", "items"]),
)
@settings(max_examples=6, deadline=None)
def test_kernel_draws_and_correlates(
    coefficient: Coefficient,
    grouping: str,
    seed: int,
    systems: int,
    items: int,
    decimals: int,
    drawn: str,
) -> None:
    x, z = study(seed, systems, items, decimals=decimals)
    level, average = GROUPINGS[grouping]
    found = _native.bootstrapped_correlations(x, z, grouping, coefficient, drawn, 4, seed, 2)
    for resample in range(1, 5):
        expected = correlate(
            redrawn(x, drawn, seed, resample),
            redrawn(z, drawn, seed, resample),
            Correlation(level, average, coefficient),
        ).value
        # Means of the same cells, summed in another order, may tie or not; otherwise they agree.
        if not np.isnan(expected) and not (grouping == "means" and coefficient != "pearson"):
            assert found[resample, 0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.heavy
@pytest.mark.parametrize("row", GOLDEN["nlpstats"]["bootstrap"], ids=str)
def test_nlpstats_within_monte_carlo_error(row: dict[str, Any]) -> None:
    estimate = BOOTSTRAPS[row["drawn"]](
        golden("x"),
        golden(row["human"]),
        Correlation(row["level"], row["average"], row["coefficient"]),
        n_resamples=20_000,
    )
    assert estimate.low is not None and estimate.high is not None
    # Quantiles of 1,000 resamples at 2.5% have a standard error of some 5% of the half width.
    error = 0.1 * (row["high"] - row["low"])
    assert estimate.low == pytest.approx(row["low"], abs=error)
    assert estimate.high == pytest.approx(row["high"], abs=error)
    assert estimate.low <= estimate.value <= estimate.high


def test_threads_do_not_change_a_digit() -> None:
    x, z = study(5, 7, 40)
    assert boot_both(x, z, n_resamples=200) == boot_both(x, z, n_resamples=200, threads=3)


@pytest.mark.parametrize("resample", ["both", "systems", "items"])
def test_difference_of_a_good_and_a_poor_metric(
    resample: Literal["both", "systems", "items"],
) -> None:
    rng = np.random.default_rng(4)
    z = rng.normal(size=(10, 60))
    good, poor = z + rng.normal(size=z.shape), z + 4 * rng.normal(size=z.shape)
    estimate = boot_difference(good, poor, z, resample=resample, n_resamples=199)
    assert estimate.low is not None and estimate.low > 0
    assert estimate.p_value == 2 / 200
    greater = boot_difference(
        poor, good, z, resample=resample, alternative="greater", n_resamples=199
    )
    assert greater.p_value == 1.0


def test_p_value_of_signs() -> None:
    # 1 of 9 differences is not above 0, 8 are not below: (1 + 1) / 10 on one side, twice that on two.
    differences = np.array([-0.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    assert sign_p_value(differences, "greater") == pytest.approx(0.2)
    assert sign_p_value(differences, "less") == pytest.approx(0.9)
    assert sign_p_value(differences, "two-sided") == pytest.approx(0.4)
    assert sign_p_value(np.array([np.nan, 0.1, 0.2]), "greater") == pytest.approx(2 / 4)


def test_undefined_and_refused() -> None:
    x, y, z = three_scorers(1, 5, 20, 1)
    constant = boot_both(np.ones_like(x), z)
    assert np.isnan(constant.value) and constant.low is None
    assert "the metric is constant" in constant.method
    difference = boot_difference(x, np.ones_like(x), z)
    assert np.isnan(difference.value)
    with pytest.raises(InputError, match="confidence"):
        boot_both(x, z, confidence=95)
    with pytest.raises(InputError, match="no bootstrap"):
        boot_both(x, z, Correlation("system", coefficient="spa"))
    assert boot_difference(x, y, z, n_resamples=50).n == boot_both(x + y, z, n_resamples=50).n


@pytest.mark.heavy
def test_tie_calibration_that_would_take_hours_is_refused() -> None:
    x = np.random.default_rng(0).normal(size=(8, 400))  # 3,200 · 3,199 / 2 = 5,118,400 pairs
    with pytest.raises(InputError, match=r"5,118,400 pairs in each of 1,000.* or take 976 "):
        boot_inputs(x, x, Correlation(coefficient="acc-t"), n_resamples=1000)
