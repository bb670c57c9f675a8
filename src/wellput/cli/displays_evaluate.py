"""`wellput displays evaluate`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import common_options, show_result_of


@click.command(
    epilog="""\b
Examples:
  wellput displays evaluate all.jsonl
  wellput displays evaluate all.jsonl --charts figure4 --format json -o scores.json
  wellput displays evaluate all.jsonl -m display-f:match=combination,display-ttr --confidence
"""
)
@click.argument("evalset")
@click.option(
    "-m",
    "--metrics",
    "metrics",
    multiple=True,
    metavar="METRICS",
    help="Display metrics, separated by commas (default: all of them).",
)
@click.option("--confidence", is_flag=True, help="Bootstrap intervals.")
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Resamples of the intervals.",
)
@click.option(
    "--charts",
    metavar="PREFIX",
    help="Write two charts, PREFIX-reproduction.svg and PREFIX-intrinsic.svg.",
)
@common_options
def command(format: str, output: str, charts: str | None, **options: Any) -> None:
    """Score every system's display schedules against those of the system `original`.

    Systems are tested against each other by Wilcoxon's rank sum test with Bonferroni's correction.
    The JSON is that of `wellput score`, with the tests under rank_sums.
    """
    from wellput.displays.evaluation import chart_files, evaluate
    from wellput.io import check_files

    check_files([output, *chart_files(charts).values()], [])
    show_result_of(
        lambda on_phase: evaluate(**options, charts=charts, on_phase=on_phase), format, output
    )
