"""Names cannot control the terminal, and long tables look as Rich draws them."""

from __future__ import annotations

import re

import pytest

import wellput
from wellput.core.errors import printable
from wellput.reporting import table_formats
from wellput.reporting.table import Format, Report, Table, render

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil"


@pytest.mark.parametrize("format", ["table", "markdown", "latex"])
def test_escape_sequences_in_names_are_shown_not_sent(format: Format) -> None:
    evalset = wellput.EvalSet.of({HOSTILE: ["a b"], "B": ["a c"]}, [["a b"]])
    report = wellput.score(evalset, "bleu").report()
    text = render(report, format)
    assert not set(HOSTILE) & set(text) & set("\x1b\x07\x9b\u202e")
    assert "x1b]0;owned" in text


def test_other_texts_stay_as_they_are() -> None:
    for text in ("café – naïve\n日本語", "", "ﷺ 👩‍👩‍👧"):
        assert printable(text) == text
    assert printable("\ufeffa\u2028b") == "\\ufeffa\\u2028b"  # LaTeX does not know U+2028
    assert printable("a\tb\x7f\u2066") == "a\\x09b\\x7f\\u2066"


def without_styles(text: str) -> list[str]:
    return [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", text).split("\n")]


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("is_prose", [False, True])
def test_a_long_table_looks_as_rich_draws_it(
    monkeypatch: pytest.MonkeyPatch, color: bool, is_prose: bool
) -> None:
    table = Table(
        ["system", "chrF", "日本"],
        [["ann", "1.25", "x"], ["a longer name", "−3", "日本語"], ["", "", "é"]],
        title="A title",
        notes=["A note."],
        best=frozenset({(1, 1)}),
        is_prose=is_prose,
    )
    report = Report([table, table], {}, [], [])
    by_rich = render(report, "table", width=80, color=color)
    monkeypatch.setattr(table_formats, "MAX_ROWS_FOLDED", 0)
    found = render(report, "table", width=80, color=color)
    assert without_styles(found) == without_styles(by_rich)
    assert ("\x1b[1m−3\x1b[0m" in found) == color
    narrow = render(report, "table", width=14, color=color)
    monkeypatch.setattr(table_formats, "MAX_ROWS_FOLDED", 1000)
    assert render(report, "table", width=14, color=color) == narrow
