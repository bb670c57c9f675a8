"""The command `wellput report` and its options; `wellput.api.report` does the work."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import (
    all_columns_option,
    basic_options,
    by_option,
    cluster_option,
    generalize_option,
    metrics_option,
    panel_options,
    show_summary_of,
)


@click.command(
    epilog="""\b
Examples:
  wellput report evalset.jsonl -o report.html
  wellput report evalset.jsonl judgments.csv -m bleu,chrf,gta,random -o report.html
  wellput report evalset.jsonl -m ./comet.csv,chrf --by domain -o report.html
"""
)
@click.argument("evalset")
@click.argument("judgments", required=False)
@all_columns_option
@metrics_option(
    "Metrics, or files of scores (./comet.csv), separated by commas (default: metrics whose data, such "
    "as references or trees, the items have)."
)
@click.option("--baseline", metavar="NAME", help="Compare with this system (default: the first).")
@panel_options
@click.option(
    "--items",
    type=click.IntRange(min=1),
    default=2000,
    show_default=True,
    help="Show at most this many items. Scores are computed from all items.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Resamples for the tests of metrics against people.",
)
@generalize_option
@cluster_option
@by_option
@click.option(
    "--probe",
    is_flag=True,
    help="Add a section on which errors the metrics notice (see wellput probe); the texts must be "
    "English.",
)
@click.option(
    "--title", metavar="TEXT", help="Heading of the report (default: the name of EVALSET)."
)
@click.option("-o", "path", metavar="FILE", required=True, help="Write the report to FILE.")
@basic_options
def command(format: str, path: str, **options: Any) -> None:
    """Make a report that opens in a browser: one file that says which system is best, with charts, and
    with every item and its alignment. Items can be searched, filtered and sorted.

    JUDGMENTS is a file as for wellput agree. With it, the report also compares metrics with people.
    """
    from wellput.api.report import report

    show_summary_of(
        lambda on_phase: report(**options, path=path, on_phase=on_phase), format, path, is_slow=True
    )
