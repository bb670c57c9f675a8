"""Functions of statistics refuse choices that do not exist, and confidences that nothing can have."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.stats.correlation import correlate
from wellput.stats.correlation_intervals import correlation_difference
from wellput.stats.correlation_resampling import boot_difference
from wellput.stats.jackknife import paired_jackknife, score_interval
from wellput.stats.judges.correlations import split_half
from wellput.stats.judges.kappa import pairwise_kappas
from wellput.stats.judges.reliability import panel_reliability
from wellput.stats.proportions import wilson
from wellput.stats.resampling import paired_bootstrap
from wellput.stats.stepwise_regression import stepwise

X, Y, Z = np.random.default_rng(1).normal(size=(3, 5, 30))
COUNTS = np.abs(X).T


def mean(sums: Any) -> Any:
    return sums[..., 0] / 30


CALLS: dict[str, Callable[..., Any]] = {
    "boot_difference": partial(boot_difference, X, Y, Z, n_resamples=10),
    "paired_bootstrap": partial(paired_bootstrap, COUNTS, COUNTS + 1, mean, n_resamples=10, seed=1),
    "stepwise": partial(stepwise, X[0], X[1:3].T, ["a", "b"]),
    "split_half": partial(split_half, X),
    "pairwise_kappas": partial(pairwise_kappas, np.round(X)),
    "correlate": partial(correlate, X, Z),
    "correlation_difference": partial(correlation_difference, X, Y, Z),
    "panel_reliability": partial(panel_reliability, X),
    "score_interval": partial(score_interval, COUNTS, mean),
    "paired_jackknife": partial(paired_jackknife, COUNTS, COUNTS + X.T, mean),
}


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("boot_difference", "resample"),
        ("boot_difference", "alternative"),
        ("paired_bootstrap", "null"),
        ("stepwise", "by"),
        ("split_half", "split"),
        ("pairwise_kappas", "weights"),
        ("correlate", "generalize"),
        ("correlation_difference", "generalize"),
    ],
)
def test_choices_that_do_not_exist_are_refused(name: str, option: str) -> None:
    with pytest.raises(InputError, match=f"{option}='xx' is none of"):
        CALLS[name](**{option: "xx"})


@pytest.mark.parametrize(
    "name",
    [
        "boot_difference",
        "paired_bootstrap",
        "correlate",
        "correlation_difference",
        "panel_reliability",
        "score_interval",
        "paired_jackknife",
    ],
)
@pytest.mark.parametrize("confidence", [0, 1, -1, 95, float("nan")])
def test_a_confidence_is_between_0_and_1(name: str, confidence: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        CALLS[name](confidence=confidence)


def test_a_confidence_whose_interval_has_no_end_is_refused() -> None:
    """(1 + 0.9999999999999999) / 2 is 1 for a double."""
    with pytest.raises(InputError, match="too close to 1"):
        wilson(1, 3, confidence=1 - 2**-53)
    assert wilson(1, 3, confidence=1 - 2**-51).low is not None


@pytest.mark.parametrize("name", sorted(set(CALLS) - {"stepwise"}))
def test_the_calls_are_right_without_these(name: str) -> None:
    CALLS[name]()
