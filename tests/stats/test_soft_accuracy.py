"""Soft pairwise accuracy against enumeration of all signs, and against mt-metrics-eval."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from tests.stats.test_correlation import GOLDEN, golden
from wellput.core.metric import Floats
from wellput.stats import soft_accuracy
from wellput.stats.correlation import Correlation, correlate
from wellput.stats.soft_accuracy import spa, spa_by_normal_curve, spa_leave_one_out


@pytest.mark.parametrize("metric", ["x", "y"])
def test_mt_metrics_eval(metric: str) -> None:
    """Both draw the same exchanges. Sums in single precision leave some ties to the machine: one more
    or less of 100,000 exchanges of one of 36 pairs is 3e-7."""
    estimate = spa(golden(metric), golden("z"), n_resamples=100_000)
    assert estimate.value == pytest.approx(GOLDEN["spa"][metric], abs=2e-6)
    assert (estimate.n, estimate.seed) == (36, 4)


def test_exchanges_drawn_in_blocks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = spa(golden("x"), golden("z"), n_resamples=500).value
    monkeypatch.setattr(soft_accuracy, "MAX_DRAWN_SIGNS", 1000)
    assert spa(golden("x"), golden("z"), n_resamples=500).value == pytest.approx(whole, abs=1e-4)


@pytest.mark.parametrize("exponent", [-300, -150, 130, 300])
def test_the_size_of_the_scores_does_not_matter(exponent: int) -> None:
    """Single precision has no numbers beyond 3e38, and few digits below 1e-38."""
    x, z = golden("x"), golden("z")
    assert spa(np.ldexp(x, exponent), z, n_resamples=50) == spa(x, z, n_resamples=50)


def test_the_value_by_the_normal_curve() -> None:
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(2, 6, 30)) + np.arange(6)[:, None] / 5 + 1000
    x[2] = x[1]
    for _ in range(2):
        assert spa_by_normal_curve(x, z) == pytest.approx(spa_leave_one_out(x, z).value, abs=1e-9)
        x[0, 3:9] = z[4, 20:] = np.nan
    apart = np.array([[1.0, np.nan], [np.nan, 1.0]])
    assert np.isnan(spa_by_normal_curve(apart, apart))


def exact_p(differences: Floats) -> float:
    """Over all 2^n signs."""
    signs = np.array(list(product([-1, 1], repeat=len(differences))))
    return float(np.mean(signs @ differences >= differences.sum() - 1e-12))


def test_all_exchanges() -> None:
    rng = np.random.default_rng(3)
    z = rng.normal(size=(4, 8))
    x = z + rng.normal(size=z.shape)
    x[1, 2] = z[3, 5] = np.nan  # pairs use the items both systems have
    there = np.isfinite(x) & np.isfinite(z)
    errors = []
    for a, b in combinations(range(4), 2):
        both = there[a] & there[b]
        errors.append(abs(exact_p(x[a, both] - x[b, both]) - exact_p(z[a, both] - z[b, both])))
    assert spa(x, z, n_resamples=20_000).value == pytest.approx(1 - np.mean(errors), abs=0.01)


def test_people_agree_with_themselves_and_not_with_their_opposite() -> None:
    rng = np.random.default_rng(1)
    z = rng.normal(size=(5, 40)) + 3 * np.arange(5)[:, None]
    assert spa(z, z).value == 1.0
    assert spa(-z, z).value == pytest.approx(0.0, abs=0.01)
    assert correlate(z, z, Correlation("system", coefficient="spa")).value == 1.0


def test_undefined() -> None:
    one = np.ones((1, 5))
    assert "fewer than two systems" in spa(one, one).method
    apart = np.array([[1.0, np.nan], [np.nan, 1.0]])
    assert np.isnan(spa(apart, apart).value)
