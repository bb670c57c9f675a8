"""All pairs of metrics, tested and corrected."""

from __future__ import annotations

from itertools import combinations
from typing import cast, get_args

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.corrections import holm
from wellput.stats.correlation import Correlation
from wellput.stats.correlation_intervals import CorrelationDifferences, correlation_difference
from wellput.stats.correlation_resampling import perm_both
from wellput.stats.metric_comparison import CorrelationTest as KindOfTest
from wellput.stats.metric_comparison import compare_all


def panel() -> tuple[dict[str, Floats], Floats]:
    rng = np.random.default_rng(2)
    z = rng.normal(size=(9, 50))
    noise = {"good": 1, "as good": 1, "poor": 5}
    metrics = {name: z + scale * rng.normal(size=z.shape) for name, scale in noise.items()}
    return {**metrics, "constant": np.ones_like(z)}, z


def test_matrix_of_permutation_tests() -> None:
    metrics, z = panel()
    done: list[int] = []
    result = compare_all(metrics, z, test="perm-both", n_resamples=299, on_progress=done.append)
    assert done == [1] * 6
    assert result.metrics == tuple(metrics)
    expected = perm_both(metrics["good"], metrics["poor"], z, n_resamples=299)
    assert result.estimates[0, 2] == expected
    assert result.p_values[0, 2] == result.p_values[2, 0] == expected.p_value
    assert result.differences[0, 2] == -result.differences[2, 0] == expected.value
    assert result.differences[0, 2] == pytest.approx(
        result.agreement[0].value - result.agreement[2].value
    )
    upper = np.triu_indices(4, 1)
    assert result.adjusted[upper] == pytest.approx(holm(result.p_values[upper]), nan_ok=True)
    assert np.array_equal(result.adjusted, result.adjusted.T, equal_nan=True)
    # A metric that cannot be tested is not counted among the tests.
    assert np.isnan(result.p_values[3]).all() and np.isnan(result.agreement[3].value)
    assert result.adjusted[0, 2] == pytest.approx(3 * result.p_values[0, 2])


@pytest.mark.parametrize("test", get_args(KindOfTest))
@pytest.mark.parametrize(
    "correlation",
    [
        Correlation("system"),
        Correlation(coefficient="kendall"),
        Correlation(average="item", coefficient="kendall"),
    ],
    ids=lambda correlation: correlation.title,
)
def test_every_test_tells_good_from_poor(test: KindOfTest, correlation: Correlation) -> None:
    metrics, z = panel()
    if test == "williams" and correlation.is_averaged:
        with pytest.raises(InputError, match="not for an average over groups"):
            compare_all(metrics, z, correlation, test=test)
        return
    result = compare_all(metrics, z, correlation, test=test, correction="none", n_resamples=999)
    assert result.differences[0, 2] > 0
    if correlation.level == "segment":
        assert result.p_values[0, 2] <= 0.02 < result.p_values[0, 1]


def test_names_are_checked() -> None:
    metrics, z = panel()
    with pytest.raises(InputError, match="perm-both"):
        compare_all(metrics, z, test=cast(KindOfTest, "perm-bot"))


def test_what_pairs_share_is_that_of_each_pair_alone() -> None:
    """Metrics that lack other cells: each pair uses the cells that both have."""
    metrics, z = panel()
    del metrics["constant"]
    metrics["poor"][2, :7] = np.nan
    metrics["as good"][:, 40:] = np.nan
    scores = list(metrics.values())
    together = CorrelationDifferences(scores, z)
    for a, b in combinations(range(len(scores)), 2):
        assert together.between(a, b) == correlation_difference(scores[a], scores[b], z)
