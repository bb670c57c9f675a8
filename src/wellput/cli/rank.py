"""The command `wellput rank` and its options; `wellput.api.rank` does the work."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import (
    all_columns_option,
    common_options,
    complete_metric,
    exclude_option,
    generalize_to_items_option,
    interval_confidence_option,
    judges_option,
    show_result_of,
)


@click.command(
    epilog="""\b
Examples:
  wellput rank judgments.csv
  wellput rank judgments.csv --question fluency --against baseline
  wellput rank judgments.csv --by domain              # a further column of the file
  wellput rank judgments.csv --evalset evalset.jsonl  # with its documents and tags
  wellput rank choices.csv --evalset evalset.jsonl --covariates length
"""
)
@click.argument("judgments")
@click.option(
    "--evalset",
    metavar="EVALSET",
    help="The outputs that were judged, with their documents and tags; needed for --covariates.",
)
@all_columns_option
@click.option(
    "--question", multiple=True, metavar="QUESTION", help="Only this question; repeat for several."
)
@click.option(
    "--model",
    type=click.Choice(["auto", "linear", "ordinal", "binary", "bradley-terry"]),
    default="auto",
    show_default=True,
    help="auto: bradley-terry for choices, binary for yes or no, ordinal for at most five different "
    "whole numbers, else linear.",
)
@click.option(
    "--by",
    metavar="TAG",
    help="Also rank the systems for each value of this further column of the judgments, or of this tag "
    "of the evalset, such as domain.",
)
@click.option("--against", metavar="SYSTEM", help="Compare with this system only.")
@click.option(
    "--covariates",
    multiple=True,
    metavar="METRICS",
    shell_complete=complete_metric,
    help="Remove the influence of these metrics, such as length, from the judgments.",
)
@click.option(
    "--random",
    multiple=True,
    metavar="NAMES",
    help="Only these random effects: judge, item, document, judge:system, item:system, "
    "document:system (default: all that these judgments can estimate).",
)
@judges_option
@exclude_option
@click.option(
    "--correction",
    type=click.Choice(["holm", "none"]),
    default="holm",
    show_default=True,
    help="How p-values are corrected for the number of comparisons of a question.",
)
@generalize_to_items_option
@interval_confidence_option
@click.option(
    "--sequential",
    is_flag=True,
    help="For a study that is still running: intervals and p-values hold however often you look.",
)
@click.option(
    "--permutations",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Number of permutations of the test that assumes no model.",
)
@common_options
def command(format: str, output: str, **options: Any) -> None:
    """Say which systems people found better, how certain that is, and how much of the differences
    between ratings comes from judges, items and noise.

    JUDGMENTS has the columns judge, item, system, question, value; or judge, item, system_a,
    system_b, question, choice for pairwise choices. A column document, or the document of the items of
    --evalset, says which items belong together.
    """
    from wellput.api.rank import rank

    show_result_of(lambda on_phase: rank(**options, on_phase=on_phase), format, output)
