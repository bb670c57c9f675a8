"""Linear mixed models: against lme4 and lmerTest, and against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from tests.stats.mixed_studies import (
    NAMES,
    dense_criterion,
    dense_matrices,
    golden,
    golden_columns,
    golden_design,
    simulated,
)
from wellput.core.errors import InputError
from wellput.stats.mixed_equations import MixedDesign, MixedModel
from wellput.stats.mixed_linear import fit_linear, ratios_of

LME4 = golden("mixed_linear.json")


@pytest.mark.parametrize("study", NAMES)
def test_same_as_lme4(study: str) -> None:
    expected = LME4[study]
    found = fit_linear(golden_columns(study)["value"], golden_design(study, expected["formula"]))
    assert found.criterion <= expected["criterion"] + 1e-6
    np.testing.assert_allclose(found.effects, expected["effects"], rtol=1e-4)
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), expected["errors"], rtol=1e-4)
    for name, component in expected["components"].items():
        ours = found.components[name if name != "Residual" else "residual"]
        assert ours == pytest.approx(component, rel=1e-3, abs=1e-6), name


@pytest.mark.parametrize("study", NAMES)
def test_same_degrees_of_freedom_as_lmertest(study: str) -> None:
    expected = LME4[study]
    found = fit_linear(golden_columns(study)["value"], golden_design(study, expected["formula"]))
    weights = np.zeros((len(expected["pairs"]), len(found.effects)))
    for row, (a, b) in zip(weights, expected["pairs"], strict=True):
        row[a], row[b] = 1, -1
    contrasts = found.contrast(weights)
    np.testing.assert_allclose(contrasts.values, expected["differences"], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(contrasts.errors, expected["difference_errors"], rtol=1e-4)
    np.testing.assert_allclose(contrasts.freedom, expected["freedom"], rtol=1e-3)


@pytest.mark.parametrize("study", [name for name in NAMES if LME4[name].get("judges")])
def test_same_judges_as_lme4(study: str) -> None:
    expected = LME4[study]
    found = fit_linear(golden_columns(study)["value"], golden_design(study, expected["formula"]))
    judges = [expected["judges"][name] for name in sorted(expected["judges"], key=int)]
    np.testing.assert_allclose(found.modes["judge"], judges, rtol=1e-3, atol=1e-4)
