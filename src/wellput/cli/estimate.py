"""The command `wellput estimate` and its options; `wellput.api.estimate` does the work."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import (
    all_columns_option,
    cluster_option,
    common_options,
    complete_metric,
    exclude_option,
    interval_confidence_option,
    show_result_of,
)


@click.command(
    epilog="""\b
Examples:
  wellput estimate evalset.jsonl judgments.csv --proxy ./comet.csv
  wellput estimate evalset.jsonl judgments.csv --proxy judge:model:gpt-4o --question quality
  wellput estimate evalset.jsonl judgments.csv --proxy chrf --budget 50 --plan next.csv
"""
)
@click.argument("evalset")
@click.argument("judgments")
@all_columns_option
@click.option(
    "--proxy",
    required=True,
    metavar="METRIC|judge:NAME",
    shell_complete=complete_metric,
    help="What scores all outputs: a metric, a file of scores, several metrics (they are fitted to the "
    "judgments), or a judge of JUDGMENTS.",
)
@click.option("--question", metavar="Q", help="The question to use, if there are several.")
@click.option(
    "--judges",
    multiple=True,
    default=["people"],
    show_default=True,
    metavar="people|all|NAMES",
    help="Whose judgments are the labels; judges named model:… are not people.",
)
@click.option(
    "--strata",
    metavar="TAG",
    help="Estimate the items of each value of this tag separately, then combine the estimates.",
)
@cluster_option
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="N",
    help="Also choose N items to ask people about next.",
)
@click.option("--plan", metavar="FILE", help="Write the items of --budget to this CSV file.")
@click.option(
    "--probabilities",
    metavar="FILE",
    help="The file that --plan wrote, by which the labeled items were chosen (default: all had the "
    "same chance).",
)
@exclude_option
@interval_confidence_option
@common_options
def command(format: str, output: str, **options: Any) -> None:
    """Estimate what people would say of each system, from few judgments and many scores of a proxy.

    EVALSET has all outputs, JUDGMENTS people's answers about some of them. The bias of the proxy (a
    metric or a judge) is measured on outputs with both a judgment and a score, and removed.
    """
    from wellput.api.estimate import estimate

    show_result_of(lambda on_phase: estimate(**options, on_phase=on_phase), format, output)
