"""`Layout`: which columns of a table of scores have items, systems, metrics and scores (the layouts are
described in `external_scores`)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wellput.core.errors import InputError
from wellput.io.score_columns import MISSING_CELLS

ITEM_COLUMNS = (
    *("item", "id", "item_id", "seg_id", "segment"),
    *("question_id", "prompt_id", "example_id", "segment_id", "instance_id", "sample_id"),
)
"""Names that the column of items may have."""
SYSTEM_COLUMNS = ("system", "model", "system_id", "model_id", "system_name", "model_name")
"""Names that the column of systems may have."""
NAME_COLUMNS = frozenset((*ITEM_COLUMNS, *SYSTEM_COLUMNS, "metric", "version"))


@dataclass(frozen=True)
class Layout:
    """The names of a table's columns by what they contain. `values` are the columns of scores. If
    `is_long`, there is only one, with the scores of all metrics, and the column `metric` names the
    metric of each row. Otherwise each column of scores belongs to one metric; or, without a column
    `system`, to one system. `default_metric` is the name of a metric that the file does not name."""

    item: str
    values: tuple[str, ...]
    default_metric: str
    system: str | None = None
    metric: str | None = None
    version: str | None = None
    is_long: bool = False

    def cells(self, record: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Any, str]]:
        """The system, item, metric, score and version of each score in a record."""
        version = str(record.get(self.version) or "") if self.version else ""
        item = name_in(record.get(self.item))
        if self.is_long:
            metric = str(record.get(self.metric) or "") if self.metric else ""
            yield (
                name_in(record.get(str(self.system))),
                item,
                metric or self.default_metric,
                record.get(self.values[0]),
                version,
            )
            return
        for name in self.values:
            if self.system is None:
                yield name, item, self.default_metric, record.get(name), version
            else:
                yield name_in(record.get(self.system)), item, name, record.get(name), version

    @property
    def names(self) -> list[str]:
        """The columns that have names, not scores."""
        return [name for name in (self.item, self.system, self.metric, self.version) if name]


def layout_of(file: str, first: Mapping[str, Any], default_metric: str) -> Layout:
    """The layout of a table, by its first record. `default_metric` is the name of a metric that is not
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
            return Layout(item, (score,), default_metric, system, metric, version, is_long=True)
        metrics = [
            name
            for name in header
            if name not in (system, item, version)
            and name.lower() not in ("", "unnamed: 0")
            and not isinstance(score_in(first[name]), str)
        ]
        if metrics:
            return Layout(item, tuple(metrics), default_metric, system, version=version)
    systems = [name for name in header if name != item]
    are_numbers = not any(isinstance(score_in(first[name]), str) for name in systems)
    if item is not None and systems and are_numbers and "system" not in names:
        return Layout(item, tuple(systems), default_metric)
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
    return next((name for name in candidates if isinstance(score_in(first[name]), str)), None)


def name_in(cell: Any) -> str:
    """A name as text; a whole number is written without decimals."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def score_in(cell: Any) -> float | str | None:
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
