"""The command `wellput convert` and its options; `wellput.api.convert` does the work."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import basic_options, show_summary_of, trees_file_option


@click.command(
    epilog="""\b
Examples:
  wellput convert wsj_0001.mrg
  wellput convert treebank/combined/wsj_*.mrg -o wsj.conllu
  wellput convert wsj_*.mrg --lemmas -o wsj.conllu
  wellput train fergus wsj.conllu -o my-fergus/
"""
)
@click.argument("trees", nargs=-1, required=True)
@click.option(
    "--lemmas", is_flag=True, help="Fill in lemmas, from wellput's tables of English endings."
)
@trees_file_option
@basic_options
def command(format: str, path: str, **options: Any) -> None:
    """Convert constituent trees of the Penn Treebank to dependency trees (CoNLL-U).

    TREES are files of Penn brackets. Verbs head their auxiliaries, predicates their copula, and
    prepositions their nouns, as in the XTAG grammar. Relations follow from phrases, function tags and
    traces. Without -o the trees go to standard output. --format is for the summary.
    """
    from wellput.api.convert import convert

    show_summary_of(lambda on_phase: convert(**options, path=path, on_phase=on_phase), format, path)
