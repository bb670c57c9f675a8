"""`wellput parse`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import making_options, show_made
from wellput.text.tokenizers import NATIVE

TREEBANK = "treebank"


@click.command(
    epilog="""\b
Examples:
  wellput parse sentences.txt
  wellput parse sentences.txt -o sentences.conllu
  wellput parse tokens.txt --tokenize none --parser spacy:en_core_web_sm
"""
)
@click.argument("sentences", metavar="SENTENCES.txt")
@click.option(
    "--parser",
    default="english",
    show_default=True,
    metavar="NAME",
    help="english, a folder made by wellput train parser, or spacy:NAME (a pipeline you have).",
)
@click.option(
    "--tokenize",
    type=click.Choice([TREEBANK, *NATIVE]),
    default=TREEBANK,
    show_default=True,
    help="How lines are cut into words; none: at blanks only.",
)
@click.option(
    "-o",
    "path",
    default="-",
    metavar="TREES.conllu",
    help="Write the trees to TREES.conllu (.gz, .xz), and a summary to standard output.",
)
@making_options
def command(format: str, path: str, **options: Any) -> None:
    """Parse sentences into dependency trees (CoNLL-U).

    SENTENCES.txt has one on each line (- for standard input). Empty lines have no tree; sent_id is
    the line's number. The log probability (natural) and the number of fragments are those of the
    head-driven model. Without -o the trees go to standard output; --format is the summary's.
    """
    from wellput.api.parse import parse

    show_made(lambda on_phase: parse(**options, path=path, on_phase=on_phase), format, path)
