"""Intervals under continuous looks: the boundary by its definition, and what peeking finds."""

from __future__ import annotations

import numpy as np
import pytest

from wellput.stats.student import anytime_half_widths, anytime_p_values, normal_errors


def test_the_boundary_by_hand() -> None:
    """I = 4, ρ = 1: √(5 log(5 / .0025)) / 4 = √(5 × 7.6009) / 4 = 1.5412."""
    assert anytime_half_widths(np.array([0.5]), alpha=0.05, prior_sd=1.0)[0] == pytest.approx(
        1.5412, abs=1e-4
    )


def test_p_is_below_alpha_just_where_the_interval_leaves_zero_out() -> None:
    rng = np.random.default_rng(1)
    values, errors = rng.normal(0, 3, 500), rng.uniform(0.2, 2, 500)
    half = anytime_half_widths(errors, alpha=0.05, prior_sd=0.7)
    p_values = anytime_p_values(values, errors, prior_sd=0.7)
    assert ((p_values < 0.05) == (np.abs(values) > half)).all()
    assert 0 < (p_values < 0.05).sum() < 500


def test_looking_after_every_observation_finds_little() -> None:
    """A t-test after each of 1,000 observations finds a difference in about half of all studies."""
    rng = np.random.default_rng(2)
    studies, n = 400, np.arange(1, 1001)
    means = np.cumsum(rng.normal(size=(studies, 1000)), axis=1) / n
    errors = 1 / np.sqrt(n)
    found = (anytime_p_values(means, errors, prior_sd=0.5) < 0.05).any(axis=1)
    assert found.mean() <= 0.05
    assert (np.abs(means / errors) > 1.96).any(axis=1).mean() > 0.4


def test_few_degrees_of_freedom_widen_the_error() -> None:
    """t = 3 with 4 degrees of freedom has p = .0399, as z = 2.0553 has; 1 × 3 / 2.0553 = 1.4597."""
    known = normal_errors(np.array([3.0]), np.array([1.0]), np.array([4.0]))
    assert known[0] == pytest.approx(1.4597, abs=2e-3)
    assert normal_errors(np.array([3.0]), np.array([1.0]), np.array([1e9]))[0] == pytest.approx(1)
