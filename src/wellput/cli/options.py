"""Options that every command has, and printing what a command made."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

from wellput.core.errors import InputError
from wellput.reporting.table import FORMATS, Format, Report, render

F = TypeVar("F", bound=Callable[..., Any])


def common_options(function: F) -> F:
    """--format, -o, --seed, --threads, for a command that reports."""
    output = click.option(
        "-o", "output", metavar="FILE", default="-", help="Write the report to FILE."
    )
    return output(making_options(function))


def making_options(function: F) -> F:
    """--format, --seed, --threads, for a command whose -o is the thing made."""
    for option in (
        click.option(
            "--threads",
            type=click.IntRange(min=1),
            metavar="N",
            help="Threads (default: all cores).",
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=12345,
            show_default=True,
            help="Seed of everything random.",
        ),
        click.option(
            "--format",
            type=click.Choice(FORMATS),
            default="table",
            show_default=True,
            help="How the report is written.",
        ),
    ):
        function = option(function)
    return function


def is_terminal(output: str) -> bool:
    return output == "-" and sys.stdout is not None and sys.stdout.isatty()


def terminal_width(output: str) -> int | None:
    """The width to lay tables out for; None (no limit) unless it goes to a terminal."""
    return shutil.get_terminal_size().columns if is_terminal(output) else None


def show(report: Report, format: str, output: str, *, before: str = "", after: str = "") -> None:
    """Writes a report in its format; `before` and `after` are prose around the table format."""
    text = render(
        report,
        cast("Format", format),
        width=terminal_width(output),
        color=is_terminal(output),
    )
    emit(before + text + after if format == "table" else text, output)


def refuse_stdin_twice(*paths: str) -> None:
    if paths.count("-") > 1:
        raise InputError("Standard input (-) was given twice; it can be read only once.")


def emit(text: str, output: str) -> None:
    """Writes to the file (whole or not at all), or to standard output.

    Half a character, which an evalset can hold escaped, is shown as its escape: UTF-8 has none.
    """
    from wellput.io import replacing

    with replacing(output) as file:
        file.write(text.encode(errors="backslashreplace"))
