"""`wellput metrics`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import check_output, common_options, show, terminal_width
from wellput.cli.score import complete_metric


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
    """List every metric: which direction is better, what it needs, its options, its paper. Or show one
    METRIC: what it measures, its options with their defaults and values, and how to ask for it."""
    from wellput.api.list_metrics import list_metrics
    from wellput.reporting.metrics import metrics_report

    check_output(output)
    width = terminal_width(output) if format == "table" else None
    show(metrics_report(list_metrics(**options), width=width), format, output)
