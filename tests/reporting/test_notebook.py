"""Results as notebooks and data frames see them."""

from __future__ import annotations

import sys

import pandas as pd
import polars as pl
import pytest

import wellput
from tests.reporting.html.evaluations import SCRIPT, small_evaluation, small_judgments
from wellput.agreement.fit import fit_table
from wellput.agreement.panel import panels
from wellput.core.errors import MissingExtra
from wellput.core.judgment import Preference


@pytest.fixture(scope="module")
def result() -> wellput.ScoreResult:
    evalset = wellput.EvalSet.of({"A": ["a b c"] * 12, SCRIPT: ["a c b"] * 12}, ["a b c"] * 12)
    return wellput.score(evalset, "gsa,ter", confidence=True, paired="ar")


def test_a_score_result_is_a_table(result: wellput.ScoreResult) -> None:
    shown = result._repr_html_()
    assert "<b>1.000</b>" in shown
    assert "<small>Bold: no system is significantly better (" in shown
    assert "<script>" not in shown and "&lt;script&gt;" in shown


@pytest.mark.heavy
def test_data_frames_have_a_row_for_each_score(result: wellput.ScoreResult) -> None:
    polars, pandas = result.to_polars(), result.to_pandas()
    assert isinstance(polars, pl.DataFrame) and isinstance(pandas, pd.DataFrame)
    # a b c -> a c b: one move, 1 − 1/3.
    row = polars.filter((pl.col("system") == SCRIPT) & (pl.col("metric") == "gsa"))
    assert row["score"].item() == pytest.approx(2 / 3)
    assert list(pandas["metric"]) == ["gsa", "gsa", "ter", "ter"]
    assert list(pandas["score"]) == polars["score"].to_list()


def test_plots_hold_their_rows(result: wellput.ScoreResult) -> None:
    spec = result.plot().to_dict()
    (rows,) = spec["datasets"].values()  # Altair gathers inline rows under a name of its own
    assert len(rows) == 4
    assert spec["facet"]["field"] == "metric"


def test_agreement_is_shown_and_plotted() -> None:
    agreement = small_evaluation().agreement
    assert agreement is not None
    assert "Whom people prefer" in agreement._repr_html_()
    title = agreement.plot().to_dict()["vconcat"][0]["layer"][0]["encoding"]["x"]["title"]
    assert title == "pearson with people on quality"
    assert agreement.to_polars()["metric"].to_list() == ["gsa", "gta", "ter", "random"]


def test_choices_are_plotted_too() -> None:
    answers = [
        Preference("J1", f"i{n}", "A", "B", "better", "a" if n < 5 else "b") for n in range(1, 7)
    ]
    agreement = small_evaluation(answers=answers).agreement
    assert agreement is not None
    assert len(agreement.plot().to_dict()["vconcat"]) == 1
    assert len(agreement.to_pandas()) == 4


def test_a_fit_is_shown_and_plotted() -> None:
    evaluation = small_evaluation(metrics="gsa,ter")
    human = panels(small_judgments(), ("A", "B", "C"), evaluation.result.tables["gsa"].items)
    fitted = fit_table(evaluation.result.tables, human["quality"].table(), ["gsa"])
    assert "Models of quality" in fitted._repr_html_()
    assert fitted.to_polars()["predictor"].to_list() == ["gsa", "(constant)"]
    assert fitted.plot().to_dict()["encoding"]["x"]["field"] == "R²"


def test_a_missing_package_is_named(
    result: wellput.ScoreResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match=r"wellput\[frames\]"):
        result.to_polars()
