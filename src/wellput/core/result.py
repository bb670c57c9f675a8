"""The noun `Result`: what a verb returns. It prints as the command's table, `to_dict()` is the
command's JSON, and it becomes a data frame.

How it is shown is the business of `reporting`, which is above all results: the function that makes its
tables is found by name when it is needed, as a metric is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, cast

from wellput.core.errors import MissingExtra

NOTEBOOK_MODULE = "wellput.reporting.notebook"
TABLE_MODULE = "wellput.reporting.table"


class Result(ABC):
    """`print(result)` shows the table of the terminal, a notebook the same table as HTML."""

    presented_by: ClassVar[str]
    """`module:function`: what makes its report."""

    @abstractmethod
    def records(self) -> Sequence[Mapping[str, Any]]:
        """The rows of the result's main table, with the same keys each."""

    @abstractmethod
    def values(self) -> Mapping[str, Any]:
        """What `to_dict` says, with NaN for what is undefined."""

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command: plain values, None for what is undefined or does not apply."""
        return cast("dict[str, Any]", strict_json(self.values()))

    def to_polars(self) -> Any:
        """`records()` as a Polars data frame, for those who have Polars."""
        return _imported("polars").DataFrame(list(self.records()), infer_schema_length=None)

    def to_pandas(self) -> Any:
        """`records()` as a pandas data frame, for those who have pandas."""
        return _imported("pandas").DataFrame.from_records(list(self.records()))

    def plot(self) -> Any:
        """The result's main figure as an Altair chart (needs the extra `report`)."""
        return import_module(NOTEBOOK_MODULE).chart_of(self)

    def report(self) -> Any:
        """Its tables, with all that the formats of the command line need."""
        module, _, function = self.presented_by.partition(":")
        return getattr(import_module(module), function)(self)

    def save(self, path: Any) -> None:
        """Writes it to a file, whole or not at all: `.json`, `.csv`, `.tex` and `.md` in that format,
        anything else as the table of the terminal."""
        import_module(TABLE_MODULE).save(self, path)

    def __str__(self) -> str:
        return str(import_module(TABLE_MODULE).text_of(self)).rstrip("\n")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return str(import_module(NOTEBOOK_MODULE).html_of(self))


def strict_json(value: Any) -> Any:
    """Values as strict JSON has them: lists and dictionaries, None for NaN and infinities."""
    if isinstance(value, Mapping):
        return {key: strict_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strict_json(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _imported(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise MissingExtra(f"A data frame of {package}", "frames") from None
