"""`wellput metrics`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import common_options, show, terminal_width
from wellput.metrics import registry
from wellput.reporting.table import Report, Table

COLUMNS = ("metric", "better", "needs", "options", "about", "paper")
NARROW = ("metric", "better", "needs", "about")
WIDE = 200
"""Columns of text from which on a terminal shows options and papers too."""


@click.command(epilog="\b\nExample:\n  wellput metrics --format markdown")
@common_options
def command(format: str, output: str, seed: int, threads: int | None) -> None:
    """List every metric: which direction is better, what it needs, its options, its paper."""
    records = [describe(name) for name in registry.names()]
    width = terminal_width(output) if format == "table" else None
    is_narrow = width is not None and width < WIDE
    columns = NARROW if is_narrow else COLUMNS
    table = Table(
        columns,
        [[str(record[column]) for column in columns] for record in records],
        notes=["Options and papers: wellput metrics --format json"] if is_narrow else [],
        is_prose=True,
    )
    show(Report([table], {"metrics": records}, COLUMNS, records), format, output)


def describe(name: str) -> dict[str, Any]:
    """One metric's line: what it is and what it takes."""
    metric = registry.create(name)
    better = {True: "higher", False: "lower", None: "neither"}[metric.higher_is_better]
    return {
        "metric": name,
        "better": better,
        "needs": ", ".join(sorted(metric.needs)) or "nothing",
        "options": ", ".join(registry.option_texts(name)),
        "about": getattr(metric, "about", ""),
        "paper": getattr(metric, "paper", ""),
    }
