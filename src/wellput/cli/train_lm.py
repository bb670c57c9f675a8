"""`wellput train lm`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wellput.cli.engine_options import cluster_options
from wellput.cli.options import making_options, refuse_stdin_twice, show
from wellput.core.counted import counted
from wellput.core.errors import InputError
from wellput.reporting.table import Report, Table
from wellput.text.tokenizers import NATIVE

if TYPE_CHECKING:
    from wellput.language.ngram_training import Training
    from wellput.language.ngram_work import WorkFolder
    from wellput.language.ngrams import NgramModel

BLOCK = 1 << 14


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
    "threshold",
    type=click.FloatRange(min=0, max=1),
    metavar="THRESHOLD",
    help="Leave out n-grams without which perplexity grows by less than this share, 1e-7 for one.",
)
@click.option(
    "--compact",
    "is_compact",
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
    "output",
    required=True,
    metavar="MODEL",
    help="Write the model to MODEL, .arpa (.gz, .xz) or .wlm.",
)
@cluster_options
@making_options
def command(
    corpus: Sequence[str],
    order: int,
    min_count: int,
    memory_mb: int,
    tokenize: str,
    lowercase: bool,
    threshold: float | None,
    is_compact: bool,
    work: Path | None,
    output: str,
    engine: str,
    address: str | None,
    format: str,
    seed: int,
    threads: int | None,
) -> None:
    """Train an n-gram model: interpolated modified Kneser-Ney.

    CORPUS is text with a sentence on each line. The same text gives the same file. A summary goes to
    standard output.
    """
    from wellput.cli.progress import progress_of
    from wellput.core.cores import available_cores
    from wellput.io import check_distinct, check_writable
    from wellput.io.files import InputFile, check_readable
    from wellput.language.ngram_compact import quantized
    from wellput.language.ngram_files import check_suffix, save_model
    from wellput.language.ngram_pruning import prune
    from wellput.language.ngram_training import train

    refuse_stdin_twice(*corpus)
    check_suffix(output)
    files = [InputFile(path) for path in corpus]
    check_readable(*files)
    check_writable(output)
    check_distinct([output], corpus)
    if is_compact and check_suffix(output) != ".wlm":
        raise InputError(f"Only a .wlm file can be compact; {output} is none.")
    options: dict[str, Any] = {
        "order": order,
        "min_count": min_count,
        "memory_mb": memory_mb,
        "tokenize": tokenize,
        "lowercase": lowercase,
    }
    with progress_of("counting sentences") as on_progress:
        if engine == "ray":
            training = _on_cluster(corpus, options, work, address, threads, on_progress)
        else:
            training = train(
                (block for file in files for block in file.line_blocks(BLOCK)),
                **options,
                work=_work_folder(work, corpus, options) if work else None,
                threads=threads or available_cores(),
                on_progress=on_progress,
            )
    model = training.model
    if threshold is not None:
        model = prune(model, training.frequencies, threshold)
    if is_compact:
        model = quantized(model)
    save_model(model, output, is_compact=is_compact)
    show(lm_report(training, model), format, "-")


def _on_cluster(
    corpus: Sequence[str],
    options: Mapping[str, Any],
    work: Path | None,
    address: str | None,
    threads: int | None,
    on_progress: Callable[[int], None],
) -> Training:
    from wellput.core.cores import available_cores
    from wellput.engine.ray_cluster import mapping_on_cluster
    from wellput.io.text_parts import text_parts
    from wellput.language.ngram_parts import Counting, train_in_parts

    if "-" in corpus or work is not None:
        raise InputError("--engine ray reads files, not standard input, and goes without --work.")
    parts = text_parts(corpus)
    how = Counting(options["order"], options["tokenize"], options["lowercase"])
    with mapping_on_cluster(address, threads or available_cores()) as map_parts:
        return train_in_parts(
            parts,
            how,
            min_count=options["min_count"],
            map_parts=map_parts,
            on_progress=on_progress,
        )


def _work_folder(folder: Path, corpus: Sequence[str], options: Mapping[str, Any]) -> WorkFolder:
    from wellput.language.ngram_work import WorkFolder

    if "-" in corpus:
        raise InputError(
            "--work needs files: standard input cannot be read from where it was left."
        )
    stats = [(path, Path(path).stat()) for path in corpus]
    files = [[path, stat.st_size, stat.st_mtime_ns] for path, stat in stats]
    return WorkFolder(folder, {"corpus": files, **options})


def lm_report(training: Training, model: NgramModel) -> Report:
    """N-grams and discounts by length; `model` is what was made of the training."""
    columns = ("length", "ngrams", "discount_1", "discount_2", "discount_3")
    sizes = model.sizes
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
        notes=[
            f"From {counted(training.tokens, 'word')} on {counted(training.sentences, 'line')}."
        ],
        caption="N-grams of the model and their discounts",
    )
    value = {
        "lines": training.sentences,
        "words": training.tokens,
        "sha256": model.fingerprint,
        "levels": records,
    }
    return Report([table], value, columns, records)
