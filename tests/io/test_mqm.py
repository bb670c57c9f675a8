"""Damaged MQM tables."""

from __future__ import annotations

from pathlib import Path

import pytest

import wellput
from wellput.agreement.panel import systems_of
from wellput.core.errors import InputError
from wellput.io import read_mqm


def test_a_table_with_line_ends_of_windows_is_known(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    header = "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    path.write_bytes(f"{header}\r\nA\td\t1\tr\ts\tt\tStyle\tMinor\r\n".encode())
    assert [systems_of(judgment) for judgment in wellput.read_judgments(path)] == [("A",)]


def test_a_header_with_one_column_too_many(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    header = "system\tdoc\trater\tsource\ttarget\tcategory\tseverity\t\tseg_id"
    path.write_text(f"{header}\nA\td\tr\ts\tt\tStyle\tMinor\t7\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2: 1 cell too few: no seg_id"):
        read_mqm(path)
