"""Two systems offered together: exact for few choices, calibrated for judges with tastes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import binomtest

from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.stats.judged_means import head_to_head
from wellput.stats.preferences import goodness_of_fit


def of(shares: Any, judges: Any, items: Any) -> Estimate:
    (found,) = head_to_head(shares, pairs=[0] * len(shares), judges=judges, items=items, n_pairs=1)
    return found


@pytest.mark.parametrize(("won", "p_value"), [(5, 0.0625), (4, 0.375), (3, 1.0), (6, 0.03125)])
def test_few_choices_have_the_p_value_of_coins(won: int, p_value: float) -> None:
    """Five (or six) choices by as many judges: 2 · (1/2)⁵ = .0625 for 5 : 0, where χ² gives .025."""
    n = max(won, 5)
    found = of([1.0] * won + [0.0] * (n - won), range(n), range(n))
    assert found.p_value is not None
    assert found.p_value >= p_value - 1e-12
    if won in (5, 3):
        assert found.p_value == pytest.approx(p_value)


def test_never_surer_than_the_binomial_test_of_scipy() -> None:
    rng = np.random.default_rng(4)
    for n in (4, 9, 15, 40):
        won = int(rng.integers(n // 2, n + 1))
        found = of([1.0] * won + [0.0] * (n - won), range(n), range(n))
        theirs = binomtest(won, n)
        bounds = theirs.proportion_ci(method="exact")
        assert found.p_value is not None and found.low is not None and found.high is not None
        assert found.p_value >= theirs.pvalue - 1e-12
        assert found.low <= bounds.low + 1e-9
        assert found.high >= bounds.high - 1e-9


def test_a_tie_is_half_a_choice_and_decides_nothing() -> None:
    found = of([1.0] * 6 + [0.5] * 6, range(12), range(12))
    assert found.value == 0.75
    assert found.p_value is not None
    assert found.p_value >= 2 * 0.5**6  # the six that were no ties
    alike = of([0.5] * 8, range(8), range(8))
    assert (alike.value, alike.p_value) == (0.5, 1.0)


@given(seed=st.integers(0, 10_000), n_judges=st.integers(1, 6), n_items=st.integers(1, 8))
def test_p_is_below_the_level_just_where_the_interval_leaves_half_out(
    seed: int, n_judges: int, n_items: int
) -> None:
    rng = np.random.default_rng(seed)
    judges, items = (grid.ravel() for grid in np.indices((n_judges, n_items)))
    shares = rng.choice([0.0, 0.5, 1.0], p=[0.1, 0.1, 0.8], size=len(judges))
    found = of(shares, judges, items)
    assert found.low is not None and found.high is not None and found.p_value is not None
    assert found.null == 0.5
    assert found.low <= found.value <= found.high
    assert (found.p_value < 0.05) == (found.low > 0.5 or found.high < 0.5)


def test_a_pair_never_offered_is_undefined() -> None:
    found = head_to_head([1.0], pairs=[0], judges=[0], items=[0], n_pairs=2)[1]
    assert np.isnan(found.value)
    assert "never offered" in found.method


def choices(rng: np.random.Generator, n_judges: int, n_items: int) -> Floats:
    """Choices between two equally good systems; each judge, and each item, favors one of them."""
    taste = rng.normal(0, 0.8, (n_judges, 1)) + rng.normal(0, 0.8, (1, n_items))
    chosen: Floats = (rng.random(taste.shape) < expit(taste)).astype(np.float64)
    return chosen


def test_judges_with_tastes_do_not_make_a_difference() -> None:
    """In 600 studies of 8 judges and 30 items a rate of .05 exceeds .075 once in 300 times. χ² finds a
    difference in about four of ten."""
    rng = np.random.default_rng(6)
    judges, items = (grid.ravel() for grid in np.indices((8, 30)))
    found = by_chi_squared = 0
    for _ in range(600):
        chosen = choices(rng, 8, 30).ravel()
        p_value = of(chosen, judges, items).p_value
        assert p_value is not None
        found += p_value < 0.05
        won = int(chosen.sum())
        chi_squared = goodness_of_fit([won, 240 - won]).p_value
        by_chi_squared += chi_squared is not None and chi_squared < 0.05
    assert found / 600 < 0.075
    assert by_chi_squared / 600 > 0.25
