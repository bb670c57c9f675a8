"""Minimal pairs from files: a text and a worse version of it, with the kind and severity of the change.

Two formats are read. DEMETR's JSON (Karpinska et al. 2022) is a list of objects with `eng_sent` (the
reference), `mt_sent` (the better text), `pert_sent` (the worse text), `pert_name` (the kind of change),
`severity` and `src_sent`. Tables (CSV, TSV, JSONL, Parquet) have the columns `better`, `worse`,
`perturbation` (the kind of change), `severity` and perhaps `reference` and `source`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from wellput.core.errors import InputError, Problems
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.locations import visible_entries
from wellput.io.tables import read_records

DEMETR_KEYS = ("eng_sent", "mt_sent", "pert_sent", "pert_name", "severity")
MINIMAL_PAIR_COLUMNS = ("better", "worse", "perturbation", "severity")
DATASET_SUFFIXES = (".json", ".json.gz", ".jsonl", ".jsonl.gz", ".csv", ".tsv", ".parquet")
NO_SEVERITY = "unknown"


class MinimalPair(NamedTuple):
    """Two texts, `better` and `worse`, that differ in one change of the kind `perturbation`."""

    better: str
    worse: str
    perturbation: str
    severity: str
    reference: str = ""
    source: str = ""


def read_minimal_pairs(path: PathLike) -> list[MinimalPair]:
    """The pairs of a file, or of all files of a folder. Raises one InputError with all problems of a
    file."""
    folder = Path(path)
    if folder.is_dir():
        files = [
            entry for entry in visible_entries(folder) if entry.name.endswith(DATASET_SUFFIXES)
        ]
        if not files:
            raise InputError(f"{path} has no files of pairs ({', '.join(DATASET_SUFFIXES)}).")
        return [pair for file in files for pair in read_minimal_pairs(file)]
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    if file.suffix == ".json":
        pairs = list(_demetr_pairs(file, problems))
    else:
        rows = read_records(file, problems, MINIMAL_PAIR_COLUMNS)
        pairs = [
            pair
            for number, row in rows
            if (pair := _pair(row, f"line {number}", problems)) is not None
        ]
    problems.raise_if_any()
    if not pairs:
        raise InputError(f"{file.name} has no pairs.")
    return pairs


def has_minimal_pairs(path: PathLike) -> bool:
    """Whether a file or folder can be read as minimal pairs."""
    try:
        return bool(read_minimal_pairs(path))
    except InputError:
        return False


def _demetr_pairs(file: InputFile, problems: Problems) -> Iterator[MinimalPair]:
    """The pairs of a JSON file of DEMETR. Adds what is wrong with a record to `problems`."""
    try:
        records = json.loads(file.whole())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file.name} is not JSON: {error}.") from None
    if not isinstance(records, list):
        raise InputError(f"{file.name} must be a list of objects with {', '.join(DEMETR_KEYS)}.")
    for number, record in enumerate(records, start=1):
        place = f"object {number}"
        if not isinstance(record, Mapping):
            problems.add(place, "an object is needed")
        elif missing := [key for key in DEMETR_KEYS if key not in record]:
            problems.add(place, f"no {', '.join(missing)}")
        else:
            yield MinimalPair(
                better=str(record["mt_sent"]),
                worse=str(record["pert_sent"]),
                perturbation=_short_name(str(record["pert_name"])),
                severity=str(record["severity"]) or NO_SEVERITY,
                reference=str(record["eng_sent"]),
                source=str(record.get("src_sent") or ""),
            )


def _short_name(name: str) -> str:
    """A name such as `critical_id8_negation` without its severity, which pairs have as a field.

    >>> _short_name("critical_id8_negation"), _short_name("negation")
    ('id8_negation', 'negation')
    """
    severity, _, kind = name.partition("_")
    return kind if severity in ("base", "minor", "major", "critical") and kind else name


def _pair(row: Mapping[str, Any], place: str, problems: Problems) -> MinimalPair | None:
    """The pair in a row of a table; None if it has a problem, which is added to `problems`."""
    values = {key: row.get(key) for key in (*MINIMAL_PAIR_COLUMNS, "reference", "source")}
    wrong = [key for key, value in values.items() if not isinstance(value, str | None)]
    if wrong:
        problems.add(place, f"{', '.join(wrong)} must be text")
        return None
    if not values["perturbation"]:
        problems.add(place, "perturbation is empty")
        return None
    texts = {key: str(value or "") for key, value in values.items()}
    texts["severity"] = texts["severity"] or NO_SEVERITY
    return MinimalPair(**texts)
