"""`wellput displays example`."""

from __future__ import annotations

import click

from wellput.cli.options import making_options, show
from wellput.reporting.table import Report, Table


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
@click.option("-o", "output", metavar="EVALSET", required=True, help="The corpus.")
@making_options
def command(n: int, noise: float, output: str, format: str, seed: int, threads: int | None) -> None:
    """Write an example corpus: sentences by a small grammar, displays of an invented speaker.

    It is synthetic throughout: it shows how the commands work, not what people do or like.
    """
    from wellput.displays.example_corpus import LABEL, example_corpus
    from wellput.io import check_table, write_evalset

    check_table(output)
    corpus = example_corpus(n, noise=noise, seed=seed)
    write_evalset(corpus, output)
    if output == "-":
        return
    value = {"file": output, "items": n, "noise": noise, "seed": seed, "about": LABEL}
    rows = [[name, str(each)] for name, each in value.items()]
    table = Table(["corpus", ""], rows, is_prose=True, caption="The example corpus")
    show(Report([table], value, tuple(value), [value]), format, "-")
