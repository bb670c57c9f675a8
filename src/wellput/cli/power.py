"""The command `wellput power` and its options; `wellput.api.power` does the work."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import all_columns_option, common_options, complete_metric, show_result_of


@click.command(
    epilog="""\b
Examples:
  wellput power --difference 0.2 --sd-item 0.8 --sd-noise 1.1 --items 50,100,200 --judges 1,3,5
  wellput power --pilot judgments.csv --difference 0.3
  wellput power --difference 0.2 --proxy-correlation 0.5 --proxy-items 1000 --judges 1,3
  wellput power --pilot judgments.csv --proxy chrf --evalset evalset.jsonl --difference 0.3
  wellput power --metric-correlations 0.45,0.40,0.80 --items 100,500,1000
"""
)
@click.option(
    "--difference", type=float, metavar="D", help="Difference between two systems to be found."
)
@click.option(
    "--pilot",
    type=click.Path(),
    metavar="JUDGMENTS",
    help="Judgments of a pilot study: take the standard deviations, and the difference, from them.",
)
@click.option("--question", metavar="QUESTION", help="The pilot's question, if it has several.")
@click.option(
    "--metric-correlations",
    metavar="R1,R2,R12",
    help="For two metrics instead: their correlations with people, and with each other.",
)
@click.option(
    "--proxy-correlation",
    type=click.FloatRange(-1, 1, min_open=True, max_open=True),
    metavar="R",
    help="For a study that `wellput estimate` analyzes: the correlation, over items, of the difference "
    "of the two systems by a proxy (a metric or a judge) with the difference by people.",
)
@click.option(
    "--proxy-items",
    type=click.IntRange(min=5),
    metavar="N",
    help="Number of items that the proxy has scores for (default with --proxy: the items "
    "of --evalset that have scores).",
)
@click.option(
    "--proxy",
    metavar="METRIC|judge:NAME",
    shell_complete=complete_metric,
    help="Take the proxy's correlation from --pilot: a metric, a file of scores, or a judge.",
)
@click.option("--evalset", metavar="EVALSET", help="With --proxy: the evalset with all outputs.")
@all_columns_option
@click.option(
    "--items",
    multiple=True,
    default=["25,50,100,200,400"],
    show_default=True,
    metavar="N,…",
    help="Numbers of items.",
)
@click.option("--judges", multiple=True, metavar="N,…", help="Numbers of judges (default: 1,3,5).")
@click.option(
    "--sd-item",
    type=click.FloatRange(min=0),
    metavar="SD",
    help="Standard deviation, over items, of the true difference of two systems (default: 1).",
)
@click.option(
    "--sd-noise",
    type=click.FloatRange(min=0),
    metavar="SD",
    help="Standard deviation of one rating, if a judge rated the same output again (default: 1).",
)
@click.option(
    "--sd-judge",
    type=click.FloatRange(min=0),
    metavar="SD",
    help="Standard deviation, over judges, of their preference for one system (default: 0).",
)
@click.option(
    "--judge-correlation",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="R",
    help="For two metrics: correlation of two single judges. The number of judges then matters.",
)
@click.option(
    "--pilot-judges",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many judges rated each output when R1 and R2, or the R of a proxy, were measured "
    "(default: 1).",
)
@click.option(
    "--target",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="The power to reach.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Significance level of the test.",
)
@click.option(
    "--simulations",
    type=click.IntRange(min=100),
    default=10_000,
    show_default=True,
    help="Number of simulated studies of each size.",
)
@common_options
def command(format: str, output: str, **options: Any) -> None:
    """Say how many items and judges a study needs to tell two systems, or two metrics, apart.

    Power is the chance that a study finds a difference that exists. It is computed by simulation.
    """
    from wellput.api.power import power

    show_result_of(lambda on_phase: power(**options, on_phase=on_phase), format, output)
