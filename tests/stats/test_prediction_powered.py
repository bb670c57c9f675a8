"""Prediction-powered means: hand-worked, against ppi-python, and what intervals cover."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.golden.ppi_means import N_LABELED, scores
from wellput.stats.prediction_powered import (
    ProxyLabels,
    hall_share,
    inclusion_probabilities,
    prediction_powered_mean,
    systematic_sample,
    weighted_sum,
)

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "ppi_means.json").read_text(encoding="utf-8")
)


def series(name: str) -> ProxyLabels:
    pairs = [tuple(map(np.array, scores(system))) for system in (0, 1)]
    if name in "AB":
        labels, proxies = pairs["AB".index(name)]
    else:
        labels, proxies = (a - b for a, b in zip(*pairs, strict=True))
    return ProxyLabels.of(labels[:N_LABELED], proxies[:N_LABELED], proxies[N_LABELED:])


@pytest.mark.parametrize("name", ["A", "B", "A − B"])
def test_means_and_differences_equal_ppi_python(name: str) -> None:
    given = series(name)
    assert prediction_powered_mean(given).value == pytest.approx(GOLDEN[name]["tuned"], abs=1e-12)
    plain = prediction_powered_mean(given, tuning=1.0)
    assert plain.value == pytest.approx(GOLDEN[name]["lambda 1"], abs=1e-12)
    # Ours divides by n − 1 and counts the tuning of λ: a little more than ppi-python's error.
    assert 1 <= prediction_powered_mean(given).error / GOLDEN[name]["error"] < 1.1


def test_the_proxys_bias_is_taken_out() -> None:
    labels = np.array([1.0, 2, 3, 4, 5, 3])
    given = ProxyLabels.of(labels, labels + 2, np.array([3.0, 5, 7, 5]) + 0.5)
    # λ = 1: the unlabeled mean is 5.5, the proxy is 2 too high: 3.5.
    found = prediction_powered_mean(given, tuning=1.0)
    assert found.value == pytest.approx(3.5)


def test_without_a_proxy_it_is_the_t_interval_of_the_labels() -> None:
    stats = pytest.importorskip("scipy.stats")
    labels = np.array([1.0, 2, 3, 4, 5, 6])  # symmetric: nothing is skewed
    given = ProxyLabels.of(labels, labels, np.ones(30))
    found = prediction_powered_mean(given, tuning=0.0).estimate(null=2.0)
    expected = stats.ttest_1samp(labels, 2.0)
    bounds = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((bounds.low, bounds.high))
    assert found.p_value == pytest.approx(expected.pvalue)


def test_a_useless_proxy_has_no_weight() -> None:
    labels = np.array([1.0, 5, 1, 5, 1, 5])
    constant = ProxyLabels.of(labels, np.ones(6), np.ones(20))
    assert prediction_powered_mean(constant).tuning == 0
    opposite = ProxyLabels.of(labels, -labels, -np.ones(20))
    assert prediction_powered_mean(opposite).tuning == 0


def test_few_or_equal_labels_give_no_interval() -> None:
    few = ProxyLabels.of(np.array([1.0, 2, 3, 4]), np.arange(4.0), np.ones(9))
    assert prediction_powered_mean(few).estimate().low is None
    equal = ProxyLabels.of(np.full(9, 5.0), np.arange(9.0), np.ones(9))
    found = prediction_powered_mean(equal).estimate()
    assert found.low is None
    assert "do not differ" in found.method


def test_clusters_are_left_out_whole() -> None:
    rng = np.random.default_rng(1)
    labels, proxies, extra = rng.normal(size=10), rng.normal(size=10), rng.normal(size=40)
    single = ProxyLabels.of(labels, proxies, extra)
    twice = ProxyLabels(
        np.repeat(single.labels, 2), np.repeat(single.proxies, 2), np.repeat(single.clusters, 2)
    )
    one, two = (prediction_powered_mean(given, tuning=0.5) for given in (single, twice))
    assert (one.value, one.error) == pytest.approx((two.value, two.error))
    assert two.n_clusters == 10


def test_weights_undo_unequal_chances() -> None:
    # Of 40 units with value 0 all but 8 are left out by chance 1/5, of 8 with value 10 none is.
    labels = np.array([0.0] * 8 + [10.0] * 8)
    weights = np.array([5.0] * 8 + [1.0] * 8)
    given = ProxyLabels(labels, np.zeros(16), np.arange(16), weights)
    assert prediction_powered_mean(given).value == pytest.approx(80 / 48)


def test_strata_add_up_by_their_shares() -> None:
    parts = [
        prediction_powered_mean(ProxyLabels.of(labels, labels * 0, np.zeros(9)), tuning=0.0)
        for labels in (np.array([1.0, 2, 3, 2, 2]), np.array([5.0, 7, 6, 6, 6]))
    ]
    found = weighted_sum(parts, np.array([0.25, 0.75]))
    assert found.value == pytest.approx(0.25 * 2 + 0.75 * 6)
    # Each has variance ½ / 5 = 0.1: (1/16 + 9/16) · 0.1.
    assert found.error == pytest.approx(math.sqrt(10 / 16 * 0.1))
    difference = weighted_sum(parts, np.ones(2), signs=np.array([1.0, -1.0]))
    assert difference.value == pytest.approx(-4)


def test_the_share_of_skewness_falls_with_labels() -> None:
    assert [round(hall_share(n), 2) for n in (5, 20, 50, 400)] == [1.0, 1.0, 0.76, 0.62]


def test_probabilities_add_up_to_the_budget_and_none_exceeds_one() -> None:
    found = inclusion_probabilities(np.array([0.0, 0, 0, 0, 100]), 2)
    assert found.sum() == pytest.approx(2)
    assert found.max() == 1
    assert (found > 0).all()


def test_a_sample_has_the_size_and_the_chances_that_were_asked_for() -> None:
    probabilities = inclusion_probabilities(np.arange(20.0), 5)
    rng = np.random.default_rng(4)
    counts = np.zeros(20)
    for _ in range(2000):
        chosen = systematic_sample(probabilities, rng)
        assert len(chosen) == 5
        counts[chosen] += 1
    assert counts / 2000 == pytest.approx(probabilities, abs=0.04)


@pytest.mark.parametrize("n", [20, 100])
def test_intervals_cover_and_are_not_wider_than_people_alone(n: int) -> None:
    rng = np.random.default_rng(n)
    covered, ratio = [], []
    for _ in range(400):
        truth = rng.normal(size=n + 300)
        proxies = 0.7 * truth + 0.7 * rng.normal(size=n + 300) + 1
        given = ProxyLabels.of(truth[:n], proxies[:n], proxies[n:])
        found, alone = (prediction_powered_mean(given, tuning=t).estimate() for t in (None, 0.0))
        assert found.low is not None
        assert found.high is not None
        assert alone.low is not None
        assert alone.high is not None
        covered.append(found.low <= 0 <= found.high)
        ratio.append((found.high - found.low) / (alone.high - alone.low))
    assert 0.92 <= np.mean(covered) <= 0.98  # ± 3 standard errors of 400 samples about .95
    assert np.mean(ratio) < 0.9
