from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2_contingency, chisquare

from wellput.core.errors import InputError
from wellput.stats.preferences import (
    Choices,
    goodness_of_fit,
    homogeneity,
    selection_ratios,
    win_rates,
)


@pytest.mark.parametrize(
    ("counts", "printed", "digits"),
    [
        ([123, 93], 4.17, 2),
        ([120, 97], 2.44, 2),
        ([123, 92], 4.47, 2),
        ([295, 153], 45.0, 1),
        ([278, 170], 26.0, 1),
        ([251, 197], 6.51, 2),
    ],
)
def test_fosters_printed_values(counts: list[int], printed: float, digits: int) -> None:
    """Foster 2008, section 5: the choices between two versions in its two studies."""
    estimate = goodness_of_fit(counts)
    assert round(estimate.value, digits) == printed
    assert (estimate.n, estimate.method) == (sum(counts), "χ² goodness of fit, df 1")


def test_fosters_comparison_of_two_studies() -> None:
    estimate = homogeneity([[123, 93], [251, 197]])
    assert (round(estimate.value, 2), round(estimate.p_value or 0, 2)) == (0.02, 0.89)
    assert estimate.method == "χ² homogeneity with Yates's correction, df 1"


@given(st.lists(st.integers(0, 50), min_size=2, max_size=6).filter(any))
def test_goodness_of_fit_is_scipys(counts: list[int]) -> None:
    ours, theirs = goodness_of_fit(counts), chisquare(counts)
    assert ours.value == pytest.approx(theirs.statistic, abs=1e-9)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-12)
    assert ("approximate" in ours.method) == (sum(counts) / len(counts) < 5)


def test_goodness_of_fit_with_a_model_is_scipys() -> None:
    ours, theirs = (
        goodness_of_fit([20, 30, 50], [25, 25, 50]),
        chisquare([20, 30, 50], [25, 25, 50]),
    )
    assert ours.value == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue)


@given(
    st.integers(2, 3).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(1, 40), min_size=width, max_size=width), min_size=2, max_size=4
        )
    ),
    st.booleans(),
)
def test_homogeneity_is_scipys(table: list[list[int]], yates: bool) -> None:
    ours, theirs = homogeneity(table, yates=yates), chi2_contingency(table, correction=yates)
    assert ours.value == pytest.approx(theirs.statistic, abs=1e-9)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-9)


def test_undefined_tests_have_reasons() -> None:
    assert goodness_of_fit([0, 0]).method == "undefined: no choices"
    assert "nothing to choose between" in goodness_of_fit([5]).method
    for table in ([[1, 2]], [[1, 2], [0, 0]], [[1, 0], [2, 0]]):
        estimate = homogeneity(table)
        assert np.isnan(estimate.value) and estimate.method.startswith("undefined: ")


def test_bad_counts_are_refused() -> None:
    with pytest.raises(InputError, match="0 or above"):
        goodness_of_fit([3, -1])
    for wrong in (0.5, float("nan"), float("inf"), 1e300):
        with pytest.raises(InputError, match="whole numbers"):
            goodness_of_fit([3, wrong])
        with pytest.raises(InputError, match="whole numbers"):
            homogeneity(np.array([[3, wrong], [1, 2]]))
    with pytest.raises(InputError, match="above 0"):
        goodness_of_fit([3, 1], [4, 0])
    with pytest.raises(InputError, match="add up to 5"):
        goodness_of_fit([3, 1], [4, 1])
    with pytest.raises(InputError, match="one row per study"):
        homogeneity([1, 2])


TRIALS = [("A", "B", "a"), ("B", "A", "b"), ("A", "B", "b"), ("A", "C", "tie"), ("C", "B", "a")]


def test_choices_are_counted() -> None:
    choices = Choices.of(TRIALS)
    assert choices.systems == ("A", "B", "C")
    np.testing.assert_array_equal(choices.wins, [[0, 2, 0], [1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(choices.ties, [[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(choices.offered, [[0, 3, 1], [3, 0, 1], [1, 1, 0]])


def test_choices_from_places_are_the_same() -> None:
    from_names = Choices.of(TRIALS, systems="CAB")
    from_places = Choices.of_places(
        [1, 2, 1, 1, 0], [2, 1, 2, 0, 2], ["a", "b", "b", "tie", "a"], "CAB"
    )
    np.testing.assert_array_equal(from_names.wins, from_places.wins)
    np.testing.assert_array_equal(from_names.ties, from_places.ties)
    assert from_names.systems == from_places.systems == ("C", "A", "B")


def test_all_bad_choices_are_named() -> None:
    with pytest.raises(
        InputError, match=r"(?s)trial 2: a system against itself.*trial 3: the choice"
    ):
        Choices.of([("A", "B", "a"), ("A", "A", "a"), ("A", "B", "c")])
    with pytest.raises(InputError, match=r"(?s)unknown systems.*'C'"):
        Choices.of(TRIALS, systems=["A", "B"])
    with pytest.raises(InputError, match="trial 1: a system outside 0 to 1"):
        Choices.of_places([0], [2], ["a"], "AB")
    with pytest.raises(InputError, match="Every trial needs"):
        Choices.of_places([0, 1], [1], ["a"], "AB")


def test_selection_ratios_by_hand() -> None:
    # A was offered 4 times and chosen twice, B 4 and 1, C 2 and 1; the tie chose neither A nor C.
    ratios = selection_ratios(Choices.of(TRIALS, systems="ABCD"))
    assert [ratio.value for ratio in ratios[:3]] == [2 / 4, 1 / 4, 1 / 2]
    assert [ratio.n for ratio in ratios] == [4, 4, 2, 0]
    assert np.isnan(ratios[3].value) and "never offered" in ratios[3].method


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_scipys_wilson(won: tuple[int, int]) -> None:
    part, whole = won
    trials = [("A", "B", "a")] * part + [("A", "B", "b")] * (whole - part)
    ratio = selection_ratios(Choices.of(trials), confidence=0.9)[0]
    theirs = binomtest(part, whole).proportion_ci(0.9, method="wilson")
    assert (ratio.low, ratio.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_win_rates_by_hand() -> None:
    rates = win_rates(Choices.of(TRIALS))
    np.testing.assert_allclose(
        rates, [[np.nan, 2 / 3, 1 / 2], [1 / 3, np.nan, 0], [1 / 2, 1, np.nan]]
    )


@given(
    st.lists(
        st.tuples(st.sampled_from("AB"), st.sampled_from("CD"), st.sampled_from(["a", "b", "tie"]))
    )
)
def test_exchanging_the_sides_changes_nothing(trials: list[tuple[str, str, str]]) -> None:
    swap = {"a": "b", "b": "a", "tie": "tie"}
    turned = [(b, a, swap[choice]) for a, b, choice in trials]
    one, other = Choices.of(trials, "ABCD"), Choices.of(turned, "ABCD")
    np.testing.assert_array_equal(one.wins, other.wins)
    np.testing.assert_array_equal(one.ties, other.ties)
    rates = win_rates(one)
    both = ~np.isnan(rates)
    np.testing.assert_allclose((rates + rates.T)[both], 1)


@pytest.mark.slow
@pytest.mark.parametrize("chance", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("trials", [20, 100])
def test_wilson_intervals_cover_the_truth(trials: int, chance: float) -> None:
    """The exact coverage: the probability of all counts whose interval contains the truth."""
    from scipy.stats import binom

    covered = 0.0
    for part in range(trials + 1):
        rows = [("A", "B", "a")] * part + [("A", "B", "b")] * (trials - part)
        ratio = selection_ratios(Choices.of(rows))[0]
        assert ratio.low is not None and ratio.high is not None
        covered += binom.pmf(part, trials, chance) * (ratio.low <= chance <= ratio.high)
    assert 0.92 <= covered <= 0.98
