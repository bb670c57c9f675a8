"""The two-way jackknife against SciPy, against statsmodels' clustered variance, and in simulations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from wellput.core.estimates import Generalize
from wellput.core.metric import Floats
from wellput.stats.chance_level import chance_level_of, chance_level_of_segments
from wellput.stats.correlation import Correlation, correlate, correlation_value
from wellput.stats.two_way_jackknife import TableFigure, crossed_variance, jackknife_freedom


def mean_left_out(values: Floats) -> TableFigure:
    """The mean of a full table, and the means without each unit, by hand."""
    n_systems, n_items = values.shape
    total = values.sum()
    return TableFigure(
        float(values.mean()),
        (total - values.sum(axis=1)) / (n_items * (n_systems - 1)),
        (total - values.sum(axis=0)) / (n_systems * (n_items - 1)),
        (total - values) / (values.size - 1),
        np.ones(values.shape, dtype=bool),
    )


def test_one_way_it_is_the_error_of_a_mean() -> None:
    values = np.random.default_rng(1).normal(size=(6, 10))
    found = mean_left_out(values).estimate(generalize="systems")
    error = values.mean(axis=1).std(ddof=1) / math.sqrt(6)
    assert found.high == pytest.approx(values.mean() + stats.t.ppf(0.975, 5) * error)


def test_the_variance_is_that_of_two_way_clusters() -> None:
    """statsmodels' variance of a mean, clustered by system and by item (Cameron, Gelbach & Miller),
    with no correction except the jackknife's n / (n − 1)."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(8, 40)) + rng.normal(size=(8, 1)) + rng.normal(size=(1, 40))
    parts = mean_left_out(values)
    systems, items = np.indices(values.shape)
    fitted = sm.OLS(values.ravel(), np.ones(values.size))

    def clustered(groups: Any) -> float:
        options = {"groups": groups.ravel(), "use_correction": False}
        return float(fitted.fit(cov_type="cluster", cov_kwds=options).cov_params()[0, 0])

    def jackknifed(without: Floats) -> float:
        n = without.size
        return float((n - 1) / n * ((without - without.mean()) ** 2).sum())

    assert jackknifed(parts.systems) == pytest.approx(clustered(systems) * 8 / 7)
    assert jackknifed(parts.items) == pytest.approx(clustered(items) * 40 / 39)
    cells = np.arange(values.size)
    assert jackknifed(parts.cells) == pytest.approx(clustered(cells) * 320 / 319)
    whole, _ = crossed_variance(
        jackknifed(parts.systems), jackknifed(parts.items), jackknifed(parts.cells), 7, 39
    )
    assert whole == pytest.approx(
        clustered(systems) * 8 / 7 + clustered(items) * 40 / 39 - clustered(cells) * 320 / 319
    )


def test_one_unit_that_decides_leaves_few_degrees_of_freedom() -> None:
    """Nine units at 0 and one at 10: squared distances from the mean 1 are nine times 1 and once 81, of
    90 in all, so the shares' squares add up to 73/90. 2 / (2/9 + 73/90 − 3/10) = 30/11."""
    assert jackknife_freedom(np.array([0.0] * 9 + [10.0])) == pytest.approx(30 / 11)


def test_units_that_spread_evenly_have_one_degree_less_than_there_are() -> None:
    assert jackknife_freedom(np.arange(10.0)) == 9
    assert jackknife_freedom(np.zeros(5)) == 4
    assert jackknife_freedom(np.array([math.inf, 1.0, 2.0])) == 2


def test_a_few_extreme_systems_are_allowed_for() -> None:
    """Twenty systems whose scores are skewed: with 19 degrees of freedom in every study, 7 intervals of
    100 miss the true correlation."""
    rng = np.random.default_rng(1)
    drawn = rng.chisquare(2, size=(3, 1500, 20, 1))
    shared, own, other = drawn
    missed = 0
    for x, z in zip(shared + 0.5 * own, shared + 0.5 * other, strict=True):
        found = correlate(x, z, Correlation("system"), generalize="systems")
        assert found.low is not None and found.high is not None
        missed += not found.low <= 0.8 <= found.high
    assert missed / 1500 < 0.065


@pytest.mark.parametrize("n_systems", [1, 2, 3])
def test_few_systems_say_nothing_about_others(n_systems: int) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n_systems, 40))
    found = correlate(x, x + rng.normal(size=x.shape))
    assert (found.low, found.high, found.p_value) == (None, None, None)
    assert "cannot show how others differ, it takes 4" in found.method
    assert correlate(x, x + rng.normal(size=x.shape), generalize="items").low is not None


def test_other_systems_are_less_certain_than_these() -> None:
    rng = np.random.default_rng(6)
    z = rng.normal(size=(6, 50)) + 2 * rng.normal(size=(6, 1))
    x = z + rng.normal(size=z.shape) + 2 * rng.normal(size=(6, 1))
    widths = {}
    for generalize in ("items", "systems", "both"):
        found = correlate(x, z, generalize=generalize)
        assert found.low is not None and found.high is not None
        widths[generalize] = found.high - found.low
    assert widths["items"] < widths["systems"] <= widths["both"]


CORRELATIONS = st.sampled_from(
    [
        Correlation(),
        Correlation(coefficient="spearman"),
        Correlation(average="item", coefficient="kendall"),
        Correlation(average="system", coefficient="kendall-c"),
        Correlation("system"),
        Correlation("system", coefficient="kendall"),
    ]
)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n_systems=st.integers(4, 8),
    n_items=st.integers(5, 30),
    slope=st.sampled_from([0.0, 0.5, 3.0]),
    correlation=CORRELATIONS,
    generalize=st.sampled_from(["items", "systems", "both"]),
)
def test_p_is_small_exactly_where_the_interval_does_not_contain_0(
    seed: int,
    n_systems: int,
    n_items: int,
    slope: float,
    correlation: Correlation,
    generalize: Generalize,
) -> None:
    rng = np.random.default_rng(seed)
    z = rng.integers(1, 6, size=(n_systems, n_items)).astype(float)
    x = slope * z + rng.normal(size=z.shape)
    found = correlate(x, z, correlation, generalize=generalize)
    if found.p_value is None or found.low is None or found.high is None:
        assert found.low is None and found.high is None and found.p_value is None
        return
    assert found.low <= found.value <= found.high
    if abs(found.p_value - 0.05) > 1e-9:
        assert (not found.low <= 0 <= found.high) == (found.p_value < 0.05)


def world(rng: np.random.Generator, n_systems: int, n_items: int) -> Floats:
    """Scores with effects of systems and of items."""
    shape = (n_systems, n_items)
    made: Floats = (
        0.5 * rng.normal(size=(n_systems, 1))
        + 0.5 * rng.normal(size=(1, n_items))
        + 0.7 * rng.normal(size=shape)
    )
    return made


@pytest.mark.slow
@pytest.mark.parametrize("n_systems", [4, 6, 12, 20])
@pytest.mark.parametrize(
    "correlation", [Correlation(), Correlation(average="item"), Correlation("system")]
)
def test_noise_is_seldom_significant(n_systems: int, correlation: Correlation) -> None:
    rng = np.random.default_rng(n_systems)
    p_values = [
        correlate(world(rng, n_systems, 40), world(rng, n_systems, 40), correlation).p_value
        for _ in range(1500)
    ]
    share = np.mean([p is not None and p < 0.05 for p in p_values])
    assert share < 0.065 + 2 * math.sqrt(0.05 * 0.95 / 1500)


def test_an_accuracy_has_a_chance_level_of_its_own() -> None:
    """People tie half of the pairs: a metric that ties all is right about half, so chance is not 0."""
    rng = np.random.default_rng(1)
    z = rng.integers(0, 2, size=(6, 80)).astype(float)
    x = rng.normal(size=z.shape)
    correlation = Correlation(average="item", coefficient="acc-t")
    chance = chance_level_of_segments(x, z, correlation)
    assert chance.null is not None and chance.low is not None and chance.high is not None
    assert chance.low < chance.null < chance.high
    assert chance.null == pytest.approx(correlation_value(x, z, correlation).value, abs=0.05)
    assert chance.null > 0.4


def test_a_correlation_is_0_by_chance() -> None:
    rng = np.random.default_rng(1)
    z = rng.normal(size=(6, 30))
    chance = chance_level_of_segments(z, z, Correlation())
    assert chance.null == 0
    assert chance.low is not None and chance.high is not None
    assert chance.low < 0 < chance.high


@pytest.mark.heavy
@pytest.mark.parametrize("average", ["none", "item", "system"])
@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall", "kendall-c", "acc-t"])
def test_the_kernel_exchanges_whole_systems_and_items(average: Any, coefficient: Any) -> None:
    """The same distribution as exchanging rows and columns in NumPy, with ties and missing cells."""
    rng = np.random.default_rng(7)
    z = rng.integers(1, 5, size=(5, 12)).astype(float)
    x = rng.integers(1, 7, size=z.shape) + rng.normal(size=(5, 1)).round(1)
    x[1, 3] = z[2, 4] = np.nan
    correlation = Correlation(average=average, coefficient=coefficient)
    kernels = chance_level_of_segments(x, z, correlation, exchanges=3000, threads=2)
    plain = chance_level_of(
        lambda scores: correlation_value(scores, z, correlation).value,
        x,
        coefficient,
        exchanges=3000,
    )
    for field in ("null", "low", "high"):
        assert getattr(kernels, field) == pytest.approx(getattr(plain, field), abs=0.035)


def test_one_item_has_no_variance() -> None:
    variance, freedom = crossed_variance(math.nan, math.nan, math.nan, 3.0, 0.0)
    assert math.isnan(variance) and freedom == 0
