from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    cohen_kappa_score,
    f1_score,
    precision_score,
    recall_score,
)
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from wellput.core.errors import InputError
from wellput.stats.judges.kappa import (
    Weights,
    cohen_kappa,
    confusion,
    fleiss_kappa,
    pairwise_kappas,
)

NAN = float("nan")
SKLEARN = {"none": None, "linear": "linear", "quadratic": "quadratic"}


def test_cohen_by_hand() -> None:
    # Agreement on 20 + 15 of 50; by chance (25/50 · 30/50) + (25/50 · 20/50) = .5:
    # (.7 − .5) / (1 − .5) = .4 (the example of Wikipedia's article on Cohen's kappa).
    first = [1] * 25 + [0] * 25
    second = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    estimate = cohen_kappa(first, second)
    assert estimate.value == pytest.approx(0.4)
    assert (estimate.n, estimate.method) == (50, "Cohen's kappa")


def test_weighted_by_hand() -> None:
    # |x − y| is 0, 1, 2: observed 1. Over the nine pairs of 1 2 3 with 1 3 5 the distances are
    # 0 2 4, 1 1 3, 2 0 2: expected 15/9, squared (0 4 16, 1 1 9, 4 0 4) 39/9; observed squared 5/3.
    assert cohen_kappa([1, 2, 3], [1, 3, 5], weights="linear").value == pytest.approx(1 - 9 / 15)
    assert cohen_kappa([1, 2, 3], [1, 3, 5], weights="quadratic").value == pytest.approx(
        1 - 15 / 39
    )


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=30))
def test_cohen_is_scikit_learns(weights: Weights, pairs: list[tuple[int, int]]) -> None:
    first, second = (list(row) for row in zip(*pairs, strict=True))
    ours = cohen_kappa(first, second, weights=weights)
    if len({*first, *second}) == 1:
        assert np.isnan(ours.value) and "same rating" in ours.method
        return
    theirs = cohen_kappa_score(first, second, labels=range(1, 6), weights=SKLEARN[weights])
    assert ours.value == pytest.approx(theirs, abs=1e-12)
    assert cohen_kappa(second, first, weights=weights).value == pytest.approx(ours.value, abs=1e-12)


def test_missing_ratings_are_left_out_of_cohens() -> None:
    with_missing = cohen_kappa([1, NAN, 2, 2, 1], [1, 2, NAN, 2, 2])
    assert with_missing == cohen_kappa([1, 2, 1], [1, 2, 2])
    assert "no unit" in cohen_kappa([1, NAN], [NAN, 1]).method


def test_cohen_refuses_rows_of_different_length() -> None:
    with pytest.raises(InputError, match="same units"):
        cohen_kappa([1, 2], [1, 2, 3])


def test_pairwise_kappas() -> None:
    ratings = np.random.default_rng(0).integers(1, 4, (4, 30)).astype(np.float64)
    summary = pairwise_kappas(ratings, weights="linear")
    values = [
        cohen_kappa_score(ratings[i].astype(int), ratings[j].astype(int), weights="linear")
        for i in range(4)
        for j in range(i)
    ]
    assert summary.mean == pytest.approx(np.mean(values))
    assert (summary.min, summary.max) == pytest.approx((min(values), max(values)))
    assert summary.sd == pytest.approx(np.std(values, ddof=1))
    assert summary.n_pairs == 6


# Fleiss 1971 as retold in Wikipedia's article: 14 raters, 10 subjects, 5 categories; kappa .210.
FLEISS_COUNTS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def test_fleiss_published_example() -> None:
    ratings = np.array([np.repeat(np.arange(5), row) for row in FLEISS_COUNTS]).T
    assert fleiss_kappa(ratings).value == pytest.approx(0.210, abs=5e-4)


@settings(max_examples=40)
@given(st.integers(2, 5), st.integers(1, 10), st.integers(2, 4), st.integers(0, 1000))
def test_fleiss_is_statsmodels(judges: int, units: int, categories: int, seed: int) -> None:
    ratings = np.random.default_rng(seed).integers(0, categories, (judges, units))
    ours = fleiss_kappa(ratings)
    if len(np.unique(ratings)) == 1:
        assert ours.method == "undefined: all ratings are the same"
    else:
        table, _ = aggregate_raters(ratings.T)
        assert ours.value == pytest.approx(statsmodels_fleiss(table), abs=1e-12)


def test_fleiss_takes_different_judges_for_different_units() -> None:
    # Two ratings each, unit 1 unrated: (1, 1), (2, 2), (1, 2).
    ratings = [[1, NAN, NAN, 1], [1, NAN, 2, NAN], [NAN, NAN, 2, 2]]
    assert fleiss_kappa(ratings) == fleiss_kappa([[1, 2, 1], [1, 2, 2]])


def test_fleiss_refuses_varying_numbers_of_ratings() -> None:
    estimate = fleiss_kappa(np.array([[1, 2, 1], [1, 2, NAN]]))
    assert np.isnan(estimate.value)
    assert "from 1 to 2 ratings" in estimate.method and "Krippendorff's alpha" in estimate.method
    assert "no unit" in fleiss_kappa([[1, NAN], [NAN, 2]]).method


def test_confusion_by_hand() -> None:
    # Against two judges: unit 0 yes/yes, 1 yes/no, 2 no/–, 3 no/yes.
    table = confusion([1, 1, 0, 0], np.array([[1, 1, 0, 0], [1, 0, NAN, 1]]))
    assert (table.true_positives, table.false_positives) == (3, 1)
    assert (table.false_negatives, table.true_negatives) == (1, 2)
    assert (table.n, table.accuracy) == (7, 5 / 7)
    assert table.precision == table.recall == table.f1 == 3 / 4
    # By chance (4 · 4 + 3 · 3) / 49 = 25/49; (5/7 − 25/49) / (1 − 25/49) = 10/24.
    assert table.kappa == pytest.approx(10 / 24)
    assert table.undefined == {}


@settings(max_examples=40)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=20))
def test_confusion_is_scikit_learns(pairs: list[tuple[bool, bool]]) -> None:
    said, judged = zip(*pairs, strict=True)
    table = confusion(said, judged)
    theirs = {
        "accuracy": accuracy_score(judged, said),
        "precision": precision_score(judged, said, zero_division=np.nan),
        "recall": recall_score(judged, said, zero_division=np.nan),
        "f1": f1_score(judged, said, zero_division=np.nan),
        "kappa": cohen_kappa_score(judged, said) if len({*said, *judged}) > 1 else NAN,
    }
    for name, value in theirs.items():
        assert getattr(table, name) == pytest.approx(value, abs=1e-12, nan_ok=True)
        assert (name in table.undefined) == np.isnan(value)


def test_confusion_without_verdicts_gives_reasons() -> None:
    table = confusion([1, 0], [NAN, NAN])
    assert set(table.undefined.values()) == {"there are no verdicts"}
    assert len(table.undefined) == 5


def test_confusion_refuses_what_is_neither_yes_nor_no() -> None:
    with pytest.raises(InputError, match=r"(?s)Verdicts are 1.*0\.5"):
        confusion([1, 0], [0.5, 1])
    with pytest.raises(InputError, match="Each unit needs one decision"):
        confusion([1, 0, 1], [[1, 0], [1, 1]])


def test_unknown_weights_are_refused() -> None:
    with pytest.raises(InputError, match="weights='cubic' is none of"):
        cohen_kappa([1, 2, 3], [1, 2, 2], weights="cubic")  # type: ignore[arg-type]
