"""`wellput report`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import making_options, panel_options, show_made
from wellput.cli.score import complete_metric


@click.command(
    epilog="""\b
Examples:
  wellput report evalset.jsonl -o report.html
  wellput report evalset.jsonl judgments.csv -m bleu,chrf,gta,random -o report.html
"""
)
@click.argument("evalset")
@click.argument("judgments", required=False)
@click.option(
    "-m",
    "--metrics",
    "metrics",
    multiple=True,
    metavar="METRICS",
    shell_complete=complete_metric,
    help="Metrics, separated by commas (default: those that the items allow).",
)
@click.option("--baseline", metavar="NAME", help="The system to compare with (default: the first).")
@panel_options
@click.option(
    "--items",
    type=click.IntRange(min=1),
    default=2000,
    show_default=True,
    help="Show at most so many items; scores are over all.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Resamples for the agreement of metrics with people.",
)
@click.option(
    "--generalize",
    type=click.Choice(["both", "systems", "items"]),
    default="both",
    show_default=True,
    help="What intervals of metrics' agreement with people hold for: other systems and other items, or "
    "one of the two.",
)
@click.option("--title", metavar="TEXT", help="The report's heading (default: the file's name).")
@click.option("-o", "path", metavar="FILE", required=True, help="Write the report to FILE.")
@making_options
def command(format: str, path: str, **options: Any) -> None:
    """Make a report that opens in a browser: one file with the answer, charts, and every item with
    its alignment, to search, filter and sort.

    JUDGMENTS as for wellput agree: with them, the report holds the metrics against people.
    """
    from wellput.api.report import report

    show_made(
        lambda on_phase: report(**options, path=path, on_phase=on_phase), format, path, at_once=True
    )
