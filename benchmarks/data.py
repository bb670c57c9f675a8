"""Real text for benchmarks. None of it is part of the project: it lies in the folder that
`WELLPUT_DATA` names (default: ../shared/data)."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("WELLPUT_DATA", Path(__file__).parents[2] / "shared" / "data"))


def read_jsonl(name: str) -> Iterator[dict[str, Any]]:
    """The rows of one file, or the end of the program with a word on what is missing."""
    path = DATA / name
    if not path.exists():
        sys.exit(f"{path} is missing: set WELLPUT_DATA to the folder with the benchmark data.")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def wmt21(pair: str = "de-en") -> tuple[dict[str, dict[int, str]], dict[int, list[str]]]:
    """WMT 2021 news translation: {system: {segment: output}} and {segment: references}."""
    references = {
        row["seg"]: list(row["references"].values())
        for row in read_jsonl(f"mt/wmt21_{pair}_refs.jsonl.gz")
    }
    outputs: dict[str, dict[int, str]] = {}
    for row in read_jsonl(f"mt/wmt21_{pair}_da.jsonl.gz"):
        if row["output"] is not None:
            outputs.setdefault(row["system"], {})[row["seg"]] = row["output"]
    return outputs, references
