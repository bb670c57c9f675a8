"""`wellput.power` with Python values; its errors name keywords."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wellput


def test_numbers_in_a_list_an_array_or_a_text_are_the_same() -> None:
    by_text = wellput.power(difference=0.5, items="20,40", judges="1,2", simulations=200)
    arrays = (np.array([20, 40]), np.array([1, 2]))
    for items, judges in (([20, 40], (1, 2)), arrays):
        table = wellput.power(difference=0.5, items=items, judges=judges, simulations=200)
        assert table.to_dict() == by_text.to_dict()


def test_default_judges_are_one_three_and_five() -> None:
    table = wellput.power(difference=0.5, items=20, simulations=200)
    assert [row.n_judges for row in table.rows] == [1, 3, 5]
    metrics = wellput.power(metric_correlations=(0.5, 0.3, 0.6), items=20, simulations=200)
    assert [row.n_judges for row in metrics.rows] == [None]


def test_with_one_judge_the_note_says_so() -> None:
    only = "With 1 judge the result of the study will hold for that judge only."
    assert only in str(wellput.power(difference=0.5, items=20, judges=[1, 3], simulations=200))
    for options in ({"judges": 3}, {"judges": [1, 3], "sd_judge": 0.5}):
        assert only not in str(wellput.power(difference=0.5, items=20, simulations=200, **options))


def test_the_noise_is_that_of_one_rating() -> None:
    # A difference of two ratings has twice its variance: as much as items that differ by √2 · 0.7.
    noisy = wellput.power(difference=0.5, items=30, judges=1, sd_item=0, sd_noise=0.7)
    items = wellput.power(difference=0.5, items=30, judges=1, sd_item=0.7 * 2**0.5, sd_noise=0)
    assert noisy.rows[0].power.value == items.rows[0].power.value
    assert noisy.smallest == items.smallest


def test_path_writes_the_format_of_its_suffix(tmp_path: Path) -> None:
    path = tmp_path / "power.csv"
    wellput.power(difference=0.5, items=20, judges=1, simulations=200, path=path)
    assert path.read_text().startswith("items,judges,power,low,high,method\n20,1,")


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        (
            {},
            r"two systems \(difference=0.2, or pilot=\), or two metrics \(metric_correlations='0.45,",
        ),
        ({"difference": 1, "items": [5, 0, 2.5]}, "items= takes .*: 0, 2.5 are not"),
        ({"difference": 1, "judges": []}, "judges= takes whole numbers"),
        ({"difference": 1, "pilot_judges": 2}, "pilot_judges= has no effect .*: leave it out"),
        (
            {"metric_correlations": "0.5,0.3,0.6", "sd_item": 1, "sd_noise": 1},
            "sd_item=, sd_noise= have no effect for two metrics: leave them out",
        ),
        ({"metric_correlations": [0.5, 0.3]}, "metric_correlations= takes three numbers"),
        ({"difference": 1, "simulations": 5}, "At least 100 simulations"),
    ],
)
def test_errors_name_keywords(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(wellput.InputError, match=message):
        wellput.power(**keywords)
