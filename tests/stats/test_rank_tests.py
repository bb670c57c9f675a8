from __future__ import annotations

from itertools import compress, product

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, wilcoxon

from wellput.core.errors import InputError
from wellput.stats.rank_tests import rank_sum, signed_rank

NAN = float("nan")


def test_rank_sum_by_hand() -> None:
    # 3 of x above all 3 of y: U = 9, and of the 20 ways to pick 3 ranks of 6 one is as extreme on
    # each side.
    estimate = rank_sum([4, 5, 6], [1, 2, 3])
    assert (estimate.value, estimate.p_value) == pytest.approx((9, 2 / 20))
    assert (estimate.n, estimate.method) == (6, "Wilcoxon rank sum, exact")


def test_signed_rank_by_hand() -> None:
    # All five differences are positive: the smaller sum is 0; 2 of 2⁵ signs are as extreme.
    estimate = signed_rank([2, 4, 6, 8, 10], [1, 2, 3, 4, 5])
    assert (estimate.value, estimate.p_value) == pytest.approx((0, 2 / 32))
    assert (estimate.n, estimate.method) == (5, "Wilcoxon signed rank, exact")


@pytest.mark.parametrize(("n", "m"), [(5, 30), (8, 8), (9, 9), (40, 60)])
@pytest.mark.parametrize("digits", [0, 9])
def test_rank_sum_is_scipys(n: int, m: int, digits: int) -> None:
    rng = np.random.default_rng([n, m])
    x, y = np.round(rng.normal(0.5, 1, n), digits), np.round(rng.normal(size=m), digits)
    ours, theirs = rank_sum(x, y), mannwhitneyu(x, y)
    assert (ours.value, ours.p_value) == (theirs.statistic, theirs.pvalue)
    assert ("exact" in ours.method) == (digits == 9 and n <= 8)


@pytest.mark.heavy
@pytest.mark.parametrize("n", [6, 13, 14, 50, 51])
@pytest.mark.parametrize("digits", [0, 9])
def test_signed_rank_is_scipys(n: int, digits: int) -> None:
    rng = np.random.default_rng(n)
    x, y = np.round(rng.normal(0.5, 1, n), digits), np.round(rng.normal(size=n), digits)
    ours, theirs = signed_rank(x, y), wilcoxon(x, y)
    assert (ours.value, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert ("exact" in ours.method) == (n <= (50 if digits == 9 else 13))


def test_signed_rank_of_few_tied_pairs_tries_every_sign() -> None:
    differences = [1, 1, -1, 2, 3, -2]
    ranks = [2, 2, 2, 4.5, 6, 4.5]
    sums = [sum(compress(ranks, signs)) for signs in product((0, 1), repeat=6)]
    # the positive ones: 2 + 2 + 4.5 + 6 = 14.5, the negative ones 21 - 14.5 = 6.5
    at_most = sum(total <= 6.5 for total in sums) / 2**6
    found = signed_rank(differences, [0] * 6)
    assert (found.value, found.p_value) == pytest.approx((6.5, 2 * at_most))
    assert "exact by permutation" in found.method


def test_missing_values_are_left_out() -> None:
    assert rank_sum([1, NAN, 3], [2, 5, NAN]) == rank_sum([1, 3], [2, 5])
    assert signed_rank([1, NAN, 3, 7], [2, 5, NAN, 4]) == signed_rank([1, 7], [2, 4])


def test_undefined_tests_have_reasons() -> None:
    assert rank_sum([], [1, 2]).method == "undefined: a sample is empty"
    assert rank_sum([1, 1], [1]).method == "undefined: all values are equal"
    assert signed_rank([1, 2], [1, 2]).method == "undefined: no pair differs"
    assert np.isnan(signed_rank([], []).value)
    with pytest.raises(InputError, match="Pairs need arrays of one length"):
        signed_rank([1, 2], [1])
