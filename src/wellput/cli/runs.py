"""`wellput runs`: list, show, diff."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wellput.cli.options import common_options, show
from wellput.core.errors import InputError

if TYPE_CHECKING:
    from wellput.core.run import Run

F = TypeVar("F", bound=Callable[..., Any])

FOLDER = "runs"
VARIABLE = "WELLPUT_RUNS"


def folder_option(function: F) -> F:
    return click.option(
        "--runs",
        "folder",
        metavar="FOLDER",
        envvar=VARIABLE,
        default=FOLDER,
        show_default=True,
        help=f"Where the runs are (or set {VARIABLE}).",
    )(function)


@click.group(
    epilog="""\b
Example:
  wellput score evalset.jsonl -m bleu,chrf --runs runs
  wellput runs list --metric bleu
  wellput runs diff @2 @1
"""
)
def command() -> None:
    """Find stored scores again, and compare them.

    Runs are stored by `wellput score … --runs FOLDER`. RUN is an id, its beginning, or
    @1 for the newest, @2 for the one before.
    """


@command.command("list", epilog="\b\nExample:\n  wellput runs list --system careful --metric bleu")
@folder_option
@click.option("--system", metavar="NAME", help="Only scores of this system.")
@click.option("--metric", metavar="NAME", help="Only scores under this metric.")
@click.option(
    "--last",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="At most so many runs.",
)
@common_options
def list_runs(
    folder: str,
    system: str | None,
    metric: str | None,
    last: int,
    format: str,
    output: str,
    seed: int,
    threads: int | None,
) -> None:
    """List the runs of a folder, newest first."""
    from wellput.io.run_files import read_runs, run_paths
    from wellput.reporting.runs import list_report

    if system is None and metric is None:  # no more need be read than is shown
        chosen, unreadable = read_runs(folder, last=last)
        total = len(run_paths(folder)) - len(unreadable)
    else:
        runs, unreadable = read_runs(folder)
        chosen = [narrowed for run in runs if (narrowed := _narrowed(run, system, metric)).scores]
        total = len(chosen)
    left_out = [f"{error.path.name} {error.reason}" for error in unreadable]
    show(list_report(chosen[:last], total, left_out), format, output)


def _narrowed(run: Run, system: str | None, metric: str | None) -> Run:
    """The run with only the scores that were asked for."""
    return replace(
        run,
        scores=tuple(
            score
            for score in run.scores
            if system in (None, score.system) and metric in (None, score.metric)
        ),
    )


@command.command("show", epilog="\b\nExample:\n  wellput runs show 3fa9")
@click.argument("run")
@folder_option
@common_options
def show_run(
    run: str, folder: str, format: str, output: str, seed: int, threads: int | None
) -> None:
    """Show the scores of a run, and how they came about."""
    from wellput.io.run_files import find_run
    from wellput.reporting.runs import show_report

    show(show_report(find_run(folder, run)), format, output)


@command.command("diff", epilog="\b\nExample:\n  wellput runs diff 3fa9 9a01 --rename v1=v2")
@click.argument("before")
@click.argument("after")
@folder_option
@click.option(
    "--rename",
    "renamed",
    multiple=True,
    metavar="OLD=NEW",
    help="Compare the system OLD of the first run with NEW of the second.",
)
@common_options
def diff(
    before: str,
    after: str,
    folder: str,
    renamed: Sequence[str],
    format: str,
    output: str,
    seed: int,
    threads: int | None,
) -> None:
    """Say how scores changed from one run to another, where they may be compared."""
    from wellput.engine.run_changes import run_changes
    from wellput.io.run_files import find_run
    from wellput.reporting.runs import diff_report

    names: dict[str, str] = {}
    for pair in renamed:
        old, equals, new = pair.partition("=")
        if not equals or not old or not new:
            raise InputError(f"--rename {pair}: write OLD=NEW, such as --rename v1=v2.")
        names[old] = new
    show(
        diff_report(run_changes(find_run(folder, before), find_run(folder, after), names)),
        format,
        output,
    )
