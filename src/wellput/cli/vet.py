"""The command `wellput vet` and its options; `wellput.api.vet` does the work."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import (
    all_columns_option,
    common_options,
    complete_metric,
    exclude_option,
    interval_confidence_option,
    show_result_of,
)


@click.command(
    epilog="""\b
Examples:
  wellput vet judgments.csv --judge model:gpt-4o
  wellput vet judgments.csv --judge model:gpt-4o --epsilon 0.2 --evalset evalset.jsonl
  wellput vet judgments.csv --judge ./comet.csv --evalset evalset.jsonl --question adequacy
"""
)
@click.argument("judgments")
@click.option(
    "--judge",
    required=True,
    metavar="NAME",
    shell_complete=complete_metric,
    help="A judge of JUDGMENTS, such as model:gpt-4o; with --evalset also a metric or a file of "
    "scores.",
)
@click.option(
    "--evalset",
    metavar="EVALSET",
    help="The outputs that were judged: with them, the result says whether "
    "the judge favors longer outputs.",
)
@all_columns_option
@click.option(
    "--question",
    multiple=True,
    metavar="Q",
    help="Use only this question. Can be repeated. Default: all questions together.",
)
@click.option(
    "--epsilon",
    type=click.FloatRange(0, 1),
    default=0.1,
    show_default=True,
    help="How much less often than a person the judge may be the nearer one, because it costs less: "
    "0.2 if people are experts, 0.15 if trained, 0.1 for crowd workers.",
)
@click.option(
    "--scoring",
    type=click.Choice(["accuracy", "neg_rmse"]),
    help="How near answers are: share of equal ones, or root mean squared difference (default: "
    "accuracy for labels, choices and yes or no, else neg_rmse).",
)
@click.option(
    "--min-items",
    type=click.IntRange(min=2),
    default=30,
    show_default=True,
    metavar="N",
    help="Test only people with at least N trials.",
)
@click.option(
    "--own",
    multiple=True,
    metavar="SYSTEMS",
    help="Systems of the judge's own family (default: those whose names begin with the same word).",
)
@exclude_option
@interval_confidence_option
@common_options
def command(format: str, output: str, **options: Any) -> None:
    """Say whether a judge (a model, a person or a metric) may judge in place of people.

    JUDGMENTS has the answers of people and of the judge: numbers, labels or pairwise choices. The
    alternative annotator test leaves out each person in turn and asks who is nearer to the others, the
    person or the judge.
    """
    from wellput.api.vet import vet

    show_result_of(lambda on_phase: vet(**options, on_phase=on_phase), format, output)
