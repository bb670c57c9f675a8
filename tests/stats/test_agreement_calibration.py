"""Are tests between metrics and intervals of agreement right where their assumptions hold?

`benchmarks/calibration/agree_named.py` measures the same, and what happens where they do not hold, for
docs/results/agreement_calibration.md.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binomtest, kstest

from benchmarks.calibration.agree_named import SETTINGS, WORLDS, Setting, coverage, null_p_values
from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.stats.correlation_resampling import (
    boot_both,
    perm_both,
    perm_cells,
    perm_inputs,
    perm_systems,
)

pytestmark = pytest.mark.heavy  # many simulations

INDEPENDENT, BY_SYSTEM, BY_ITEM, BY_BOTH = WORLDS


def rejections(
    test: Callable[..., Estimate], setting: Setting, *, studies: int, n_resamples: int
) -> tuple[float, float]:
    """KS p of uniformity and binomial p of the rejections at .05, for independent errors."""

    def tested(*scores: object) -> Estimate:
        return test(*scores, setting.correlation, n_resamples=n_resamples)

    p_values = null_p_values(INDEPENDENT, tested, (10, 30), trials=studies, seed=5)
    rejected = int(np.sum(p_values <= 0.05))
    return float(kstest(p_values, "uniform").pvalue), binomtest(rejected, studies, 0.05).pvalue


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.title)
@pytest.mark.parametrize("test", [perm_both, perm_cells, perm_inputs, perm_systems])
def test_p_is_uniform_when_scores_can_be_exchanged(
    test: Callable[..., Estimate], setting: Setting
) -> None:
    # Fixed seeds: this always passes or always fails. Calibrated p-values are rarely below .001.
    assert min(rejections(test, setting, studies=200, n_resamples=199)) > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.title)
@pytest.mark.parametrize("test", [perm_both, perm_cells, perm_inputs])
def test_p_is_uniform_in_many_studies(test: Callable[..., Estimate], setting: Setting) -> None:
    assert min(rejections(test, setting, studies=3000, n_resamples=999)) > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.title)
def test_only_exchanging_systems_allows_for_errors_shared_by_a_system(setting: Setting) -> None:
    """The docs warn about perm_both, because metrics usually err in the same way for a whole system."""

    def share(test: Callable[..., Estimate]) -> float:
        def tested(*scores: object) -> Estimate:
            return test(*scores, setting.correlation, n_resamples=399)

        return float(
            np.mean(null_p_values(BY_SYSTEM, tested, (20, 100), trials=400, seed=5) <= 0.05)
        )

    assert 0.02 < share(perm_systems) < 0.09  # slightly liberal: metrics are standardized first
    assert share(perm_both) > 0.09


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.title)
def test_boot_both_covers_the_truth(setting: Setting) -> None:
    def interval(x: Floats, z: Floats, *, seed: int) -> Estimate:
        return boot_both(x, z, setting.correlation, n_resamples=399, seed=seed)

    truth = setting.truth(BY_BOTH, 100)
    assert coverage(BY_BOTH, interval, (20, 100), truth, trials=400, seed=5) > 0.9
