from __future__ import annotations

from typing import get_args

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.judges.krippendorff import MeasurementLevel, krippendorff_alpha

NAN = float("nan")
LEVELS: tuple[MeasurementLevel, ...] = get_args(MeasurementLevel)

# The example of Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), section C.
EXAMPLE = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]


@pytest.mark.parametrize(
    ("level", "published"),
    [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)],
)
def test_krippendorffs_own_example(level: MeasurementLevel, published: float) -> None:
    estimate = krippendorff_alpha(EXAMPLE, level=level)
    assert estimate.value == pytest.approx(published, abs=5e-4)
    assert estimate.n == 11  # the twelfth unit has one rating
    assert estimate.low is None


def test_alpha_by_hand() -> None:
    # Units (1, 1), (1, 2), (3, 3); six ratings 1 1 1 2 3 3. Nominal: observed 2 of 6 ordered pairs
    # differ; expected 36 − (9 + 1 + 4) = 22 of 30. 1 − (1/3) / (22/30) = 1 − 10/22.
    ratings = [[1, 1, 3], [1, 2, 3]]
    assert krippendorff_alpha(ratings, level="nominal").value == pytest.approx(12 / 22)
    # Interval: observed 2 · 1 / 6; the squares about the mean 11/6 add up to 25 − 121/6 = 29/6, so
    # expected 2 · 6 · (29/6) / 30 = 58/30. 1 − 10/58.
    assert krippendorff_alpha(ratings, level="interval").value == pytest.approx(48 / 58)


@pytest.mark.parametrize("level", LEVELS)
@settings(max_examples=60)
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 5), st.integers(1, 8)),
        elements=st.sampled_from([0.0, 1.0, 2.0, 4.0, 4.5, 7.0, NAN]),
    )
)
def test_alpha_is_the_packages(level: MeasurementLevel, ratings: Floats) -> None:
    ours = krippendorff_alpha(ratings, level=level)
    pairable = ratings[:, (~np.isnan(ratings)).sum(axis=0) > 1]
    distinct = np.unique(pairable[~np.isnan(pairable)])
    if len(distinct) < 2:
        assert np.isnan(ours.value) and ours.method.startswith("undefined: ")
        return
    theirs = krippendorff.alpha(pairable, level_of_measurement=level)
    assert ours.value == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_the_packages_on_a_large_panel(level: MeasurementLevel) -> None:
    rng = np.random.default_rng(0)
    ratings = np.clip(
        np.round(50 + 15 * rng.normal(size=300) + 10 * rng.normal(size=(8, 300))), 0, 100
    )
    ratings[rng.random(ratings.shape) < 0.4] = NAN
    theirs = krippendorff.alpha(ratings, level_of_measurement=level)
    assert krippendorff_alpha(ratings, level=level).value == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
@settings(max_examples=30)
@given(
    arrays(np.float64, (4, 6), elements=st.sampled_from([1.0, 2.0, 3.0, NAN])),
    st.permutations(range(4)),
    st.permutations(range(6)),
)
def test_the_order_of_judges_and_units_does_not_matter(
    level: MeasurementLevel, ratings: Floats, judges: list[int], units: list[int]
) -> None:
    one = krippendorff_alpha(ratings, level=level).value
    other = krippendorff_alpha(ratings[judges][:, units], level=level).value
    assert other == pytest.approx(one, abs=1e-12, nan_ok=True)
    assert np.isnan(one) or one <= 1


@pytest.mark.parametrize("level", LEVELS)
def test_perfect_agreement_is_1(level: MeasurementLevel) -> None:
    row = [0.1, 0.7, 0.1, 0.3]
    assert krippendorff_alpha([row, row, row], level=level).value == 1.0


def test_a_shift_and_a_scale_do_not_change_interval_alpha() -> None:
    ratings = np.array(EXAMPLE)
    alpha = krippendorff_alpha(ratings).value
    assert krippendorff_alpha(1e6 + 7 * ratings).value == pytest.approx(alpha, abs=1e-9)
    order = krippendorff_alpha(ratings, level="ordinal").value
    assert krippendorff_alpha(ratings**3, level="ordinal").value == pytest.approx(order, abs=1e-12)


def test_undefined_alphas_have_reasons() -> None:
    assert "no unit has two ratings" in krippendorff_alpha([[1, NAN], [NAN, 2]]).method
    assert "all ratings are the same" in krippendorff_alpha([[2, 2], [2, 2]]).method
    # A third, different rating that stands alone in its unit cannot be compared.
    assert np.isnan(krippendorff_alpha(np.array([[2, 2, 5], [2, 2, NAN]])).value)
    assert "below 0" in krippendorff_alpha([[1, -2], [1, 2]], level="ratio").method
    assert "no unit" in krippendorff_alpha(np.empty((0, 0))).method


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(InputError, match="nominal, ordinal, interval, ratio"):
        krippendorff_alpha(EXAMPLE, level="cardinal")  # type: ignore[arg-type]


def test_the_interval_is_seeded_and_holds_the_estimate() -> None:
    one, same, other = (
        krippendorff_alpha(EXAMPLE, n_resamples=200, seed=seed) for seed in (3, 3, 4)
    )
    assert one == same != other
    assert one.low is not None and one.high is not None
    assert one.low < one.value < one.high
    assert one.method.endswith("percentile bootstrap over units, 200 resamples")
    assert one.value == krippendorff_alpha(EXAMPLE).value


def interval_coverage(units: int, studies: int, n_resamples: int) -> float:
    """How often the interval contains the truth. Quality and noise have equal variance, so that
    alpha of the population, the share of quality in the variance, is 1/2."""
    hits = 0
    for number in range(studies):
        rng = np.random.default_rng([units, number])
        ratings = rng.normal(size=units) + rng.normal(size=(4, units))
        ratings[rng.random(ratings.shape) < 0.2] = NAN
        estimate = krippendorff_alpha(ratings, n_resamples=n_resamples, seed=number)
        assert estimate.low is not None and estimate.high is not None
        hits += estimate.low <= 0.5 <= estimate.high
    return hits / studies


@pytest.mark.heavy
def test_intervals_cover_the_truth() -> None:
    assert 0.88 <= interval_coverage(100, studies=150, n_resamples=199) <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize(("units", "least"), [(30, 0.87), (100, 0.90), (500, 0.92)])
def test_intervals_cover_the_truth_in_many_studies(units: int, least: float) -> None:
    # The standard error over 1000 studies is .007. With few units the percentile interval is too
    # narrow, as everywhere.
    covered = interval_coverage(units, studies=1000, n_resamples=299)
    print(f"alpha, {units} units: coverage {covered:.3f}")
    assert least <= covered <= 0.97


@pytest.mark.parametrize(("n_resamples", "seed"), [(-1, 1), (10, -1)])
def test_resamples_that_cannot_be_drawn_are_refused(n_resamples: int, seed: int) -> None:
    with pytest.raises(InputError, match=r"resample|seed"):
        krippendorff_alpha([[1, 2, 3], [1, 2, 2]], n_resamples=n_resamples, seed=seed)
