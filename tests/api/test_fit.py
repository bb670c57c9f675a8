"""`wellput.fit` with Python values."""

from __future__ import annotations

import pytest

import wellput


def study() -> tuple[wellput.EvalSet, list[wellput.Judgment]]:
    outputs = {
        "A": ["a b c", "a b", "c a b", "a", "b c a"],
        "B": ["a b", "a b c", "a c b", "a b d", "b"],
        "C": ["c", "a c", "a b c", "d b c", "c b a"],
        "D": ["a b c", "b c", "a", "a b c", "a c c"],
    }
    evalset = wellput.EvalSet.of(outputs, ["a b c"] * 5)
    worth = {"A": 4, "B": 3, "C": 1, "D": 5}
    ratings = [
        wellput.Judgment("Kim", str(item + 1), system, "quality", worth[system] + len(text) % 3)
        for system, texts in outputs.items()
        for item, text in enumerate(texts)
    ]
    return evalset, ratings


def test_what_intervals_hold_for() -> None:
    evalset, ratings = study()
    widths = {}
    for generalize in ("items", "systems", "both"):
        fit = wellput.fit(
            evalset, ratings, question="quality", predictors="ssa", no_rescale=True,
            generalize=generalize,
        )  # fmt: skip
        (row,) = fit.to_dict()["coefficients"]
        widths[generalize] = row["high"] - row["low"]
    assert widths["both"] >= max(widths["items"], widths["systems"]) > 0


def test_an_unknown_value_is_refused() -> None:
    evalset, ratings = study()
    with pytest.raises(
        wellput.InputError, match="generalize='all' is none of items, systems, both"
    ):
        wellput.fit(
            evalset, ratings, question="quality", predictors="ssa", generalize="all"  # type: ignore[arg-type]
        )  # fmt: skip


def test_a_fit_says_what_it_misses() -> None:
    shown = wellput.demo(no_report=True)
    question = shown.judgments[0].question
    fitted = wellput.fit(shown.evalset, shown.judgments, question=question, predictors="gsa")
    assert fitted.blind_spots is not None
    # gsa counts words, so it cannot tell a verb that agrees from one that does not.
    assert "agreement/minor" in fitted.to_dict()["probe"]["blind"]
    assert f"(wellput probe): {fitted.blind_spots.summary}" in str(fitted)
    without = wellput.fit(
        shown.evalset, shown.judgments, question=question, predictors="gsa", no_probe=True
    )
    assert without.to_dict()["probe"] is None
    assert "wellput probe" not in str(without)
