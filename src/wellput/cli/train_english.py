"""`wellput train english`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wellput.cli.options import making_options, show
from wellput.reporting.table import Report, Table

if TYPE_CHECKING:
    from wellput.language.english_training import Card, Role, Source, Step

PATHS = click.Path(path_type=Path)


@click.command(
    epilog="""\b
Example:
  wellput train english --treebank en_ewt-ud-train.conllu --treebank en_atis-ud-train.conllu \\
    --dev en_ewt-ud-dev.conllu --text gutenberg/ --text sotu/ \\
    --real apart/ --source other/ -o english/
"""
)
@click.option(
    "--treebank",
    "treebanks",
    type=PATHS,
    multiple=True,
    required=True,
    metavar="FILE",
    help="Trees to learn from, CoNLL-U. Can be repeated.",
)
@click.option(
    "--dev",
    type=PATHS,
    required=True,
    metavar="FILE",
    help="Trees to tune and measure on, CoNLL-U.",
)
@click.option(
    "--text",
    "texts",
    type=PATHS,
    multiple=True,
    metavar="PATH",
    help="More text for the n-gram model: a file, a folder or a tar archive of .txt. Can be repeated.",
)
@click.option(
    "--ngrams",
    type=PATHS,
    metavar="FILE",
    help="A model of general English for fluency, ARPA or .wlm, in small letters without punctuation.",
)
@click.option(
    "--real",
    type=PATHS,
    multiple=True,
    metavar="PATH",
    help="Text that no other model sees, to train fluency on: stays as it is. Can be repeated.",
)
@click.option(
    "--source",
    type=PATHS,
    multiple=True,
    metavar="PATH",
    help="The same, to make worse sentences from. Can be repeated.",
)
@click.option("--only", multiple=True, metavar="FILE", help="Make this file only. Can be repeated.")
@click.option("--restart", is_flag=True, help="Make files again that are there already.")
@click.option(
    "-o", "output", type=PATHS, required=True, metavar="FOLDER", help="Write models into FOLDER."
)
@making_options
def command(
    treebanks: Sequence[Path],
    dev: Path,
    texts: Sequence[Path],
    ngrams: Path | None,
    real: Sequence[Path],
    source: Sequence[Path],
    only: Sequence[str],
    restart: bool,
    output: Path,
    format: str,
    seed: int,
    threads: int | None,
) -> None:
    """Make all models of English that wellput comes with.

    Files come one after the other, each with a card that says what it was made from. One that was made
    from the same things is not made again, so what was stopped goes on. The same input gives the same
    files.
    """
    from wellput.cli.progress import progress_of
    from wellput.core.cores import available_cores
    from wellput.language.english_training import Inputs, Source, check_sources, make_all

    sources = [Source(path, "treebank") for path in treebanks]
    sources += [Source(dev, "dev"), *(Source(path, "text") for path in texts)]
    sources += [Source(ngrams, "ngrams")] if ngrams else []
    sources += [*(Source(path, "real") for path in real), *(Source(p, "source") for p in source)]
    check_sources(sources)
    made: dict[str, bool] = {}

    def on_step(step: Step, is_needed: bool) -> None:
        made[step.file] = is_needed
        if is_needed and sys.stderr.isatty():
            click.echo(f"making {step.file}: {step.about}", err=True)

    steps = _chosen(only, {source.role for source in sources})
    with progress_of("reading sentences") as on_progress:
        inputs = Inputs(sources, output, threads or available_cores(), seed, on_progress)
        cards = make_all(
            steps, inputs, command=_shown(sources), is_restarted=restart, on_step=on_step
        )
    show(english_report(cards, made), format, "-")


def _chosen(only: Sequence[str], roles: Set[Role]) -> list[Step]:
    """The steps of these files and of all that they need; if none is named, every step but those
    for fluency where nothing is given to make them from."""
    from wellput.core.errors import InputError, did_you_mean
    from wellput.language.english_steps import STEPS

    by_file = {step.file: step for step in STEPS}
    for name in only:
        if name not in by_file:
            hint = did_you_mean(name, list(by_file))
            raise InputError(f"There is no file {name!r}.{hint} There are {', '.join(by_file)}.")
    wanted = set(only) or {
        step.file for step in STEPS if {"real", "ngrams"} & {*step.roles} <= roles
    }
    for step in reversed(STEPS):
        if step.file in wanted:
            wanted |= set(step.needs)
    return [step for step in STEPS if step.file in wanted]


def _shown(sources: Sequence[Source]) -> str:
    """The command as it can be shown to others, without where files lie."""
    options = [f"--{source.role} {shlex.quote(source.path.name)}" for source in sources]
    return f"wellput train english {' '.join(options)} -o FOLDER"


def english_report(cards: Sequence[Card], made: dict[str, bool]) -> Report:
    """A row per file."""
    columns = ("file", "about", "bytes", "sha256", "licence", "is_new")
    records = [
        {
            "file": card.file,
            "about": card.about,
            "bytes": card.bytes,
            "sha256": card.sha256,
            "licence": card.licence,
            "is_new": made[card.file],
        }
        for card in cards
    ]
    table = Table(
        ("file", "what", "kB", "licence", ""),
        [
            [
                card.file,
                card.about,
                f"{card.bytes / 1000:,.0f}",
                card.licence,
                "made" if made[card.file] else "was there",
            ]
            for card in cards
        ],
        notes=[f"{sum(card.bytes for card in cards) / 1e6:.1f} MB in all."],
        is_prose=True,
        caption="Models of English",
    )
    more = [{"figures": card.figures, "data": card.data} for card in cards]
    files = [record | rest for record, rest in zip(records, more, strict=True)]
    return Report([table], {"files": files}, columns, records)
