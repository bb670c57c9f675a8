"""Stepwise choice against a search written out by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.stepwise_regression import stepwise

NAMES = ["a", "b", "c", "d"]


def rows(seed: int, n: int = 30, *, noise: float = 1.0) -> tuple[Floats, Floats]:
    """y depends on a and c; b is like a, d is noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4))
    x[:, 1] = 0.9 * x[:, 0] + 0.4 * x[:, 1]
    return x[:, 0] - 0.8 * x[:, 2] + rng.normal(scale=noise, size=n), x


def aic_of(y: Floats, x: Floats, subset: frozenset[int]) -> float:
    design = np.column_stack([np.ones(len(y)), x[:, sorted(subset)]])
    return float(sm.OLS(y, design).fit().aic)


def r_step(y: Floats, x: Floats) -> frozenset[int]:
    """R's `step(lm(y ~ ., data), direction = "both")`: of all models one term away, take the one
    with the smallest AIC, as long as this is smaller than the current AIC."""
    places = range(x.shape[1])
    chosen = frozenset(places)
    while True:
        neighbor = min((chosen ^ {p} for p in places), key=lambda s: aic_of(y, x, s))
        if aic_of(y, x, neighbor) >= aic_of(y, x, chosen):
            return chosen
        chosen = neighbor


@given(seed=st.integers(0, 100_000))
@settings(max_examples=40, deadline=None)
def test_by_aic_is_the_step_of_r(seed: int) -> None:
    y, x = rows(seed, noise=1.5)
    expected = r_step(y, x)
    if not expected:
        with pytest.raises(InputError, match="No predictor is worth keeping"):
            stepwise(y, x, NAMES, by="aic")
        return
    model, steps = stepwise(y, x, NAMES, by="aic")
    assert model.names == tuple(NAMES[p] for p in sorted(expected))
    assert steps[0].change == "start"
    aics = [step.aic for step in steps]
    assert aics == sorted(aics, reverse=True)
    assert model.aic == pytest.approx(aic_of(y, x, expected))


@given(seed=st.integers(0, 100_000))
@settings(max_examples=40, deadline=None)
def test_no_single_change_lowers_aic(seed: int) -> None:
    y, x = rows(seed)
    model, _ = stepwise(y, x, NAMES, by="aic")
    chosen = frozenset(NAMES.index(name) for name in model.names)
    assert all(aic_of(y, x, chosen ^ {p}) >= model.aic - 1e-6 for p in range(4))


def test_the_planted_predictors_are_found() -> None:
    y, x = rows(1, 200)
    assert {"a", "c"} <= set(stepwise(y, x, NAMES, by="aic")[0].names)
    best = min(
        (frozenset(s) for k in range(5) for s in itertools.combinations(range(4), k)),
        key=lambda s: aic_of(y, x, s),
    )
    assert stepwise(y, x, NAMES, by="aic")[0].names == tuple(NAMES[p] for p in sorted(best))


@given(seed=st.integers(0, 100_000))
@settings(max_examples=40, deadline=None)
def test_by_p_keeps_what_is_below_the_limits(seed: int) -> None:
    y, x = rows(seed)
    model, steps = stepwise(y, x, NAMES, by="p")
    assert (model.p_values <= 0.10).all()
    left = [name for name in NAMES if name not in model.names]
    for name in left:
        grown = [NAMES.index(other) for other in (*model.names, name)]
        p = sm.OLS(y, sm.add_constant(x[:, grown])).fit().pvalues[-1]
        assert p >= 0.05
    assert steps[-1].names == model.names


def test_the_largest_p_goes_first() -> None:
    y, x = rows(3)
    p_values = sm.OLS(y, sm.add_constant(x)).fit().pvalues[1:]
    _, steps = stepwise(y, x, NAMES, by="p")
    assert steps[1].change == f"-{NAMES[int(np.argmax(p_values))]}"


@pytest.mark.parametrize("by", ["aic", "p"])
def test_too_many_predictors_start_from_none(by: str) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(8, 12))
    y = 3 * x[:, 7] + rng.normal(scale=0.5, size=8)
    names = [f"x{place}" for place in range(12)]
    model, steps = stepwise(y, x, names, by=by)  # type: ignore[arg-type]
    assert steps[0].names == ()
    assert steps[1].change == "+x7"
    assert "x7" in model.names
    assert model.n > len(model.names) + 1


def test_rows_left_out_are_counted() -> None:
    y, x = rows(2)
    y[:3] = np.nan
    assert stepwise(y, x, NAMES, by="aic")[0].left_out == 3


def test_noise_is_not_worth_keeping() -> None:
    rng = np.random.default_rng(8)
    with pytest.raises(InputError, match="No predictor is worth keeping"):
        stepwise(rng.normal(size=50), rng.normal(size=(50, 2)), ["a", "b"], by="p")


@pytest.mark.parametrize("by", ["aic", "p"])
def test_a_perfect_predictor_is_refused_as_r_refuses_it(by: str) -> None:
    _, x = rows(4)
    with pytest.raises(InputError, match="determine the judgments exactly"):
        stepwise(2 * x[:, 1], x, NAMES, by=by)  # type: ignore[arg-type]


def test_a_combination_is_refused_from_the_full_model_and_passed_over_from_none() -> None:
    y, x = rows(6)
    doubled = np.column_stack([x, 2 * x[:, 0] + 1])
    with pytest.raises(InputError, match="e is a combination of a"):
        stepwise(y, doubled, [*NAMES, "e"], by="aic")
    rng = np.random.default_rng(6)
    x = rng.normal(size=(6, 3))
    few = np.column_stack([x[:, 0], x[:, 0] * 2, x[:, 1], x[:, 1] - 1, x[:, 2]])
    y = x[:, 0] * 3 + rng.normal(scale=0.3, size=6)
    model, _ = stepwise(y, few, ["a", "a2", "b", "b2", "c"], by="aic")
    assert len({"a", "a2"} & set(model.names)) == 1


def test_a_constant_predictor_is_refused() -> None:
    y, x = rows(7)
    x[:, 3] = 1
    with pytest.raises(InputError, match="d is the same in every row"):
        stepwise(y, x, NAMES, by="aic")
