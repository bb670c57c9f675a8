"""Laplace's approximation: its gradient against differences, its value against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from tests.stats.mixed_studies import dense_matrices, golden_columns, golden_design
from tests.stats.test_mixed_laplace import chosen
from wellput.stats.mixed.equations import Floats, MixedModel
from wellput.stats.mixed.families import ChoicesWithTies, Family, Grades, YesNo
from wellput.stats.mixed.likelihood import (
    LaplaceLikelihood,
)
from wellput.stats.mixed.matrices import hessian_by_differences, safely_positive

KINDS = ["binary", "ordinal", "choices"]
STEP = 1e-5


def likelihood_and_place(kind: str) -> tuple[LaplaceLikelihood, Floats]:
    """A likelihood of three factors (two for choices), and parameters that are not its best."""
    rng = np.random.default_rng(3)
    if kind == "choices":
        values, design = chosen("judge", "item")
        family: Family = ChoicesWithTies(np.where(rng.random(len(values)) < 0.2, 0.5, values))
    else:
        columns = golden_columns("crossed")
        design = golden_design("crossed", "v ~ (1|judge) + (1|item) + (1|judge:system)")
        grades = Grades(columns["grade"].astype(np.int64) - 1)
        family = YesNo(columns["yes"]) if kind == "binary" else grades
    model = MixedModel(design, fixes_first_system=family.fixes_first_system)
    thetas = np.array([0.6, 0.3, 0.8])[: len(model.names)]
    fixed = rng.normal(0, 0.3, model.n_fixed)
    return LaplaceLikelihood(model, family), np.concatenate([thetas, fixed, family.first_shape()])


@pytest.mark.parametrize("is_restricted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_gradient(kind: str, is_restricted: bool) -> None:
    likelihood, place = likelihood_and_place(kind)
    gradient = likelihood(place, is_restricted=is_restricted)[1]
    for k, slope in enumerate(gradient):
        move = np.zeros(len(place))
        move[k] = STEP
        up, down = (
            likelihood(place + sign * move, is_restricted=is_restricted)[0] for sign in (1, -1)
        )
        assert slope == pytest.approx((up - down) / (2 * STEP), rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_value_at_the_mode(kind: str) -> None:
    likelihood, place = likelihood_and_place(kind)
    model, family = likelihood.model, likelihood.family
    thetas, fixed, shape = likelihood.split(place)
    x, z = dense_matrices(model.design)
    if model.fixes_first_system:
        x = x[:, 1:]
    columns = np.hstack([theta * z[name] for theta, name in zip(thetas, model.names, strict=True)])
    u = likelihood.mode(place).solution[: model.n_random]
    terms = family.terms(x @ fixed + columns @ u, shape)
    np.testing.assert_allclose(u, -columns.T @ terms.slopes, atol=1e-6)  # the slope is 0
    hessian = columns.T @ (terms.curvatures[:, None] * columns) + np.eye(len(u))
    expected = terms.losses.sum() + 0.5 * u @ u + 0.5 * np.linalg.slogdet(hessian)[1]
    assert likelihood(place)[0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_covariance_if_variances_are_known(kind: str) -> None:
    """The inverse of the curvature of −log p(judgments, effects) in effects and parameters together."""
    likelihood, place = likelihood_and_place(kind)
    model, family = likelihood.model, likelihood.family
    thetas, fixed, shape = likelihood.split(place)
    x, z = dense_matrices(model.design)
    if model.fixes_first_system:
        x = x[:, 1:]
    columns = np.hstack([theta * z[name] for theta, name in zip(thetas, model.names, strict=True)])
    rows = np.hstack([columns, x])
    n_random = columns.shape[1]
    start = np.concatenate([likelihood.mode(place).solution[:n_random], fixed, shape])

    def slope(at: Floats) -> Floats:
        eta, own = rows @ at[: rows.shape[1]], at[rows.shape[1] :]
        none = np.zeros(len(eta))
        found = rows.T @ family.terms(eta, own).slopes
        found[:n_random] += at[:n_random]
        return np.concatenate([found, family.shape_slope(eta, own, none, none)])

    joint = hessian_by_differences(slope, start, np.full(len(start), 1e-4))
    expected = np.linalg.inv(joint)[n_random:, n_random:]
    np.testing.assert_allclose(likelihood.covariance_given(place), expected, rtol=1e-4, atol=1e-6)


def test_what_is_not_positive_is_made_so() -> None:
    fine = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert safely_positive(fine) is fine
    mended = safely_positive(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert np.linalg.eigvalsh(mended).min() > 0
