"""The command `wellput fit` and its options; `wellput.api.fit` does the work."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import (
    all_columns_option,
    basic_options,
    cluster_option,
    generalize_option,
    rating_options,
    show_summary_of,
    trees_option,
)


@click.command(
    epilog="""\b
Examples:
  wellput fit evalset.jsonl judgments.csv --question quality \\
      --predictors sta,ssa.substitutions,length --stepwise aic -o quality.json
  wellput score new.jsonl -m ./quality.json,sta
"""
)
@click.argument("evalset")
@click.argument("judgments")
@all_columns_option
@click.option("--question", required=True, metavar="Q", help="Fit the answers to this question.")
@click.option(
    "--predictors",
    multiple=True,
    required=True,
    metavar="NAMES",
    help="Metrics and their components, separated by commas: sta,ssa.substitutions,length.",
)
@trees_option
@click.option(
    "--method",
    type=click.Choice(["ols", "ridge"]),
    default="ols",
    show_default=True,
    help="ols: least squares; ridge: ridge regression, penalty chosen by leave-one-out.",
)
@click.option(
    "--stepwise",
    type=click.Choice(["aic", "p"]),
    help="Keep only the best predictors, chosen by AIC or by p-values.",
)
@rating_options
@click.option(
    "--no-rescale",
    is_flag=True,
    help="Keep the raw regression: all predictors, on the scale of the judgments.",
)
@generalize_option
@cluster_option
@click.option(
    "--no-probe",
    is_flag=True,
    help="Do not test which errors the metric misses (see wellput probe).",
)
@click.option("-o", "path", metavar="FILE.json", help="Write the metric to FILE.json.")
@basic_options
def command(format: str, path: str | None, **options: Any) -> None:
    """Fit a metric to people's judgments.

    EVALSET is a file with items, references and outputs. JUDGMENTS is a file with ratings (judge,
    item, system, question, value) or pairwise choices. -o writes the metric, with a record of how it
    was made; `wellput score -m ./FILE.json` uses it. A summary is printed.
    """
    from wellput.api.fit import fit

    show_summary_of(lambda on_phase: fit(**options, path=path, on_phase=on_phase), format, path)
