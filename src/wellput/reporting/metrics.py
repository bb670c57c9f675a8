"""What `wellput metrics` shows: a line per metric."""

from __future__ import annotations

from wellput.metrics.catalog import MetricList
from wellput.reporting.table import Report, Table

COLUMNS = ("metric", "better", "needs", "options", "about", "paper")
NARROW = ("metric", "better", "needs", "about")
WIDE = 200
"""Columns of text from which on a terminal shows options and papers too."""


def metrics_report(listed: MetricList, *, width: int | None = None) -> Report:
    """All there is to say, or what fits a terminal of this width; None is for no limit."""
    records = listed.records()
    is_narrow = width is not None and width < WIDE
    columns = NARROW if is_narrow else COLUMNS
    table = Table(
        columns,
        [[record[column] for column in columns] for record in records],
        notes=["Options and papers: wellput metrics --format json"] if is_narrow else [],
        is_prose=True,
    )
    return Report([table], listed.values(), COLUMNS, records)
