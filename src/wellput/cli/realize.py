"""`wellput realize`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import making_options, show_made
from wellput.core.errors import InputError

INPUTS = ("words", "labels", "lemmas")
MODELS = ("learned", "fergus+", "fergus", "lr")


@click.command(
    epilog="""\b
Examples:
  wellput realize trees.conllu
  wellput realize trees.conllu --input words --evaluate
  wellput realize trees.conllu --model fergus --lattice out.fst --explain
  wellput realize trees.json --nbest 5 --format json
  wellput realize trees.conllu --nbest 5 -o nbest.jsonl
"""
)
@click.argument("trees", metavar="TREES")
@click.option(
    "--input",
    type=click.Choice(INPUTS),
    default="words",
    show_default=True,
    help="What the realizer may know: inflected words, their relations and tags too, or these and "
    "lemmas with features in the place of words.",
)
@click.option(
    "--model",
    type=click.Choice(MODELS),
    default=MODELS[0],
    show_default=True,
    help="learned is the best; fergus is the paper's, fergus+ also weighs orders, lr is the paper's "
    "baseline.",
)
@click.option(
    "--grammar",
    default="induced",
    show_default=True,
    metavar="NAME",
    help="induced, or xtag:DIR, the folder of the XTAG English grammar.",
)
@click.option("--from-text", is_flag=True, help="TREES is text, a sentence a line: parse it first.")
@click.option(
    "--insert",
    metavar="KINDS",
    help="Put in what the input leaves out: punctuation, function (words), or both with a comma.",
)
@click.option(
    "--nbest", type=click.IntRange(min=1), metavar="N", help="Show the N best of each tree."
)
@click.option(
    "--lattice",
    metavar="FILE",
    help="Write the lattice as OpenFst text, with FILE.syms; of several trees FILE.1, FILE.2, …",
)
@click.option("--evaluate", is_flag=True, help="Score against the order in the file, LR beside it.")
@click.option("--explain", is_flag=True, help="Show each tree's supertags, lattice and path.")
@click.option("--evalset", metavar="FILE", help="Write an evalset with the sentences as a system.")
@click.option(
    "-o",
    "path",
    metavar="SENTENCES",
    help="Write the sentences, one line a tree; a .jsonl has all of --nbest, for wellput rerank.",
)
@making_options
def command(format: str, path: str | None, explain: bool, **options: Any) -> None:
    """Realize sentences from unordered dependency trees.

    TREES is CoNLL-U, whose order is used only to --evaluate; or JSON or JSONL, a node being
    {"word": …, "children": […]} with "words" or "synset" where the word is to be chosen. Tokens
    are separated by one space.
    """
    from wellput.api.realize import realize

    if explain and format != "table":
        raise InputError("--explain is for reading: it goes with --format table.")
    # Standard output may have both: the sentences of -o, and what was asked for beside them.
    is_asked_more = explain or options["evaluate"] or options["nbest"] or format != "table"
    show_made(
        lambda on_phase: realize(**options, explain=explain, path=path, on_phase=on_phase),
        format,
        None if is_asked_more else path,
    )
