"""The command line: one file per command, loaded when called. A command imports the slow parts of the
library only when it does its work, so that `--help` is quick. Its file therefore repeats some lists of
choices that these parts have, too."""

from __future__ import annotations

import errno
import gc
import os
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
from wellput.core.errors import WellputError, Worse, printable
from wellput.io.opened_files import keeping_opened_files

COMMANDS: dict[str, tuple[str, str]] = {
    "score": (
        "wellput.cli.score:command",
        "Score systems; say whether their differences are real.",
    ),
    "rank": (
        "wellput.cli.rank:command",
        "Rank systems by people's judgments; say how certain the ranks are.",
    ),
    "agree": (
        "wellput.cli.agree:command",
        "Say which systems people prefer, and whether metrics agree.",
    ),
    "vet": (
        "wellput.cli.vet:command",
        "Say whether a machine judge or a metric may judge in place of people.",
    ),
    "estimate": (
        "wellput.cli.estimate:command",
        "Estimate what people would say, from few judgments and many scores.",
    ),
    "probe": (
        "wellput.cli.probe:command",
        "Say which errors metrics notice, and which changes mislead them.",
    ),
    "report": ("wellput.cli.report:command", "Make a report that opens in a browser."),
    "fit": ("wellput.cli.fit:command", "Fit a metric to people's judgments."),
    "power": ("wellput.cli.power:command", "Say how many items and judges a study needs."),
    "judge": (
        "wellput.cli.judge:command",
        "Let a language model answer the questions that people answer.",
    ),
    "study": ("wellput.cli.study:command", "Collect people's judgments on the web."),
    "displays": (
        "wellput.cli.displays:command",
        "Choose, score and show facial displays of a talking head.",
    ),
    "realize": (
        "wellput.cli.realize:command",
        "Realize sentences from unordered dependency trees.",
    ),
    "degrade": ("wellput.cli.degrade:command", "Make sentences of known quality from a corpus."),
    "rerank": ("wellput.cli.rerank:command", "Choose the best among several outputs by a metric."),
    "parse": ("wellput.cli.parse:command", "Parse sentences into dependency trees."),
    "convert": (
        "wellput.cli.convert:command",
        "Convert Penn Treebank brackets to dependency trees.",
    ),
    "paraphrase": (
        "wellput.cli.paraphrase:command",
        "Rewrite references, closer in wording to each output.",
    ),
    "train": ("wellput.cli.train:command", "Train a model from text or trees."),
    "runs": ("wellput.cli.runs:command", "List, show and compare stored scores."),
    "columns": (
        "wellput.cli.columns:command",
        "Show how the columns of a table are read, and how to name them.",
    ),
    "metrics": ("wellput.cli.metrics:command", "List every metric, or show one of them."),
    "demo": ("wellput.cli.demo:command", "See what wellput does, on an embedded example."),
    "completion": (
        "wellput.cli.completion:command",
        "Print the script that completes commands in a shell.",
    ),
    "help": ("wellput.cli.help:command", "Show the help of a command."),
}


class Program(LazyGroup):
    """A group of commands that raises `Stopped` if the pipe of its output is closed. Click alone would
    end with exit code 1."""

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
    """Score generated text, say whether a difference is real, collect people's judgments, and say
    whether a metric agrees with people."""


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    say(f"wellput: {printable(str(message))}")


def main() -> None:
    """Runs the program. Exit codes: 0 success; 1 a check such as --fail-if-worse failed, or wellput has
    a bug; 2 the input is wrong, or the machine cannot do it. docs/reliability.md has the signals."""
    # wellput's C++ code has its own threads. Threads of OpenBLAS would make small systems of equations
    # slower (much slower on a busy machine), and the last digits would depend on the number of cores.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    warnings.showwarning = _show_warning
    # Items stay in memory until the end. Garbage collection that searches them again and again would
    # take a third of the time of reading a large evalset with trees or display schedules.
    gc.set_threshold(200_000, 20, 100)
    try:
        # `keeping_opened_files`: no output may replace a file that the command reads.
        with stoppable(), closed_pipes_stop(), keeping_opened_files():
            code = cli.main(prog_name="wellput", standalone_mode=False)
            if sys.stdout is not None:
                sys.stdout.flush()
    except Worse as error:
        for line in str(error).split("\n"):
            click.echo(f"wellput: {printable(line)}", err=True)
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
        if error.errno == errno.ENAMETOOLONG:
            refuse(f"There is no such file: {error.filename} is too long for a name.")
        if error.errno != errno.ENOSPC:
            raise
        refuse("Cannot write standard output: the disk is full.")
    if code:
        sys.exit(code)
