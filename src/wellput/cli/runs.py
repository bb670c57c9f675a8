"""The commands `wellput runs list`, `show` and `diff`; `wellput.api.runs` does the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from wellput.cli.options import RUNS_VARIABLE, common_options, show_result_of

F = TypeVar("F", bound=Callable[..., Any])


def folder_option(function: F) -> F:
    return click.option(
        "--runs",
        metavar="FOLDER",
        envvar=RUNS_VARIABLE,
        default="runs",
        show_default=True,
        help=f"The folder of the runs (or set {RUNS_VARIABLE}).",
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

    `wellput score … --runs FOLDER` stores a run. RUN is the id of a run, the beginning of an id, or
    @1 for the newest run, @2 for the one before it.
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
    help="List at most N runs.",
)
@common_options
def list_runs(format: str, output: str, **options: Any) -> None:
    """List the runs of a folder, newest first."""
    from wellput.api import runs

    show_result_of(lambda _: runs.list(**options), format, output)


@command.command("show", epilog="\b\nExample:\n  wellput runs show 3fa9")
@click.argument("run")
@folder_option
@common_options
def show_run(format: str, output: str, **options: Any) -> None:
    """Show the scores of a run, and the command, data and versions that they come from."""
    from wellput.api import runs

    show_result_of(lambda _: runs.show(**options), format, output)


@command.command("diff", epilog="\b\nExample:\n  wellput runs diff 3fa9 9a01 --rename v1=v2")
@click.argument("before")
@click.argument("after")
@folder_option
@click.option(
    "--rename",
    multiple=True,
    metavar="OLD=NEW",
    help="Compare the system OLD of the first run with NEW of the second.",
)
@common_options
def diff(format: str, output: str, **options: Any) -> None:
    """Say how scores changed from one run to another, and which scores cannot be compared."""
    from wellput.api import runs

    show_result_of(lambda _: runs.diff(**options), format, output)
