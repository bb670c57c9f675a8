"""`wellput power` on the command line."""

from __future__ import annotations

import csv
import io

import pytest
from statsmodels.stats.power import TTestPower

from tests.cli.conftest import Outcome, Run

pytestmark = pytest.mark.heavy  # many simulations

SYSTEMS = ("power", "--difference", "0.5", "--simulations", "5000")
METRICS = ("power", "--metric-correlations", "0.5,0.3,0.6", "--simulations", "5000")


def refused(outcome: Outcome, *fragments: str) -> None:
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    for fragment in fragments:
        assert fragment in outcome.err, outcome.err


def test_two_systems(run: Run) -> None:
    result = run(
        *SYSTEMS, "--sd-noise", "0", "--items", "20,40", "--judges", "1", "--format", "json"
    ).json
    assert result["simulated"] is True
    assert (result["what"], result["target"]) == ("systems", 0.8)
    for row in result["power"]:
        expected = TTestPower().power(0.5, row["items"], 0.05)
        assert row["power"] == pytest.approx(expected, abs=0.03)
        assert row["low"] < row["power"] < row["high"]
    assert 30 <= result["smallest"][0]["items"] <= 37  # 33.4 by the formula


def test_two_metrics(run: Run) -> None:
    outcome = run(*METRICS, "--items", "50,200")
    assert outcome.code == 0
    assert "two metrics apart (simulated)" in outcome.out
    assert "Williams' test" in outcome.out
    judged = run(*METRICS, "--judge-correlation", "0.4", "--judges", "1,5", "--items", "100")
    assert "5 judges" in judged.out


@pytest.mark.parametrize("format", ["table", "json", "csv", "latex", "markdown"])
def test_every_format_says_that_it_is_simulated(run: Run, format: str) -> None:
    for call in (SYSTEMS, METRICS):
        assert "imulated" in run(*call, "--items", "10,20", "--format", format).out


def test_csv(run: Run) -> None:
    outcome = run(*SYSTEMS, "--items", "10", "--judges", "1,2", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(outcome.out)))
    assert [(row["items"], row["judges"]) for row in rows] == [("10", "1"), ("10", "2")]
    assert all(row["method"].startswith("simulated") for row in rows)


def test_an_unreachable_target_is_reported(run: Run) -> None:
    outcome = run(*SYSTEMS, "--sd-judge", "2", "--judges", "1,2", "--items", "10")
    assert "one judge cannot show how judges differ" in outcome.out
    assert "not even 1,000,000 items reach 0.8" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        ([], ["--difference 0.2", "--metric-correlations"]),
        (["--difference", "1", "--metric-correlations", "0.5,0.3,0.6"], ["two systems"]),
        (["--difference", "1", "--items", "ten"], ["--items takes whole numbers", "ten"]),
        (["--difference", "1", "--judges", "0"], ["--judges takes whole numbers"]),
        (["--difference", "1", "--items", ","], ["--items takes whole numbers"]),
        (["--difference", "nan"], ["--difference nan is not a finite number"]),
        (["--difference", "1", "--pilot-judges", "2"], ["--pilot-judges has no effect"]),
        (["--difference", "1", "--target", "0.01"], ["target must lie"]),
        (["--metric-correlations", "0.5,0.3"], ["three numbers"]),
        (["--metric-correlations", "0.5,0.3,x"], ["three numbers"]),
        (["--metric-correlations", "0.5,0.3,1.2"], ["r12 must lie between"]),
        (["--metric-correlations", "0.9,-0.9,0.9"], ["No three variables"]),
        (["--metric-correlations", "0.5,0.3,0.6", "--sd-item", "1"], ["--sd-item has no effect"]),
        (["--metric-correlations", "0.5,0.3,0.6", "--judges", "3"], ["--judges has no effect"]),
    ],
)
def test_bad_calls(run: Run, arguments: list[str], fragments: list[str]) -> None:
    refused(run("power", *arguments), *fragments)
