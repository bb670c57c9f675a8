"""Scores made elsewhere, read from a table: `ExternalScores`, one metric's numbers for each
system and item.

Three layouts are understood, told apart by the header:

- long: `system,item,score`, with `metric` where there are several and `version` where it is known;
- a column a metric: `system,item` and one column of numbers for each metric;
- a column a system: `item` and one column of numbers for each system; the metric has the file's name.

An empty cell is missing. CSV, TSV, JSONL and Parquet, compressed or not.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError, Problems
from wellput.io.files import InputFile, PathLike, check_readable, file_fingerprint
from wellput.io.tables import read_records

LONG_COLUMNS = ("system", "item", "score")
ITEM_COLUMNS = ("item", "id", "item_id", "seg_id", "segment")
"""Names that the column of items may have in a file with a column a system."""
MISSING_CELLS = frozenset({"", "nan", "na", "n/a", "none", "null"})


@dataclass(frozen=True, eq=False)
class ExternalScores:
    """One metric's scores. `scores` has an array for each system, with a place for every item of
    `items` that it has a score of, NaN where it has none. `system_scores` are the scores of whole
    systems, where the metric's own program gave them: those of BLEU are no means of segments."""

    metric: str
    path: str
    items: Mapping[str, int]
    scores: Mapping[str, NDArray[np.float64]]
    version: str
    fingerprint: str
    system_scores: Mapping[str, float] = field(default_factory=dict)

    def of(self, system: str, ids: Sequence[str]) -> NDArray[np.float64]:
        """The scores of one system for these items, NaN for what is missing."""
        own = self.scores.get(system)
        found = np.full(len(ids), np.nan)
        if own is None:
            return found
        places = np.array([self.items.get(item, -1) for item in ids], np.int64)
        known = (places >= 0) & (places < len(own))
        found[known] = own[places[known]]
        return found


Layout: TypeAlias = Callable[[Mapping[str, Any]], Iterator[tuple[str, str, str, Any, str]]]
"""From a record to its cells: system, item, metric, score, version."""


@dataclass
class _Collected:
    """Scores as they come: an array a system, in order of the items' first appearance."""

    items: dict[str, int] = field(default_factory=dict)
    scores: dict[str, array[float]] = field(default_factory=dict)
    version: str = ""

    def add(self, system: str, item: str, value: float) -> str | None:
        """What is wrong, if the cell has another score already."""
        place = self.items.setdefault(item, len(self.items))
        row = self.scores.setdefault(system, array("d"))
        if place < len(row):
            if not math.isnan(row[place]):
                return (
                    None
                    if row[place] == value
                    else f"a second score, {value:g} after {row[place]:g}"
                )
            row[place] = value
            return None
        row.extend([math.nan] * (place - len(row)))
        row.append(value)
        return None


def read_external_scores(path: PathLike) -> dict[str, ExternalScores]:
    """The metrics of a file, by name. Raises one `InputError` for all that is wrong with it."""
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    unit = "row" if file.suffix == ".parquet" else "line"
    rows = read_records(file, problems, ())
    first = next(rows, None)
    if first is None:
        problems.raise_if_any()
        raise InputError(f"{file.name} has no scores.")
    layout = _layout(file.name, first[1], _metric_name(path))
    collected: dict[str, _Collected] = {}
    for number, record in chain([first], rows):
        for system, item, metric, cell, version in layout(record):
            place = f"{unit} {number}"
            value = _number(cell)
            if value is None:
                continue
            if isinstance(value, str):
                problems.add(place, f"{metric}: the score {value!r} is not a number")
                continue
            if not system or not item:
                problems.add(place, "no system" if not system else "no item")
                continue
            own = collected.setdefault(metric, _Collected())
            if version and own.version and version != own.version:
                problems.add(
                    place, f"{metric}: version {version} after {own.version}; a file may have one"
                )
                continue
            own.version = own.version or version
            if wrong := own.add(system, item, value):
                problems.add(place, f"{metric}, system {system}, item {item}: {wrong}")
    problems.raise_if_any()
    if not collected:
        raise InputError(f"{file.name} has no scores: all its cells are empty.")
    fingerprint = (file_fingerprint(path) or "unknown")[:12]
    return {
        metric: ExternalScores(
            metric,
            str(path),
            own.items,
            {system: np.frombuffer(row, np.float64) for system, row in own.scores.items()},
            own.version,
            fingerprint,
        )
        for metric, own in collected.items()
    }


def _metric_name(path: PathLike) -> str:
    name = Path(str(path)).name
    return name.partition(".")[0] or name


def _layout(file: str, first: Mapping[str, Any], default: str) -> Layout:
    """How to read a record, by the names of the columns and the first record."""
    header = list(first)
    names = {name.strip().lower(): name for name in header}
    if {"judge", "question"} <= names.keys():
        raise InputError(f"{file} is a file of judgments, not of scores.")
    if all(name in names for name in LONG_COLUMNS):
        system, item, score = (names[name] for name in LONG_COLUMNS)
        metric, version = names.get("metric"), names.get("version")

        def long(record: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Any, str]]:
            name = str(record.get(metric) or default) if metric else default
            said = str(record.get(version) or "") if version else ""
            yield _text(record.get(system)), _text(record.get(item)), name, record.get(score), said

        return long
    if "system" in names and "item" in names:
        system, item = names["system"], names["item"]
        metrics = [
            name
            for name in header
            if name.lower() not in ("system", "item", "version", "", "unnamed: 0")
            and not isinstance(_number(first[name]), str)
        ]
        version = names.get("version")

        def metric_columns(record: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Any, str]]:
            said = str(record.get(version) or "") if version else ""
            for name in metrics:
                yield (
                    _text(record.get(system)),
                    _text(record.get(item)),
                    name,
                    record.get(name),
                    said,
                )

        if metrics:
            return metric_columns
    found = next((names[name] for name in ITEM_COLUMNS if name in names), None)
    systems = [name for name in header if name != found]
    are_numbers = not any(isinstance(_number(first[name]), str) for name in systems)
    if found is not None and systems and are_numbers and "system" not in names:

        def system_columns(record: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Any, str]]:
            for name in systems:
                yield name, _text(record.get(found)), default, record.get(name), ""

        return system_columns
    raise InputError(
        f"{file} is not a file of scores. It needs the columns system, item, score (and metric, where "
        "it has several); or system, item and a column for each metric; or item and a column for each "
        "system; scores are numbers. "
        f"It has {', '.join(header) or 'no columns'}."
    )


def _text(cell: Any) -> str:
    """A name as text: a number that is whole has no decimals."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def _number(cell: Any) -> float | str | None:
    """The score; None where it is missing, the text where it is none."""
    if cell is None or isinstance(cell, bool):
        return None if cell is None else float(cell)
    if isinstance(cell, int | float):
        return None if math.isnan(cell) else float(cell)
    text = str(cell).strip()
    if text.lower() in MISSING_CELLS:
        return None
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    try:
        value = float(text)
    except ValueError:
        return text
    return value if math.isfinite(value) else text
