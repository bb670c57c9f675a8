"""`wellput train lm`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import click

from wellput.cli.options import making_options, refuse_stdin_twice, show
from wellput.report.table import Report, Table
from wellput.text.tokenizers import NATIVE, NativeName

if TYPE_CHECKING:
    from wellput.language.ngram_training import Training

BLOCK = 1 << 14


@click.command(
    epilog="""\b
Examples:
  wellput train lm corpus.txt --order 3 -o english.wlm
  wellput train lm part1.txt.gz part2.txt.xz --order 5 --min-count 2 -o english.arpa.gz
  wellput score --hyp A=a.txt -m perplexity:model=english.wlm
"""
)
@click.argument("corpus", nargs=-1, required=True)
@click.option(
    "--order",
    type=click.IntRange(1, 20),
    default=3,
    show_default=True,
    help="Words in the longest n-grams.",
)
@click.option(
    "--min-count",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Take words seen less than N times for unknown words.",
)
@click.option(
    "--memory-mb",
    type=click.IntRange(min=1),
    default=1024,
    show_default=True,
    metavar="N",
    help="Memory for counting; what is more goes to temporary files.",
)
@click.option(
    "--tokenize",
    type=click.Choice(NATIVE),
    default="none",
    show_default=True,
    help="Tokenizer of the text.",
)
@click.option("--lowercase", is_flag=True, help="Lower-case the text.")
@click.option(
    "-o",
    "output",
    required=True,
    metavar="MODEL",
    help="Write the model to MODEL, .arpa (.gz, .xz) or .wlm.",
)
@making_options
def command(
    corpus: Sequence[str],
    order: int,
    min_count: int,
    memory_mb: int,
    tokenize: str,
    lowercase: bool,
    output: str,
    format: str,
    seed: int,
    threads: int | None,
) -> None:
    """Train an n-gram model: interpolated modified Kneser-Ney.

    CORPUS is text with a sentence on each line. The same text gives the same file. A summary goes to
    standard output.
    """
    from wellput.cli.progress import progress_of
    from wellput.io import check_distinct, check_writable
    from wellput.io.files import InputFile, check_readable
    from wellput.language.ngram_files import check_suffix, save_model
    from wellput.language.ngram_training import train

    refuse_stdin_twice(*corpus)
    check_suffix(output)
    files = [InputFile(path) for path in corpus]
    check_readable(*files)
    check_writable(output)
    check_distinct([output], corpus)
    with progress_of("sentences counted") as on_progress:
        training = train(
            (block for file in files for block in file.line_blocks(BLOCK)),
            order=order,
            min_count=min_count,
            memory_mb=memory_mb,
            tokenize=cast("NativeName", tokenize),
            lowercase=lowercase,
            on_progress=on_progress,
        )
    save_model(training.model, output)
    show(lm_report(training), format, "-")


def lm_report(training: Training) -> Report:
    """N-grams and discounts by length."""
    columns = ("length", "ngrams", "discount_1", "discount_2", "discount_3")
    sizes = training.model.sizes
    records = [
        dict(zip(columns, (n, size, *discounts), strict=True))
        for n, (size, discounts) in enumerate(zip(sizes, training.discounts, strict=True), 1)
    ]
    table = Table(
        ("length", "n-grams", "discount 1", "discount 2", "discount 3+"),
        [
            [str(n), f"{size:,}", *(f"{discount:.3f}" for discount in discounts)]
            for n, (size, discounts) in enumerate(zip(sizes, training.discounts, strict=True), 1)
        ],
        notes=[f"From {training.tokens:,} words on {training.sentences:,} lines."],
    )
    value = {
        "lines": training.sentences,
        "words": training.tokens,
        "sha256": training.model.fingerprint,
        "levels": records,
    }
    return Report([table], value, columns, records)
