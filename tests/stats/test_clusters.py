"""Clusters of items that are left out together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS

from wellput.core.metric import Floats
from wellput.stats.clusters import (
    ClusteredItems,
    clustered_difference,
    clustered_freedom,
    clustered_interval,
    intraclass_correlation,
    scores_without_clusters,
)
from wellput.stats.jackknife import is_differing, paired_jackknife, score_interval


def mean_score(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(sums[..., 0] / sums[..., 1])


def rows_of(values: Floats) -> Floats:
    return np.column_stack([values, np.ones(len(values))])


def test_equal_clusters_are_a_t_test_of_their_means() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(6, 4)) + rng.normal(size=(6, 1))
    clusters = ClusteredItems.of(np.repeat(np.arange(6), 4))
    found = clustered_interval(rows_of(values.ravel()), mean_score, clusters)
    expected = stats.ttest_1samp(values.mean(axis=1), 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_clusters_of_one_item_change_nothing() -> None:
    rng = np.random.default_rng(2)
    a, b = rows_of(rng.gamma(2, size=30)), rows_of(rng.gamma(2, size=30))
    clusters = ClusteredItems.of(np.arange(30))
    ours = clustered_difference(
        scores_without_clusters(a, mean_score, clusters),
        scores_without_clusters(b, mean_score, clusters),
        is_differing(a, b),
        clusters,
    ).estimate
    theirs = paired_jackknife(a, b, mean_score).estimate
    assert (ours.low, ours.high, ours.p_value, ours.n) == pytest.approx(
        (theirs.low, theirs.high, theirs.p_value, theirs.n)
    )
    plain = score_interval(a, mean_score)
    assert clustered_interval(a, mean_score, clusters).low == pytest.approx(plain.low)


def test_the_error_is_the_clustered_one_of_a_regression() -> None:
    """The jackknife of a mean has deviations T / (N − n) where the sandwich has T / N (statsmodels
    without its correction); with clusters of equal size the ratio is (G − 1) / G squared, times its own
    (G − 1) / G."""
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(8), 5)
    values = rng.normal(size=40) + rng.normal(size=8)[codes]
    fitted = OLS(values, np.ones(40)).fit(
        cov_type="cluster", cov_kwds={"groups": codes, "use_correction": False}
    )
    clusters = ClusteredItems.of(codes)
    error = scores_without_clusters(rows_of(values), mean_score, clusters).clusters.error
    assert error == pytest.approx(float(fitted.bse[0]) * np.sqrt(8 / 7))


def brute_freedom(sizes: Floats, correlation: float) -> float:
    """From the matrices themselves: sums of clusters → leave-one-out deviations → squared error."""
    total = sizes.sum()
    spread = np.diag(sizes * (1 + (sizes - 1) * correlation))
    centered = np.eye(len(sizes)) - np.outer(sizes, np.ones(len(sizes))) / total
    form = centered.T @ np.diag((total - sizes) ** -2.0) @ centered @ spread
    return float(np.trace(form) ** 2 / np.trace(form @ form))


@pytest.mark.parametrize("correlation", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("sizes", [[1, 1], [5, 5, 5], [1, 2, 40], [3, 9, 27, 1, 1, 40, 12]])
def test_freedom_is_satterthwaites(sizes: list[int], correlation: float) -> None:
    found = clustered_freedom(np.array(sizes, np.intp), correlation)
    expected = brute_freedom(np.array(sizes, float), correlation)
    assert found == pytest.approx(min(expected, len(sizes) - 1))


def test_intraclass_correlation_by_hand() -> None:
    # Clusters (1, 3) and (7, 9) have means 2 and 8, all items 5. Between: 2·9 + 2·9 = 36, one degree of
    # freedom; within: 2 + 2 = 4 over two, 2. (36 − 2) / (36 + 2) = 34 / 38.
    clusters = ClusteredItems.of(np.array([0, 0, 1, 1]))
    found = intraclass_correlation(np.array([1.0, 3.0, 7.0, 9.0]), clusters)
    assert found == pytest.approx(34 / 38)


def test_all_hits_have_an_interval_for_the_number_of_clusters() -> None:
    clusters = ClusteredItems.of(np.repeat(np.arange(10), 5))
    found = clustered_interval(rows_of(np.ones(50)), mean_score, clusters, bounds=(0.0, 1.0))
    t = stats.t.ppf(0.975, 9)
    assert found.low == pytest.approx(10 / (10 + t**2))
    assert found.high == 1.0


def test_one_cluster_has_no_interval() -> None:
    clusters = ClusteredItems.of(np.zeros(20, np.intp))
    values = np.random.default_rng(0).normal(size=20)
    assert clustered_interval(rows_of(values), mean_score, clusters).low is None


@pytest.mark.slow
@pytest.mark.parametrize("n_documents", [10, 40])
def test_coverage_with_documents_of_1_to_40_items(n_documents: int) -> None:
    """Intraclass correlation .3: the clustered interval holds, the one of items does not."""
    rng = np.random.default_rng(7)
    runs, held, unclustered = 2000, 0, 0
    for _ in range(runs):
        sizes = rng.integers(1, 41, n_documents)
        codes = np.repeat(np.arange(n_documents), sizes)
        values = rng.normal(0, 0.3**0.5, n_documents)[codes] + rng.normal(0, 0.7**0.5, len(codes))
        rows = rows_of(values)
        ours = clustered_interval(rows, mean_score, ClusteredItems.of(codes))
        theirs = score_interval(rows, mean_score)
        held += (ours.low or 0) < 0 < (ours.high or 0)
        unclustered += (theirs.low or 0) < 0 < (theirs.high or 0)
    assert 0.93 < held / runs < 0.97
    assert unclustered / runs < 0.80
