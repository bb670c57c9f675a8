"""Are the errors of a fit's coefficients and cross-validated r right?
`benchmarks/calibration/fit.py` measures the same with more studies for
docs/results/fit_calibration.md."""

from __future__ import annotations

import math

import pytest

from benchmarks.calibration.fit import SLOPE, WORLDS, World, coefficient_figures, unseen_figures

pytestmark = pytest.mark.slow

MAX_TYPE_I, MIN_COVERAGE = 0.065, 0.93


def error(share: float, studies: int) -> float:
    return math.sqrt(share * (1 - share) / studies)


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.title)
@pytest.mark.parametrize("systems", [4, 12])
def test_coefficients(world: World, systems: int) -> None:
    studies = 400
    found, covered = coefficient_figures((world, systems), studies=studies, seed=3)
    assert found <= MAX_TYPE_I + 3 * error(MAX_TYPE_I, studies)
    assert covered >= MIN_COVERAGE - 3 * error(MIN_COVERAGE, studies)


@pytest.mark.parametrize("world", [WORLDS[0], WORLDS[2], WORLDS[4]], ids=lambda world: world.title)
def test_r_on_what_was_not_seen(world: World) -> None:
    studies = 150
    nothing = unseen_figures((world, 6, 0.0), studies=studies, seed=3)
    assert nothing.significant <= MAX_TYPE_I + 3 * error(MAX_TYPE_I, studies)
    something = unseen_figures((world, 6, SLOPE), studies=studies, seed=3)
    assert something.r == pytest.approx(something.truth, abs=0.1)
    assert something.gains <= MAX_TYPE_I + 3 * error(MAX_TYPE_I, studies)
    for one in (nothing, something):
        for share in (one.both, one.items, one.systems):
            assert share >= MIN_COVERAGE - 3 * error(MIN_COVERAGE, studies)
