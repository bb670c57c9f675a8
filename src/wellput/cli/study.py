"""`wellput study`: create, invite, serve, status, export, backup, replicate, datasheet, forget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from wellput.cli.options import (
    add_options,
    basic_options,
    column_option,
    common_options,
    metrics_option,
    name_options_in_errors,
    show_result_of,
    show_summary_of,
)
from wellput.core.errors import InputError
from wellput.core.result import Result
from wellput.core.work import OnPhase

F = TypeVar("F", bound=Callable[..., Any])


def wording_options(function: F) -> F:
    """What judges are asked, and how."""
    return add_options(
        function,
        click.option(
            "--design",
            metavar="rating|magnitude|slider|pairwise|spans|mqm|task",
            help="How judges answer: points, free numbers, a slider, a choice between two outputs, "
            "marked errors with a score (spans) or with categories (mqm), or an answer to a question "
            "about the text. Other packages may add designs.",
        ),
        click.option(
            "--questions",
            multiple=True,
            metavar="NAMES",
            help="Names of the questions, separated by commas.",
        ),
        click.option(
            "--settings", metavar="FILE.toml", help="Wording, consent, practice, checks, tasks."
        ),
        click.option("--points", type=int, help="Points of a rating scale (default: 7)."),
        click.option(
            "--layout",
            type=click.Choice(["single", "page"]),
            help="single: one output at a time (the default); page: all outputs of an item on one "
            "page.",
        ),
        click.option(
            "--ties",
            is_flag=True,
            default=None,
            help="Judges may say that two outputs are equally good.",
        ),
        click.option(
            "--modulus",
            type=float,
            metavar="X",
            help="The number that stands for an average sentence, in --design magnitude.",
        ),
        click.option("--consent", is_flag=True, default=None, help="Ask for consent first."),
        click.option("--practice", is_flag=True, default=None, help="Begin with practice trials."),
        click.option(
            "--demographics", is_flag=True, default=None, help="Ask judges about themselves."
        ),
        click.option(
            "--show-source",
            is_flag=True,
            default=None,
            help="Show the source of each item (spans and mqm show it anyway).",
        ),
        click.option(
            "--show-reference",
            is_flag=True,
            default=None,
            help="Show the references of each item.",
        ),
        click.option(
            "--categories",
            metavar="FILE.toml",
            help="For mqm: the kinds of errors (default: the usual ones).",
        ),
        click.option(
            "--weights",
            metavar="NAME=X,…",
            help="For mqm: what an error costs, such as minor=1,major=5,fluency/punctuation:minor=0.1 "
            "(these are the default).",
        ),
        click.option(
            "--prefill",
            metavar="FILE",
            help="For spans and mqm: errors that judges find marked, from a file such as wellput judge "
            "--design spans writes.",
        ),
        click.option(
            "--show",
            type=click.Choice(["plain", "markdown"]),
            help="Show texts as they are (plain, the default), or as markdown: tables, code, formulas, "
            "images and sounds, sanitized.",
        ),
        click.option(
            "--media",
            metavar="FOLDER",
            help="Images and sounds that markdown names by a path; the study keeps them.",
        ),
        click.option(
            "--language",
            metavar="en|de|fr|es|zh|ar|FILE.toml",
            help="The language of the pages, or a language file of your own (default: en).",
        ),
        click.option(
            "--unit",
            metavar="WORD",
            help="What the outputs are called: sentence, text, answer, summary, translation, or in "
            "English any word (default: sentence if most outputs are one, else text).",
        ),
    )


def plan_options(function: F) -> F:
    """Who judges what."""
    count = click.IntRange(min=1)
    return add_options(
        function,
        click.option("--judges", type=count, metavar="N", help="How many judges are expected."),
        click.option(
            "--per-item",
            type=count,
            metavar="N",
            help="Judgments of each trial (default: 3, or the number of judges if lower).",
        ),
        click.option(
            "--plan",
            type=click.Choice(["per-item", "within-judge"]),
            default="per-item",
            show_default=True,
            help="per-item: N judgments of each trial; within-judge: every judge sees each item "
            "once, and each system (or pair) equally often.",
        ),
        click.option(
            "--times",
            type=count,
            metavar="K",
            help="For within-judge: each system (or pair) K times (default: as often as the items "
            "allow).",
        ),
        click.option(
            "--repeats",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Trials that each judge sees twice, to measure consistency.",
        ),
        click.option(
            "--checks",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Attention checks for each judge.",
        ),
        click.option(
            "--degraded-checks",
            is_flag=True,
            help="The attention checks are outputs of the study, spoiled.",
        ),
        click.option(
            "--break-every", type=count, metavar="N", help="Suggest a break after every N answers."
        ),
        click.option("--at-most", type=count, metavar="N", help="Most trials that one judge gets."),
        click.option(
            "--lease",
            type=click.FloatRange(min=0, min_open=True),
            default=30.0,
            show_default=True,
            metavar="MINUTES",
            help="A judge who is away for this long loses the open trial to another judge.",
        ),
    )


def selection_options(function: F) -> F:
    """Which trials to show, if there are too many."""
    return add_options(
        function,
        click.option(
            "--items",
            metavar="N|FILE",
            help="Show only N items, drawn at random, or those whose ids stand in FILE, one on each "
            "line (default: all).",
        ),
        click.option(
            "--systems",
            multiple=True,
            metavar="NAMES",
            help="Show only these systems, separated by commas (default: all).",
        ),
        click.option(
            "--select",
            type=click.Choice(["random", "spread", "contrast"]),
            help="Show only some trials: drawn at random, spread over the values of a metric, or "
            "where metrics disagree.",
        ),
        metrics_option("The metrics of --select."),
        click.option(
            "--per-stratum",
            type=click.IntRange(min=1),
            default=10,
            show_default=True,
            help="Trials from each stratum: a system, a fifth of a metric's range, or a disagreement.",
        ),
    )


def open_options(function: F) -> F:
    """Who may come in by the open link, and what happens at the end."""
    return add_options(
        function,
        click.option(
            "--open",
            is_flag=True,
            help="Make one open link, by which everybody can take part until all places are taken.",
        ),
        click.option(
            "--quota",
            type=click.IntRange(min=1),
            metavar="N",
            help="The number of places of the open link (default: --judges).",
        ),
        click.option(
            "--completion",
            metavar="URL|CODE",
            help="For --open: a code to show at the end, or an address to go to. {PROLIFIC_PID} and "
            "other parameters of the platform are filled in.",
        ),
        click.option(
            "--place-timeout",
            type=click.FloatRange(min=0, min_open=True),
            default=120.0,
            show_default=True,
            metavar="MINUTES",
            help="For --open: the place of a judge who is away for this long without having finished "
            "is free again.",
        ),
    )


@click.command(
    epilog="""\b
Examples:
  wellput study create evalset.jsonl --design rating --questions understandability,quality \\
      --judges 10 --per-item 3 -o study.db
  wellput study create evalset.jsonl --design pairwise --plan within-judge --items 18 \\
      --systems original,weighted,rule -o pairs.db
  wellput study create evalset.jsonl --design magnitude --select spread -m sta,bleu -o study.db
  wellput study create evalset.jsonl --design spans --prefill machine.csv -o spans.db
"""
)
@click.argument("evalset")
@column_option
@wording_options
@plan_options
@selection_options
@open_options
@click.option(
    "--screening",
    metavar="FILE.toml",
    help="For --open: questions that come first, with the answers that are accepted.",
)
@click.option(
    "--from-substitutions",
    is_flag=True,
    help="EVALSET comes from wellput paraphrase --substitutions: ask whether each substitution is "
    "right.",
)
@click.option(
    "-o", "path", metavar="STUDY", required=True, help="The study to make: a file, or a URL."
)
@basic_options
def create(format: str, path: str, **options: Any) -> None:
    """Make a study of an evalset.

    The summary shows the owner's token, which opens the dashboard. It is shown only once.
    """
    from wellput.api.study import Study

    def summary(on_phase: OnPhase) -> Result:
        with Study.create(**options, path=path, on_phase=on_phase) as study:
            return study.summary()

    show_summary_of(summary, format, path)


@click.group(
    epilog="""\b
Example:
  wellput study create evalset.jsonl --design rating --judges 10 --per-item 3 -o study.db
  wellput study invite study.db --judges 10
  wellput study serve study.db
  wellput study export study.db -o judgments.csv
"""
)
def command() -> None:
    """Collect people's judgments on the web.

    STUDY is an SQLite file, or postgresql://USER@HOST/DATABASE.
    """


command.add_command(create, "create")


@command.command(epilog="\b\nExample:\n  wellput study invite study.db --judges 10 --format json")
@click.argument("study")
@click.option("--judges", type=click.IntRange(min=1), metavar="N", help="How many to invite.")
@click.option(
    "--names", multiple=True, metavar="NAMES", help="Names of the judges, separated by commas."
)
@click.option(
    "--machine",
    multiple=True,
    metavar="NAMES",
    help="Invite machines: judges named model:NAME, for whom `wellput judge STUDY` answers.",
)
@click.option(
    "--url",
    default="http://127.0.0.1:8000",
    show_default=True,
    metavar="ADDRESS",
    help="The address at which the study is served.",
)
@common_options
def invite(
    study: str, format: str, output: str, seed: int, threads: int | None, **options: Any
) -> None:
    """Invite judges: each gets one private link, which is shown only once."""
    from wellput.api.study import Study

    show_result_of(lambda _: Study.open(study).invite(**options), format, output)


@command.command(epilog="\b\nExample:\n  wellput study serve study.db --port 8000")
@click.argument("study")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port to listen on.",
)
@click.option("--certificate", metavar="FILE.pem", help="For TLS: the certificate.")
@click.option("--key", metavar="FILE.pem", help="For TLS: its private key.")
@click.option(
    "--request-timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="Close a connection whose request takes longer to arrive.",
)
@click.option(
    "--max-connections",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    metavar="N",
    help="Most connections at a time. If there are more, those that have waited longest for the rest "
    "of a request are closed.",
)
@click.option(
    "--trust-proxy",
    multiple=True,
    metavar="ADDRESSES",
    help="Addresses of your proxies, separated by commas: only their X-Forwarded-For and "
    "X-Forwarded-Proto are believed.",
)
@click.option("--new-owner-token", is_flag=True, help="Make a new owner's token and show it.")
@open_options
@name_options_in_errors
def serve(
    study: str,
    host: str,
    port: int,
    certificate: str | None,
    new_owner_token: bool,
    open: bool,
    quota: int | None,
    completion: str | None,
    place_timeout: float,
    **options: Any,
) -> None:
    """Serve the study on the web (pages, JSON interface, dashboard) until Ctrl-C."""
    from wellput.api.study import Study

    with Study.open(study) as opened:
        if open:
            opened.open_to_everybody(
                quota=quota, completion=completion, place_timeout=place_timeout
            )
        elif quota is not None or completion is not None:
            raise InputError("quota= and completion= belong to open=True.")
        if new_owner_token:
            click.echo(f"The owner's token is now {opened.renew_owner_token()}")
        address = f"{'http' if certificate is None else 'https'}://{host}:{port}"
        click.echo(opened.title)
        click.echo(f"  judges     {address}/judge/TOKEN\n  dashboard  {address}/dashboard")
        if (link := opened.open_link(address)) is not None:
            click.echo(f"  open link  {link}")
        opened.serve(host=host, port=port, certificate=certificate, **options)


@command.command(epilog="\b\nExample:\n  wellput study status study.db")
@click.argument("study")
@click.option("--blinded", is_flag=True, help="Give the systems code names, to stay blind.")
@common_options
def status(
    study: str, blinded: bool, format: str, output: str, seed: int, threads: int | None
) -> None:
    """Say whom the judges prefer, how much is done, what looks wrong, and how well judges agree."""

    def verb(on_phase: OnPhase) -> Result:
        on_phase("reading the study")
        from wellput.api.study import Study

        opened = Study.open(study)
        on_phase("comparing judges")
        return opened.status(blinded=blinded)

    show_result_of(verb, format, output)


@command.command(
    epilog="""\b
Examples:
  wellput study export study.db -o judgments.csv
  wellput study export study.db --as mt-metrics-eval --question quality -o quality.seg.score
"""
)
@click.argument("study")
@click.option(
    "-o",
    "path",
    metavar="FILE",
    default="-",
    help="A CSV, TSV, JSONL or Parquet file; the design is written beside it (default: CSV on "
    "standard output).",
)
@click.option(
    "--as",
    "as_",
    type=click.Choice(["judgments", "evalica", "mt-metrics-eval"]),
    default="judgments",
    show_default=True,
    help="Write for wellput, evalica, or mt-metrics-eval (.seg.score, .sys.score).",
)
@click.option("--question", metavar="Q", help="Export only this question.")
@click.option("--repeats", is_flag=True, help="Include repeated trials, marked in a column.")
@basic_options
def export(
    study: str, path: str, format: str, seed: int, threads: int | None, **options: Any
) -> None:
    """Write the judgments to a file, for `wellput agree` and other tools."""

    def verb(on_phase: OnPhase) -> Result:
        from wellput.api.study import Study
        from wellput.studies.exports import check_target

        check_target(path, options["as_"])  # before the study is read
        on_phase("reading the study")
        return Study.open(study).export(path, **options, on_phase=on_phase)

    show_summary_of(verb, format, path)


@command.command(epilog="\b\nExample:\n  wellput study backup study.db -o study-copy.db")
@click.argument("study")
@click.option("-o", "path", metavar="FILE", required=True, help="The file to make.")
@basic_options
def backup(study: str, path: str, format: str, seed: int, threads: int | None) -> None:
    """Copy the study to a new file, also while judges are at work.

    Do not copy the file of a study that is being served: answers may be missing from such a copy.
    """

    def verb(on_phase: OnPhase) -> Result:
        from wellput.api.study import Study

        on_phase("copying the study")
        return Study.open(study).backup(path)

    show_summary_of(verb, format, path)


@command.command(epilog="\b\nExample:\n  wellput study replicate study.db -o again.db")
@click.argument("study")
@click.option("-o", "path", metavar="STUDY", required=True, help="The study to make.")
@basic_options
def replicate(study: str, path: str, format: str, seed: int, threads: int | None) -> None:
    """Make the same study anew, for other judges: without judges and answers.

    Settings, items, trials and seed are the same. An open study gets a new open link.
    """

    def verb(on_phase: OnPhase) -> Result:
        from wellput.api.study import Study

        on_phase("copying the study")
        return Study.open(study).replicate(path)

    show_summary_of(verb, format, path)


@command.command(
    epilog="""\b
Examples:
  wellput study datasheet study.db --format markdown -o datasheet.md
  wellput study datasheet study.db --preregistration --format markdown -o preregistration.md
"""
)
@click.argument("study")
@click.option(
    "--preregistration",
    is_flag=True,
    help="Say instead what is fixed before the first answer, to be published then.",
)
@common_options
def datasheet(
    study: str, preregistration: bool, format: str, output: str, seed: int, threads: int | None
) -> None:
    """Say what a reader of the study must know, as far as the study knows it.

    The questions are like those of the Human Evaluation Datasheet (HEDS). Those that only you can
    answer are marked.
    """

    def verb(on_phase: OnPhase) -> Result:
        from wellput.api.study import Study

        on_phase("reading the study")
        return Study.open(study).datasheet(preregistration=preregistration)

    show_result_of(verb, format, output)


@command.command(epilog="\b\nExample:\n  wellput study forget study.db J3")
@click.argument("study")
@click.argument("name", required=False)
@click.option("--judge", metavar="NAME", help="The judge to erase; the same as NAME.")
@common_options
def forget(
    study: str,
    name: str | None,
    judge: str | None,
    format: str,
    output: str,
    seed: int,
    threads: int | None,
) -> None:
    """Erase a judge who withdraws consent: answers, demographics, name and link. This is final.

    The study still records that a judge withdrew, and how many answers were erased. Other judges get
    the trials. You must erase earlier copies (exports, backups) yourself.
    """
    from wellput.api.study import Study

    who = judge or name
    if who is None or (judge and name):
        raise InputError("Name one judge to forget: wellput study forget STUDY NAME.")
    show_result_of(lambda _: Study.open(study).forget(who), format, output)
