"""The command `wellput agree` and its options; `wellput.api.agree` does the work."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import (
    all_columns_option,
    by_option,
    cluster_option,
    common_options,
    interval_options,
    metrics_option,
    panel_options,
    paraphrase_option,
    show_result_of,
    trees_option,
)
from wellput.stats.correlation import COEFFICIENTS

COMPARISON_TESTS = (
    "auto", "perm-both", "perm-systems", "perm-inputs", "perm-cells", "boot-both", "boot-systems",
    "boot-inputs", "williams", "paired-t",
)  # fmt: skip


@click.command(
    epilog="""\b
Examples:
  wellput agree evalset.jsonl judgments.csv -m bleu,chrf,ssa,sta,random
  wellput agree evalset.jsonl judgments.csv -m bleu,chrf --level system --coefficient pearson,kendall
  wellput agree evalset.jsonl judgments.csv -m bleu --paraphrase wordnet,contextwn --level document
  wellput agree evalset.jsonl choices.csv -m bleu,chrf        # pairwise choices
  wellput agree evalset.jsonl judgments.csv -m bleu,./comet.csv             # scores made elsewhere
  wellput agree wmt23/en-de wmt23/en-de -m logged:scorer=all --question mqm  # mt-metrics-eval
  wellput agree evalset.jsonl marked.csv -m gsa --level span  # error spans: who blames the same words
"""
)
@click.argument("evalset")
@click.argument("judgments")
@all_columns_option
@metrics_option(
    "Metrics, or files of scores (./comet.csv), separated by commas. random and length-only show what "
    "a metric must beat.",
)
@trees_option
@paraphrase_option("Also compare each metric on references rewritten by these methods")
@click.option(
    "--level",
    type=click.Choice(["system", "segment", "document", "span"]),
    default="segment",
    show_default=True,
    help="Correlate the scores of systems, of segments (single outputs), or of documents; span: "
    "compare the words that metrics (ssa, gsa, sta, gta) and machine judges blame with the error spans "
    "that people marked.",
)
@click.option(
    "--average",
    type=click.Choice(["none", "item", "system"]),
    default="none",
    show_default=True,
    help="none: correlate all segments together; item, system: correlate the segments of each item, or "
    "of each system, and average.",
)
@click.option(
    "--coefficient",
    multiple=True,
    default=["pearson"],
    show_default=True,
    metavar="NAMES",
    help=f"One or more of {', '.join(COEFFICIENTS)}.",
)
@click.option(
    "--metric-items",
    type=click.Choice(["judged", "all"]),
    default="judged",
    show_default=True,
    help="At system level, compute the score of a system from its judged outputs, or from all its "
    "outputs, as in mt-metrics-eval.",
)
@panel_options
@click.option(
    "--document-size",
    type=click.IntRange(min=1),
    default=300,
    show_default=True,
    help="Segments in a document, if items have no documents: they are drawn at random.",
)
@click.option(
    "--documents",
    type=click.IntRange(min=2),
    default=10,
    show_default=True,
    help="Documents to draw at random.",
)
@click.option(
    "--models",
    is_flag=True,
    help="Also regress the ratings on each metric and on all together: R² and p-values.",
)
@click.option(
    "--test",
    type=click.Choice(COMPARISON_TESTS),
    default="auto",
    show_default=True,
    help="How two metrics are compared. auto: the method of the intervals; the others are tests used "
    "in papers.",
)
@click.option(
    "--correction",
    type=click.Choice(["holm", "bonferroni", "bh", "none"]),
    default="holm",
    show_default=True,
    help="Correction of p-values for the number of metrics and pairs.",
)
@click.option(
    "--homogeneity",
    metavar="CHOICES",
    help="Pairwise choices of another study: test by χ² whether people chose in the same way there.",
)
@interval_options
@cluster_option
@by_option
@click.option("--resample", type=click.Choice(["auto", "both", "systems", "items"]), hidden=True)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Resamples of the perm and boot tests. Pairs of metrics that look different are tested "
    "again with as many as the correction needs.",
)
@common_options
def command(format: str, output: str, resample: str | None, **options: Any) -> None:
    """Say which systems people prefer, whether metrics rank the systems in the same order, how far
    each metric agrees with people, and how far the judges agree with each other.

    JUDGMENTS is a file with the columns judge, item, system, question, value; for pairwise choices
    with judge, item, system_a, system_b, question, choice.
    """
    from wellput.api.agree import agree

    if resample is not None:
        options["generalize"] = "both" if resample == "auto" else resample
        click.echo(f"wellput: --resample is now --generalize {options['generalize']}", err=True)
    show_result_of(lambda on_phase: agree(**options, on_phase=on_phase), format, output)
