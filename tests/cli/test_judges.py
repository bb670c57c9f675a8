"""`--judges` and questions with labels on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agreement.test_chosen_answers import EVALSET, MACHINE, PEOPLE, tones
from tests.cli.conftest import Run
from wellput.io import write_evalset, write_judgments


@pytest.fixture
def written(tmp_path: Path) -> None:
    write_evalset(EVALSET, tmp_path / "evalset.jsonl")
    write_judgments([*PEOPLE, *MACHINE, *tones()], tmp_path / "judgments.csv")


@pytest.mark.usefixtures("written")
def test_an_unknown_judge_is_a_sentence(run: Run) -> None:
    found = run("agree", "evalset.jsonl", "judgments.csv", "-m", "chrf", "--judges", "model:bug")
    assert found.code == 2
    assert (
        "--judges model:bug: no judge has this name. Did you mean model:big? The judges are"
        in found.err
    )


@pytest.mark.usefixtures("written")
def test_labels_alone_are_refused_with_a_sentence(run: Run) -> None:
    found = run("agree", "evalset.jsonl", "judgments.csv", "-m", "chrf", "--question", "tone")
    assert found.code == 2
    assert "Labels have no order" in found.err
    found = run("rank", "judgments.csv", "--question", "tone")
    assert (found.code, "Labels have no order" in found.err) == (2, True)


@pytest.mark.usefixtures("written")
def test_fit_takes_all_judges(run: Run) -> None:
    asked = ("--question", "quality", "--predictors", "chrf,length", "--format", "json")
    people = run("fit", "evalset.jsonl", "judgments.csv", *asked).json
    everyone = run("fit", "evalset.jsonl", "judgments.csv", *asked, "--judges", "all").json
    assert [one["judge"] for one in people["excluded"]] == ["model:big"]
    assert everyone["excluded"] == []
    assert everyone["judges"] == people["judges"] + 1
