"""`wellput demo`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from wellput.core.errors import MissingExtra
from wellput.core.judgment import Judgment
from wellput.example.harbor import harbor_example
from wellput.io import read_evalset, read_judgments

pytestmark = pytest.mark.heavy  # all of the example


@pytest.fixture
def quick_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wellput.reporting.html.page.chart_library", lambda: "/* library */")


@pytest.mark.usefixtures("quick_library")
def test_one_screenful_and_one_report(run: Run) -> None:
    outcome = run("demo")
    assert outcome.code == 0, outcome.err
    lines = outcome.out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines[:18])) <= 80
    assert "Simulated judges prefer careful" in outcome.out
    assert "fluency is fooled by smooth" in outcome.out
    assert "Open wellput-demo.html in a browser" in outcome.out
    page = Path("wellput-demo.html").read_text(encoding="utf-8")
    assert "judges simulated" in page


@pytest.mark.usefixtures("quick_library")
def test_every_table_of_people_says_that_they_are_simulated(run: Run) -> None:
    value = run("demo", "--no-report", "--format", "json").json
    assert not Path("wellput-demo.html").exists()
    agreement = value["agreement"]
    for part in ("ranking", "orders", "agreement", "differences", "judges"):
        assert agreement[part]
        assert {row["question"] for row in agreement[part]} == {"quality (simulated)"}
    assert all(line.startswith("quality (simulated)") for line in agreement["advice"])
    assert {s["system"] for s in value["scores"]} == set(harbor_example().systems)


def test_without_the_extra_it_says_how_to_get_the_report(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> str:
        raise MissingExtra("A report", "report")

    monkeypatch.setattr("wellput.reporting.html.page.chart_library", missing)
    outcome = run("demo")
    assert outcome.code == 0 and "pip install 'wellput[report]'" in outcome.out
    assert not Path("wellput-demo.html").exists()


def test_saved_files_must_differ(run: Run) -> None:
    refused = run("demo", "--no-report", "--save", "x.csv", "--save-judgments", "x.csv")
    assert refused.code == 2 and "another output is written to x.csv" in refused.err
    assert not Path("x").exists()


def test_the_example_can_be_saved_and_used(run: Run) -> None:
    run("demo", "--no-report", "--save", "a.jsonl", "--save-judgments", "j.csv")
    evalset = read_evalset("a.jsonl")
    answers = read_judgments("j.csv")
    assert len(evalset) == 60
    assert len(answers) == 4 * sum(len(item.outputs) for item in evalset)
    assert all(isinstance(a, Judgment) and a.judge.startswith("simulated ") for a in answers)
    assert run("agree", "a.jsonl", "j.csv", "-m", "bleu,random", "--resamples", "50").code == 0
