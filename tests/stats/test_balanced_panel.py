"""The test of a balanced panel in closed form, against the mixed model fitted to its ratings."""

from __future__ import annotations

import numpy as np
import pytest

from wellput.agreement.rankings.fitted_question import fit_question, system_pairs
from wellput.agreement.rankings.judgment_design import question_data
from wellput.core.judgment import Judgment
from wellput.stats.mixed.contrasts import difference_variances


@pytest.mark.parametrize(
    ("judges", "items", "taste", "output"),
    [(5, 12, 0.6, 0.7), (5, 12, 0.0, 0.7), (6, 10, 0.5, 0.0), (4, 8, 0.0, 0.0), (3, 15, 0.6, 0.5)],
)
def test_it_is_the_mixed_model_s(judges: int, items: int, taste: float, output: float) -> None:
    rng = np.random.default_rng([judges, items])
    for _ in range(4):
        # Severe judges and hard items, so that these components are surely above 0.
        ratings = (
            2 * rng.normal(size=(judges, 1, 1))
            + 2 * rng.normal(size=(1, 1, items))
            + taste * rng.normal(size=(judges, 2, 1))
            + output * rng.normal(size=(1, 2, items))
            + rng.normal(size=(judges, 2, items))
        )
        answers = [
            Judgment(f"j{j}", f"i{i}", "AB"[s], "quality", float(value))
            for (j, s, i), value in np.ndenumerate(ratings)
        ]
        fitted = fit_question(question_data("quality", answers))
        expected = fitted.fitted.contrast_pairs(*system_pairs(2))
        variance, freedom = difference_variances(
            *mean_squares(ratings), n_judges=judges, n_items=items
        )
        assert variance == pytest.approx(expected.errors[0] ** 2, rel=1e-4)
        assert freedom == pytest.approx(fitted.freedom[0], rel=1e-2)


def mean_squares(ratings: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of judges and of items, from differences; of the residual, from differences and sums."""
    judges, _, items = ratings.shape
    differences = ratings[:, 0] - ratings[:, 1]
    by_judge = items * differences.mean(axis=1).var(ddof=1)
    by_item = judges * differences.mean(axis=0).var(ddof=1)
    rest = 0.0
    for table in (differences, ratings.sum(axis=1)):
        middle = table.mean(axis=1, keepdims=True) + table.mean(axis=0) - table.mean()
        rest += float(np.square(table - middle).sum())
    residual = rest / (2 * (judges - 1) * (items - 1))
    return np.array(by_judge), np.array(by_item), np.array(residual)
