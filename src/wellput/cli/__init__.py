"""The command line: one file per command, loaded when called."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from importlib import import_module

import click

from wellput import __version__
from wellput.core.errors import WellputError, did_you_mean

COMMANDS: dict[str, tuple[str, str]] = {
    "score": (
        "wellput.cli.score:command",
        "Score systems; say whether their differences are real.",
    ),
    "agree": ("wellput.cli.agree:command", "Say how far metrics agree with people."),
    "fit": ("wellput.cli.fit:command", "Fit a metric to people's judgments."),
    "power": ("wellput.cli.power:command", "Say how many items and judges a study needs."),
    "study": ("wellput.cli.study:command", "Collect people's judgments on the web."),
    "train": ("wellput.cli.train:command", "Train a model from text: an n-gram model."),
    "metrics": ("wellput.cli.metrics:command", "List every metric, what it needs, its paper."),
    "demo": ("wellput.cli.demo:command", "See it all on an embedded example."),
    "completion": (
        "wellput.cli.completion:command",
        "Print the script that completes commands in a shell.",
    ),
}


class LazyGroup(click.Group):
    """Commands are imported when called, so that `--help` is quick; their one-line helps are here."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            hint = did_you_mean(args[0], list(COMMANDS)) or f" There are {', '.join(COMMANDS)}."
            ctx.fail(f"No command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
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
