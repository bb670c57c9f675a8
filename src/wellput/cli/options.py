"""Options that several commands have, and printing what a command made.

Messages and notes name keywords, as a Python program gave them; on the command line they name options:
`level='system'` becomes `--level system`.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar, cast

import click

from wellput.core.errors import InputError, WellputError
from wellput.core.result import Result
from wellput.core.work import OnPhase
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
    return speaking_options(function)


def speaking_options(function: F) -> F:
    """Errors name keywords, as a Python program gave them; on the command line they name options."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except WellputError as error:
            told = in_options(str(error), click.get_current_context().command)
            error.args = (told, *error.args[1:])
            raise

    return cast("F", call)


def is_terminal(output: str) -> bool:
    return output == "-" and sys.stdout is not None and sys.stdout.isatty()


def terminal_width(output: str) -> int | None:
    """The width to lay tables out for; None (no limit) unless it goes to a terminal."""
    return shutil.get_terminal_size().columns if is_terminal(output) else None


def show_result_of(
    verb: Callable[[OnPhase], Result], format: str, output: str, *, at_once: bool = False
) -> None:
    """Shows what the verb returns, with progress meanwhile. What was computed before an error is shown
    before it is told."""
    from wellput.cli.progress import progress

    check_output(output)
    try:
        with progress(at_once=at_once) as on_phase:
            result = verb(on_phase)
    except WellputError as error:
        if error.result is not None:
            show(error.result, format, output)
        raise
    show(result, format, output)


def show_made(
    verb: Callable[[OnPhase], Result], format: str, path: str | None, *, at_once: bool = False
) -> None:
    """For a verb that writes what it makes to `path`: a summary of it goes to standard output, unless
    that is where the thing itself went."""
    from wellput.cli.progress import progress

    with progress(at_once=at_once) as on_phase:
        result = verb(on_phase)
    if path != "-":
        show(result, format, "-")


def check_output(output: str) -> None:
    """Refuses at once a file that cannot be written, that the command reads, or that it writes segment
    scores to."""
    from wellput.io import check_distinct, check_files

    given = click.get_current_context().params
    read = [
        text.partition("=")[2] if name == "hyp" else text
        for name, value in given.items()
        if name not in ("output", "path", "format", "segments", "charts")
        for text in (
            [value] if isinstance(value, str) else value if isinstance(value, tuple) else []
        )
        if isinstance(text, str)
    ]
    check_files([output], read)
    check_distinct([output, *([given["segments"]] if given.get("segments") else [])], [])


def show(
    what: Report | Result, format: str, output: str, *, before: str = "", after: str = ""
) -> None:
    """Writes a report in its format; `before` and `after` are prose around the table format."""
    report = what.report() if isinstance(what, Result) else what
    if any("=" in note for table in report.tables for note in table.notes):
        report = _notes_in_options(report)
    text = render(
        report,
        cast("Format", format),
        width=terminal_width(output),
        color=is_terminal(output),
    )
    emit(before + text + after if format == "table" else text, output)


def _notes_in_options(report: Report) -> Report:
    """The same with notes in the words of the command line."""

    command = click.get_current_context().command
    tables = [
        replace(table, notes=[in_options(note, command) for note in table.notes])
        for table in report.tables
    ]
    return replace(report, tables=tables)


def refuse_stdin_twice(*paths: str) -> None:
    if paths.count("-") > 1:
        raise InputError("Standard input (-) was given twice; it can be read only once.")


def emit(text: str, output: str) -> None:
    """Writes to the file (whole or not at all), or to standard output."""
    from wellput.io.output import write_text

    write_text(text, output)


class CommandWithConfidence(click.Command):
    """`--confidence` takes a number or nothing: what follows it and is no number is not its value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for place, word in enumerate(args):
            following = args[place + 1] if place + 1 < len(args) else ""
            if word == "--confidence" and not following.replace(".", "", 1).isdecimal():
                args[place] = "--confidence=0.95"
        return super().parse_args(ctx, args)


def confidence_option(function: F) -> F:
    return click.option(
        "--confidence",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="[0.95]",
        help="Intervals, of this confidence (0.95 unless said).",
    )(function)


def generalize_options(function: F) -> F:
    """--generalize, --confidence: of what holds for other systems and other items."""
    confidence = click.option(
        "--confidence",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help="The confidence of intervals.",
    )
    generalize = click.option(
        "--generalize",
        type=click.Choice(["both", "systems", "items"]),
        default="both",
        show_default=True,
        help="What intervals and p hold for: other systems and other items, or one of the two.",
    )
    return generalize(confidence(function))


def engine_options(function: F) -> F:
    """--engine, --address, --resume, --on-error."""
    on_error = click.option(
        "--on-error",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="What to do about a run of rows that cannot be evaluated; skip: name it and go on.",
    )
    resume = click.option(
        "--resume",
        metavar="FOLDER",
        help="Keep what is finished in FOLDER, and go on from what is finished there.",
    )
    address = click.option(
        "--address", metavar="HOST:PORT", help="The Ray cluster (default: a local one)."
    )
    engine = click.option(
        "--engine",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="Compute with threads of this process, or on a Ray cluster.",
    )
    return engine(address(resume(on_error(function))))


def panel_options(function: F) -> F:
    """--question, --normalize, --exclude, --exclude-judges-below."""
    for option in (
        click.option(
            "--exclude-judges-below",
            type=click.FloatRange(-1, 1),
            metavar="R",
            help="Leave out judges who correlate less than R with the others.",
        ),
        click.option(
            "--exclude",
            multiple=True,
            metavar='"RULE: REASON"',
            help='Leave judgments out: "judge=J3: pressed one button", "system=B,item=7: …" '
            "(repeatable). Charts still show ratings, with the reason.",
        ),
        click.option(
            "--normalize",
            type=click.Choice(["none", "z", "unit", "rank"]),
            help="Ratings per judge (default: z where judges rated the same systems, else none).",
        ),
        click.option(
            "--question",
            multiple=True,
            metavar="Q",
            help="Only this question (repeatable).",
        ),
    ):
        function = option(function)
    return function


def trees_option(function: F) -> F:
    return click.option(
        "--trees",
        metavar="PARSER",
        help="Parse the references that have no tree: auto with wellput's own parser, spacy:NAME with "
        "a spaCy pipeline you have.",
    )(function)


PYTHON_CALL_PATTERN = re.compile(r"(\bwellput\.[\w.]+\([^()]*\))")
VALUE_PATTERN = r"(?:'([^']*)'|\"([^\"]*)\"|((?:[^\s,;:.)'\"]|[.:](?=\w))+))?"


def in_options(message: str, command: click.Command) -> str:
    """The message with options in place of keywords; what is to be written in Python stays.

    >>> option = click.Option(["--all-pairs"], is_flag=True)
    >>> in_options("all_pairs=True needs two systems.", click.Command("score", params=[option]))
    '--all-pairs needs two systems.'
    >>> in_options("See `wellput.score(…, all_pairs=True)`.", click.Command("score", params=[option]))
    'See `wellput.score(…, all_pairs=True)`.'
    """
    pieces = PYTHON_CALL_PATTERN.split(message)
    return "".join(
        piece if PYTHON_CALL_PATTERN.fullmatch(piece) else _keywords_replaced(piece, command)
        for piece in pieces
    )


def _keywords_replaced(message: str, command: click.Command) -> str:
    for parameter in command.params:
        name = "path" if parameter.name == "output" else parameter.name or ""
        if isinstance(parameter, click.Option):
            flag = max(parameter.opts, key=len)
            takes_value = not parameter.is_flag
        else:
            flag, takes_value = parameter.human_readable_name, False

        def said(found: re.Match[str], flag: str = flag, takes_value: bool = takes_value) -> str:
            value = next((group for group in found.groups() if group is not None), "")
            return f"{flag} {_typed(value)}" if takes_value and value else flag

        message = re.sub(rf"(?<![\w.]){re.escape(name)}={VALUE_PATTERN}", said, message)
    return message


def _typed(value: str) -> str:
    """A value as it is typed in a shell.

    >>> _typed("system"), _typed("judge=J3: asleep"), _typed("item=a $b: gone")
    ('system', '"judge=J3: asleep"', "'item=a $b: gone'")
    """
    if not re.search(r"\s", value):
        return value
    return shlex.quote(value) if set(value) & set('"$`\\!') else f'"{value}"'
