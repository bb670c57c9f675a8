"""`wellput metrics`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import common_options, show
from wellput.metrics import registry
from wellput.report.table import Report, Table

COLUMNS = ("metric", "better", "needs", "options", "about", "paper")


@click.command(epilog="\b\nExample:\n  wellput metrics --format markdown")
@common_options
def command(format: str, output: str, seed: int, threads: int | None) -> None:
    """List every metric: which direction is better, what it needs, its options, its paper."""
    records = [describe(name) for name in registry.names()]
    table = Table(COLUMNS, [[str(record[column]) for column in COLUMNS] for record in records])
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
