"""Latent effects on the scale of the judgments: shares without random effects, simulation with them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.stats.mixed_studies import golden_columns, golden_design
from tests.stats.test_mixed_laplace import chosen
from wellput.core.errors import InputError
from wellput.stats.mixed.equations import MixedDesign
from wellput.stats.mixed.laplace import fit_binary, fit_choices, fit_ordinal
from wellput.stats.mixed.scale import expected_values


def test_shares_of_yes() -> None:
    """3 of 4 and 1 of 2: p, with variance p (1 − p) / n."""
    fitted = fit_binary(
        np.array([1.0, 1, 1, 0, 1, 0]), MixedDesign(np.array([0, 0, 0, 0, 1, 1]), {})
    )
    found = expected_values(fitted, 2)
    np.testing.assert_allclose(found.values, [0.75, 0.5], atol=1e-7)
    np.testing.assert_allclose(found.errors**2, [0.75 * 0.25 / 4, 0.25 / 2], rtol=1e-4)


def test_points_of_choices() -> None:
    """5 wins, 2 defeats, 3 ties are 6.5 points of 10."""
    values = np.array([1.0] * 5 + [0.0] * 2 + [0.5] * 3)
    fitted = fit_choices(values, MixedDesign(np.tile([0, 1], (10, 1)), {}))
    np.testing.assert_allclose(expected_values(fitted, 2).values, [0.65, 0.35], atol=1e-6)


def test_mean_grades() -> None:
    """Grades 1, 3 and 7; with two systems and logistic shifts the mean of all is that of the data."""
    values = np.array([1.0, 3, 7, 7, 3, 1, 1, 3, 7, 3])
    fitted = fit_ordinal(values, MixedDesign(np.array([0] * 5 + [1] * 5), {}))
    found = expected_values(fitted, 2, grades=np.array([1.0, 3, 7]))
    assert found.values.mean() == pytest.approx(values.mean(), abs=0.02)
    assert found.values[0] > found.values[1]
    with pytest.raises(InputError, match="has 3 grades"):
        expected_values(fitted, 2)


@pytest.mark.parametrize("kind", ["binary", "ordinal", "choices"])
def test_averaged_over_judges_and_items(kind: str) -> None:
    rng = np.random.default_rng(5)
    if kind == "choices":
        values, design = chosen("judge", "item")
        fitted = fit_choices(values, design)
        spread = np.sqrt(2 * sum(fitted.components.values()))
        latent = fitted.effects[0] - fitted.effects[1:5] + rng.normal(0, spread, (200_000, 4))
        simulated = (rng.random(latent.shape) < 1 / (1 + np.exp(-latent))).mean()
        assert expected_values(fitted, 5).values[0] == pytest.approx(simulated, abs=0.005)
        assert expected_values(fitted, 5).values.mean() == pytest.approx(0.5, abs=1e-9)
        return
    columns = golden_columns("crossed")
    design = golden_design("crossed", "v ~ (1|judge) + (1|item) + (1|judge:system)")
    if kind == "binary":
        fitted, grades = fit_binary(columns["yes"], design), np.array([0.0, 1.0])
        thresholds = np.zeros(1)
    else:
        fitted, grades = fit_ordinal(columns["grade"], design), np.arange(1.0, 6.0)
        thresholds = fitted.shape
    found = expected_values(fitted, 4, grades=grades)
    spread = np.sqrt(sum(fitted.components.values()))
    for system in range(4):
        latent = (
            fitted.effects[system] + rng.normal(0, spread, 200_000) + rng.logistic(size=200_000)
        )
        simulated = grades[np.searchsorted(thresholds, latent)].mean()
        assert found.values[system] == pytest.approx(simulated, abs=0.01)
        raw = columns["yes" if kind == "binary" else "grade"][design.systems == system].mean()
        assert found.values[system] == pytest.approx(raw, abs=0.25)
