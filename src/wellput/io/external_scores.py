"""Reads scores that another program computed: `ExternalScores`, one metric's scores for each system and
item.

The file is a table in CSV, TSV, JSONL or Parquet, compressed or not. Its header shows which of three
layouts it has:

- long: `system,item,score`, perhaps with `metric` (if there are several) and `version` (of the metric);
- a column for each metric: `system,item` and columns of numbers;
- a column for each system: `item` and columns of numbers; the metric has the file's name.

An empty cell is a missing score.
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
"""The number of items that a message names as examples."""
MAX_NAMED_ITEMS = 100_000
"""Above this number, items are found by the hashes of their names."""
NAMES_HASHED_AT_ONCE = 1 << 18
MAX_CELLS_PER_ROW = 16
"""The largest table of systems × items that is made, in cells for each row of the file. It limits the
memory if each system has only a few of the items."""


class ItemPlaces:
    """The place of each item (its index in the arrays of scores). Few items are found by their names,
    many by the hashes of their names, which take 16 bytes for each item and are the same in every
    process."""

    def __init__(self, names: Sequence[str]) -> None:
        self._places: dict[str, int] | None = None
        self.first = list(names[:SHOWN_ITEMS])
        self.n = len(names)
        if self.n <= MAX_NAMED_ITEMS:
            self._places = {name: place for place, name in enumerate(names)}
            return
        hashes = np.concatenate(
            [
                _native.text_hashes(names[n : n + NAMES_HASHED_AT_ONCE])
                for n in range(0, self.n, NAMES_HASHED_AT_ONCE)
            ]
        )
        self._order = np.argsort(hashes)
        self._hashes = hashes[self._order]
        if (self._hashes[1:] == self._hashes[:-1]).any():  # two names with one hash
            self._places = {name: place for place, name in enumerate(names)}

    def of(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """The places of these items; -1 for an item that has no place."""
        if self._places is not None:
            return np.array([self._places.get(name, -1) for name in ids], np.int64)
        hashes = _native.text_hashes(list(ids))
        nearest = np.minimum(np.searchsorted(self._hashes, hashes), self.n - 1)
        return np.where(self._hashes[nearest] == hashes, self._order[nearest], -1)

    def __len__(self) -> int:
        return self.n


@dataclass(frozen=True, eq=False)
class ExternalScores:
    """One metric's scores. `scores` has an array for each system, with the item's score at the item's
    place in `items`; NaN is a missing score, and an array may be shorter than `items`.
    `system_scores` has the scores of whole systems, if the metric's own program gave them (the BLEU
    of a system is not the mean of its segments). `repeats` is the number of rows that only repeat
    another row's score."""

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
        """The scores of one system for these items, NaN for missing scores."""
        scores = self.scores.get(system)
        result = np.full(len(ids), np.nan)
        if scores is None:
            return result
        places = self._places(ids)
        has_place = (places >= 0) & (places < len(scores))
        result[has_place] = scores[places[has_place]]
        return result

    def _places(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """The places of the items. The last result is kept, because callers ask for the same items once
        for each system."""
        last = self._last[-1] if self._last else None
        if last is not None and last[0] == ids:
            last_places: NDArray[np.int64] = last[1]
            return last_places
        places = self.items.of(ids)
        self._last[:] = [(ids, places)]
        return places


@dataclass(frozen=True)
class Layout:
    """The names of a table's columns by what they contain. `values` are the columns of scores. If
    `is_long`, the only one has the scores of all metrics, which the column `metric` names. Otherwise
    each has the scores of one metric; or, if there is no column `system`, of one system. `default` is
    the name of a metric that is not named."""

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
            metric = str(record.get(self.metric) or "") if self.metric else ""
            yield (
                _text(record.get(str(self.system))),
                item,
                metric or self.default,
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
        """The columns that have names, not scores."""
        return [name for name in (self.item, self.system, self.metric, self.version) if name]


@dataclass
class _OtherVersion:
    """A version of a metric that differs from the metric's first version in the file: the place of its
    first row in the file, and its number of rows."""

    first: str
    rows: int = 0


@dataclass
class _Collected:
    """One metric's scores while rows are read: an array for each system, with items in the order of
    their first appearance."""

    items: dict[str, int] = field(default_factory=dict)
    scores: dict[str, array[float]] = field(default_factory=dict)
    version: str = ""
    repeats: int = 0
    other_versions: dict[str, _OtherVersion] = field(default_factory=dict)

    def add(self, system: str, item: str, value: float) -> str | None:
        """Adds a score; returns what is wrong if this system and item already have another score."""
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
    """The metrics of a file, by name. Raises one `InputError` for everything that is wrong with the
    file."""
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
        metrics = _by_columns(file, layout, str(path), fingerprint)
    except Unsuitable:
        all_rows = chain([first], rows)
        metrics = _by_rows(file, layout, all_rows, problems, str(path), fingerprint)
    if not metrics:
        raise InputError(f"{file.name} has no scores: all its cells are empty.")
    return metrics


def _by_columns(
    file: InputFile, layout: Layout, path: str, fingerprint: str
) -> dict[str, ExternalScores]:
    """The metrics, read with PyArrow. Raises `Unsuitable` if anything is irregular or wrong, so that
    the file must be read row by row."""
    named, values = read_score_columns(file, layout.names, layout.values)
    items = named[layout.item]
    if items.has_empty or (layout.system and named[layout.system].has_empty):
        raise Unsuitable
    places = ItemPlaces(items.names)
    metrics: dict[str, ExternalScores] = {}
    for metric, scores, rows in _metrics_of(layout, named, values):
        if not len(rows):
            continue
        if metric in metrics:
            raise Unsuitable
        version = _only_version(named[layout.version], rows) if layout.version else ""
        tables, repeats = _systems_of(named[str(layout.system)], items, scores, rows, len(places))
        metrics[metric] = ExternalScores(
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
            metrics[layout.default] = ExternalScores(
                layout.default, path, places, tables, "", fingerprint, repeats=n_rows - n_cells
            )
    return metrics


def _metrics_of(
    layout: Layout, named: Mapping[str, NameColumn], values: Mapping[str, NDArray[np.float64]]
) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.int64]]]:
    """Each metric with its column of scores, and the numbers of the rows that have a score of the
    metric. There are no metrics here if each column has the scores of a system."""
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
    """The scores of each system in these rows, and how many rows only repeat another row."""
    if n_items * len(systems.names) > MAX_CELLS_PER_ROW * len(rows) + MAX_NAMED_ITEMS:
        raise Unsuitable
    is_whole = len(rows) == len(scores)
    codes = systems.codes if is_whole else systems.codes[rows]
    tables: dict[str, NDArray[np.float64]] = {}
    for code, name in enumerate(systems.names):
        system_rows = np.flatnonzero(codes == code)
        if len(system_rows):
            system_rows = system_rows if is_whole else rows[system_rows]
            tables[name] = _scattered(items.codes, scores, system_rows, n_items)
    n_cells = sum(int((~np.isnan(table)).sum()) for table in tables.values())
    return tables, len(rows) - n_cells


def _scattered(
    places: NDArray[np.int32], scores: NDArray[np.float64], rows: NDArray[np.int64], n_items: int
) -> NDArray[np.float64]:
    """An array with the scores of these rows at the places of their items, NaN elsewhere. `places`
    has the place of each row's item."""
    table = np.full(n_items, np.nan)
    are_consecutive = len(rows) > 0 and rows[-1] - rows[0] == len(rows) - 1  # rows are in order
    chosen = slice(rows[0], rows[-1] + 1) if are_consecutive else rows
    row_places, values = places[chosen], scores[chosen]
    table[row_places] = values
    if not np.array_equal(table[row_places], values):  # an item has two different scores
        raise Unsuitable
    return table


def _only_version(versions: NameColumn, rows: NDArray[np.int64]) -> str:
    """The metric's version in these rows, "" if none is given; raises `Unsuitable` for several."""
    versions_in_rows = {versions.names[code] for code in np.unique(versions.codes[rows])} - {""}
    if len(versions_in_rows) > 1:
        raise Unsuitable
    return next(iter(versions_in_rows), "")


def _by_rows(
    file: InputFile,
    layout: Layout,
    rows: Iterable[tuple[int, Mapping[str, Any]]],
    problems: Problems,
    path: str,
    fingerprint: str,
) -> dict[str, ExternalScores]:
    """The metrics, read row by row. Raises one `InputError` for everything that is wrong."""
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
            metric_scores = collected.setdefault(metric, _Collected())
            if version and metric_scores.version and version != metric_scores.version:
                metric_scores.other_versions.setdefault(version, _OtherVersion(place)).rows += 1
                continue
            metric_scores.version = metric_scores.version or version
            if wrong := metric_scores.add(system, item, value):
                problems.add(place, f"{metric}, system {system}, item {item}: {wrong}")
    for metric, metric_scores in collected.items():
        for version, other in metric_scores.other_versions.items():
            problems.add(
                other.first,
                f"{metric}: version {version} after {metric_scores.version}, in "
                f"{counted(other.rows, unit)}; a file may have one version of a metric",
            )
    problems.raise_if_any()
    return {
        metric: ExternalScores(
            metric,
            path,
            ItemPlaces(list(metric_scores.items)),
            {
                system: np.frombuffer(row, np.float64)
                for system, row in metric_scores.scores.items()
            },
            metric_scores.version,
            fingerprint,
            repeats=metric_scores.repeats,
        )
        for metric, metric_scores in collected.items()
    }


def _metric_name(path: PathLike) -> str:
    """The name of a file's metric if the file does not name it: the file's name up to the first dot."""
    name = Path(str(path)).name
    return name.partition(".")[0] or name


def _layout(file: str, first: Mapping[str, Any], default: str) -> Layout:
    """The layout of a table, by its first record. `default` is the name of a metric that is not
    named."""
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
    """The column of systems; None if there is none. A column with another name than `system` must
    contain names, because a column of numbers may be the scores of a system of this name."""
    if "system" in names:
        return names["system"]
    candidates = (names[name] for name in SYSTEM_COLUMNS if name in names)
    return next((name for name in candidates if isinstance(_number(first[name]), str)), None)


def _text(cell: Any) -> str:
    """A name as text; a whole number is written without decimals."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def _number(cell: Any) -> float | str | None:
    """The score in a cell; None if it is missing; the cell's text if it is not a number."""
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
