"""Intraclass correlations: R's psych::ICC, the paper's table, units with unequal numbers of ratings."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.judges.reliability import intraclass_correlations

GOLDEN = Path(__file__).parents[1] / "golden" / "intraclass.csv"
# Targets × judges: Table 2 of Shrout & Fleiss (1979), and one with a severe judge.
TABLES = {
    "shrout_fleiss": [
        [9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7],
    ],
    "severe": [
        [4, 2, 1], [5, 3, 2], [3, 3, 1], [6, 4, 2], [7, 5, 4], [5, 2, 3], [4, 3, 1], [6, 6, 3],
        [2, 1, 1], [5, 4, 2],
    ],
}  # fmt: skip
PSYCH = list(csv.DictReader(GOLDEN.read_text(encoding="utf-8").splitlines()))


def judges_by_units(name: str) -> Floats:
    return np.array(TABLES[name], dtype=np.float64).T


@pytest.mark.parametrize("row", PSYCH, ids=lambda row: f"{row['table']} {row['name']}")
def test_golden_values_of_psych(row: dict[str, str]) -> None:
    found = {
        entry.name: entry
        for entry in intraclass_correlations(judges_by_units(row["table"])).rows.values()
    }
    ours = found[row["name"]]  # type: ignore[index]
    for key, value in (
        ("value", ours.value), ("f", ours.f), ("df1", ours.df1), ("df2", ours.df2),
        ("p", ours.p_value), ("low", ours.low), ("high", ours.high),
    ):  # fmt: skip
        assert value == pytest.approx(float(row[key]), rel=1e-8), key


def test_the_figures_of_the_paper() -> None:
    found = intraclass_correlations(judges_by_units("shrout_fleiss")).rows
    assert {name: round(row.value, 2) for name, row in found.items()} == {
        "ICC1": 0.17, "ICC2": 0.29, "ICC3": 0.71, "ICC1k": 0.44, "ICC2k": 0.62, "ICC3k": 0.91,
    }  # fmt: skip


def test_the_order_of_judges_within_a_unit_does_not_matter_to_icc1() -> None:
    rng = np.random.default_rng(0)
    ratings = judges_by_units("severe")
    assert intraclass_correlations(rng.permuted(ratings, axis=0)).rows[
        "ICC1"
    ].value == pytest.approx(intraclass_correlations(ratings).rows["ICC1"].value)


def test_unequal_numbers_of_ratings_by_hand() -> None:
    # Units (1, 3), (4), (8, 10, 9): means 2, 4, 9, variance 13; within (1 + 1 + 1 + 1) / 3 = 4/3.
    # k = 3 / (1/2 + 1 + 1/3) = 18/11. F = 18/11 · 13 / (4/3) = 175.5/11, (F − 1) / (F + 7/11).
    ratings = [[1, 4, 8], [3, np.nan, 10], [np.nan, np.nan, 9]]
    table = intraclass_correlations(np.array(ratings))
    assert list(table.rows) == ["ICC1", "ICC1k"]
    assert "need every judge's rating of every unit" in table.reason
    f = 175.5 / 11
    assert table.rows["ICC1"].f == pytest.approx(f)
    assert table.rows["ICC1"].value == pytest.approx((f - 1) / (f + 7 / 11))
    assert table.rows["ICC1k"].value == pytest.approx(1 - 1 / f)
    assert table.rows["ICC1k"].k == pytest.approx(18 / 11)


def test_judges_who_disagree_about_units_of_one_mean() -> None:
    """F is 0: (F − 1) / F of the mean of two judges has no value."""
    rows = intraclass_correlations([[1, 2, np.nan, 1], [2, 1, 1.5, 2]]).rows
    assert rows["ICC1"].f == 0 and rows["ICC1"].value < 0
    assert np.isnan(rows["ICC1k"].value)


def test_what_cannot_be_computed_has_a_reason() -> None:
    assert (
        "one of them with two ratings"
        in intraclass_correlations([[1, 2, np.nan], [np.nan, np.nan, 3]]).reason
    )
    assert intraclass_correlations([[2, 2, 2], [2, 2, 2]]).reason == "all ratings are the same"
    perfect = intraclass_correlations([[1, 2, 3], [1, 2, 3]]).rows
    assert [row.value for row in perfect.values()] == [1.0] * 6
    with pytest.raises(InputError, match="between 0 and 1"):
        intraclass_correlations([[1, 2], [2, 3]], confidence=95)


def coverage(counts: Floats, n_studies: int, rho: float) -> float:
    """How often the 95% interval of ICC1 contains the truth, for units with these numbers of
    ratings."""
    rng = np.random.default_rng(8)
    held = 0
    for _ in range(n_studies):
        felt = rng.normal(0, np.sqrt(rho), len(counts)) + rng.normal(
            0, np.sqrt(1 - rho), (int(counts.max()), len(counts))
        )
        felt[np.arange(len(felt))[:, None] >= counts] = np.nan
        row = intraclass_correlations(felt).rows["ICC1"]
        held += row.low <= rho <= row.high
    return held / n_studies


def test_the_interval_keeps_its_word_for_unequal_numbers() -> None:
    counts = np.array([1, 2, 3, 8] * 10)
    # In 600 studies a coverage of .95 is below .925 once in 400 times.
    assert coverage(counts, 600, 0.4) > 0.925
