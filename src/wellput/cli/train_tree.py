"""`wellput train tree`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from wellput.cli.options import making_options, refuse_stdin_twice, show
from wellput.core.errors import InputError
from wellput.reporting.table import Report, Table

if TYPE_CHECKING:
    from wellput.language.tree_model import TreeModel


@click.command(
    epilog="""\b
Examples:
  wellput train tree train.conllu -o tree.wpm
  wellput train tree ewt.conllu.gz atis.conllu.gz -o tree.wpm --format json
"""
)
@click.argument("trees", nargs=-1, required=True)
@click.option(
    "-o", "output", required=True, metavar="MODEL", help="Write the model to MODEL, .wpm."
)
@making_options
def command(trees: Sequence[str], output: str, format: str, seed: int, threads: int | None) -> None:
    """Train a tree model: supertags for the words of unordered trees.

    TREES are dependency trees in CoNLL-U with relations and parts of speech. The same trees give the
    same file. A summary goes to standard output.
    """
    from wellput.cli.progress import progress_of
    from wellput.io import check_distinct, check_writable
    from wellput.io.conllu import read_trees
    from wellput.io.model_files import SUFFIX
    from wellput.language.tree_training import train_tree_model

    refuse_stdin_twice(*trees)
    if not output.endswith(SUFFIX):
        raise InputError(f"A tree model is a file with the suffix {SUFFIX}, not {output}.")
    check_writable(output)
    check_distinct([output], trees)
    readers = [read_trees(path) for path in trees]
    with progress_of("counting trees") as on_progress:
        model = train_tree_model(
            (tree for reader in readers for tree in reader), on_progress=on_progress
        )
    model.save(output)
    show(tree_report(model), format, "-")


def tree_report(model: TreeModel) -> Report:
    """What the model has learned from and how much it holds."""
    sizes = {
        "trees": int(model.card["trees"]),
        "words": int(model.card["words"]),
        "lexemes": len(model.words),
        "shapes": len(model.shapes),
        "supertags": len(model.supertags),
        "categories": len(model.inventory.categories),
        "bytes": sum(array.nbytes for array in model.arrays.values()),
    }
    records = [{"count": count, "of": name} for name, count in sizes.items()]
    table = Table(
        ("of", "count"),
        [[name, f"{count:,}"] for name, count in sizes.items()],
        notes=["Shapes stand for words that are not among the lexemes."],
        caption="What the tree model holds",
    )
    return Report([table], {**sizes, "sha256": model.fingerprint}, ("of", "count"), records)
