"""Families of judgments: derivatives against differences, chances that add up to 1."""

from __future__ import annotations

import numpy as np
import pytest

from wellput.stats.mixed.equations import Floats
from wellput.stats.mixed.families import ChoicesWithTies, Family, Grades, YesNo

ETA = np.array([-3.0, -1.2, 0.0, 0.4, 1.7, 6.0])
FAMILIES = [
    (YesNo(np.array([0.0, 1, 1, 0, 1, 0])), np.zeros(0)),
    (Grades(np.array([0, 1, 2, 3, 0, 3])), np.array([-1.0, 0.2, -0.5])),
    (ChoicesWithTies(np.array([0.0, 0.5, 1, 1, 0.5, 0])), np.array([-0.3])),
]
STEP = 1e-5


@pytest.mark.parametrize(("family", "shape"), FAMILIES, ids=lambda value: type(value).__name__)
def test_derivatives(family: Family, shape: Floats) -> None:
    here = family.terms(ETA, shape)
    up, down = family.terms(ETA + STEP, shape), family.terms(ETA - STEP, shape)
    for higher, lower, expected in [
        (up.losses, down.losses, here.slopes),
        (up.slopes, down.slopes, here.curvatures),
        (up.curvatures, down.curvatures, here.thirds),
    ]:
        np.testing.assert_allclose((higher - lower) / (2 * STEP), expected, atol=1e-8)
    assert (here.curvatures > 0).all()


@pytest.mark.parametrize(("family", "shape"), FAMILIES, ids=lambda value: type(value).__name__)
def test_derivatives_in_shape(family: Family, shape: Floats) -> None:
    rng = np.random.default_rng(1)
    of_slopes, of_curvatures = rng.normal(size=(2, len(ETA)))

    def weighed(at: Floats) -> float:
        terms = family.terms(ETA, at)
        parts = terms.losses + of_slopes * terms.slopes + of_curvatures * terms.curvatures
        return float(parts.sum())

    moves = STEP * np.eye(len(shape))
    expected = [(weighed(shape + move) - weighed(shape - move)) / (2 * STEP) for move in moves]
    found = family.shape_slope(ETA, shape, of_slopes, of_curvatures)
    np.testing.assert_allclose(found, expected, atol=1e-8)
    natural, jacobian = family.natural_shape(shape)
    for k, move in enumerate(moves):
        ends = [family.natural_shape(shape + sign * move)[0] for sign in (1, -1)]
        np.testing.assert_allclose((ends[0] - ends[1]) / (2 * STEP), jacobian[:, k], atol=1e-8)
    assert natural.shape == shape.shape


def test_chances_add_up() -> None:
    eta = np.full(4, 0.7)
    grades = Grades(np.arange(4)).terms(eta, np.array([-1.0, 0.2, -0.5]))
    assert np.exp(-grades.losses).sum() == pytest.approx(1)
    ties = ChoicesWithTies(np.array([0, 0.5, 1, 1])).terms(eta, np.array([0.4]))
    assert np.exp(-ties.losses[:3]).sum() == pytest.approx(1)
    answers = YesNo(np.array([0.0, 1, 0, 1])).terms(eta, np.zeros(0))
    assert np.exp(-answers.losses[:2]).sum() == pytest.approx(1)


def test_far_from_the_thresholds_nothing_overflows() -> None:
    terms = Grades(np.array([0, 1, 2])).terms(
        np.array([800.0, -800.0, 900.0]), np.array([0.0, 0.0])
    )
    np.testing.assert_allclose(terms.losses[:2], [800, 800 - np.log(1 - np.exp(-1.0))], rtol=1e-6)
