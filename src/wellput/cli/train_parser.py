"""`wellput train parser`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from wellput.cli.options import making_options, refuse_stdin_twice, show
from wellput.core.counted import counted
from wellput.reporting.table import Report, Table

SCORES = ("xpos", "upos", "lemma", "uas", "las")


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
    "output",
    required=True,
    metavar="FOLDER",
    help="An existing folder: tagger.wpm and parser.wpm are written there.",
)
@making_options
def command(
    trees: Sequence[str],
    dev: str | None,
    epochs: int,
    output: str,
    format: str,
    seed: int,
    threads: int | None,
) -> None:
    """Train a tagger and a dependency parser from treebanks in CoNLL-U.

    The same trees and the same seed give the same files. What was measured on --dev goes to standard
    output and into the models' cards.
    """
    from pathlib import Path

    from wellput.cli.progress import progress_of
    from wellput.core.cores import available_cores
    from wellput.core.errors import InputError
    from wellput.io import read_trees
    from wellput.language.parser_training import attachment_scores, train_parser
    from wellput.language.parsers import PARSER_FILE, TAGGER_FILE

    refuse_stdin_twice(*trees, *([dev] if dev else []))
    folder = Path(output)
    if not folder.is_dir():
        raise InputError(f"{output} is no folder: make it first (mkdir {output}).")
    treebank = [tree for path in trees for tree in read_trees(path)]
    held_out = list(read_trees(dev)) if dev else []
    with progress_of("learning, rounds over the trees") as on_progress:
        parser = train_parser(
            treebank, dev=held_out, epochs=epochs, seed=seed, on_epoch=on_progress
        )
    scores: dict[str, float] = {}
    if held_out:
        words = [[word.form for word in tree.words] for tree in held_out]
        scores = attachment_scores(
            held_out, parser.parse(words, threads=threads or available_cores())
        )
    card = {
        "data": [Path(path).name for path in trees],
        "trees": len(treebank),
        "epochs": epochs,
        "seed": seed,
        "dev": scores,
    }
    parser.tagger.save(folder / TAGGER_FILE, card)
    parser.transitions.save(folder / PARSER_FILE, card)
    show(parser_report(len(treebank), scores), format, "-")


def parser_report(trees: int, scores: dict[str, float]) -> Report:
    """What was measured, in percent of words."""
    record: dict[str, float | None] = {name: scores.get(name) for name in SCORES}
    cells = [f"{100 * scores[name]:.2f}" if name in scores else "–" for name in SCORES]
    notes = [f"From {counted(trees, 'tree')}."]
    if scores:
        notes.append(
            f"In percent of the {scores['words']:,.0f} words of --dev, punctuation included: tags, "
            "lemmas, heads (UAS), heads with universal relations (LAS)."
        )
    columns = ("XPOS", "UPOS", "lemmas", "UAS", "LAS")
    table = Table(columns, [cells], notes=notes, caption="Accuracy of the parser")
    return Report([table], {"trees": trees, **record}, SCORES, [record])
