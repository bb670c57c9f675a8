"""`wellput displays example`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import making_options, show_made


@click.command(epilog="\b\nExample:\n  wellput displays example -o corpus.jsonl")
@click.option(
    "-n",
    "n",
    type=click.IntRange(min=1),
    default=240,
    show_default=True,
    help="Sentences.",
)
@click.option(
    "--noise",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="The share of nodes whose display has nothing to do with their context.",
)
@click.option("-o", "path", metavar="EVALSET", required=True, help="The corpus.")
@making_options
def command(format: str, path: str, **options: Any) -> None:
    """Write an example corpus: sentences by a small grammar, displays of an invented speaker.

    It is synthetic throughout: it shows how the commands work, not what people do or like.
    """
    from wellput.displays.example_corpus import example

    show_made(lambda _: example(**options, path=path), format, path)
