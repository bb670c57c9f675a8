"""`wellput displays select`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import making_options, show_made


@click.command(
    epilog="""\b
Examples:
  wellput displays select corpus.jsonl --strategy rule,majority,weighted --folds 10 -o all.jsonl
  wellput displays select new.jsonl --train corpus.jsonl --strategy learned -o chosen.jsonl
"""
)
@click.argument("evalset")
@click.option(
    "--strategy",
    multiple=True,
    metavar="NAMES",
    help="rule, majority, weighted, learned, separated by commas (default: the first three).",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=10,
    show_default=True,
    help="Folds of the cross-validation.",
)
@click.option("--train", metavar="FILE", help="Learn from the sentences of FILE instead.")
@click.option(
    "--context",
    multiple=True,
    metavar="FEATURES",
    help="Features to go by, the one to give up last first (default: all, label first).",
)
@click.option(
    "--backoff/--no-backoff",
    default=True,
    show_default=True,
    help="Shorten contexts that were not seen in training, or refuse them.",
)
@click.option(
    "--rules",
    default="foster2008",
    show_default=True,
    metavar="RULES",
    help="Rules of the strategy rule: foster2008, foster2008-table1, or a JSON file.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Of the strategy learned: 1 draws by probability, 0 takes the likeliest.",
)
@click.option("--replace", is_flag=True, help="Replace systems of the same names.")
@click.option("-o", "path", metavar="EVALSET", required=True, help="The evalset with the systems.")
@making_options
def command(format: str, path: str, **options: Any) -> None:
    """Choose displays for the nodes of every sentence, by one or more strategies.

    EVALSET has sentences with derivations, and where they are to be learned from the displays that
    people showed as the outputs of a system named original. Each strategy becomes a system.
    """
    from wellput.displays.selection import select

    show_made(lambda _: select(**options, path=path), format, path)
