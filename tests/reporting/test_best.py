"""The best score of each metric is set in bold."""

from __future__ import annotations

import pytest

from wellput import EvalSet, score
from wellput.reporting.score import score_report, score_table
from wellput.reporting.table import render

EVALSET = EvalSet.of(
    {"A": ["the cat sat down .", "he left ."], "B": ["cat the down", "left"]},
    ["the cat sat down .", "he left ."],
)


def test_higher_or_lower_is_better_or_neither() -> None:
    table = score_table(score(EVALSET, "bleu,ter,length"))
    # A is row 0; bleu, ter and length are columns 1, 2 and 3. No length is better than another.
    assert table.best == {(0, 1), (0, 2)}


def test_a_table_that_is_turned_keeps_its_best() -> None:
    table = score_table(score(EVALSET, "bleu,ter,length"), width=20)
    assert table.columns[0] == "metric"
    assert table.best == {(0, 1), (1, 1)}


def test_one_system_has_no_best_and_ties_are_all_best() -> None:
    assert score_table(score(EvalSet.of({"A": ["a"]}, ["a"]), "exact")).best == frozenset()
    tied = EvalSet.of({"A": ["a"], "B": ["a"], "C": ["b"]}, ["a"])
    assert score_table(score(tied, "exact")).best == {(0, 1), (1, 1)}


@pytest.mark.parametrize(
    ("format", "bold"), [("latex", r"A & \textbf{100.00}"), ("markdown", "| A | **100.00** |")]
)
def test_bold_in_papers(format: str, bold: str) -> None:
    assert bold in render(score_report(score(EVALSET, "bleu")), format)  # type: ignore[arg-type]
