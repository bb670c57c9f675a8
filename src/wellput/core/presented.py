"""The noun `Presented`: a result that shows itself in a notebook and becomes a data frame.

How it is shown is the business of `report`, which is above all results: its module is found by name
when it is needed, as a metric is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from wellput.core.errors import MissingExtra

PRESENTER = "wellput.reporting.notebook"


class Presented(ABC):
    """What results share: `_repr_html_` and `plot` for notebooks, `to_polars` and `to_pandas`."""

    @abstractmethod
    def records(self) -> Sequence[Mapping[str, Any]]:
        """The rows of the result's main table, with the same keys each."""

    def plot(self) -> Any:
        """The result's main figure as an Altair chart (needs the extra `report`)."""
        return import_module(PRESENTER).chart_of(self)

    def to_polars(self) -> Any:
        """`records()` as a Polars data frame, for those who have Polars."""
        return _imported("polars").DataFrame(list(self.records()), infer_schema_length=None)

    def to_pandas(self) -> Any:
        """`records()` as a pandas data frame, for those who have pandas."""
        return _imported("pandas").DataFrame.from_records(list(self.records()))

    def _repr_html_(self) -> str:
        shown: str = import_module(PRESENTER).html_of(self)
        return shown


def _imported(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise MissingExtra(f"A data frame of {package}", "frames") from None
