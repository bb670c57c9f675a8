"""`wellput parse`."""

from __future__ import annotations

import click

from wellput.cli.options import making_options, show
from wellput.text.tokenizers import NATIVE

BLOCK = 1024
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
    "output",
    default="-",
    metavar="TREES.conllu",
    help="Write the trees to TREES.conllu (.gz, .xz), and a summary to standard output.",
)
@making_options
def command(
    sentences: str,
    parser: str,
    tokenize: str,
    output: str,
    format: str,
    seed: int,
    threads: int | None,
) -> None:
    """Parse sentences into dependency trees (CoNLL-U).

    SENTENCES.txt has one on each line (- for standard input). Empty lines have no tree; sent_id is
    the line's number. The log probability (natural) and the number of fragments are those of the
    head-driven model. Without -o the trees go to standard output; --format is the summary's.
    """
    from wellput.cli.progress import progress_of
    from wellput.engine.score import available_cores
    from wellput.io import check_distinct, check_writable, format_tree, replacing
    from wellput.io.files import InputFile, check_readable
    from wellput.language.sentence_parsing import SentenceParser, Summary
    from wellput.reporting.parse import parse_report

    file = InputFile(sentences)
    check_readable(file)
    check_writable(output)
    check_distinct([output], [sentences])
    parsing = SentenceParser.load(parser, tokenize=tokenize)
    threads = threads or available_cores()
    summary = Summary()
    with progress_of("parsing sentences") as on_progress, replacing(output) as sink:
        for block in file.line_blocks(BLOCK):
            for parsed in parsing.parse(block, first=summary.lines + 1, threads=threads):
                summary.add(parsed)
                sink.write(format_tree(parsed.tree).encode(errors="backslashreplace"))
            summary.lines += len(block)
            on_progress(len(block))
    if output != "-":
        show(parse_report(summary), format, "-")
