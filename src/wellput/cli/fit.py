"""`wellput fit`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import making_options, show_made, trees_option


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
@click.option("--question", required=True, metavar="Q", help="The question whose answers to fit.")
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
    help="Least squares, or ridge regression with the penalty chosen by leave-one-out.",
)
@click.option(
    "--stepwise",
    type=click.Choice(["aic", "p"]),
    help="Choose among the predictors, by AIC or by p-values.",
)
@click.option(
    "--normalize",
    type=click.Choice(["none", "z", "unit", "rank"]),
    help="Common scale of the judges' ratings (default: z for several judges, else none).",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="RULE",
    help='Leave judgments out, with the reason: "judge=J3: pressed one button", "item=7: a typo".',
)
@click.option(
    "--exclude-judges-below",
    type=click.FloatRange(-1, 1),
    metavar="R",
    help="Leave out judges who correlate less than R with the rest.",
)
@click.option(
    "--no-rescale",
    is_flag=True,
    help="Keep the raw regression: all predictors, on the scale of the judgments.",
)
@click.option(
    "--generalize",
    type=click.Choice(["items", "systems", "both"]),
    default="both",
    show_default=True,
    help="What intervals and p hold for: other items, other systems, or both.",
)
@click.option("-o", "path", metavar="FILE.json", help="Write the metric to FILE.json.")
@making_options
def command(format: str, path: str | None, **options: Any) -> None:
    """Fit a metric to people's judgments.

    EVALSET is a file with items, references and outputs, JUDGMENTS one with ratings (judge, item,
    system, question, value) or pairwise choices. The metric is written to the file of -o, with its
    card; `wellput score -m ./FILE.json` uses it. A summary goes to standard output.
    """
    from wellput.api.fit import fit

    show_made(lambda on_phase: fit(**options, path=path, on_phase=on_phase), format, path)
