"""The command `wellput parse` and its options; `wellput.api.parse` does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wellput.cli.options import basic_options, show_summary_of, trees_file_option
from wellput.text.tokenizers import NATIVE_TOKENIZERS

if TYPE_CHECKING:
    from wellput.core.work import OnPhase
    from wellput.language.models.sentence_parsing import ParseResult

TREEBANK_TOKENS = "treebank"
"""The same as this constant in `language.models.sentence_parsing`, which takes long to import."""


@click.command(
    epilog="""\b
Examples:
  wellput parse sentences.txt
  wellput parse sentences.txt -o sentences.conllu
  wellput parse tokens.txt --tokenize none --parser spacy:en_core_web_sm
  wellput parse welsh.txt --models welsh/
"""
)
@click.argument("sentences", metavar="SENTENCES.txt")
@click.option(
    "--parser",
    default="english",
    show_default=True,
    metavar="NAME",
    help="english; a folder made by wellput train parser; or spacy:NAME, a spaCy pipeline that you "
    "have installed.",
)
@click.option(
    "--models",
    metavar="FOLDER",
    help="The models of a language, made by wellput train parser --treebank.",
)
@click.option(
    "--tokenize",
    type=click.Choice([TREEBANK_TOKENS, *NATIVE_TOKENIZERS]),
    default=TREEBANK_TOKENS,
    show_default=True,
    help="How lines are split into words; treebank: as the parser's treebank does; none: at spaces "
    "only.",
)
@trees_file_option
@basic_options
def command(format: str, path: str, **options: Any) -> None:
    """Parse sentences into dependency trees (CoNLL-U).

    SENTENCES.txt has one sentence on each line (- is standard input). Empty lines get no tree. A tree's
    comments have the number of its line (sent_id), and the sentence's natural log probability and
    number of fragments (separate pieces) by the head-driven model. Without -o the trees go to standard
    output. --format is for the summary.
    """
    from wellput.api.parse import parse

    warnings: list[str] = []

    def parsed(on_phase: OnPhase) -> ParseResult:
        result = parse(**options, path=path, on_phase=on_phase)
        warnings.append(result.summary.warning)
        return result

    show_summary_of(parsed, format, path)
    if path == "-" and any(warnings):  # standard output has the trees, and no summary
        click.echo(warnings[0], err=True)
