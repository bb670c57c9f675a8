"""The command line: one file per command, loaded when called."""

from __future__ import annotations

import errno
import gc
import os
import sys
import warnings

import click

from wellput import __version__
from wellput.cli.lazy_group import LazyGroup
from wellput.core.errors import WellputError

COMMANDS: dict[str, tuple[str, str]] = {
    "score": (
        "wellput.cli.score:command",
        "Score systems; say whether their differences are real.",
    ),
    "agree": ("wellput.cli.agree:command", "Say how far metrics agree with people."),
    "report": ("wellput.cli.report:command", "Make a report that opens in a browser."),
    "fit": ("wellput.cli.fit:command", "Fit a metric to people's judgments."),
    "power": ("wellput.cli.power:command", "Say how many items and judges a study needs."),
    "study": ("wellput.cli.study:command", "Collect people's judgments on the web."),
    "displays": (
        "wellput.cli.displays:command",
        "Choose facial displays for a talking head; judge and see them.",
    ),
    "realize": (
        "wellput.cli.realize:command",
        "Realize sentences from unordered dependency trees.",
    ),
    "degrade": ("wellput.cli.degrade:command", "Make sentences of known quality from a corpus."),
    "rerank": ("wellput.cli.rerank:command", "Choose the best among several outputs by a metric."),
    "parse": ("wellput.cli.parse:command", "Parse sentences into dependency trees."),
    "paraphrase": (
        "wellput.cli.paraphrase:command",
        "Rewrite references, closer in wording to each output.",
    ),
    "train": ("wellput.cli.train:command", "Train a model from text or trees."),
    "runs": ("wellput.cli.runs:command", "Find stored scores again, and compare them."),
    "metrics": ("wellput.cli.metrics:command", "List every metric, what it needs, its paper."),
    "demo": ("wellput.cli.demo:command", "See it all on an embedded example."),
    "completion": (
        "wellput.cli.completion:command",
        "Print the script that completes commands in a shell.",
    ),
}


@click.group(
    cls=LazyGroup,
    members=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: wellput demo",
)
@click.version_option(__version__, prog_name="wellput")
def cli() -> None:
    """How well a generated text is put, whether a difference is real, and whether the number agrees
    with people."""


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    click.echo(f"wellput: {message}", err=True)


def main() -> None:
    """The program. Exit codes: 0 done; 1 a check you asked for failed, or a bug of ours; 2 the input
    is wrong."""
    warnings.showwarning = _show_warning
    # What is read stays until the end: looking through it again and again for garbage takes a third
    # of the time of reading a large evalset with trees or schedules.
    gc.set_threshold(200_000, 20, 100)
    try:
        cli(prog_name="wellput")
    except WellputError as error:
        click.echo(f"wellput: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output went away (`wellput … | head`): nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        click.echo("wellput: Cannot write standard output: the disk is full.", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(2)
