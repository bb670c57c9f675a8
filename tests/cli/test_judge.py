"""`wellput judge` on the command line, against a SIMULATED endpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

import wellput
from tests.cli.conftest import Run
from tests.studies.simulated_endpoint import SimulatedEndpoint
from wellput.core.evalset import EvalSet, Item


@pytest.fixture(autouse=True)
def evalset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WELLPUT_API_KEY", raising=False)
    items = [Item(str(n), outputs={"A": f"one {n}", "B": f"two {n}"}) for n in range(4)]
    wellput.write_evalset(EvalSet(items), "e.jsonl")


def test_it_writes_judgments_and_shows_a_summary(run: Run) -> None:
    with SimulatedEndpoint() as endpoint:
        command = ["judge", "e.jsonl", "--model", "m", "--endpoint", endpoint.url]
        shown = run(*command, "--question", "quality", "-o", "j.csv")
        assert shown.code == 0, shown.err
        assert "What model:m answered" in shown.out and "8 of 8 trials answered" in shown.out
        same = run(*command, "--question", "quality", "-o", "j.csv", "--format", "json").json
    result = wellput.judge(
        "e.jsonl", model="m", endpoint=endpoint.url, question="quality", path="j.csv"
    )
    assert same["known"] == 8 and same == result.to_dict()
    assert len(wellput.read_judgments("j.csv")) == 8


def test_answers_that_would_be_lost_are_not_asked_for(run: Run) -> None:
    with SimulatedEndpoint() as endpoint:
        shown = run(
            "judge", "e.jsonl", "--model", "m", "--endpoint", endpoint.url, "--question", "quality"
        )
        assert endpoint.n_requests == 0
    assert shown.code == 2 and "-o is needed" in shown.err


def test_options_are_named_in_messages(run: Run) -> None:
    shown = run("judge", "e.jsonl", "--model", "gpt", "--question", "quality", "-o", "j.csv")
    assert shown.code == 2 and "--endpoint https://…/v1" in shown.err


def test_a_text_with_control_characters_is_shown_as_text(run: Run) -> None:
    wellput.write_evalset(EvalSet([Item("1", outputs={"A": "a\x1b[2Jb"})]), "c.jsonl")
    shown = run(
        "judge", "c.jsonl", "--model", "m", "--endpoint", "http://127.0.0.1:9", "--question", "q",
        "--dry-run",
    )  # fmt: skip
    assert "a\\x1b[2Jb" in shown.out and "\x1b" not in shown.out
