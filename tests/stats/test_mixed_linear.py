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
from wellput.stats.mixed.equations import MixedDesign, MixedModel
from wellput.stats.mixed.identifiable import identify_components
from wellput.stats.mixed.linear import fit_linear, ratios_of

LME4 = golden("mixed_linear.json")
COMPONENTS = ("judge", "item", "document", "judge:system", "item:system", "document:system")


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


@pytest.mark.parametrize("seed", range(3))
def test_no_ratios_are_better(seed: int) -> None:
    values, design = simulated(seed)
    found = fit_linear(values, design)
    ratios = ratios_of(found)
    assert found.criterion == pytest.approx(dense_criterion(values, design, ratios), abs=1e-8)
    for name in ratios:
        for other in (0.9 * ratios[name], 1.1 * ratios[name] + 1e-3):
            moved = dense_criterion(values, design, {**ratios, name: other})
            assert moved >= found.criterion - 1e-9


@pytest.mark.parametrize("seed", [38, 46, 60, 108, 137, 215, 301, 357])
def test_no_ratios_are_better_in_odd_designs(seed: int) -> None:
    """Few judgments and large or absent components, where Newton steps alone lead astray."""
    rng = np.random.default_rng(seed)
    judges, systems, items = (
        int(rng.integers(low, high)) for low, high in ((1, 7), (1, 5), (1, 14))
    )
    share, per_document = rng.choice([0.2, 0.5, 0.9]), int(rng.integers(1, 4))
    sizes = {name: float(rng.choice([0, 0.3, 1, 5])) for name in COMPONENTS}
    values, design = simulated(
        seed, judges=judges, systems=systems, items=items, share=share, per_document=per_document,
        deviations=sizes,
    )  # fmt: skip
    design = design.only(identify_components(design).estimable)
    ratios = ratios_of(fit_linear(values, design))
    best = dense_criterion(values, design, ratios)
    for _ in range(20):
        moved = {
            k: v * np.exp(rng.normal(0, 0.7)) + rng.choice([0, 0.05]) for k, v in ratios.items()
        }
        assert dense_criterion(values, design, moved) >= best - 1e-7


def test_effects_are_those_of_generalized_least_squares() -> None:
    values, design = simulated(5)
    design = MixedDesign(design.systems, design.factors, np.linspace(-1, 1, len(values))[:, None])
    found = fit_linear(values, design)
    x, z = dense_matrices(design)
    v = found.components["residual"] * np.eye(len(values))
    v += sum(found.components[name] * z[name] @ z[name].T for name in z)
    covariance = np.linalg.inv(x.T @ np.linalg.solve(v, x))
    effects = covariance @ x.T @ np.linalg.solve(v, values)
    np.testing.assert_allclose(found.effects, effects, rtol=1e-8)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-7)
    for name in z:
        modes = found.components[name] * z[name].T @ np.linalg.solve(v, values - x @ effects)
        np.testing.assert_allclose(found.modes[name], modes, atol=1e-8)


def test_a_balanced_table_is_the_analysis_of_variance() -> None:
    """With one rating for each judge and system, differences have the two-way table's t-test:
    variance 2 MS / judges, (judges − 1)(systems − 1) degrees of freedom."""
    rng = np.random.default_rng(4)
    table = rng.normal(size=(6, 3)) + rng.normal(size=(6, 1)) * 2
    judge, system = np.divmod(np.arange(18), 3)
    found = fit_linear(table.ravel(), MixedDesign(system, {"judge": judge}))
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    mean_square = (rest**2).sum() / 10
    contrast = found.contrast(np.array([[1, -1, 0]]))
    assert found.components["residual"] == pytest.approx(mean_square)
    assert contrast.errors[0] == pytest.approx(np.sqrt(2 * mean_square / 6))
    assert contrast.freedom[0] == pytest.approx(10)


def test_ordinary_least_squares_without_factors() -> None:
    found = fit_linear(
        np.array([1.0, 2.0, 6.0, 4.0, 5.0]), MixedDesign(np.array([0, 0, 1, 1, 1]), {})
    )
    np.testing.assert_allclose(found.effects, [1.5, 5.0])
    assert found.components == {"residual": pytest.approx(2.5 / 3)}  # (.5 + 2) / 3
    assert found.contrast(np.array([[1, -1]])).freedom[0] == pytest.approx(3)


def test_a_start_changes_nothing() -> None:
    values, design = simulated(8)
    whole = fit_linear(values, design)
    again = fit_linear(values, design, start=ratios_of(whole))
    assert again.criterion == pytest.approx(whole.criterion, abs=1e-8)
    assert again.evaluations < whole.evaluations


@pytest.mark.heavy
def test_a_large_core_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    values, design = simulated(9, judges=60, systems=6, items=40, share=0.3)
    design = design.only(("judge", "item", "judge:system", "item:system"))
    expected = fit_linear(values, design)
    monkeypatch.setattr("wellput.stats.mixed.linear.LARGE_CORE", 200)
    monkeypatch.setattr("wellput.stats.mixed.linear.PART_CORE", 150)
    found = fit_linear(values, design)
    np.testing.assert_allclose(found.effects, expected.effects, rtol=1e-4)
    for name, component in expected.components.items():
        assert found.components[name] == pytest.approx(component, rel=1e-3)
    pair = np.array([[1, -1]])
    assert found.contrast(pair).freedom == pytest.approx(expected.contrast(pair).freedom, rel=0.1)


@pytest.mark.parametrize(
    ("seed", "deviations", "zeros"),
    [
        # In these two a step takes a ratio to nothing, and the next ones must bring it back.
        (40, {"judge": 1.0, "item": 0.3, "judge:system": 0.05, "item:system": 0.05}, 1),
        (61, {"judge": 1.0, "item": 1.0, "item:system": 0.05}, 1),
        (3, {"item": 0.3}, 1),
    ],
)
def test_a_ratio_of_nothing_in_a_large_core(
    monkeypatch: pytest.MonkeyPatch, seed: int, deviations: dict[str, float], zeros: int
) -> None:
    values, design = simulated(
        seed, judges=20, systems=4, items=15, share=0.4, deviations=deviations
    )
    design = design.only(("judge", "item", "judge:system", "item:system"))
    expected = fit_linear(values, design)
    monkeypatch.setattr("wellput.stats.mixed.linear.LARGE_CORE", 1)
    found = fit_linear(values, design)
    assert found.criterion == pytest.approx(expected.criterion, abs=2e-5)
    at_zero = {name for name, component in found.components.items() if component == 0}
    assert at_zero == {name for name, component in expected.components.items() if component == 0}
    assert len(at_zero) == zeros
    assert not any(found.modes[name].any() for name in at_zero)


@pytest.mark.parametrize("power", [-57, -20, 20, 57])
def test_the_unit_of_values_does_not_matter(power: int) -> None:
    rng = np.random.default_rng(1)
    judge, system = np.divmod(np.arange(120), 4)
    values = rng.normal(size=120) + system + rng.normal(size=30)[judge]
    design = MixedDesign(system, {"judge": judge})
    plain, scaled = fit_linear(values, design), fit_linear(10.0**power * values, design)
    assert scaled.effects / 10.0**power == pytest.approx(plain.effects, rel=1e-6)
    found, expected = (one.contrast(np.eye(4)).errors for one in (scaled, plain))
    assert found / 10.0**power == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("power", [-90, 90])
def test_values_whose_fourth_powers_are_no_numbers_are_refused(power: int) -> None:
    judge, system = np.divmod(np.arange(40), 4)
    values = 10.0**power * np.random.default_rng(1).normal(size=40)
    with pytest.raises(InputError, match="by one number"):
        fit_linear(values, MixedDesign(system, {"judge": judge}))


def test_what_cannot_be_fitted_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    systems = np.array([0, 0, 1, 1])
    values = np.array([1.0, 2.0, 3.0, 5.0])
    with pytest.raises(InputError, match="all values are equal"):
        fit_linear(np.ones(4), MixedDesign(systems, {}))
    with pytest.raises(InputError, match=r"values as large as 5e\+300 have no fourth power"):
        fit_linear(1e300 * values, MixedDesign(systems, {}))
    with pytest.raises(InputError, match="differ by only 4e-200 have no fourth power"):
        fit_linear(1e-200 * values, MixedDesign(systems, {}))
    judge, system = np.divmod(np.arange(40), 4)
    for exact in (judge + system, system + judge % 3 * 1e3):
        with pytest.raises(InputError, match="explain every value exactly"):
            fit_linear(exact.astype(float), MixedDesign(system, {"judge": judge}))
    with pytest.raises(InputError, match="one finite value for each"):
        fit_linear(np.array([1.0, 2.0, np.nan, 3.0]), MixedDesign(systems, {}))
    with pytest.raises(InputError, match="cannot be distinguished from the systems"):
        fit_linear(values, MixedDesign(systems, {}, systems[:, None] * 2.0))
    with pytest.raises(InputError, match="no more judgments than"):
        fit_linear(values, MixedDesign(np.arange(4), {}))
    with pytest.raises(InputError, match="ratings, not choices"):
        fit_linear(values[:2], MixedDesign(np.array([[0, 1], [1, 0]]), {}))
    monkeypatch.setattr("wellput.stats.mixed.equations.MAX_CORE_COLUMNS", 3)
    with pytest.raises(InputError, match="leave out a random effect"):
        MixedModel(MixedDesign(systems, {"judge": np.arange(4), "other": np.array([0, 1, 0, 1])}))
