"""Pairwise choices as ratings."""

from __future__ import annotations

import numpy as np

from wellput.agreement.panel import panels, selection_ratings
from wellput.core.judgment import PairwiseChoice, Preference


def test_the_mean_is_the_selection_ratio() -> None:
    # Offered: A three times, B twice, C once. A wins once and ties once; B wins once and ties once.
    choices: list[tuple[str, str, str, PairwiseChoice]] = [
        ("J1", "A", "B", "tie"),
        ("J2", "B", "A", "a"),
        ("J3", "C", "A", "b"),
    ]
    answers = [Preference(judge, "7", a, b, "better", choice) for judge, a, b, choice in choices]
    panel = panels(selection_ratings(answers), ["A", "B", "C"], ["7"])["better"]
    np.testing.assert_allclose(panel.means[:, 0], np.array([1.5 / 3, 1.5 / 2, 0]))
