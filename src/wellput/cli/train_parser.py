"""`wellput train parser`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import making_options, show_made


@click.command(
    epilog="""\b
Examples:
  wellput train parser train.conllu --dev dev.conllu -o my-parser
  wellput parse sentences.txt --parser my-parser
"""
)
@click.argument("trees", nargs=-1, required=True, metavar="TREES.conllu...")
@click.option(
    "--dev", metavar="FILE", help="Trees to measure on; probabilities are fitted to them."
)
@click.option(
    "--epochs",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Rounds over the trees.",
)
@click.option(
    "-o",
    "path",
    required=True,
    metavar="FOLDER",
    help="An existing folder: tagger.wpm and parser.wpm are written there.",
)
@making_options
def command(format: str, path: str, **options: Any) -> None:
    """Train a tagger and a dependency parser from treebanks in CoNLL-U.

    The same trees and the same seed give the same files. What was measured on --dev goes to standard
    output and into the models' cards.
    """
    from wellput.api.train_parser import parser

    show_made(lambda on_phase: parser(**options, path=path, on_phase=on_phase), format, path)
