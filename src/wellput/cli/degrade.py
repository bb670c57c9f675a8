"""`wellput degrade`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import making_options, show_made


@click.command(
    epilog="""\b
Examples:
  wellput degrade corpus.txt --method sequence --size 4 --length 24 -n 1000 --seed 7
  wellput degrade trees.conllu --method pos,cfg -n 100 --evalset -o degraded.jsonl
  wellput degrade corpus.txt --size 1,2,4,8,24 -n 200 --evalset -o known.jsonl --gold known.csv
  wellput agree known.jsonl known.csv -m perplexity:model=english.wlm,length
"""
)
@click.argument("corpus")
@click.option(
    "--method",
    multiple=True,
    default=["sequence"],
    show_default=True,
    help="sequence, pos, supertag, cfg, errors; several with --evalset.",
)
@click.option(
    "--size",
    multiple=True,
    help="Words in a sequence (default: 1); several with --evalset.",
)
@click.option(
    "--length",
    type=click.IntRange(1, 500),
    default=24,
    show_default=True,
    help="Words in a sentence.",
)
@click.option(
    "-n",
    "n",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Sentences of each system.",
)
@click.option(
    "--boundary",
    type=click.Choice(["sentence", "literal"]),
    default="sentence",
    show_default=True,
    help="Where sequences begin and end a sentence: as in the corpus, or anywhere.",
)
@click.option(
    "--treebank",
    metavar="FILE",
    help="Trees for the grammar of cfg: CoNLL-U, or brackets (default: those of the corpus).",
)
@click.option(
    "--input-tokenized", is_flag=True, help="The words of the corpus are separated by spaces."
)
@click.option("--tokenized", is_flag=True, help="Write words separated by spaces, not prose.")
@click.option(
    "--evalset", is_flag=True, help="Make an evalset with a system for each method and size."
)
@click.option(
    "--gold",
    metavar="FILE",
    help="Write what is known by construction, the size, as judgments for `agree`.",
)
@click.option("-o", "path", default="-", metavar="FILE", help="Write the sentences to FILE.")
@making_options
def command(format: str, path: str, evalset: bool, **options: Any) -> None:
    """Make sentences of known quality from a corpus.

    CORPUS is text with a sentence on each line, or trees in CoNLL-U (.conllu). Sequences of words glued
    together are the better the longer they are; the other methods fill templates of parts of speech
    or supertags with their likeliest words, derive sentences from a grammar, or put mistakes into
    sentences of the corpus (errors).
    """
    from wellput.api.degrade import degrade

    # On standard output sentences may have any format; an evalset has its own.
    made = None if path == "-" and not evalset else path
    show_made(
        lambda on_phase: degrade(**options, evalset=evalset, path=made, on_phase=on_phase),
        format,
        made,
    )
