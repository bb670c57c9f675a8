"""Permutation tests between metrics: kernel against oracle, nlpstats and mt-metrics-eval."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stats.test_correlation import GOLDEN, golden, study
from tests.stats.test_kernel import swapped_rows
from wellput import _native
from wellput.core.errors import InputError
from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.stats.correlation import (
    Coefficient,
    Correlation,
    CorrelationAverage,
    CorrelationLevel,
    correlate,
)
from wellput.stats.correlation_resampling import (
    perm_both,
    perm_cells,
    perm_inputs,
    perm_systems,
    standardized,
)

TESTS: dict[str, Callable[..., Estimate]] = {
    "both": perm_both,
    "systems": perm_systems,
    "items": perm_inputs,
    "cells": perm_cells,
}
GROUPINGS: dict[str, tuple[CorrelationLevel, CorrelationAverage]] = {
    "pooled": ("segment", "none"),
    "item": ("segment", "item"),
    "system": ("segment", "system"),
    "means": ("system", "none"),
}


def exchanged_cells(exchanged: str, systems: int, items: int, seed: int, resample: int) -> Floats:
    """1 where the metrics change places."""
    mask = np.zeros((systems, items), dtype=np.int64)
    if resample == 0:
        return mask.astype(np.float64)
    if exchanged == "cells":
        mask.ravel()[swapped_rows(systems * items, seed, 2 * resample)] = 1
    if exchanged in ("systems", "both"):
        mask[swapped_rows(systems, seed, 2 * resample), :] ^= 1
    if exchanged in ("items", "both"):
        mask[:, swapped_rows(items, seed, 2 * resample + 1)] ^= 1
    return mask.astype(np.float64)


def three_scorers(seed: int, systems: int, items: int, decimals: int) -> tuple[Floats, ...]:
    x, z = study(seed, systems, items, decimals=decimals)
    y, _ = study(seed + 1, systems, items, decimals=decimals)
    missing = np.isnan(x + y + z)
    return tuple(np.where(missing, np.nan, scores) for scores in (x, y, z))


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall", "kendall-c", "acc-t"])
@pytest.mark.parametrize("grouping", GROUPINGS)
@given(
    st.integers(0, 10**6),
    st.integers(3, 14),
    st.sampled_from([3, 10, 65, 140]),
    st.integers(0, 2),
    st.sampled_from(list(TESTS)),
)
@settings(max_examples=6, deadline=None)
def test_kernel_exchanges_and_correlates(
    coefficient: Coefficient,
    grouping: str,
    seed: int,
    systems: int,
    items: int,
    decimals: int,
    exchanged: str,
) -> None:
    if coefficient == "acc-t" and grouping in ("pooled", "system"):
        items = min(items, 10)
    x, y, z = three_scorers(seed, systems, items, decimals)
    level, average = GROUPINGS[grouping]
    found = _native.permuted_correlations(x, y, z, grouping, coefficient, exchanged, 4, seed, 2)
    for resample in range(5):
        swap = exchanged_cells(exchanged, systems, items, seed, resample) == 1
        for column, (own, other) in enumerate(((x, y), (y, x))):
            expected = correlate(
                np.where(swap, other, own),
                z,
                Correlation(level, average, coefficient),
            ).value
            if not np.isnan(expected):  # correlate refuses two points, the kernel does not
                assert found[resample, column] == pytest.approx(expected, abs=1e-12)


@pytest.mark.heavy
@pytest.mark.parametrize("row", GOLDEN["nlpstats"]["permutation"], ids=str)
def test_nlpstats_within_monte_carlo_error(row: dict[str, Any]) -> None:
    test = TESTS["items" if row["exchanged"] == "inputs" else row["exchanged"]]
    estimate = test(
        golden("x"),
        golden("y"),
        golden(row["human"]),
        Correlation(row["level"], row["average"], row["coefficient"]),
        n_resamples=20_000,
    )
    assert estimate.value == pytest.approx(row["difference"], abs=1e-12)
    # Four standard errors of its resamples.
    error = np.sqrt(row["p"] * (1 - row["p"]) / row["resamples"])
    assert estimate.p_value == pytest.approx(row["p"], abs=4 * error + 0.002)


@pytest.mark.parametrize("row", GOLDEN["cells"]["rows"], ids=str)
def test_mt_metrics_eval_within_monte_carlo_error(row: dict[str, Any]) -> None:
    estimate = perm_cells(
        golden("x"),
        golden("y"),
        golden("z"),
        Correlation(average=row["average"], coefficient=row["coefficient"]),
        alternative="greater",
        n_resamples=20_000,
    )
    assert estimate.value == pytest.approx(row["delta"], abs=1e-12)
    error = np.sqrt(row["p"] * (1 - row["p"]) / row["resamples"])
    assert estimate.p_value == pytest.approx(row["p"], abs=4 * error + 0.002)


@pytest.mark.parametrize("coefficient", ["pearson", "kendall"])
@pytest.mark.parametrize("test", TESTS.values())
def test_threads_do_not_change_a_digit(
    test: Callable[..., Estimate], coefficient: Coefficient
) -> None:
    scores = three_scorers(5, 7, 40, 1)
    correlation = Correlation(average="item", coefficient=coefficient)
    one = test(*scores, correlation, n_resamples=200, threads=1)
    assert one == test(*scores, correlation, n_resamples=200, threads=3)


def test_a_metric_against_itself_differs_by_nothing() -> None:
    x, _, z = three_scorers(3, 6, 30, 1)
    estimate = perm_both(x, x, z, n_resamples=99)
    assert (estimate.value, estimate.p_value, estimate.seed) == (0.0, 1.0, 12345)


def test_one_sided_p_values_look_to_one_side() -> None:
    rng = np.random.default_rng(4)
    z = rng.normal(size=(8, 60))
    good, poor = z + rng.normal(size=z.shape), z + 4 * rng.normal(size=z.shape)
    better = perm_both(good, poor, z, alternative="greater", n_resamples=199)
    worse = perm_both(poor, good, z, alternative="greater", n_resamples=199)
    less = perm_both(poor, good, z, alternative="less", n_resamples=199)
    assert less.p_value == better.p_value
    assert better.p_value == 1 / 200
    assert worse.p_value == 1.0


def test_scale_does_not_matter() -> None:
    """Metrics are standardized before their scores are exchanged."""
    x, y, z = three_scorers(8, 8, 40, 2)
    p_value = perm_both(x, y, z, n_resamples=500).p_value
    assert perm_both(100 * x - 7, y / 1000, z, n_resamples=500).p_value == p_value


def test_standardized() -> None:
    scores = np.array([[1.0, np.nan], [2.0, 3.0]])
    root = np.sqrt(1.5)
    assert standardized(scores) == pytest.approx(
        np.array([[-root, np.nan], [0.0, root]]), nan_ok=True
    )


def test_undefined_and_refused() -> None:
    x, y, z = three_scorers(1, 5, 20, 1)
    constant = perm_both(np.ones_like(x), y, z)
    assert np.isnan(constant.value) and constant.p_value is not None
    assert np.isnan(constant.p_value)
    assert "the metric is constant" in constant.method
    few = perm_both(x[:2], y[:2], z[:2], Correlation(average="item"))
    assert np.isnan(few.value) and "fewer than three systems" in few.method
    with pytest.raises(InputError, match="At least one resample"):
        perm_both(x, y, z, n_resamples=0)
    with pytest.raises(InputError, match="seed"):
        perm_both(x, y, z, seed=-1)
    with pytest.raises(InputError, match="permutation test"):
        perm_both(x, y, z, Correlation("system", coefficient="spa"))
