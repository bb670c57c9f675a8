"""The command line: one file per command, loaded when called."""

from __future__ import annotations

import errno
import gc
import signal
import sys
import warnings
from typing import Any

import click

from wellput import __version__
from wellput.cli.endings import (
    OUT_OF_MEMORY,
    Stopped,
    closed_pipes_stop,
    die_of,
    refuse,
    stoppable,
)
from wellput.cli.lazy_group import LazyGroup
from wellput.cli.progress import say
from wellput.core.errors import WellputError, Worse

COMMANDS: dict[str, tuple[str, str]] = {
    "score": (
        "wellput.cli.score:command",
        "Score systems; say whether their differences are real.",
    ),
    "rank": ("wellput.cli.rank:command", "Say who won, according to people, and how sure that is."),
    "agree": ("wellput.cli.agree:command", "Say whom people prefer, and how far metrics agree."),
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
    "metrics": ("wellput.cli.metrics:command", "List every metric, or show one of them."),
    "demo": ("wellput.cli.demo:command", "See it all on an embedded example."),
    "completion": (
        "wellput.cli.completion:command",
        "Print the script that completes commands in a shell.",
    ),
    "help": ("wellput.cli.help:command", "Show the help of a command."),
}


class Program(LazyGroup):
    """A closed pipe is told to click as a stop: it would make an exit code of 1 of it."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with closed_pipes_stop():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with closed_pipes_stop():
            return super().invoke(ctx)


@click.group(
    cls=Program,
    members=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: wellput demo",
)
@click.version_option(__version__, prog_name="wellput")
def cli() -> None:
    """How well a generated text is put, whether a difference is real, and whether the number agrees
    with people."""


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    say(f"wellput: {message}")


def main() -> None:
    """The program. Exit codes: 0 done; 1 a check you asked for failed, or a bug of ours; 2 the input
    is wrong, or the machine does not allow it. See docs/reliability.md for signals."""
    warnings.showwarning = _show_warning
    # What is read stays until the end: looking through it again and again for garbage takes a third
    # of the time of reading a large evalset with trees or schedules.
    gc.set_threshold(200_000, 20, 100)
    try:
        with stoppable(), closed_pipes_stop():
            code = cli.main(prog_name="wellput", standalone_mode=False)
            if sys.stdout is not None:
                sys.stdout.flush()
    except Worse as error:
        for line in str(error).split("\n"):
            click.echo(f"wellput: {line}", err=True)
        sys.exit(1)
    except WellputError as error:
        refuse(error)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except MemoryError:
        refuse(OUT_OF_MEMORY)
    except (click.Abort, KeyboardInterrupt):
        click.echo("wellput: interrupted", err=True)
        die_of(signal.SIGINT)
    except Stopped as stopped:
        die_of(stopped.number)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        refuse("Cannot write standard output: the disk is full.")
    if code:
        sys.exit(code)
