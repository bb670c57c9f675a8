"""`wellput train lm`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wellput.cli.options import cluster_options, making_options, show_made
from wellput.text.tokenizers import NATIVE


@click.command(
    epilog="""\b
Examples:
  wellput train lm corpus.txt --order 3 -o english.wlm
  wellput train lm part1.txt.gz part2.txt.xz --order 5 --min-count 2 -o english.arpa.gz
  wellput train lm corpus.txt --prune 1e-7 --compact -o small.wlm
  wellput train lm huge.txt.xz --work counts/ -o english.wlm
  wellput train lm shards/*.txt --engine ray --address 10.0.0.1:6379 -o english.wlm
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
    "--prune",
    type=click.FloatRange(min=0, max=1),
    metavar="THRESHOLD",
    help="Leave out n-grams without which perplexity grows by less than this share, 1e-7 for one.",
)
@click.option(
    "--compact",
    is_flag=True,
    help="Write a small .wlm file, numbers rounded to 8 bits.",
)
@click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Keep counts in FOLDER, and go on from those that are there.",
)
@click.option(
    "-o",
    "path",
    required=True,
    metavar="MODEL",
    help="Write the model to MODEL, .arpa (.gz, .xz) or .wlm.",
)
@cluster_options
@making_options
def command(format: str, path: str, **options: Any) -> None:
    """Train an n-gram model: interpolated modified Kneser-Ney.

    CORPUS is text with a sentence on each line. The same text gives the same file. A summary goes to
    standard output.
    """
    from wellput.api.train_lm import lm

    show_made(lambda on_phase: lm(**options, path=path, on_phase=on_phase), format, path)
