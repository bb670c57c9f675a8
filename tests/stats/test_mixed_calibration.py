"""Type I error and coverage of rankings, simulated; `make bench-ranking-calibration` runs more."""

from __future__ import annotations

import pytest

from benchmarks.calibration.rank import tally
from benchmarks.calibration.ranking_worlds import OUTPUTS, World

STUDIES = 120


@pytest.mark.slow
def test_ratings_of_few_judges() -> None:
    """Type I error near .05 where a t-test over judgments errs four times as often, or more."""
    found = tally(World("", 5, 3, 60, OUTPUTS), STUDIES, seed=1)
    assert found.refused == 0
    assert found.t_test / STUDIES > 0.2
    assert 0.02 < found.type_1 / STUDIES < 0.08
    assert found.any_pair / STUDIES < 0.09
    assert found.covered / STUDIES > 0.92
    assert found.all_ranks / STUDIES > 0.97


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["binary", "choices"])
def test_answers_and_choices_of_few_judges(kind: str) -> None:
    tastes = {"judge": 0.8, "item": 0.6, "judge:system": 0.6}
    found = tally(World("", 6, 3, 25, tastes, kind=kind, share=0.6), STUDIES, seed=2)
    assert found.refused < STUDIES / 10
    assert found.type_1 / found.studies < 0.085
    assert found.covered / found.studies > 0.91
    assert found.all_ranks / found.studies > 0.97
