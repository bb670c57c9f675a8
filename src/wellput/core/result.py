"""`Result`: the class of everything that functions such as `wellput.score` and `wellput.rank` return.
It prints as the table of the command of this name, `to_dict()` has the JSON of this command, and
`to_pandas()` and `to_polars()` make a data frame.

The package `reporting` makes the tables. It imports results, so a result has only the name of its
report function, and imports the function when it is needed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, cast

from wellput.core.errors import MissingExtra
from wellput.core.lazy_names import import_object

NOTEBOOK_MODULE = "wellput.reporting.notebook"
TABLE_MODULE = "wellput.reporting.table"


class Result(ABC):
    """`print(result)` shows the table of the command, a notebook shows it as HTML."""

    presented_by: ClassVar[str]
    """The function that makes the report of the result, as `module:function`."""
    is_secret: ClassVar[bool] = False
    """Whether only the owner of a saved file may read it, because the result contains access tokens."""

    @abstractmethod
    def records(self) -> Sequence[Mapping[str, Any]]:
        """The rows of the result's main table; all rows have the same keys."""

    @abstractmethod
    def values(self) -> Mapping[str, Any]:
        """The content of `to_dict`, with NaN for undefined numbers."""

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command: plain values, None where a number is undefined or does not apply."""
        return cast("dict[str, Any]", strict_json(self.values()))

    def to_polars(self) -> Any:
        """`records()` as a Polars data frame (needs Polars)."""
        return _imported("polars").DataFrame(list(self.records()), infer_schema_length=None)

    def to_pandas(self) -> Any:
        """`records()` as a pandas data frame (needs pandas)."""
        return _imported("pandas").DataFrame.from_records(list(self.records()))

    def plot(self) -> Any:
        """The result's main figure as an Altair chart (needs the extra `report`)."""
        return import_module(NOTEBOOK_MODULE).chart_of(self)

    def report(self) -> Any:
        """The tables from which the command line makes all its output formats."""
        return import_object(self.presented_by)(self)

    def save(self, path: Any) -> None:
        """Writes the result to a file, completely or not at all. Names that end in `.json`, `.csv`,
        `.tex` or `.md` choose that format; with any other name the file has the table of the
        terminal."""
        import_module(TABLE_MODULE).save(self, path)

    def __str__(self) -> str:
        return str(import_module(TABLE_MODULE).terminal_text(self)).rstrip("\n")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return str(import_module(NOTEBOOK_MODULE).html_of(self))


def strict_json(value: Any) -> Any:
    """The value as strict JSON: lists and dictionaries, None for NaN and infinities."""
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
