"""Agreement of a metric with people, against SciPy and mt-metrics-eval."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.correlation import (
    COEFFICIENT_TITLES,
    COEFFICIENTS,
    Coefficient,
    Correlation,
    CorrelationAverage,
    CorrelationLevel,
    correlate,
    tie_threshold,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "agreement.json").read_text())

SCIPY: dict[Coefficient, Callable[[Floats, Floats], Any]] = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
    "kendall-c": lambda x, z: stats.kendalltau(x, z, variant="c"),
}


def golden(name: str) -> Floats:
    return np.array(GOLDEN[name], dtype=np.float64)


def study(seed: int, systems: int, items: int, *, decimals: int = 1) -> tuple[Floats, Floats]:
    """Metric and human scores with ties and gaps."""
    rng = np.random.default_rng(seed)
    grain = 8.0**decimals  # sums of such numbers are exact, so ties of means are ties in any order
    z = np.round(rng.normal(size=(systems, items)) * grain) / grain
    x = np.round((z + rng.normal(size=z.shape)) * grain) / grain
    x[rng.random(z.shape) < 0.1] = np.nan
    z[rng.random(z.shape) < 0.1] = np.nan
    return x, z


def scipy_average(x: Floats, z: Floats, axis: int, coefficient: Coefficient) -> tuple[float, int]:
    """The mean of SciPy's coefficients of the groups; SciPy warns of constant groups, undefined
    here."""
    values = []
    for a, b in zip(np.moveaxis(x, axis, 0), np.moveaxis(z, axis, 0), strict=True):
        there = np.isfinite(a) & np.isfinite(b)
        if there.sum() < 2 or np.ptp(a[there]) == 0 or np.ptp(b[there]) == 0:
            continue
        values.append(SCIPY[coefficient](a[there], b[there]).statistic)
    return (float(np.mean(values)), len(values)) if values else (np.nan, 0)


@pytest.mark.parametrize(
    ("correlation", "grouping", "title"),
    [
        (Correlation(), "pooled", "Pearson's r of segments"),
        (
            Correlation(average="item", coefficient="kendall-c"),
            "item",
            "Kendall's tau-c of segments, averaged by item",
        ),
        (
            Correlation(average="system", coefficient="acc-t"),
            "system",
            "pairwise accuracy of segments, averaged by system",
        ),
        (Correlation("system", coefficient="spearman"), "means", "Spearman's rho of systems"),
        (Correlation("system", "item"), "means", "Pearson's r of systems"),
    ],
)
def test_a_correlation_knows_its_groups_and_its_title(
    correlation: Correlation, grouping: str, title: str
) -> None:
    assert (correlation.grouping, correlation.title) == (grouping, title)
    assert correlation.is_averaged == (grouping in ("item", "system"))


def test_every_coefficient_has_a_title() -> None:
    assert tuple(COEFFICIENT_TITLES) == COEFFICIENTS


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"level": "document"}, "level='document' is none of segment, system."),
        ({"level": "segments"}, "Did you mean segment"),
        ({"average": "items"}, "Did you mean item"),
        ({"coefficient": "kendal"}, "Did you mean kendall"),
        ({"coefficient": "spa"}, "it needs level='system'"),
    ],
)
def test_an_unknown_correlation_is_refused(names: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Correlation(**names)


def test_hand_worked() -> None:
    # Pairs of 4 points x = 1 2 2 3, z = 1 1 2 3: concordant (1,3) (1,4) (2,4) (3,4), tied in x only
    # (2,3), in z only (1,2). tau-b = 4 / sqrt(5 · 5) = 0.8; tau-c = 2 · 4 / (16 · 2/3) = 0.75.
    # Ranks 1 2.5 2.5 4 and 1.5 1.5 3 4, centered -1.5 0 0 1.5 and -1 -1 .5 1.5:
    # rho = 3.75 / sqrt(4.5 · 4.5) = 5/6. Accuracy without new ties: 4 of 6.
    x, z = np.array([[1.0, 2.0, 2.0, 3.0]]), np.array([[1.0, 1.0, 2.0, 3.0]])
    assert correlate(x, z, Correlation(coefficient="kendall")).value == pytest.approx(0.8)
    assert correlate(x, z, Correlation(coefficient="kendall-c")).value == pytest.approx(0.75)
    assert correlate(x, z, Correlation(coefficient="spearman")).value == pytest.approx(5 / 6)
    assert correlate(x, z, Correlation(coefficient="acc-t")).value == pytest.approx(4 / 6)


@pytest.mark.parametrize("coefficient", SCIPY)
@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(2, 70), st.integers(0, 2))
@settings(max_examples=40, deadline=None)
def test_pooled_is_scipys(
    coefficient: Coefficient, seed: int, systems: int, items: int, decimals: int
) -> None:
    x, z = study(seed, systems, items, decimals=decimals)
    there = np.isfinite(x) & np.isfinite(z)
    if there.sum() < 3 or np.ptp(x[there]) == 0 or np.ptp(z[there]) == 0:
        return
    estimate = correlate(x, z, Correlation(coefficient=coefficient))
    expected = SCIPY[coefficient](x[there], z[there])
    assert estimate.value == pytest.approx(expected.statistic, abs=1e-12)
    assert estimate.n == there.sum()


@pytest.mark.parametrize("coefficient", SCIPY)
@pytest.mark.parametrize("average", ["item", "system"])
@given(st.integers(0, 10**6), st.integers(3, 9), st.integers(3, 40), st.integers(0, 1))
@settings(max_examples=15, deadline=None)
def test_averages_leave_out_undefined_groups(
    coefficient: Coefficient,
    average: CorrelationAverage,
    seed: int,
    systems: int,
    items: int,
    decimals: int,
) -> None:
    x, z = study(seed, systems, items, decimals=decimals)
    expected, groups = scipy_average(x, z, 1 if average == "item" else 0, coefficient)
    estimate = correlate(x, z, Correlation(average=average, coefficient=coefficient))
    if np.isnan(estimate.value):
        assert estimate.method.startswith("undefined")
        return
    assert estimate.value == pytest.approx(expected, abs=1e-12)
    assert estimate.n == groups


@pytest.mark.parametrize("coefficient", SCIPY)
def test_system_level_is_the_correlation_of_means_over_common_cells(
    coefficient: Coefficient,
) -> None:
    x, z = study(4, 12, 30)
    there = np.isfinite(x) & np.isfinite(z)
    means = [np.nanmean(np.where(there, scores, np.nan), axis=1) for scores in (x, z)]
    expected = SCIPY[coefficient](*means)
    estimate = correlate(x, z, Correlation("system", coefficient=coefficient))
    assert estimate.value == pytest.approx(expected.statistic, abs=1e-12)
    assert estimate.n == 12


def test_kendall_of_many_points_is_scipys() -> None:
    rng = np.random.default_rng(2)
    z = rng.integers(0, 500, (20, 2000)).astype(np.float64)
    x = z + rng.integers(-300, 300, z.shape)
    expected = stats.kendalltau(x.ravel(), z.ravel()).statistic
    assert correlate(x, z, Correlation(coefficient="kendall")).value == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize("row", GOLDEN["mt_metrics_eval"]["rows"], ids=str)
def test_mt_metrics_eval(row: dict[str, Any]) -> None:
    correlation = Correlation(average=row["average"], coefficient=row["coefficient"])
    estimate = correlate(golden("x"), golden(row["human"]), correlation)
    assert estimate.value == pytest.approx(row["value"], abs=1e-9)
    if row["average"] != "none" and "groups" in row:
        assert estimate.n == row["groups"]
    if row["coefficient"] == "acc-t":
        epsilon = tie_threshold(golden("x"), golden(row["human"]), correlation)
        assert epsilon == pytest.approx(row["epsilon"], abs=1e-12)
        assert f"ties within {epsilon:.6g}" in estimate.method


def accuracy(x: Floats, z: Floats, epsilon: float) -> float:
    """Mean over columns of the share of pairs that both tie, or both order in the same way."""
    shares = []
    for j in range(x.shape[1]):
        there = np.flatnonzero(np.isfinite(x[:, j]) & np.isfinite(z[:, j]))
        right = []
        for a, b in combinations(there, 2):
            dx, dz = x[a, j] - x[b, j], z[a, j] - z[b, j]
            dx = 0.0 if abs(dx) <= epsilon else dx
            right.append(np.sign(dx) == np.sign(dz))
        if right:
            shares.append(np.mean(right))
    return float(np.mean(shares))


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_calibrated_ties_are_the_best_there_are(seed: int, systems: int, items: int) -> None:
    x, z = study(seed, systems, items, decimals=0)
    x += np.random.default_rng(seed).integers(0, 4, x.shape) / 4  # exact: distances tie exactly
    there = np.isfinite(x) & np.isfinite(z)
    if there.sum(axis=0).max() < 2:
        return
    distances = {0.0} | {
        abs(x[a, j] - x[b, j])
        for j in range(items)
        for a, b in combinations(np.flatnonzero(there[:, j]), 2)
    }
    best = max(accuracy(x, z, epsilon) for epsilon in distances)
    by_item = Correlation(average="item", coefficient="acc-t")
    estimate = correlate(x, z, by_item)
    epsilon = tie_threshold(x, z, by_item)
    assert estimate.value == pytest.approx(best, abs=1e-12)
    assert accuracy(x, z, epsilon) == pytest.approx(best, abs=1e-12)
    assert all(accuracy(x, z, smaller) < best - 1e-12 for smaller in distances if smaller < epsilon)


@pytest.mark.parametrize(
    ("x", "z", "options", "reason"),
    [
        ([[1, 1, 1, 1]], [[1, 2, 3, 4]], {}, "the metric is constant"),
        ([[1, 2, 3, 4]], [[2, 2, 2, 2]], {}, "the human scores are constant"),
        ([[1, 2]], [[2, 3]], {}, "fewer than three points"),
        ([[1, np.nan, 3]], [[np.nan, 2, np.nan]], {}, "no cell has both scores"),
        ([[1, 2, 3], [3, 1, 2]], [[1, 2, 3], [1, 2, 3]], {"level": "system"}, "fewer than three"),
        ([[1, 2, 3], [3, 1, 2]], [[1, 2, 3], [2, 3, 4]], {"average": "item"}, "three systems"),
        (
            [[1, 2, 3], [1, 2, 3], [1, 2, 3]],
            [[1, 2, 3], [2, 3, 4], [5, 1, 2]],
            {"average": "item"},
            "the metric is constant within every item",
        ),
        (  # each varies somewhere, but never both in one item
            [[1, 1], [2, 1], [3, 1]],
            [[1, 1], [1, 2], [1, 3]],
            {"average": "item"},
            "no correlation within any group",
        ),
    ],
)
@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall", "kendall-c"])
def test_undefined_says_why(
    x: list[list[float]],
    z: list[list[float]],
    options: dict[str, str],
    reason: str,
    coefficient: Coefficient,
) -> None:
    estimate = correlate(
        np.array(x, dtype=np.float64),
        np.array(z, dtype=np.float64),
        Correlation(
            level=cast(CorrelationLevel, options.get("level", "segment")),
            average=cast(CorrelationAverage, options.get("average", "none")),
            coefficient=coefficient,
        ),
    )
    assert np.isnan(estimate.value)
    assert reason in estimate.method


def test_bad_input_is_refused() -> None:
    x = np.ones((2, 3))
    with pytest.raises(InputError, match="2 × 3, 3 × 2"):
        correlate(x, x.T)
    with pytest.raises(InputError, match="finite"):
        correlate(x, x * np.inf)
    for scores in (x * 1e200, x * 1e-200):
        with pytest.raises(InputError, match=r"cannot be compared: .* squared"):
            correlate(x, scores)
    many = np.zeros((20, 1000))
    with pytest.raises(InputError, match="199,990,000 pairs"):
        correlate(many, many, Correlation(coefficient="acc-t"))


def test_no_systems_or_items_is_undefined() -> None:
    for shape in ((0, 3), (3, 0)):
        assert np.isnan(correlate(np.ones(shape), np.ones(shape)).value)
        assert np.isnan(correlate(np.ones(shape), np.ones(shape), Correlation("system")).value)


def test_a_group_whose_squares_vanish_has_no_correlation() -> None:
    """One item of three has scores of 1e-170, whose squares are 0: it is left out, not counted as 1."""
    rng = np.random.default_rng(8)
    x, z = rng.normal(size=(2, 5, 3))
    x[:, 0] *= 1e-170
    found = correlate(x, z, Correlation(average="item"))
    rest = [stats.pearsonr(x[:, item], z[:, item])[0] for item in (1, 2)]
    assert found.value == pytest.approx(np.mean(rest))
    assert found.n == 2
