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
from wellput.core.options import size_problem
from wellput.io.files import InputFile, PathLike, check_readable, file_fingerprint
from wellput.io.score_columns import NameColumn, Unsuitable, read_score_columns
from wellput.io.score_layout import NAME_COLUMNS, Layout, layout_of, score_in
from wellput.io.tables import read_records

SHOWN_ITEMS = 4
"""The number of items that a message names as examples."""
MAX_ITEMS_FOUND_BY_NAME = 100_000
"""If there are more items, they are found by the hashes of their names."""
NAMES_HASHED_AT_ONCE = 1 << 18
MAX_CELLS_PER_ROW = 16
"""The largest table of systems × items that is made, in cells for each row of the file. It limits the
memory if each system has only a few of the items."""
ALWAYS_MADE_CELLS = 100_000
"""A table of up to this many cells is made whatever the number of rows."""


class ItemPlaces:
    """The place of each item (its index in the arrays of scores). Few items are found by their names,
    many by the hashes of their names, which take 16 bytes for each item and are the same in every
    process. `first` has the first names, for messages; `n` is the number of items."""

    def __init__(self, names: Sequence[str]) -> None:
        self._places: dict[str, int] | None = None
        self.first = list(names[:SHOWN_ITEMS])
        self.n = len(names)
        if self.n <= MAX_ITEMS_FOUND_BY_NAME:
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
    """The items that were asked for last, with their places: one pair, or none."""

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
    layout = layout_of(file.name, first[1], _metric_name(path))
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
        n_scores = sum(int((~np.isnan(scores)).sum()) for scores in values.values())
        n_cells = sum(int((~np.isnan(table)).sum()) for table in tables.values())
        if n_scores:
            metrics[layout.default_metric] = ExternalScores(
                layout.default_metric,
                path,
                places,
                tables,
                "",
                fingerprint,
                repeats=n_scores - n_cells,
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
            yield (layout.default_metric if layout.is_long else name), scores, rows
            continue
        metrics = named[layout.metric]
        codes = metrics.codes[rows]
        for code in np.unique(codes):
            yield metrics.names[code] or layout.default_metric, scores, rows[codes == code]


def _systems_of(
    systems: NameColumn,
    items: NameColumn,
    scores: NDArray[np.float64],
    rows: NDArray[np.int64],
    n_items: int,
) -> tuple[dict[str, NDArray[np.float64]], int]:
    """The scores of each system in these rows, and how many rows only repeat another row."""
    if n_items * len(systems.names) > MAX_CELLS_PER_ROW * len(rows) + ALWAYS_MADE_CELLS:
        raise Unsuitable
    has_all_rows = len(rows) == len(scores)  # then no row numbers need to be looked up
    codes = systems.codes if has_all_rows else systems.codes[rows]
    tables: dict[str, NDArray[np.float64]] = {}
    for code, name in enumerate(systems.names):
        system_rows = np.flatnonzero(codes == code)
        if len(system_rows):
            system_rows = system_rows if has_all_rows else rows[system_rows]
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
            value = score_in(cell)
            if value is None:
                continue
            if isinstance(value, str):
                problems.add(place, f"{metric}: the score {value!r} is not a number")
                continue
            if problem := size_problem(value, "score"):
                problems.add(place, f"{metric}: {problem}")
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
