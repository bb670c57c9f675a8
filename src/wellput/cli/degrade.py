"""`wellput degrade`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import click

from wellput.cli.options import emit, making_options, show
from wellput.core.errors import InputError

if TYPE_CHECKING:
    from wellput.language.degrade.generate import Degrader
    from wellput.language.degrade.sequences import Boundary
    from wellput.language.degrade.sources import Source
    from wellput.reporting.table import Report
    from wellput.trees.grammar import Grammar


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
    "methods",
    multiple=True,
    default=("sequence",),
    show_default=True,
    help="sequence, pos, supertag, cfg, errors; several with --evalset.",
)
@click.option(
    "--size",
    "sizes",
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
    "number",
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
@click.option("-o", "output", default="-", metavar="FILE", help="Write the sentences to FILE.")
@making_options
def command(
    corpus: str,
    methods: Sequence[str],
    sizes: Sequence[str],
    length: int,
    number: int,
    boundary: str,
    treebank: str | None,
    input_tokenized: bool,
    tokenized: bool,
    evalset: bool,
    gold: str | None,
    output: str,
    format: str,
    seed: int,
    threads: int | None,
) -> None:
    """Make sentences of known quality from a corpus.

    CORPUS is text with a sentence on each line, or trees in CoNLL-U (.conllu). Sequences of words glued
    together are the better the longer they are; the other methods fill templates of parts of speech
    or supertags with their likeliest words, derive sentences from a grammar, or put mistakes into
    sentences of the corpus (errors).
    """
    import numpy as np

    from wellput.cli.progress import progress_of
    from wellput.core.evalset import EvalSet
    from wellput.io import (
        check_distinct,
        check_table,
        check_text,
        write_evalset,
        write_judgments,
    )
    from wellput.language.degrade.generate import in_blocks, known_order
    from wellput.language.degrade.sources import read_grammar, read_source
    from wellput.text.detokenizer import detokenize

    systems = systems_of(methods, sizes, length)
    if len(systems) > 1 and not evalset:
        raise InputError(
            f"Several systems ({', '.join(systems)}) go into an evalset: add --evalset, or ask for one."
        )
    if gold is not None and not (evalset and any(systems.values())):
        raise InputError(
            "--gold is for --evalset with the method sequence: only its order is known."
        )
    if treebank is not None and "cfg" not in systems:
        raise InputError("--treebank is for the method cfg.")
    made = [path for path in (output, gold) if path is not None]
    (check_table if evalset else check_text)(output)
    if gold is not None:
        check_table(gold)
    check_distinct(made, [corpus, *([treebank] if treebank else [])])
    source = read_source(corpus, is_tokenized=input_tokenized, threads=threads or 1)
    grammar = read_grammar(treebank) if treebank else None
    texts: dict[str, list[str]] = {}
    join = " ".join if tokenized else detokenize
    with progress_of("making sentences") as on_progress:
        for place, (system, size) in enumerate(systems.items()):
            degrader = degrader_of(
                system, source, grammar, size=size, length=length, boundary=boundary
            )
            texts[system] = []
            for block in in_blocks(degrader, number, np.random.default_rng([seed, place])):
                texts[system] += [join(words) for words in block]
                on_progress(len(block))
    if gold is not None:
        write_judgments(known_order(number, {s: n for s, n in systems.items() if n}), gold)
    if evalset:
        write_evalset(EvalSet.of(texts), output)
    elif output != "-" or format == "table":
        emit(
            "".join(f"{text}\n" for (made_texts,) in [texts.values()] for text in made_texts),
            output,
        )
    if output != "-" or not (evalset or format == "table"):
        show(report_of(texts, is_summary=output != "-"), format, "-")


def systems_of(methods: Sequence[str], sizes: Sequence[str], length: int) -> dict[str, int]:
    """The systems asked for, `sequence-4` or `pos`, with the size of their sequences, else 0."""
    from wellput.core.errors import did_you_mean
    from wellput.language.degrade.generate import METHODS

    names = [name for entry in methods for name in entry.split(",") if name]
    for name in names:
        if name not in METHODS:
            raise InputError(
                f"No method {name!r}.{did_you_mean(name, METHODS)} There are {', '.join(METHODS)}."
            )
    asked = [size for entry in sizes for size in entry.split(",") if size]
    if bad := [size for size in asked if not size.isdecimal() or not int(size)]:
        raise InputError(
            f"--size takes numbers of words, such as 4 or 1,2,4; not {', '.join(bad)}."
        )
    if asked and "sequence" not in names:
        raise InputError("--size is for the method sequence.")
    found: dict[str, int] = {}
    for name in names:
        if name == "sequence":
            found |= {f"sequence-{int(size)}": int(size) for size in asked or ["1"]}
        else:
            found[name] = 0
    return found


def degrader_of(
    system: str,
    source: Source,
    grammar: Grammar | None,
    *,
    size: int,
    length: int,
    boundary: str,
) -> Degrader:
    from wellput.language.degrade.errors import ErrorGenerator
    from wellput.language.degrade.generate import GrammarGenerator, TemplateGenerator
    from wellput.language.degrade.sequences import SequenceGenerator

    if size:
        return SequenceGenerator(
            source.corpus(), size=size, length=length, boundary=cast("Boundary", boundary)
        )
    if system == "errors":
        return ErrorGenerator(source.corpus(), length=length)
    if system == "cfg":
        return GrammarGenerator(source.corpus("pos"), grammar or source.grammar(), length=length)
    tags = source.corpus("pos" if system == "pos" else "supertag")
    return TemplateGenerator(tags, length=length, threads=source.threads)


def report_of(texts: dict[str, list[str]], *, is_summary: bool) -> Report:
    """How many sentences each system has, with the first of them; or all of them."""
    from wellput.reporting.table import Report, Table

    columns = ("system", "sentences", "example") if is_summary else ("system", "sentence")
    records: list[dict[str, object]] = (
        [{"system": s, "sentences": len(made), "example": made[0]} for s, made in texts.items()]
        if is_summary
        else [{"system": s, "sentence": text} for s, made in texts.items() for text in made]
    )
    rows = [[str(record[column]) for column in columns] for record in records]
    table = Table(columns, rows, is_prose=True, caption="Sentences by system")
    return Report([table], {"systems" if is_summary else "sentences": records}, columns, records)
