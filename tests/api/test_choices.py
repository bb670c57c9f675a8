"""Python refuses the same values of options as the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wellput
from wellput.example.harbor import harbor_example, simulated_judgments

EVALSET = harbor_example()
JUDGMENTS = simulated_judgments(EVALSET)
QUESTION = JUDGMENTS[0].question


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"level": "systems"},
            "level='systems' is none of segment, system, document, span. Did you mean",
        ),
        ({"normalize": "zscore"}, "normalize='zscore' is none of none, z, unit, rank"),
        ({"generalize": "item"}, "generalize='item' is none of items, systems, both"),
        ({"test": "ttest"}, "test='ttest' is none of"),
        ({"correction": "bonf"}, "correction='bonf' is none of"),
        ({"confidence": 95}, "confidence=95 must be between 0 and 1"),
    ],
)
def test_agree(given: dict[str, Any], message: str) -> None:
    with pytest.raises(wellput.InputError) as error:
        wellput.agree(EVALSET, JUDGMENTS, "ssa", **given)
    assert message in str(error.value)


@pytest.mark.parametrize("given", [{"method": "lasso"}, {"stepwise": "AICC"}, {"normalize": "foo"}])
def test_fit(given: dict[str, Any]) -> None:
    (name, value), *_ = given.items()
    with pytest.raises(wellput.InputError, match=f"{name}='{value}' is none of"):
        wellput.fit(EVALSET, JUDGMENTS, question=QUESTION, predictors="ssa", **given)


@pytest.mark.parametrize(
    "given", [{"alpha": 5, "baseline": "careful"}, {"paired": "t"}, {"engine": "spark"}]
)
def test_score(given: dict[str, Any]) -> None:
    with pytest.raises(wellput.InputError):
        wellput.score(EVALSET, "ssa", **given)


def test_a_metric_is_not_praised_for_the_judgments_it_was_fitted_to(tmp_path: Path) -> None:
    ratings = tmp_path / "j.csv"
    wellput.io.write_judgments(JUDGMENTS, ratings)
    fitted = wellput.fit(EVALSET, ratings, question=QUESTION, predictors="ssa,gsa")
    fitted.save(tmp_path / "mine.json")
    result = wellput.agree(EVALSET, ratings, f"{tmp_path / 'mine.json'},ssa")
    assert "mine.json was fitted to these judgments" in result.notes[0]
    assert "ssa correlates" in result.advice[0]
    folder = tmp_path / "judgments"
    folder.mkdir()
    wellput.io.write_judgments(JUDGMENTS, folder / "people.csv")
    notes = wellput.agree(EVALSET, folder, f"{tmp_path / 'mine.json'},ssa").notes
    assert any("was fitted to these judgments" in note for note in notes)
    other = tmp_path / "other.csv"
    wellput.io.write_judgments(JUDGMENTS[:-1], other)
    notes = wellput.agree(EVALSET, other, str(tmp_path / "mine.json")).notes
    assert not any("was fitted to these judgments" in note for note in notes)


def test_the_note_says_that_a_judge_left_out_of_agreement_is_in_the_ranking() -> None:
    lazy = JUDGMENTS[0].judge
    ratings = [
        wellput.Judgment(j.judge, j.item, j.system, j.question, 4 if j.judge == lazy else j.value)
        for j in JUDGMENTS
    ]
    result = wellput.agree(EVALSET, ratings, "ssa")
    assert [row["of"] for row in result.excluded] == ["agreement"]
    assert f"Left out here, but not from the ranking: judge {lazy}" in str(result)
    assert "\nLeft out: " not in str(result)
    asked = wellput.agree(EVALSET, ratings, "ssa", normalize="z")
    assert [row["of"] for row in asked.excluded] == ["all"]
