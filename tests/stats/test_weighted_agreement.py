from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import binary_distance, jaccard_distance, masi_distance

from wellput.core.errors import InputError
from wellput.stats.judges.kappa import cohen_kappa, pairwise_kappas
from wellput.stats.judges.weighted_agreement import (
    Distance,
    beta,
    beta_by_item,
    distances,
    interval_beta,
)

NLTK = {"nominal": binary_distance, "jaccard": jaccard_distance, "masi": masi_distance}
DISTANCES: tuple[Distance, ...] = ("nominal", "jaccard", "masi")

Labels = frozenset[str]
sets = st.frozensets(st.sampled_from("abcd"), min_size=1)


def task(values: list[list[Labels]], distance: Distance) -> AnnotationTask:
    triples = [
        (f"c{coder}", f"u{unit}", value)
        for coder, row in enumerate(values)
        for unit, value in enumerate(row)
    ]
    return AnnotationTask(triples, distance=NLTK[distance])


def test_beta_by_hand() -> None:
    # A: a a b b, B: a b b b. Observed 1/4; expected 1 − (1/2 · 1/4 + 1/2 · 3/4) = 1/2.
    estimate = beta(["aabb", "abbb"])
    assert estimate.value == pytest.approx(0.5)
    assert (estimate.n, estimate.method) == (4, "Artstein & Poesio's beta, nominal distance")


def test_beta_of_three_coders_divides_the_means() -> None:
    # Observed: AB 1/4, AC 1/4, BC 2/4: mean 1/3. Shares of a: 1/2, 1/4, 3/4. Expected: AB 1/2,
    # AC 1 − (3/8 + 1/8) = 1/2, BC 1 − (3/16 + 3/16) = 5/8: mean 13/24. 1 − 8/13.
    assert beta(["aabb", "abbb", "aaab"]).value == pytest.approx(5 / 13)


def test_jaccard_and_masi_by_hand() -> None:
    values: list[Hashable] = [frozenset("ab"), frozenset("abcd"), frozenset("bc"), frozenset(), "a"]
    jaccard = distances(values, "jaccard")
    masi = distances(values, "masi")
    assert jaccard[0, 1] == 0.5 and masi[0, 1] == pytest.approx(1 - 1 / 2 * 2 / 3)
    assert jaccard[0, 2] == pytest.approx(2 / 3) and masi[0, 2] == pytest.approx(1 - 1 / 3 * 1 / 3)
    assert jaccard[0, 3] == masi[0, 3] == 1
    assert jaccard[3, 3] == masi[3, 3] == 0
    assert jaccard[0, 4] == 0.5  # the label a is the set of a


@given(st.lists(sets, min_size=1, max_size=8))
def test_distances_are_nltks(values: list[Labels]) -> None:
    for distance in DISTANCES:
        ours = distances(values, distance)
        theirs = [[NLTK[distance](a, b) for b in values] for a in values]
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("distance", DISTANCES)
@settings(max_examples=40)
@given(st.lists(st.tuples(sets, sets), min_size=1, max_size=12))
def test_beta_of_two_coders_is_nltks_weighted_kappa(
    distance: Distance, pairs: list[tuple[Labels, Labels]]
) -> None:
    values = [list(row) for row in zip(*pairs, strict=True)]
    ours = beta(values, distance=distance)
    if len({*values[0], *values[1]}) == 1:
        assert ours.method == "undefined: all values are the same"
    else:
        assert ours.value == pytest.approx(task(values, distance).weighted_kappa(), abs=1e-9)
    assert beta(values[::-1], distance=distance).value == pytest.approx(ours.value, nan_ok=True)


@settings(max_examples=40)
@given(st.lists(st.tuples(sets, sets, sets), min_size=1, max_size=10))
def test_nominal_beta_of_three_coders_is_nltks_multi_kappa(
    triples: list[tuple[Labels, Labels, Labels]],
) -> None:
    values = [list(row) for row in zip(*triples, strict=True)]
    ours = beta(values).value
    if not np.isnan(ours):
        assert ours == pytest.approx(task(values, "nominal").multi_kappa(), abs=1e-9)


def test_missing_values_are_left_out_pair_by_pair() -> None:
    first, second = [1.0, 2.0, None, 1.0, 2.0], [1.0, 1.0, 2.0, float("nan"), 2.0]
    assert beta([first, second]).value == pytest.approx(cohen_kappa([1, 2, 2], [1, 1, 2]).value)
    # AB share units 0–2, AC and BC unit 2 only, where all agree on b. Observed 1 of 5; expected
    # 3 · (1 − 2/3 · 1/3 − 1/3 · 2/3) / 5 = 1/3.
    assert beta(["aab", "abb", [None, None, "b"]]).value == pytest.approx(1 - (1 / 5) / (1 / 3))


def test_an_array_of_ratings_is_accepted() -> None:
    ratings = np.array([[1.0, 2.0, np.nan, 3.0], [1.0, 2.0, 2.0, 1.0]])
    assert beta(list(ratings)).value == pytest.approx(cohen_kappa(*ratings).value)


def test_undefined_betas_have_reasons() -> None:
    assert "all values are the same" in beta(["aa", "aa"]).method
    assert "no unit was coded by two" in beta([["a", None], [None, "a"]]).method
    assert "no unit was coded by two" in beta([]).method
    assert "no unit was coded by two" in beta(["ab"]).method
    assert np.isnan(beta(["aa", "aa"]).value)


def test_constant_coders_who_differ_agree_by_chance() -> None:
    assert beta(["aa", "bb"]).value == 0


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="rows of 2, 3 values"):
        beta(["ab", "abc"])
    with pytest.raises(InputError, match="nominal, jaccard, masi"):
        beta(["ab", "ab"], distance="dice")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="3 units, but items for 2"):
        beta_by_item(["abc", "abc"], ["s1", "s2"])


def test_beta_by_item() -> None:
    # Expected 1/2 as above; sentence s1 observes 1/2, s2 0, s3 was not coded twice.
    values = [[*"aabb", None], [*"abbb", "a"]]
    found = beta_by_item(values, ["s1", "s1", "s2", "s2", "s3"])
    assert (found["s1"], found["s2"]) == pytest.approx((0, 1))
    assert np.isnan(found["s3"])
    assert list(beta_by_item(["aabb", "abbb"])) == [0, 1, 2, 3]


@given(st.lists(st.tuples(sets, sets, sets), min_size=2, max_size=10))
def test_the_mean_over_units_is_beta(triples: list[tuple[Labels, Labels, Labels]]) -> None:
    values = [list(row) for row in zip(*triples, strict=True)]
    for distance in DISTANCES:
        by_unit = list(beta_by_item(values, distance=distance).values())
        whole = beta(values, distance=distance).value
        assert np.mean(by_unit) == pytest.approx(whole, abs=1e-9, nan_ok=True)


def test_interval_beta_is_quadratic_kappa_of_two_judges_and_needs_shared_units() -> None:
    # 1 2 3 4 against 2 2 4 4: observed (1 + 0 + 1 + 0) / 4 = .5; means 2.5 and 3, variances 1.25 and 1:
    # expected 1.25 + 1 + .25 = 2.5. 1 − .5 / 2.5 = .8.
    ratings = np.array([[1.0, 2, 3, 4], [2, 2, 4, 4]])
    assert interval_beta(ratings).value == pytest.approx(0.8)
    assert cohen_kappa(*ratings, weights="quadratic").value == pytest.approx(0.8)
    assert pairwise_kappas(ratings, weights="quadratic").mean == pytest.approx(0.8)
    # A third judge shares one unit with the first: expected and observed disagreement are equal there.
    more = np.vstack(
        [np.pad(ratings, ((0, 0), (0, 1)), constant_values=np.nan), np.full(5, np.nan)]
    )
    more[2, 0] = 7.0
    assert interval_beta(more, fewest=2).value == pytest.approx(0.8)
    assert interval_beta(more).value < 0.2
    assert interval_beta(more, fewest=5).method == "undefined: no two judges share 5 units"
    assert "the same" in interval_beta(np.full((2, 3), 0.1)).method
