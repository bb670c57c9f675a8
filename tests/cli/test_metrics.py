"""`wellput metrics` as people call it."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Run


def test_everything_goes_to_a_pipe(run: Run) -> None:
    outcome = run("metrics")
    assert outcome.code == 0
    header, _, first, *_ = outcome.out.splitlines()
    assert header.split() == ["metric", "better", "needs", "options", "about", "paper"]
    assert header.index("options") == first.index("tokenize=13a")  # words begin where headings do


def test_a_narrow_terminal_shows_what_fits(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("metrics", "options"):
        monkeypatch.setattr(f"wellput.cli.{module}.terminal_width", lambda _: 80)
    outcome = run("metrics")
    assert outcome.out.splitlines()[0].split() == ["metric", "better", "needs", "about"]
    assert max(map(len, outcome.out.splitlines())) <= 80
    assert "wellput metrics --format json" in outcome.out
