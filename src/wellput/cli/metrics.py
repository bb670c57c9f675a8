"""The command `wellput metrics`; `wellput.api.list_metrics` does the work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from wellput.cli.keyword_messages import keywords_as_options
from wellput.cli.options import (
    check_output,
    common_options,
    complete_metric,
    show,
    terminal_width,
)

if TYPE_CHECKING:
    from wellput.reporting.table import Report


@click.command(
    epilog="""\b
Examples:
  wellput metrics
  wellput metrics bleu
  wellput metrics --format markdown
"""
)
@click.argument("metric", required=False, shell_complete=complete_metric)
@common_options
def command(format: str, output: str, **options: Any) -> None:
    """List every metric: whether higher or lower is better, what it needs, its options, its paper.

    With METRIC, show this one: what it measures, its options with defaults and values, and examples.
    """
    from wellput.api.list_metrics import list_metrics
    from wellput.reporting.metrics import metrics_report

    check_output(output)
    width = terminal_width(output) if format == "table" else None
    report = metrics_report(list_metrics(**options), width=width)
    show(_needs_as_options(report), format, output)


def _needs_as_options(report: Report) -> Report:
    """The report, with options of `wellput score` instead of Python keywords in the lines on what a
    metric needs."""
    from wellput.cli.score import command as score

    def line(row: Sequence[str]) -> list[str]:
        is_need = row[0] in ("needs", "")  # the first cell is empty in further lines of "needs"
        return [keywords_as_options(cell, score) for cell in row] if is_need else list(row)

    tables = [replace(table, rows=[line(row) for row in table.rows]) for table in report.tables]
    return replace(report, tables=tables)
