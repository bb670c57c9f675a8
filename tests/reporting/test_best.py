"""Bold marks the systems that no other is shown to be better than, where that was tested."""

from __future__ import annotations

import pytest

from wellput import EvalSet, ScoreResult, score
from wellput.reporting.score import score_report, score_table
from wellput.reporting.table import Table, render
from wellput.reporting.table_formats import as_terminal

# Twelve items: A is right in all of them, B in eleven, C in none.
RIGHT, WRONG = "the cat sat down .", "a dog"
EVALSET = EvalSet.of(
    {"A": [RIGHT] * 12, "B": [WRONG, *[RIGHT] * 11], "C": [WRONG] * 12}, [RIGHT] * 12
)


def bold(table: Table) -> set[str]:
    """`A bleu` for each cell."""
    return {f"{table.rows[i][0]} {table.columns[j]}" for i, j in table.best}


def test_without_a_test_nothing_is_bold() -> None:
    table = score_table(score(EVALSET, "exact,bleu", confidence=True))
    assert not table.best and not table.bold_meaning
    hint = "No difference is tested: add all_pairs=True or baseline='A'."
    assert hint in table.notes
    assert hint not in score_table(score(EVALSET, "exact", baseline="A")).notes
    # A test of so few items would claim nothing; one system has nothing to be compared with.
    few = EvalSet.of({"A": [RIGHT] * 9, "B": [WRONG] * 9}, [RIGHT] * 9)
    for alone in (few, EvalSet.of({"A": [RIGHT] * 12}, [RIGHT] * 12)):
        assert not any("No difference" in note for note in score_table(score(alone, "exact")).notes)


def test_all_pairs_with_holms_correction() -> None:
    result = score(EVALSET, "exact,ter,length", all_pairs=True)
    # A and B differ on one item of twelve, which shows nothing (t = 1); C is worse than both on
    # eleven. Lower is better for ter; no length is better than another.
    assert bold(score_table(result)) == {"A exact", "B exact", "A ter ↓", "B ter ↓"}
    assert result.beaten("exact") == frozenset("C")
    assert result.beaten("length") is None


def test_only_what_was_tested_against_the_baseline_counts() -> None:
    against_worst = score(EVALSET, "exact", baseline="C")
    assert bold(score_table(against_worst)) == {"A exact", "B exact"}
    against_best = score(EVALSET, "exact", baseline="A")
    assert bold(score_table(against_best)) == {"A exact", "B exact"}
    # Of A and C nobody asked which is better: no system is shown to be better than C.
    against_middle = EvalSet.of(
        {"B": [RIGHT] * 12, "A": [RIGHT] * 12, "C": [RIGHT] * 12}, [RIGHT] * 12
    )
    assert len(score_table(score(against_middle, "exact", paired="ar")).best) == 3


def test_a_p_that_the_correction_takes_away_shows_nothing() -> None:
    # D is better than E on 6 items and worse on none: p = 2/2⁶ = .031; times 3 pairs it is .094.
    better = [RIGHT] * 6 + [WRONG] * 6
    three = EvalSet.of({"D": better, "E": [WRONG] * 12, "F": better}, [RIGHT] * 12)
    result = score(three, "exact", all_pairs=True, paired="ar", resamples=5000)
    assert result["E", "exact"].p_value == pytest.approx(2 / 2**6, abs=0.01)
    assert len(score_table(result).best) == 3
    two = EvalSet.of({"D": better, "E": [WRONG] * 12}, [RIGHT] * 12)
    alone = score(two, "exact", paired="ar", resamples=5000)
    assert bold(score_table(alone)) == {"D exact"}


def test_so_few_items_show_nothing() -> None:
    few = EvalSet.of({"A": [RIGHT] * 9, "B": [WRONG] * 9}, [RIGHT] * 9)
    result = score(few, "exact", paired="ar", all_pairs=True)
    p_value = result["B", "exact"].p_value
    assert p_value is not None and p_value < 0.05
    table = score_table(result)
    assert not table.best
    assert not any("*" in cell for row in table.rows for cell in row)
    assert result["B", "exact"].is_worse is None and not result.worse
    assert "9 items are too few to claim a difference; at least 10 are needed." in table.notes
    assert any("B against A: no difference shown on exact" in note for note in table.notes)


def test_a_table_that_is_turned_keeps_its_bold_cells() -> None:
    table = score_table(score(EVALSET, "exact,ter,length", all_pairs=True)).fitting(20)
    assert table.columns[0] == "metric"
    assert bold(table) == {"exact A", "exact B", "ter ↓ A", "ter ↓ B"}


@pytest.fixture(scope="module")
def tested() -> ScoreResult:
    return score(EVALSET, "exact", all_pairs=True)


TEST = "McNemar's exact test, p < 0.05, corrected by Holm's method for all 3 differences"
MEANS = f"no system is significantly better ({TEST})"


def test_bold_says_what_it_means_where_it_can_be_seen(tested: ScoreResult) -> None:
    report = score_report(tested)
    markdown = render(report, "markdown")
    assert "| A | **1.000** |" in markdown and "| C | 0.000 " in markdown
    assert f"\nBold: {MEANS}.\n" in markdown
    assert f"Bold: {MEANS}." in as_terminal(report.tables, width=None, color=True)
    assert "Bold" not in as_terminal(report.tables, width=None, color=False)


def test_one_baseline_is_named() -> None:
    means = score_table(score(EVALSET, "exact", paired="bs")).bold_meaning
    assert means == (
        "no system is significantly better (paired bootstrap, p < 0.05, corrected by Holm's method for "
        "both differences; only differences from A are tested)"
    )
