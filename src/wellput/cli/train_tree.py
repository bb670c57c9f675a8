"""`wellput train tree`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import making_options, show_made


@click.command(
    epilog="""\b
Examples:
  wellput train tree train.conllu -o tree.wpm
  wellput train tree ewt.conllu.gz atis.conllu.gz -o tree.wpm --format json
"""
)
@click.argument("trees", nargs=-1, required=True)
@click.option("-o", "path", required=True, metavar="MODEL", help="Write the model to MODEL, .wpm.")
@making_options
def command(format: str, path: str, **options: Any) -> None:
    """Train a tree model: supertags for the words of unordered trees.

    TREES are dependency trees in CoNLL-U with relations and parts of speech. The same trees give the
    same file. A summary goes to standard output.
    """
    from wellput.api.train_tree import tree

    show_made(lambda on_phase: tree(**options, path=path, on_phase=on_phase), format, path)
