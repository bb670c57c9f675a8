"""The command `wellput degrade` and its options; `wellput.api.degrade` does the work."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import basic_options, show_summary_of


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
    help="sequence, pos, supertag, cfg or errors; several, separated by commas, with --evalset.",
)
@click.option(
    "--size",
    multiple=True,
    help="Words in a sequence (default: 1); several, separated by commas, with --evalset.",
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
    help="Sentences to make for each system.",
)
@click.option(
    "--boundary",
    type=click.Choice(["sentence", "literal"]),
    default="sentence",
    show_default=True,
    help="sentence: a sentence begins and ends as sentences of the corpus do; literal: its "
    "sequences come from anywhere in the text.",
)
@click.option(
    "--treebank",
    metavar="FILE",
    help="Trees for the grammar of cfg: CoNLL-U or brackets (default: the trees of CORPUS).",
)
@click.option(
    "--input-tokenized", is_flag=True, help="CORPUS is already split into words by spaces."
)
@click.option(
    "--tokenized", is_flag=True, help="Write the words separated by spaces, not as normal text."
)
@click.option(
    "--evalset", is_flag=True, help="Make an evalset with a system for each method and size."
)
@click.option(
    "--gold",
    metavar="FILE",
    help="Write the size of the sequences as judgments, for wellput agree.",
)
@click.option("-o", "path", default="-", metavar="FILE", help="Write the sentences to FILE.")
@basic_options
def command(format: str, path: str, evalset: bool, **options: Any) -> None:
    """Make sentences of known quality from a corpus.

    CORPUS is text with a sentence on each line, or trees in CoNLL-U (.conllu).

    \b
    sequence  joins sequences of words from the corpus: longer sequences, better sentences
    pos       fills templates of parts of speech with their most probable words
    supertag  fills templates of supertags with their most probable words
    cfg       derives sentences from a grammar
    errors    puts mistakes into sentences of the corpus
    """
    from wellput.api.degrade import degrade

    # With the path None, the sentences are the summary and are shown in --format. An evalset for
    # standard output is written there by `degrade` (the path "-"), and no summary is shown.
    product_path = None if path == "-" and not evalset else path
    show_summary_of(
        lambda on_phase: degrade(**options, evalset=evalset, path=product_path, on_phase=on_phase),
        format,
        product_path,
    )
