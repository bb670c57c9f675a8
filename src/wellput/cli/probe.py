"""The command `wellput probe` and its options; `wellput.api.probe` does the work."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import (
    column_option,
    common_options,
    metrics_option,
    show_result_of,
    trees_option,
)


@click.command(
    epilog="""\b
Examples:
  wellput probe -m bleu,chrf,fluency                       # on the example of wellput demo
  wellput probe -m bleu,chrf,./quality.json evalset.jsonl  # on your texts, with a fitted metric
  wellput probe -m chrf news.txt --perturbations negation,number,harmless --explain
  wellput probe -m bleu,ter --dataset demetr/dataset       # minimal pairs made by others
  wellput probe evalset.jsonl --write texts.jsonl          # score texts.jsonl with another program
  wellput probe --dataset texts.jsonl --scores comet.csv
"""
)
@metrics_option(
    "Metrics, fitted metrics (./METRIC.json) or files of scores, separated by commas (default: "
    "bleu,chrf,ter,rouge-l,fluency; with --scores or --write: none)."
)
@click.argument("corpus", required=False)
@click.option(
    "--perturbations",
    multiple=True,
    metavar="NAMES",
    help="Only these kinds of change, separated by commas; harmful and harmless mean all "
    "kinds of a group.",
)
@click.option(
    "--dataset",
    multiple=True,
    metavar="FILE",
    help="Minimal pairs in place of CORPUS: DEMETR's JSON, a folder of it, a table (columns reference, "
    "better, worse, perturbation, severity), or what --write made. Can be repeated.",
)
@column_option
@click.option(
    "--system",
    metavar="SYSTEM",
    help="Change the outputs of this system (default: the second reference, or the first system).",
)
@click.option(
    "-n",
    "n",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="Change at most this many texts, drawn at random.",
)
@trees_option
@click.option(
    "--write",
    metavar="FILE",
    help="Write the texts as an evalset, for other programs or a machine judge to score.",
)
@click.option(
    "--scores",
    multiple=True,
    metavar="FILE",
    help="Scores of these texts (columns system, item, metric, score), or judgments of them. Can be "
    "repeated.",
)
@click.option("--explain", is_flag=True, help="Show the pairs that each metric gets most wrong.")
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence of the intervals.",
)
@common_options
def command(format: str, output: str, **options: Any) -> None:
    """Say which errors metrics notice, and which changes mislead them.

    The texts of CORPUS, an evalset or a text file with a sentence on each line, are changed in one
    place each: harmfully (a negation, another number, words in the wrong order) or harmlessly (a
    synonym, a contraction). A good metric prefers the text without an error, and gives harmless changes
    nearly the same score.
    """
    from wellput.api.probe import probe

    show_result_of(lambda on_phase: probe(**options, on_phase=on_phase), format, output)
