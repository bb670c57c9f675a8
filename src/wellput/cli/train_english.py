"""`wellput train english`."""

from __future__ import annotations

import sys
from typing import Any

import click

from wellput.cli.options import making_options, show_made


@click.command(
    epilog="""\b
Example:
  wellput train english --treebank en_ewt-ud-train.conllu --treebank en_atis-ud-train.conllu \\
    --dev en_ewt-ud-dev.conllu --text gutenberg/ --text sotu/ \\
    --real apart/ --source other/ -o english/
"""
)
@click.option(
    "--treebank",
    multiple=True,
    required=True,
    metavar="FILE",
    help="Trees to learn from, CoNLL-U. Can be repeated.",
)
@click.option(
    "--dev",
    required=True,
    metavar="FILE",
    help="Trees to tune and measure on, CoNLL-U.",
)
@click.option(
    "--text",
    multiple=True,
    metavar="PATH",
    help="More text for the n-gram model: a file, a folder or a tar archive of .txt. Can be repeated.",
)
@click.option(
    "--ngrams",
    metavar="FILE",
    help="A model of general English for fluency, ARPA or .wlm, in small letters without punctuation.",
)
@click.option(
    "--real",
    multiple=True,
    metavar="PATH",
    help="Text that no other model sees, to train fluency on: stays as it is. Can be repeated.",
)
@click.option(
    "--source",
    multiple=True,
    metavar="PATH",
    help="The same, to make worse sentences from. Can be repeated.",
)
@click.option("--only", multiple=True, metavar="FILE", help="Make this file only. Can be repeated.")
@click.option("--restart", is_flag=True, help="Make files again that are there already.")
@click.option("-o", "path", required=True, metavar="FOLDER", help="Write models into FOLDER.")
@making_options
def command(format: str, path: str, **options: Any) -> None:
    """Make all models of English that wellput comes with.

    Files come one after the other, each with a card that says what it was made from. One that was made
    from the same things is not made again, so what was stopped goes on. The same input gives the same
    files.
    """
    from wellput.api.train_english import english
    from wellput.cli.progress import say

    def on_step(file: str, about: str) -> None:
        if sys.stderr.isatty():
            say(f"making {file}: {about}")

    show_made(
        lambda on_phase: english(**options, path=path, on_phase=on_phase, on_step=on_step),
        format,
        path,
    )
