"""Minimal pairs from files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from wellput.core.errors import InputError
from wellput.io.minimal_pairs import MinimalPair, read_minimal_pairs

DEMETR = {
    "id": 1,
    "src_sent": "Er kam.",
    "eng_sent": "He came.",
    "mt_sent": "He did come.",
    "pert_sent": "He did not come.",
    "severity": "critical",
    "pert_name": "critical_id8_negation",
}
PAIR = MinimalPair(
    "He did come.", "He did not come.", "id8_negation", "critical", "He came.", "Er kam."
)


def test_demetr_is_read_packed_or_not_and_as_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([DEMETR]), encoding="utf-8")
    with gzip.open(tmp_path / "b.json.gz", "wt", encoding="utf-8") as file:
        json.dump([DEMETR, DEMETR], file)
    (tmp_path / "._a.json").write_bytes(b"Mac OS X")
    assert read_minimal_pairs(tmp_path / "a.json") == [PAIR]
    assert read_minimal_pairs(tmp_path / "b.json.gz") == [PAIR, PAIR]
    assert read_minimal_pairs(tmp_path) == [PAIR] * 3


def test_a_table_may_lack_reference_and_source(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("worse,better,severity,perturbation\nb,a,,swap\n", encoding="utf-8")
    assert read_minimal_pairs(path) == [MinimalPair("a", "b", "swap", "unknown")]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{}", "must be a list of objects"),
        ("a.json", "[{}, 3]", r"(?s)object 1: no eng_sent.*object 2: an object is needed"),
        ("a.json", "[", "is not JSON"),
        ("a.json", "[]", "has no pairs"),
        ("a.csv", "better,worse\na,b\n", "no columns perturbation, severity"),
        (
            "a.csv",
            "better,worse,perturbation,severity\na,b,,minor\n",
            "line 2: perturbation is empty",
        ),
        (
            "a.jsonl",
            '{"better": 3, "worse": "b", "perturbation": "x", "severity": ""}',
            "line 1: better must be text",
        ),
    ],
)
def test_everything_wrong_is_said(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_minimal_pairs(path)


def test_a_folder_without_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no files of pairs"):
        read_minimal_pairs(tmp_path)
