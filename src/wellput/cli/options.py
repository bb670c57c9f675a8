"""Options that several commands share, and printing what a command returns.

The library's messages and notes name Python keywords. Here they are rewritten to name options:
`level='system'` becomes `--level system`.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from wellput.cli.keyword_messages import keywords_as_options
from wellput.core.errors import WellputError, printable
from wellput.core.options import MAX_BY_OPTION
from wellput.core.result import Result
from wellput.core.work import OnPhase
from wellput.reporting.table import FORMATS, Format, Report, Table, render, suffix_format

F = TypeVar("F", bound=Callable[..., Any])

MAY_BE_FOLDERS = frozenset(
    ("evalset", "judgments", "pilot", "homogeneity", "corpus", "dataset", "scores", "file")
)
"""Arguments and options that may name a folder or a pattern (`shards/*.jsonl`), whose files are then
read. The values of others, such as names of systems, may equal the name of a folder by chance."""

RUNS_VARIABLE = "WELLPUT_RUNS"
"""The environment variable that names the folder of stored runs."""


def add_options(function: F, *options: Callable[[F], F]) -> F:
    """Adds click options, in the order in which the help shows them."""
    for option in reversed(options):
        function = option(function)
    return function


def common_options(function: F) -> F:
    """Adds -o, --format, --seed and --threads, for a command whose -o writes the report."""
    output = click.option(
        "-o",
        "output",
        metavar="FILE",
        default="-",
        help="Write the report to FILE; .json, .csv, .tex and .md are in that format.",
    )
    return output(basic_options(function))


def basic_options(function: F) -> F:
    """Adds --format, --seed and --threads, for a command that has no -o or whose -o writes something
    else."""
    options = add_options(
        function,
        click.option(
            "--format",
            type=click.Choice(FORMATS),
            default="table",
            show_default=True,
            help="The format of the report.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(0, MAX_BY_OPTION["seed"]),
            default=12345,
            show_default=True,
            help="Seed of all random choices.",
        ),
        click.option(
            "--threads",
            type=click.IntRange(1, MAX_BY_OPTION["threads"]),
            metavar="N",
            help="Threads (default: all cores).",
        ),
    )
    return name_options_in_errors(options)


def name_options_in_errors(function: F) -> F:
    """Makes the errors of a command name options instead of keywords."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except WellputError as error:
            message = keywords_as_options(str(error), click.get_current_context().command)
            error.args = (message, *error.args[1:])
            raise

    return cast("F", call)


def is_terminal(output: str) -> bool:
    """Whether the output goes to a terminal, not to a file or a pipe; "-" is standard output."""
    return output == "-" and sys.stdout is not None and sys.stdout.isatty()


def terminal_width(output: str) -> int | None:
    """The width of the terminal in characters; None (no limit) if the output does not go to a
    terminal."""
    return shutil.get_terminal_size().columns if is_terminal(output) else None


def show_result_of(work: Callable[[OnPhase], Result], format: str, output: str) -> None:
    """Calls the function `work` while a progress line is shown, and shows its result. If an error has a
    result, the result is shown before the error."""
    from wellput.cli.progress import progress

    check_output(output)
    try:
        with progress() as on_phase:
            result = work(on_phase)
    except WellputError as error:
        if error.result is not None:
            show(error.result, format, output)
        raise
    show(result, format, output)


def show_summary_of(
    work: Callable[[OnPhase], Result], format: str, path: str | None, *, is_slow: bool = False
) -> None:
    """Calls the function `work`, which writes its product to `path`. Then shows a summary on standard
    output, unless the product was written there. `is_slow` is as for `progress`."""
    from wellput.cli.progress import progress

    with progress(is_slow=is_slow) as on_phase:
        result = work(on_phase)
    if path != "-":
        show(result, format, "-")


def check_output(output: str) -> None:
    """Raises an error, before any work, if the output file cannot be written, or if the command also
    reads it or writes segment scores to it."""
    from wellput.io import check_distinct, check_files
    from wellput.io.named_files import is_folder_or_pattern

    parameters = click.get_current_context().params
    # The values of all arguments and options that may be files to read. Those of --hyp are NAME=FILE.
    files_read = [
        text.partition("=")[2] if name == "hyp" else text
        for name, value in parameters.items()
        if name not in ("output", "path", "format", "segments", "charts", "column")
        for text in (
            [value] if isinstance(value, str) else value if isinstance(value, tuple) else []
        )
        if isinstance(text, str) and (name in MAY_BE_FOLDERS or not is_folder_or_pattern(text))
    ]
    check_files([output], [*files_read, *_stored_runs(parameters.get("runs"))])
    _format_of(parameters.get("format", "table"), output)  # refuses .html and others
    check_distinct([output, *([parameters["segments"]] if parameters.get("segments") else [])], [])


def _stored_runs(folder: str | None) -> Sequence[Path]:
    """The runs in the folder; other files in it, such as a list of its runs, may be replaced."""
    if folder is None or not Path(folder).is_dir():
        return []
    from wellput.io.run_files import run_paths

    return run_paths(folder)


def show(
    shown: Report | Result, format: str, output: str, *, before: str = "", after: str = ""
) -> None:
    """Writes a report in its format. `before` and `after` are texts around it, in the table format
    only."""
    from wellput.io.output import write_text

    report = shown.report() if isinstance(shown, Result) else shown
    format = _format_of(format, output)
    if any("=" in note for table in report.tables for note in table.notes):
        report = _with_options_in_notes(report)
    width, color = terminal_width(output), is_terminal(output)
    text = render(report, cast("Format", format), width=width, color=color)
    if format != "table" and is_terminal(output):  # `render` makes tables printable, always
        text = printable(text)  # files and other programs get names as they are
    is_private = isinstance(shown, Result) and shown.is_secret
    if format == "table":
        text = before + text + after
    write_text(text, output, is_private=is_private, is_styled=True)


def _format_of(format: str, output: str) -> str:
    """The format that `--format` names; without it, the format that the suffix of the output file
    names."""
    source = click.get_current_context().get_parameter_source("format")
    is_given = source is not None and source is not ParameterSource.DEFAULT
    return format if is_given else suffix_format(output)


def _with_options_in_notes(report: Report) -> Report:
    """The report, with options in place of keywords in its notes."""
    command = click.get_current_context().command

    def with_options(table: Table) -> Table:
        notes = [keywords_as_options(note, command) for note in table.notes]
        transposed = None if table.transposed is None else with_options(table.transposed)
        return replace(table, notes=notes, transposed=transposed)

    tables = [with_options(table) for table in report.tables]
    return replace(report, tables=tables)


class CommandWithConfidence(click.Command):
    """Allows `--confidence` without a number, which means 0.95."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for place, word in enumerate(args):
            following = args[place + 1] if place + 1 < len(args) else ""
            if word == "--confidence" and not following.replace(".", "", 1).isdecimal():
                args[place] = "--confidence=0.95"
        return super().parse_args(ctx, args)


def confidence_option(function: F) -> F:
    """Adds --confidence to a `CommandWithConfidence`, which shows intervals only if asked to."""
    return click.option(
        "--confidence",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="[0.95]",
        help="Show intervals; a number sets their confidence (default: 0.95).",
    )(function)


def generalize_option(function: F) -> F:
    return click.option(
        "--generalize",
        type=click.Choice(["both", "systems", "items"]),
        default="both",
        show_default=True,
        help="Agreement with people: intervals and p-values hold for other systems, other items, or "
        "both.",
    )(function)


def generalize_to_items_option(function: F) -> F:
    """Adds --generalize to a command that compares systems."""
    return click.option(
        "--generalize",
        # The library refuses all but items, with a message that says why.
        type=click.Choice(["items", "systems", "both"]),
        default="items",
        show_default=True,
        help="Intervals and p-values hold for these systems and other items (in a ranking also for "
        "other judges); no other value is accepted here.",
    )(function)


def cluster_option(function: F) -> F:
    return click.option(
        "--cluster",
        metavar="document|TAG|item",
        help="What counts as one unit in intervals and tests: a document, the items with the same "
        "value of a tag, or a single item (default: documents, if items have them).",
    )(function)


def column_option(function: F) -> F:
    return click.option(
        "--column",
        multiple=True,
        metavar="FIELD=NAME",
        help="Read FIELD (id, source, context, references, outputs, tags or document; system where "
        "every row is one answer) from the column NAME of EVALSET. Can be repeated; wellput columns "
        "shows a file's columns.",
    )(function)


def all_columns_option(function: F) -> F:
    """Adds --column to a command that reads an evalset and judgments."""
    return click.option(
        "--column",
        multiple=True,
        metavar="FIELD=NAME",
        help="Read FIELD from the column NAME: id, source, context, references, outputs, tags or "
        "document of EVALSET; judge, item, system, question or value of JUDGMENTS. Can be repeated; "
        "wellput columns shows a file's columns.",
    )(function)


def by_option(function: F) -> F:
    return click.option(
        "--by",
        metavar="TAG",
        help="Also show the results for the items of each value of a tag, such as domain; p-values are "
        "corrected over all values.",
    )(function)


def interval_options(function: F) -> F:
    """Adds --generalize and --confidence."""
    return generalize_option(interval_confidence_option(function))


def interval_confidence_option(function: F) -> F:
    """Adds --confidence to a command that always shows intervals."""
    return click.option(
        "--confidence",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help="Confidence of the intervals.",
    )(function)


def engine_options(function: F) -> F:
    """Adds --engine, --address, --resume and --on-error."""
    on_error = click.option(
        "--on-error",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="If a part of the input cannot be read or scored, stop: end; skip: leave the part out, "
        "and list it.",
    )
    resume = click.option(
        "--resume",
        metavar="FOLDER",
        help="Keep finished parts in FOLDER; the same command resumes from them.",
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


def metrics_option(help: str, *, required: bool = False) -> Callable[[F], F]:
    """Adds -m, for which shells complete names of metrics."""
    return click.option(
        "-m",
        "--metrics",
        "metrics",
        multiple=True,
        required=required,
        metavar="METRICS",
        shell_complete=complete_metric,
        help=help,
    )


def complete_metric(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes the last of the metrics typed so far."""
    from wellput.metrics import registry

    done, comma, last = incomplete.rpartition(",")
    return [CompletionItem(done + comma + n) for n in registry.metric_names() if n.startswith(last)]


def judges_option(function: F) -> F:
    return click.option(
        "--judges",
        multiple=True,
        default=["people"],
        show_default=True,
        metavar="people|all|NAMES",
        help="Whose judgments are used; judges named model:… are not people.",
    )(function)


def exclude_option(function: F) -> F:
    return click.option(
        "--exclude",
        multiple=True,
        metavar='"RULE: REASON"',
        help='Leave judgments out, with the reason: "judge=J3: pressed one button", '
        '"system=B,item=7: a typo". Can be repeated.',
    )(function)


def panel_options(function: F) -> F:
    """Adds --question (repeatable), --normalize, --judges, --exclude and --exclude-judges-below."""
    question = click.option(
        "--question", multiple=True, metavar="Q", help="Use only this question. Can be repeated."
    )
    return question(rating_options(function))


def rating_options(function: F) -> F:
    """Adds --normalize, --judges, --exclude and --exclude-judges-below."""
    return add_options(
        function,
        click.option(
            "--normalize",
            type=click.Choice(["none", "z", "unit", "rank"]),
            help="Bring the judges' ratings to one scale (default: z if the judges rated the same "
            "systems, else none). Yes and no are never changed.",
        ),
        judges_option,
        exclude_option,
        click.option(
            "--exclude-judges-below",
            type=click.FloatRange(-1, 1),
            metavar="R",
            help="Leave out judges who correlate less than R with the other judges.",
        ),
    )


def trees_option(function: F) -> F:
    return click.option(
        "--trees",
        metavar="PARSER",
        help="Parse references that have no tree. auto: wellput's own parser; spacy:NAME: a spaCy "
        "pipeline that you have installed.",
    )(function)


def trees_file_option(function: F) -> F:
    """Adds -o to a command that writes dependency trees."""
    return click.option(
        "-o",
        "path",
        default="-",
        metavar="TREES.conllu",
        help="Write the trees to TREES.conllu (.gz, .xz), and print a summary.",
    )(function)


def paraphrase_option(about: str) -> Callable[[F], F]:
    """Adds --paraphrase, which may be repeated. `about` begins its help: it says what is done with the
    references."""
    return click.option(
        "--paraphrase",
        multiple=True,
        metavar="METHODS",
        help=f"{about}: context, contextwn, wordnet, lsa, brown, separated by commas. "
        "contextwn:model=FILE.wpm and wordnet:words_only=true give a method options.",
    )
