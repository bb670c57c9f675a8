"""The resampling kernel against a plain-Python oracle, draw by draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellput import _native
from wellput.core.metric import Floats

WORD = 2**64
GAMMA = 0x9E3779B97F4A7C15


def mix(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


def words(seed: int, resample: int) -> Iterator[int]:
    state = mix((mix((seed + GAMMA) % WORD) + resample) % WORD)
    while True:
        state = (state + GAMMA) % WORD
        yield mix(state)


def drawn_rows(n: int, seed: int, resample: int) -> list[int]:
    """Lemire's bounded draws from half words; the last odd draw takes the low half."""
    rows: list[int] = []
    stream = words(seed, resample)
    while len(rows) < n:
        word = next(stream)
        halves = [word % 2**32, word >> 32] if n - len(rows) >= 2 else [word % 2**32]
        rows += [half * n >> 32 for half in halves if half * n % 2**32 >= 2**32 % n]
    return rows


def swapped_rows(n: int, seed: int, resample: int) -> list[int]:
    stream = words(seed, resample)
    picked: list[int] = []
    for start in range(0, n, 64):
        word = next(stream)
        picked += [row for row in range(start, min(start + 64, n)) if word >> (row - start) & 1]
    return picked


def whole_numbers(n: int, k: int, seed: int = 0) -> Floats:
    """Sums of whole numbers are exact, so the oracle may add in any order."""
    return np.random.default_rng(seed).integers(-50, 50, (n, k)).astype(np.float64)


shapes = {
    "n": st.integers(1, 400),
    "k": st.integers(1, 13),
    "n_resamples": st.integers(1, 40),
    "seed": st.integers(0, WORD - 1),
}


@given(**shapes)
@settings(max_examples=40, deadline=None)
def test_bootstrap_sums_are_sums_of_the_drawn_rows(
    n: int, k: int, n_resamples: int, seed: int
) -> None:
    statistics = whole_numbers(n, k)
    expected = [statistics[drawn_rows(n, seed, r)].sum(axis=0) for r in range(n_resamples)]
    np.testing.assert_array_equal(
        _native.bootstrap_sums(statistics, n_resamples, seed, 1), expected
    )


@given(**shapes)
@settings(max_examples=40, deadline=None)
def test_swap_sums_are_sums_of_the_picked_rows(n: int, k: int, n_resamples: int, seed: int) -> None:
    differences = whole_numbers(n, k)
    expected = [differences[swapped_rows(n, seed, r)].sum(axis=0) for r in range(n_resamples)]
    np.testing.assert_array_equal(_native.swap_sums(differences, n_resamples, seed, 1), expected)


@pytest.mark.parametrize("kernel", [_native.bootstrap_sums, _native.swap_sums])
@pytest.mark.parametrize("k", [1, 4, 10, 60])
def test_threads_change_no_digit(kernel: object, k: int) -> None:
    assert callable(kernel)
    statistics = np.random.default_rng(3).random((777, k))
    one = kernel(statistics, 100, 7, 1)
    assert one.tobytes() == kernel(statistics, 100, 7, 3).tobytes()


def test_draws_do_not_depend_on_the_width_or_the_number_of_resamples() -> None:
    # Two metrics with different statistics, or two systems, must see the same draws.
    wide = whole_numbers(300, 12)
    sums = _native.bootstrap_sums(wide, 50, 5, 1)
    narrow = np.ascontiguousarray(wide[:, :3])
    np.testing.assert_array_equal(_native.bootstrap_sums(narrow, 50, 5, 1), sums[:, :3])
    np.testing.assert_array_equal(_native.bootstrap_sums(wide, 20, 5, 1), sums[:20])
    assert not np.array_equal(_native.bootstrap_sums(wide, 50, 6, 1), sums)


def test_every_row_is_drawn_equally_often() -> None:
    # 5 rows, 4,000 resamples of 5 draws: each row 4,000 times, give or take sqrt(20000·.2·.8) = 57.
    sums = _native.bootstrap_sums(np.eye(5), 4000, 11, 1)
    assert np.abs(sums.sum(axis=0) - 4000).max() < 5 * 57
    # Draws are independent: a row's count in a resample is Binomial(5, .2), P(0) = .8^5 = .328.
    none = Counter(sums[:, 0])[0.0] / 4000
    assert none == pytest.approx(0.8**5, abs=5 * (0.328 * 0.672 / 4000) ** 0.5)


def test_every_row_is_swapped_half_of_the_time_and_independently() -> None:
    swaps = _native.swap_sums(np.eye(70), 4000, 11, 1)
    assert set(np.unique(swaps)) == {0.0, 1.0}
    assert np.abs(swaps.mean(axis=0) - 0.5).max() < 5 * 0.5 / 4000**0.5
    correlations = np.corrcoef(swaps.T) - np.eye(70)
    assert np.abs(correlations).max() < 5.5 / 4000**0.5


@pytest.mark.parametrize("kernel", [_native.bootstrap_sums, _native.swap_sums])
def test_nothing_to_resample_is_refused(kernel: object) -> None:
    assert callable(kernel)
    with pytest.raises(ValueError, match="no rows"):
        kernel(np.zeros((0, 2)), 10, 1, 1)
