"""`wellput study`: create, invite, serve, status, export, forget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from wellput.cli.options import (
    common_options,
    making_options,
    show_made,
    show_result_of,
    speaking_options,
)
from wellput.core.errors import InputError
from wellput.core.result import Result
from wellput.core.work import OnPhase

F = TypeVar("F", bound=Callable[..., Any])


def wording_options(function: F) -> F:
    """What judges are asked, and how."""
    for option in reversed(
        (
            click.option(
                "--design",
                metavar="rating|magnitude|slider|pairwise|task",
                help="Rate on points, by numbers of one's own, or by a slider; choose between two; or "
                "answer a question about the text. Other packages may add designs.",
            ),
            click.option(
                "--questions",
                multiple=True,
                metavar="NAMES",
                help="What is asked (comma-separated).",
            ),
            click.option(
                "--settings", metavar="FILE.toml", help="Wording, consent, practice, checks, tasks."
            ),
            click.option("--points", type=int, help="Points of a rating scale (default: 7)."),
            click.option(
                "--layout",
                type=click.Choice(["single", "page"]),
                help="One variant at a time (the default), or all variants of an item on a page.",
            ),
            click.option("--ties", is_flag=True, default=None, help="Pairs may tie."),
            click.option(
                "--modulus", type=float, metavar="X", help="The number of a middling sentence."
            ),
            click.option("--consent", is_flag=True, default=None, help="Ask for consent first."),
            click.option(
                "--practice", is_flag=True, default=None, help="Begin with practice trials."
            ),
            click.option(
                "--demographics", is_flag=True, default=None, help="Ask judges about themselves."
            ),
            click.option(
                "--show-source", is_flag=True, default=None, help="Show the source of each item."
            ),
        )
    ):
        function = option(function)
    return function


def plan_options(function: F) -> F:
    """Who judges what."""
    count = click.IntRange(min=1)
    for option in reversed(
        (
            click.option("--judges", type=count, metavar="N", help="How many judges are expected."),
            click.option(
                "--per-item",
                type=count,
                metavar="N",
                help="Judgments of every trial (default: 3, or the number of judges if fewer).",
            ),
            click.option(
                "--plan",
                type=click.Choice(["per-item", "within-judge"]),
                default="per-item",
                show_default=True,
                help="N judgments a trial; or every judge sees each item once and every system (pair) "
                "equally often.",
            ),
            click.option(
                "--times",
                type=count,
                metavar="K",
                help="Within a judge: every system (pair) K times (default: as the items allow).",
            ),
            click.option(
                "--repeats",
                type=click.IntRange(min=0),
                default=0,
                show_default=True,
                help="Trials that each judge sees twice, for self-consistency.",
            ),
            click.option(
                "--checks",
                type=click.IntRange(min=0),
                default=0,
                show_default=True,
                help="Attention checks for each judge.",
            ),
            click.option("--at-most", type=count, metavar="N", help="Trials for a judge, at most."),
            click.option(
                "--lease",
                type=click.FloatRange(min=0, min_open=True),
                default=30.0,
                show_default=True,
                metavar="MINUTES",
                help="After so long an absence a judge's trial goes to others.",
            ),
        )
    ):
        function = option(function)
    return function


def selection_options(function: F) -> F:
    """What to show of an evalset that is too large."""
    for option in reversed(
        (
            click.option(
                "--select",
                type=click.Choice(["random", "spread", "contrast"]),
                help="Only some trials: at random, spread over a metric's values, or where metrics "
                "disagree.",
            ),
            click.option("-m", "--metrics", multiple=True, metavar="METRICS", help="For --select."),
            click.option(
                "--per-stratum",
                type=click.IntRange(min=1),
                default=10,
                show_default=True,
                help="Trials from each system, fifth of a metric's range, or disagreement.",
            ),
        )
    ):
        function = option(function)
    return function


@click.command(
    epilog="""\b
Examples:
  wellput study create evalset.jsonl --design rating --questions understandability,quality \\
      --judges 10 --per-item 3 -o study.db
  wellput study create evalset.jsonl --design pairwise --plan within-judge --times 6 -o pairs.db
  wellput study create evalset.jsonl --design magnitude --select spread -m sta,bleu -o study.db
"""
)
@click.argument("evalset")
@wording_options
@plan_options
@selection_options
@click.option(
    "--from-substitutions",
    is_flag=True,
    help="EVALSET holds substitutions (wellput paraphrase --substitutions): ask whether each is right.",
)
@click.option("-o", "path", metavar="STUDY", required=True, help="The study: a file, or a URL.")
@making_options
def create(format: str, path: str, **options: Any) -> None:
    """Make a study of an evalset.

    The summary holds the owner's token, which opens the dashboard: it is shown only now.
    """
    from wellput.api.study import Study

    def summary(on_phase: OnPhase) -> Result:
        with Study.create(**options, path=path, on_phase=on_phase) as study:
            return study.summary()

    show_made(summary, format, path)


ADDRESS = "http://127.0.0.1:8000"


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

    STUDY is a file (SQLite), or postgresql://USER@HOST/DATABASE.
    """


command.add_command(create, "create")


@command.command(epilog="\b\nExample:\n  wellput study invite study.db --judges 10 --format json")
@click.argument("study")
@click.option("--judges", type=click.IntRange(min=1), metavar="N", help="How many to invite.")
@click.option("--names", multiple=True, metavar="NAMES", help="Their names, comma-separated.")
@click.option(
    "--url",
    default=ADDRESS,
    show_default=True,
    metavar="ADDRESS",
    help="Where the study is served.",
)
@common_options
def invite(
    study: str, format: str, output: str, seed: int, threads: int | None, **options: Any
) -> None:
    """Invite judges: one private link each, shown only now."""
    from wellput.api.study import Study

    show_result_of(lambda _: Study.open(study).invite(**options), format, output)


@command.command(epilog="\b\nExample:\n  wellput study serve study.db --port 8000")
@click.argument("study")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Its port."
)
@click.option("--certificate", metavar="FILE.pem", help="For TLS: the certificate.")
@click.option("--key", metavar="FILE.pem", help="For TLS: its private key.")
@click.option("--new-owner-token", is_flag=True, help="Replace the owner's token and show it.")
@speaking_options
def serve(
    study: str,
    host: str,
    port: int,
    certificate: str | None,
    key: str | None,
    new_owner_token: bool,
) -> None:
    """Serve the study's pages, its JSON interface and the dashboard until interrupted."""
    from wellput.api.study import Study

    with Study.open(study) as opened:
        if new_owner_token:
            click.echo(f"The owner's token is now {opened.renew_owner_token()}")
        address = f"{'http' if certificate is None else 'https'}://{host}:{port}"
        click.echo(opened.title)
        click.echo(f"  judges     {address}/judge/TOKEN\n  dashboard  {address}/dashboard")
        opened.serve(host=host, port=port, certificate=certificate, key=key)


@command.command(epilog="\b\nExample:\n  wellput study status study.db")
@click.argument("study")
@common_options
def status(study: str, format: str, output: str, seed: int, threads: int | None) -> None:
    """Say whom the judges prefer, how far they are, what looks wrong, and how well they agree."""

    def verb(on_phase: OnPhase) -> Result:
        on_phase("reading the study")
        from wellput.api.study import Study

        opened = Study.open(study)
        on_phase("comparing judges")
        return opened.status()

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
    help="CSV, TSV, JSONL or Parquet by suffix; the design goes beside it (default: CSV on stdout).",
)
@click.option(
    "--as",
    "as_",
    type=click.Choice(["judgments", "evalica", "mt-metrics-eval"]),
    default="judgments",
    show_default=True,
    help="For whom: wellput itself, evalica, or mt-metrics-eval (.seg.score, .sys.score).",
)
@click.option("--question", metavar="Q", help="Only this question.")
@click.option("--repeats", is_flag=True, help="Repeated trials too, marked in a column.")
@making_options
def export(
    study: str, path: str, format: str, seed: int, threads: int | None, **options: Any
) -> None:
    """Write the judgments to a file, for `wellput agree` and others."""

    def verb(on_phase: OnPhase) -> Result:
        from wellput.api.study import Study
        from wellput.studies.exports import check_target

        check_target(path, options["as_"])  # before the study is read
        on_phase("reading the study")
        return Study.open(study).export(path, **options, on_phase=on_phase)

    show_made(verb, format, path)


@command.command(epilog="\b\nExample:\n  wellput study forget study.db J3")
@click.argument("study")
@click.argument("name", required=False)
@click.option("--judge", metavar="NAME", help="Who withdraws; may be said without --judge.")
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
    """Erase a judge who withdraws consent: answers, demographics, name and link, for good.

    That somebody withdrew, and how many answers went, stays on record. The trials are handed out
    again. Copies made before (exports, backups) are yours to erase.
    """
    from wellput.api.study import Study

    who = judge or name
    if who is None or (judge and name):
        raise InputError("Name the one judge to forget: wellput study forget STUDY NAME.")
    show_result_of(lambda _: Study.open(study).forget(who), format, output)
