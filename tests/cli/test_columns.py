"""`wellput columns`, and `--column` on the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run
from tests.io.test_own_columns import GUESSED, TABLE


def test_a_wrong_header_is_answered_by_options_to_copy(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(TABLE)
    result = run("score", str(path), "-m", "chrf")
    assert result.code == 2
    assert result.err.endswith(f"perhaps: {GUESSED}\n")
    again = run("score", str(path), "-m", "chrf", *GUESSED.split())
    assert again.code == 0 and "llama3:8b" in again.out
    shown = run("columns", str(path))
    assert GUESSED in shown.out


def test_the_items_are_saved_as_an_evalset(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(TABLE)
    shown = run("columns", str(path), *GUESSED.split(), "--save", "saved.jsonl")
    assert shown.code == 0
    assert "Written: saved.jsonl." in shown.out
    named = run("score", str(path), "-m", "chrf", *GUESSED.split(), "--format", "json").json
    assert run("score", "saved.jsonl", "-m", "chrf", "--format", "json").json == named
    refused = run("columns", str(path), "--column", GUESSED.split()[1], "--save", "saved.jsonl")
    assert refused.code == 2
    assert "no column is read as outputs, so there is nothing to save" in refused.err
