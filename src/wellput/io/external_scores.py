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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError, Problems, counted
from wellput.core.options import wrong_size
from wellput.io.files import InputFile, PathLike, check_readable, file_fingerprint
from wellput.io.score_columns import MISSING_CELLS, NameColumn, Unsuitable, read_score_columns
from wellput.io.tables import read_records

ITEM_COLUMNS = (
    *("item", "id", "item_id", "seg_id", "segment"),
    *("question_id", "prompt_id", "example_id", "segment_id", "instance_id", "sample_id"),
)
"""Names that the column of items may have."""
SYSTEM_COLUMNS = ("system", "model", "system_id", "model_id", "system_name", "model_name")
"""Names that the column of systems may have."""
NAME_COLUMNS = frozenset((*ITEM_COLUMNS, *SYSTEM_COLUMNS, "metric", "version"))
SHOWN_ITEMS = 4
MAX_NAMED_ITEMS = 100_000
"""Above this number, items are found by the hashes of their names."""
HASHED_AT_ONCE = 1 << 18
MAX_CELLS_A_ROW = 16
"""A table of systems × items may have this many cells for each row of the file."""


class ItemPlaces:
    """Where each item stands: by its name while they are few, by the hash of its name when there are
    many. Hashes take 16 bytes for each item, and are the same in every process."""

    def __init__(self, names: Sequence[str]) -> None:
        self._places: dict[str, int] | None = None
        self.first = list(names[:SHOWN_ITEMS])
        self.n = len(names)
        if self.n <= MAX_NAMED_ITEMS:
            self._places = {name: place for place, name in enumerate(names)}
            return
        hashes = np.concatenate(
            [
                _native.text_hashes(names[n : n + HASHED_AT_ONCE])
                for n in range(0, self.n, HASHED_AT_ONCE)
            ]
        )
        self._order = np.argsort(hashes)
        self._hashes = hashes[self._order]
        if (self._hashes[1:] == self._hashes[:-1]).any():  # two names with one hash
            self._places = {name: place for place, name in enumerate(names)}

    def of(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """The places of these items, -1 for those that are not there."""
        if self._places is not None:
            return np.array([self._places.get(name, -1) for name in ids], np.int64)
        wanted = _native.text_hashes(list(ids))
        near = np.minimum(np.searchsorted(self._hashes, wanted), self.n - 1)
        return np.where(self._hashes[near] == wanted, self._order[near], -1)

    def __len__(self) -> int:
        return self.n


@dataclass(frozen=True, eq=False)
class ExternalScores:
    """One metric's scores. `scores` has an array for each system, with a place for every item of
    `items` that it has a score of, NaN where it has none. `system_scores` are the scores of whole
    systems, where the metric's own program gave them: those of BLEU are no means of segments.
    `repeats` counts the rows that say again what another row says."""

    metric: str
    path: str
    items: ItemPlaces
    scores: Mapping[str, NDArray[np.float64]]
    version: str
    fingerprint: str
    system_scores: Mapping[str, float] = field(default_factory=dict)
    repeats: int = 0
    _last: list[Any] = field(default_factory=list, repr=False)

    def of(self, system: str, ids: Sequence[str]) -> NDArray[np.float64]:
        """The scores of one system for these items, NaN for what is missing."""
        own = self.scores.get(system)
        found = np.full(len(ids), np.nan)
        if own is None:
            return found
        places = self._places(ids)
        known = (places >= 0) & (places < len(own))
        found[known] = own[places[known]]
        return found

    def _places(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """The places of the items; systems are asked one after the other for the same ones."""
        last = self._last[-1] if self._last else None
        if last is not None and last[0] == ids:
            found: NDArray[np.int64] = last[1]
            return found
        places = self.items.of(ids)
        self._last[:] = [(ids, places)]
        return places


@dataclass(frozen=True)
class Layout:
    """Which columns hold what. Each of `values` is a column of scores: of one metric, or of those that
    the column `metric` names, or of one system, if there is no column `system`."""

    item: str
    values: tuple[str, ...]
    default: str
    system: str | None = None
    metric: str | None = None
    version: str | None = None
    is_long: bool = False

    def cells(self, record: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Any, str]]:
        """The system, item, metric, score and version of each score in a record."""
        version = str(record.get(self.version) or "") if self.version else ""
        item = _text(record.get(self.item))
        if self.is_long:
            named = str(record.get(self.metric) or "") if self.metric else ""
            metric = named or self.default
            yield (
                _text(record.get(str(self.system))),
                item,
                metric,
                record.get(self.values[0]),
                version,
            )
            return
        for name in self.values:
            if self.system is None:
                yield name, item, self.default, record.get(name), version
            else:
                yield _text(record.get(self.system)), item, name, record.get(name), version

    @property
    def names(self) -> list[str]:
        """The columns of names."""
        return [name for name in (self.item, self.system, self.metric, self.version) if name]


@dataclass
class _OtherVersion:
    """A version that is not the first of the metric: the place of its first row, and its rows."""

    first: str
    rows: int = 0


@dataclass
class _Collected:
    """Scores as they come: an array a system, in order of the items' first appearance."""

    items: dict[str, int] = field(default_factory=dict)
    scores: dict[str, array[float]] = field(default_factory=dict)
    version: str = ""
    repeats: int = 0
    other_versions: dict[str, _OtherVersion] = field(default_factory=dict)

    def add(self, system: str, item: str, value: float) -> str | None:
        """What is wrong, if the cell has another score already."""
        place = self.items.setdefault(item, len(self.items))
        row = self.scores.setdefault(system, array("d"))
        if place < len(row):
            if not math.isnan(row[place]):
                self.repeats += 1
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
    rows = read_records(file, problems, (), is_number=lambda name: name not in NAME_COLUMNS)
    first = next(rows, None)
    if first is None:
        problems.raise_if_any()
        raise InputError(f"{file.name} has no scores.")
    layout = _layout(file.name, first[1], _metric_name(path))
    fingerprint = (file_fingerprint(path) or "unknown")[:12]
    try:
        found = _by_columns(file, layout, str(path), fingerprint)
    except Unsuitable:
        rest = chain([first], rows)
        found = _by_rows(file, layout, rest, problems, str(path), fingerprint)
    if not found:
        raise InputError(f"{file.name} has no scores: all its cells are empty.")
    return found


def _by_columns(
    file: InputFile, layout: Layout, path: str, fingerprint: str
) -> dict[str, ExternalScores]:
    """The metrics, read with PyArrow. Raises `Unsuitable` for all that is not as it should be."""
    named, values = read_score_columns(file, layout.names, layout.values)
    items = named[layout.item]
    if items.has_empty or (layout.system and named[layout.system].has_empty):
        raise Unsuitable
    places = ItemPlaces(items.names)
    found: dict[str, ExternalScores] = {}
    for metric, scores, rows in _metrics_of(layout, named, values):
        if not len(rows):
            continue
        if metric in found:
            raise Unsuitable
        version = _only_version(named[layout.version], rows) if layout.version else ""
        tables, repeats = _systems_of(named[str(layout.system)], items, scores, rows, len(places))
        found[metric] = ExternalScores(
            metric, path, places, tables, version, fingerprint, repeats=repeats
        )
    if layout.system is None:
        tables = {
            system: _scattered(items.codes, scores, np.flatnonzero(~np.isnan(scores)), len(places))
            for system, scores in values.items()
        }
        n_rows = sum(int((~np.isnan(scores)).sum()) for scores in values.values())
        n_cells = sum(int((~np.isnan(table)).sum()) for table in tables.values())
        if n_rows:
            found[layout.default] = ExternalScores(
                layout.default, path, places, tables, "", fingerprint, repeats=n_rows - n_cells
            )
    return found


def _metrics_of(
    layout: Layout, named: Mapping[str, NameColumn], values: Mapping[str, NDArray[np.float64]]
) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.int64]]]:
    """Each metric with a column of scores, and the rows of it that have one."""
    for name, scores in values.items() if layout.system else ():
        rows = np.flatnonzero(~np.isnan(scores))
        if not layout.is_long or layout.metric is None:
            yield (layout.default if layout.is_long else name), scores, rows
            continue
        metrics = named[layout.metric]
        codes = metrics.codes[rows]
        for code in np.unique(codes):
            yield metrics.names[code] or layout.default, scores, rows[codes == code]


def _systems_of(
    systems: NameColumn,
    items: NameColumn,
    scores: NDArray[np.float64],
    rows: NDArray[np.int64],
    n_items: int,
) -> tuple[dict[str, NDArray[np.float64]], int]:
    """The scores of each system, and how many rows say again what another says."""
    if n_items * len(systems.names) > MAX_CELLS_A_ROW * len(rows) + MAX_NAMED_ITEMS:
        raise Unsuitable
    is_whole = len(rows) == len(scores)
    codes = systems.codes if is_whole else systems.codes[rows]
    tables: dict[str, NDArray[np.float64]] = {}
    for code, name in enumerate(systems.names):
        own = np.flatnonzero(codes == code)
        if len(own):
            own = own if is_whole else rows[own]
            tables[name] = _scattered(items.codes, scores, own, n_items)
    n_cells = sum(int((~np.isnan(table)).sum()) for table in tables.values())
    return tables, len(rows) - n_cells


def _scattered(
    places: NDArray[np.int32], scores: NDArray[np.float64], rows: NDArray[np.int64], n_items: int
) -> NDArray[np.float64]:
    """The scores of these rows at the places of their items."""
    table = np.full(n_items, np.nan)
    is_run = len(rows) > 0 and rows[-1] - rows[0] == len(rows) - 1  # rows are in order
    chosen = slice(rows[0], rows[-1] + 1) if is_run else rows
    own, values = places[chosen], scores[chosen]
    table[own] = values
    if not np.array_equal(table[own], values):  # two scores of one item
        raise Unsuitable
    return table


def _only_version(versions: NameColumn, rows: NDArray[np.int64]) -> str:
    found = {versions.names[code] for code in np.unique(versions.codes[rows])} - {""}
    if len(found) > 1:
        raise Unsuitable
    return next(iter(found), "")


def _by_rows(
    file: InputFile,
    layout: Layout,
    rows: Iterable[tuple[int, Mapping[str, Any]]],
    problems: Problems,
    path: str,
    fingerprint: str,
) -> dict[str, ExternalScores]:
    """The metrics, row by row. Raises one `InputError` for all that is wrong."""
    unit = "row" if file.suffix == ".parquet" else "line"
    collected: dict[str, _Collected] = {}
    for number, record in rows:
        for system, item, metric, cell, version in layout.cells(record):
            place = f"{unit} {number}"
            value = _number(cell)
            if value is None:
                continue
            if isinstance(value, str):
                problems.add(place, f"{metric}: the score {value!r} is not a number")
                continue
            if size := wrong_size(value, "score"):
                problems.add(place, f"{metric}: {size}")
                continue
            if not system or not item:
                problems.add(place, "no system" if not system else "no item")
                continue
            own = collected.setdefault(metric, _Collected())
            if version and own.version and version != own.version:
                own.other_versions.setdefault(version, _OtherVersion(place)).rows += 1
                continue
            own.version = own.version or version
            if wrong := own.add(system, item, value):
                problems.add(place, f"{metric}, system {system}, item {item}: {wrong}")
    for metric, own in collected.items():
        for version, found in own.other_versions.items():
            problems.add(
                found.first,
                f"{metric}: version {version} after {own.version}, in {counted(found.rows, unit)}; a "
                "file may have one version of a metric",
            )
    problems.raise_if_any()
    return {
        metric: ExternalScores(
            metric,
            path,
            ItemPlaces(list(own.items)),
            {system: np.frombuffer(row, np.float64) for system, row in own.scores.items()},
            own.version,
            fingerprint,
            repeats=own.repeats,
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
        raise InputError(
            f"{file} is a file of judgments, not of scores. Put it into one folder with the other "
            "judgments, give the folder as the judgments, and name the judge that is in it: "
            "`judge:model:NAME` for estimate, `model:NAME` for vet."
        )
    item = next((names[name] for name in ITEM_COLUMNS if name in names), None)
    system = _system_column(names, first)
    version = names.get("version")
    if item is not None and system is not None:
        if "score" in names:
            metric, score = names.get("metric"), names["score"]
            return Layout(item, (score,), default, system, metric, version, is_long=True)
        metrics = [
            name
            for name in header
            if name not in (system, item, version)
            and name.lower() not in ("", "unnamed: 0")
            and not isinstance(_number(first[name]), str)
        ]
        if metrics:
            return Layout(item, tuple(metrics), default, system, version=version)
    systems = [name for name in header if name != item]
    are_numbers = not any(isinstance(_number(first[name]), str) for name in systems)
    if item is not None and systems and are_numbers and "system" not in names:
        return Layout(item, tuple(systems), default)
    raise InputError(
        f"{file} is not a file of scores. It needs the columns system, item, score (and metric, where "
        "it has several); or system, item and a column for each metric; or item and a column for each "
        "system; scores are numbers. "
        f"It has {', '.join(header) or 'no columns'}."
    )


def _system_column(names: Mapping[str, str], first: Mapping[str, Any]) -> str | None:
    """The column of systems. One with another name than `system` must hold names: a column of numbers
    may be a system's scores."""
    if "system" in names:
        return names["system"]
    found = (names[name] for name in SYSTEM_COLUMNS if name in names)
    return next((name for name in found if isinstance(_number(first[name]), str)), None)


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
    if "_" in text:  # a number in Python only: 4_5 is 45 there
        return text
    try:
        value = float(text)
    except ValueError:
        return text
    return value if math.isfinite(value) else text
