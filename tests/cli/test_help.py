"""`wellput help` on the command line."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize("names", [[], ["score"], ["study"], ["study", "create"], ["train", "lm"]])
def test_help_is_what_the_option_shows(run: Run, names: list[str]) -> None:
    told, shown = run("help", *names), run(*names, "--help")
    assert (told.code, told.out) == (0, shown.out)
    assert told.out.startswith(f"Usage: {' '.join(['wellput', *names])} ")


def test_no_such_command(run: Run) -> None:
    outcome = run("help", "scoer")
    assert (outcome.code, outcome.out) == (2, "")
    assert "No command 'scoer'. Did you mean score" in outcome.err
