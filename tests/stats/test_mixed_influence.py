"""Effects without each judge: exact where no items are shared, near a refit where they are."""

from __future__ import annotations

import numpy as np
import pytest

from tests.stats.mixed_studies import golden_columns, golden_design, simulated
from tests.stats.test_mixed_laplace import choice_columns, chosen
from wellput.stats.mixed.equations import MixedDesign
from wellput.stats.mixed.influence import judge_influence
from wellput.stats.mixed.laplace import fit_binary, fit_choices, fit_ordinal
from wellput.stats.mixed.linear import fit_linear


def test_exact_if_judges_are_the_only_effect() -> None:
    """With equal numbers for each judge and system, the differences are those of the means."""
    rng = np.random.default_rng(2)
    judge, system = np.divmod(np.arange(60), 3)
    values = rng.normal(size=60) + rng.normal(size=20)[judge]
    found = judge_influence(
        fit_linear(values, MixedDesign(system, {"judge": judge})),
        MixedDesign(system, {"judge": judge}),
        judge,
    )
    table = values.reshape(20, 3)
    for k in range(20):
        expected = np.delete(table, k, axis=0).mean(axis=0)
        np.testing.assert_allclose(np.diff(found.effects[k]), np.diff(expected), atol=1e-9)


def test_near_a_refit_if_items_are_shared() -> None:
    values, design = simulated(3, judges=8, items=40, share=0.5)
    values = values + 3.0 * ((design.factors["judge"] == 5) & (design.systems == 0))
    design = design.only(("judge", "item", "judge:system"))
    judges = design.factors["judge"]
    fitted = fit_linear(values, design)
    found = judge_influence(fitted, design, judges)
    assert found.most_influential == 5
    for k in range(8):
        keep = judges != k
        refitted = fit_linear(values[keep], design.rows(keep))
        exact = np.diff(refitted.effects) - np.diff(fitted.effects)
        one_step = np.diff(found.effects[k]) - np.diff(fitted.effects)
        np.testing.assert_allclose(one_step, exact, atol=0.12)


@pytest.mark.parametrize("kind", ["binary", "ordinal"])
def test_grades_and_answers(kind: str) -> None:
    columns = golden_columns("crossed")
    design = golden_design("crossed", "v ~ (1|judge) + (1|item) + (1|judge:system)")
    fit, values = (
        (fit_binary, columns["yes"]) if kind == "binary" else (fit_ordinal, columns["grade"])
    )
    fitted = fit(values, design)
    judges = design.factors["judge"]
    found = judge_influence(fitted, design, judges)
    k = found.most_influential
    keep = judges != k
    refitted = fit(values[keep], design.rows(keep))
    moved = np.diff(found.effects[k]) - np.diff(fitted.effects)
    exact = np.diff(refitted.effects) - np.diff(fitted.effects)
    assert np.corrcoef(moved, exact)[0, 1] > 0.9
    assert found.effects.shape == (8, 4)
    assert (found.shifts > 0).all()


def test_choices() -> None:
    values, design = chosen("judge", "item")
    judges = choice_columns()["judge"] - 1
    fitted = fit_choices(values, design)
    found = judge_influence(fitted, design, judges)
    np.testing.assert_allclose(found.effects.sum(axis=1), 0, atol=1e-9)
    k = found.most_influential
    refitted = fit_choices(values[judges != k], design.rows(judges != k))
    moved, exact = found.effects[k] - fitted.effects[:5], (refitted.effects - fitted.effects)[:5]
    assert np.corrcoef(moved, exact)[0, 1] > 0.9


def test_a_system_of_one_judge() -> None:
    judge = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2])
    system = np.array([0, 1, 1, 0, 1, 1, 0, 1, 2, 2])
    values = np.random.default_rng(1).normal(size=10)
    design = MixedDesign(system, {"judge": judge})
    found = judge_influence(fit_linear(values, design), design, judge)
    assert np.isnan(found.effects[2]).all()
    assert np.isfinite(found.effects[:2]).all()
    assert found.most_influential == 2
