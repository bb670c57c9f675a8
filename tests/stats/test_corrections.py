from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.corrections import (
    benjamini_hochberg,
    bonferroni,
    holm,
    resamples_needed,
)

CORRECTIONS = {"bonferroni": bonferroni, "holm": holm, "fdr_bh": benjamini_hochberg}


def test_bonferroni_by_hand() -> None:
    np.testing.assert_allclose(bonferroni(np.array([0.01, 0.3, 0.4])), [0.03, 0.9, 1.0])


def test_holm_by_hand() -> None:
    # In order .005, .01, .03, .04: ·4 = .02, ·3 = .03, ·2 = .06, ·1 = .04 but not below .06.
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])


def test_benjamini_hochberg_by_hand() -> None:
    # In order .005, .01, .03, .04: ·4/1 = .02, ·4/2 = .02, ·4/3 = .04, ·4/4 = .04.
    np.testing.assert_allclose(
        benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.005])), [0.02, 0.04, 0.04, 0.02]
    )


# The example of Benjamini & Hochberg 1995, section 3.2: at .05 their procedure rejects the first
# four hypotheses, Bonferroni's the first three.
THROMBOLYSIS = np.array(
    [
        [0.0001, 0.0004, 0.0019, 0.0095, 0.0201],
        [0.0278, 0.0298, 0.0344, 0.0459, 0.3240],
        [0.4262, 0.5719, 0.6528, 0.7590, 1.000],
    ]
).ravel()


def test_the_example_of_benjamini_and_hochberg() -> None:
    assert np.flatnonzero(benjamini_hochberg(THROMBOLYSIS) <= 0.05).tolist() == [0, 1, 2, 3]
    assert np.flatnonzero(bonferroni(THROMBOLYSIS) <= 0.05).tolist() == [0, 1, 2]
    assert benjamini_hochberg(THROMBOLYSIS)[3] == pytest.approx(0.0095 * 15 / 4)


# statsmodels 0.15.0: multipletests(GIVEN, method=name)[1]
GIVEN = np.array([0.013, 0.0004, 0.21, 0.013, 0.047])
GOLDEN = {
    "bonferroni": [0.065, 0.002, 1.0, 0.065, 0.235],
    "holm": [0.052, 0.002, 0.21, 0.052, 0.094],
    "fdr_bh": [0.065 / 3, 0.002, 0.21, 0.065 / 3, 0.05875],
}


@pytest.mark.parametrize("name", CORRECTIONS)
def test_golden_values_of_statsmodels(name: str) -> None:
    np.testing.assert_allclose(CORRECTIONS[name](GIVEN), GOLDEN[name])


@pytest.mark.parametrize("name", CORRECTIONS)
@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_any_p_values_are_adjusted_as_by_statsmodels(name: str, p_values: list[float]) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    with patch("gc.collect"):  # which multipletests calls: half a second in a large program
        expected = multitest.multipletests(p_values, method=name)[1]
    np.testing.assert_allclose(CORRECTIONS[name](np.array(p_values)), expected, atol=1e-12)


@pytest.mark.parametrize("name", CORRECTIONS)
def test_a_test_that_could_not_be_made_does_not_count(name: str) -> None:
    correct = CORRECTIONS[name]
    with_nan = correct(np.array([0.02, np.nan, 0.03]))
    assert np.isnan(with_nan[1])
    np.testing.assert_array_equal(with_nan[[0, 2]], correct(np.array([0.02, 0.03])))
    assert correct(np.array([])).shape == (0,)
    assert np.isnan(correct(np.array([np.nan]))).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusting_never_lowers_a_p_value_and_keeps_the_order(p_values: list[float]) -> None:
    p = np.array(p_values)
    adjusted: dict[str, Floats] = {name: correct(p) for name, correct in CORRECTIONS.items()}
    for values in adjusted.values():
        assert (values >= p - 1e-15).all() and (values <= 1).all()
        assert (np.diff(values[np.argsort(p)]) >= 0).all()
    assert (adjusted["fdr_bh"] <= adjusted["holm"] + 1e-15).all()
    assert (adjusted["holm"] <= adjusted["bonferroni"] + 1e-15).all()


def test_a_level_close_to_zero_needs_a_great_but_finite_number_of_resamples() -> None:
    assert resamples_needed(1000, tests=3, alpha=1e-320) > 10**18


@pytest.mark.parametrize("p_values", [[-0.5, 0.2], [2.0, 0.1], [np.inf, 0.1], [[0.1, 0.2]]])
def test_what_is_no_row_of_p_values_is_refused(p_values: Any) -> None:
    with pytest.raises(InputError, match="from 0 to 1"):
        holm(np.array(p_values))
