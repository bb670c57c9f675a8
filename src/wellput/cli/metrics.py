"""`wellput metrics`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import (
    check_output,
    common_options,
    complete_metric,
    show,
    terminal_width,
)


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
    """List every metric: which direction is better, what it needs, its options, its paper.

    With METRIC, show this one: what it measures, its options with defaults and values, and examples.
    """
    from wellput.api.list_metrics import list_metrics
    from wellput.reporting.metrics import metrics_report

    check_output(output)
    width = terminal_width(output) if format == "table" else None
    show(metrics_report(list_metrics(**options), width=width), format, output)
