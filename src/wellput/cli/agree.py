"""`wellput agree`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import (
    common_options,
    generalize_options,
    panel_options,
    show_result_of,
    trees_option,
)
from wellput.cli.score import complete_metric
from wellput.stats.correlation import COEFFICIENTS

TESTS = (
    "auto", "perm-both", "perm-systems", "perm-inputs", "perm-cells", "boot-both", "boot-systems",
    "boot-inputs", "williams",
)  # fmt: skip


@click.command(
    epilog="""\b
Examples:
  wellput agree evalset.jsonl judgments.csv -m bleu,chrf,ssa,sta,random
  wellput agree evalset.jsonl judgments.csv -m bleu,chrf --level system --coefficient pearson,kendall
  wellput agree evalset.jsonl choices.csv -m bleu,chrf        # pairwise choices
"""
)
@click.argument("evalset")
@click.argument("judgments")
@click.option(
    "-m",
    "--metrics",
    "metrics",
    multiple=True,
    required=True,
    metavar="METRICS",
    shell_complete=complete_metric,
    help="Metrics, separated by commas; add random and length-only to see the floor.",
)
@trees_option
@click.option(
    "--level",
    type=click.Choice(["system", "segment", "document"]),
    default="segment",
    show_default=True,
    help="What is correlated: systems, segments, or documents of segments drawn at random.",
)
@click.option(
    "--average",
    type=click.Choice(["none", "item", "system"]),
    default="none",
    show_default=True,
    help="Segments pooled, or correlated within each item or system and averaged.",
)
@click.option(
    "--coefficient",
    multiple=True,
    default=["pearson"],
    show_default=True,
    metavar="NAMES",
    help=f"One or more of {', '.join(COEFFICIENTS)}.",
)
@panel_options
@click.option(
    "--document-size", type=click.IntRange(min=1), default=300, show_default=True, help="Segments."
)
@click.option(
    "--documents",
    type=click.IntRange(min=2),
    default=10,
    show_default=True,
    help="Documents drawn.",
)
@click.option(
    "--models",
    is_flag=True,
    help="Also regress the ratings on the metrics, singly and together: R² and p of each.",
)
@click.option(
    "--test",
    type=click.Choice(TESTS),
    default="auto",
    show_default=True,
    help="Differences between metrics; auto: the inference of the intervals. The others are tests that "
    "papers use.",
)
@click.option(
    "--correction",
    type=click.Choice(["holm", "bonferroni", "bh", "none"]),
    default="holm",
    show_default=True,
    help="For there being many pairs of metrics.",
)
@generalize_options
@click.option("--resample", type=click.Choice(["auto", "both", "systems", "items"]), hidden=True)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Resamples of a --test that draws or exchanges; pairs of metrics that look different are "
    "tested again with as many as the correction needs.",
)
@common_options
def command(format: str, output: str, resample: str | None, **options: Any) -> None:
    """Say whom people prefer, whether metrics order the systems alike, how far each metric agrees
    with people, and how far the people agree among themselves.

    JUDGMENTS has the columns judge, item, system, question, value; or judge, item, system_a,
    system_b, question, choice for pairwise choices.
    """
    from wellput.api.agree import agree

    if resample is not None:
        options["generalize"] = "both" if resample == "auto" else resample
        click.echo(f"wellput: --resample is now --generalize {options['generalize']}", err=True)
    show_result_of(lambda on_phase: agree(**options, on_phase=on_phase), format, output)
