"""Simultaneous differences against Tukey's studentized range; rank ranges and clusters by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import studentized_range

from tests.stats.mixed_studies import golden, golden_columns, golden_design, simulated
from wellput.stats.mixed_equations import MixedDesign
from wellput.stats.mixed_laplace import fit_binary
from wellput.stats.mixed_linear import fit_linear
from wellput.stats.mixed_ranks import compare_all_pairs, rank_clusters, rank_ranges

# A is surely better than all but B, B than D; C and D than none.
BETTER = np.array(
    [
        [False, False, True, True],
        [False, False, False, True],
        [False, False, False, False],
        [False, False, False, False],
    ]
)


def test_balanced_data_have_tukeys_intervals() -> None:
    rng = np.random.default_rng(3)
    judge, system = np.divmod(np.arange(80), 5)
    values = rng.normal(size=80) + rng.normal(size=16)[judge] + 0.2 * system
    fitted = fit_linear(values, MixedDesign(system, {"judge": judge}))
    found = compare_all_pairs(fitted, 5, draws=200_000)
    # (16 − 1)(5 − 1) degrees of freedom; the range of five is √2 times the largest t.
    expected = studentized_range.ppf(0.95, 5, 60) / np.sqrt(2) * found.errors
    np.testing.assert_allclose((found.high - found.low) / 2, expected, rtol=0.005)
    range_p = studentized_range.sf(np.abs(found.values / found.errors) * np.sqrt(2), 5, 60)
    np.testing.assert_allclose(found.p_adjusted, range_p, atol=0.005)
    assert (found.p_adjusted >= found.p_values).all()


def test_intervals_and_p_values_agree() -> None:
    for seed in range(20):
        values, design = simulated(seed, systems=4, items=20)
        fitted = fit_linear(values, design.only(("judge", "item", "judge:system")))
        found = compare_all_pairs(fitted, 4, draws=2_000, seed=seed)
        leaves_out = (found.low > 0) | (found.high < 0)
        is_close = np.abs(found.p_adjusted - 0.05) < 0.002
        np.testing.assert_array_equal(leaves_out | is_close, (found.p_adjusted < 0.05) | is_close)
        single = (found.single_low > 0) | (found.single_high < 0)
        np.testing.assert_array_equal(single, found.p_values < 0.05)
        better = found.better()
        assert better.sum() == leaves_out.sum()
        assert not (better & better.T).any()


def test_unequal_degrees_of_freedom_widen_each_its_own_way() -> None:
    expected = golden("mixed_linear.json")["documents"]
    fitted = fit_linear(
        golden_columns("documents")["value"], golden_design("documents", expected["formula"])
    )
    found = compare_all_pairs(fitted, 4)
    widths = (found.high - found.low) / found.errors
    order = np.argsort(found.freedom)
    assert (np.diff(widths[order]) <= 1e-9).all()
    assert (found.high - found.low > found.single_high - found.single_low).all()


def test_models_without_random_effects_have_normal_intervals() -> None:
    design = golden_design("crossed", "yes ~ 0 + system")
    found = compare_all_pairs(fit_binary(golden_columns("crossed")["yes"], design), 4)
    np.testing.assert_allclose(
        (found.single_high - found.values) / found.errors, 1.959966, atol=1e-5
    )


def test_a_seed_gives_the_same_again() -> None:
    values, design = simulated(1)
    fitted = fit_linear(values, design.only(("judge", "item")))
    one, two, other = (compare_all_pairs(fitted, 3, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.low, two.low)
    assert (one.low != other.low).all()


def test_rank_ranges() -> None:
    low, high = rank_ranges(BETTER)
    np.testing.assert_array_equal(low, [1, 1, 2, 3])
    np.testing.assert_array_equal(high, [2, 3, 4, 4])


def test_clusters_divide_all_above_from_all_below() -> None:
    estimates = np.array([4.0, 3.0, 2.0, 1.0])
    np.testing.assert_array_equal(rank_clusters(estimates, BETTER), [1, 1, 1, 1])
    divided = BETTER.copy()
    divided[1, 2] = True  # now both A and B are better than both C and D
    np.testing.assert_array_equal(rank_clusters(estimates, divided), [1, 1, 2, 2])
    np.testing.assert_array_equal(rank_clusters(estimates[::-1], divided[::-1, ::-1]), [2, 2, 1, 1])


@pytest.mark.parametrize("n", [2, 5])
def test_nobody_is_better(n: int) -> None:
    nobody = np.zeros((n, n), np.bool_)
    low, high = rank_ranges(nobody)
    assert set(low) == {1} and set(high) == {n}
    assert set(rank_clusters(np.linspace(0, 1, n), nobody)) == {1}
