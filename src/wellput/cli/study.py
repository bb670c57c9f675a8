"""The commands `wellput study …`: import, invite, serve, status, export, backup, replicate, datasheet
and forget; `create` is in `study_create`. `wellput.api.study` does the work.

Commands that do not need --seed or --threads accept and ignore them.
"""

from __future__ import annotations

import gc
from typing import Any

import click

from wellput.cli.options import (
    basic_options,
    column_option,
    common_options,
    name_options_in_errors,
    show_result_of,
    show_summary_of,
)
from wellput.cli.study_create import create, open_options
from wellput.core.errors import InputError
from wellput.core.result import Result
from wellput.core.work import OnPhase

SERVER_GC_THRESHOLDS = (700, 10, 10)
"""Python's default thresholds for garbage collection."""


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


@command.command(
    "import",
    epilog="""\b
Examples:
  wellput study import batches.json scores.csv -o campaign.db     # a campaign of Appraise
  wellput study import evalset.jsonl judgments.csv --design rating:points=5 -o study.db
""",
)
@click.argument("evalset")
@click.argument("judgments")
@column_option
@click.option(
    "--design",
    metavar="DESIGN",
    help="What judges were asked (default: mqm for error spans with categories, spans for other error "
    "spans, slider for numbers from 0 to 100).",
)
@click.option(
    "--weights",
    metavar="WEIGHTS",
    help="For mqm: what errors cost, as in minor=1,major=5 (default: as in create; for Appraise "
    "minor=1,major=5,critical=25, and 0.1 for punctuation).",
)
@click.option(
    "-o", "path", metavar="STUDY", required=True, help="The study to make: a file, or a URL."
)
@basic_options
def import_judgments(format: str, path: str, threads: int | None, **options: Any) -> None:
    """Make a finished study from judgments that were collected elsewhere.

    EVALSET has the outputs, JUDGMENTS the ratings, perhaps with error spans. A campaign of Appraise is
    given by its batches and its scores; its attention checks are imported, too. The study is closed:
    look at it with `status` and `serve`, export it, or make it again with `replicate`.
    """
    from wellput.api.study import Study

    def summary(on_phase: OnPhase) -> Result:
        with Study.from_judgments(**options, path=path, on_phase=on_phase) as study:
            return study.summary()

    show_summary_of(summary, format, path)


@command.command(epilog="\b\nExample:\n  wellput study invite study.db --judges 10 --format json")
@click.argument("study")
@click.option(
    "--judges", type=click.IntRange(min=1), metavar="N", help="How many judges to invite."
)
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
    help="Close a connection whose request takes longer than this to arrive.",
)
@click.option(
    "--max-connections",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    metavar="N",
    help="The largest number of connections at a time. If there are more, the connections that have "
    "waited longest for the rest of a request are closed.",
)
@click.option(
    "--trust-proxy",
    multiple=True,
    metavar="ADDRESSES",
    help="Addresses of your proxies, separated by commas: only their X-Forwarded-For and "
    "X-Forwarded-Proto are trusted.",
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
    place_timeout: float | None,
    **options: Any,
) -> None:
    """Serve the study on the web (pages, JSON interface, dashboard) until Ctrl-C."""
    from wellput.api.study import Study
    from wellput.api.study_creation import refuse_options_of_open_link

    with Study.open(study) as opened:
        if open:
            opened.open_to_everybody(
                quota=quota, completion=completion, place_timeout=place_timeout
            )
        else:
            refuse_options_of_open_link(
                quota=quota, completion=completion, place_timeout=place_timeout
            )
        if new_owner_token:
            click.echo(f"The owner's token is now {opened.renew_owner_token()}")

        def show_addresses() -> None:
            address = f"{'http' if certificate is None else 'https'}://{host}:{port}"
            click.echo(opened.title)
            click.echo(f"  judges     {address}/judge/TOKEN\n  dashboard  {address}/dashboard")
            if (link := opened.open_link(address)) is not None:
                click.echo(f"  open link  {link}")

        # Other commands end soon, so `wellput.cli` makes garbage collection rare. A server must free
        # the memory of its requests; the objects that exist now are not searched.
        gc.freeze()
        gc.set_threshold(*SERVER_GC_THRESHOLDS)
        opened.serve(
            host=host, port=port, certificate=certificate, on_ready=show_addresses, **options
        )


@command.command(epilog="\b\nExample:\n  wellput study status study.db")
@click.argument("study")
@click.option("--blinded", is_flag=True, help="Show code names in place of the systems' names.")
@common_options
def status(
    study: str, blinded: bool, format: str, output: str, seed: int, threads: int | None
) -> None:
    """Say which systems judges prefer, how much is done, what looks wrong, and how well judges
    agree."""

    def work(on_phase: OnPhase) -> Result:
        on_phase("reading the study")
        from wellput.api.study import Study

        opened = Study.open(study)
        on_phase("comparing judges")
        return opened.status(blinded=blinded)

    show_result_of(work, format, output)


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
    help="A CSV, TSV, JSONL or Parquet file; the design is written to a second file (default: CSV "
    "on standard output).",
)
@click.option(
    "--as",
    "as_",
    type=click.Choice(["judgments", "evalica", "mt-metrics-eval", "appraise", "label-studio"]),
    default="judgments",
    show_default=True,
    help="Write for wellput, evalica, mt-metrics-eval (.seg.score, .sys.score, .seg.rating), Appraise "
    "(scores .csv, batches .json), or Label Studio (.json).",
)
@click.option("--question", metavar="Q", help="Export only this question.")
@click.option("--repeats", is_flag=True, help="Include repeated trials, marked in a column.")
@basic_options
def export(
    study: str, path: str, format: str, seed: int, threads: int | None, **options: Any
) -> None:
    """Write the judgments to a file, for `wellput agree` and other tools."""

    def work(on_phase: OnPhase) -> Result:
        from wellput.api.study import Study
        from wellput.studies.exports import check_target

        check_target(path, options["as_"])  # before the study is read
        on_phase("reading the study")
        return Study.open(study).export(path, **options, on_phase=on_phase)

    show_summary_of(work, format, path)


@command.command(epilog="\b\nExample:\n  wellput study backup study.db -o study-copy.db")
@click.argument("study")
@click.option("-o", "path", metavar="FILE", required=True, help="The file to make.")
@basic_options
def backup(study: str, path: str, format: str, seed: int, threads: int | None) -> None:
    """Copy the study to a new file, also while judges are at work.

    Do not copy the file of a study that is being served: answers may be missing from such a copy.
    """

    def work(on_phase: OnPhase) -> Result:
        from wellput.api.study import Study

        on_phase("copying the study")
        return Study.open(study).backup(path)

    show_summary_of(work, format, path)


@command.command(epilog="\b\nExample:\n  wellput study replicate study.db -o again.db")
@click.argument("study")
@click.option("-o", "path", metavar="STUDY", required=True, help="The study to make.")
@basic_options
def replicate(study: str, path: str, format: str, seed: int, threads: int | None) -> None:
    """Make the same study again, for other judges: without judges and answers.

    Settings, items, trials and seed are the same. An open study gets a new open link.
    """

    def work(on_phase: OnPhase) -> Result:
        from wellput.api.study import Study

        on_phase("copying the study")
        return Study.open(study).replicate(path)

    show_summary_of(work, format, path)


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
    help="Make a preregistration instead, to be published before the first answer: what is fixed by "
    "then.",
)
@common_options
def datasheet(
    study: str, preregistration: bool, format: str, output: str, seed: int, threads: int | None
) -> None:
    """Answer the questions that a reader of the study asks, as far as its database can answer them.

    The questions are like those of the Human Evaluation Datasheet (HEDS). Questions that only
    you can answer are marked.
    """

    def work(on_phase: OnPhase) -> Result:
        from wellput.api.study import Study

        on_phase("reading the study")
        return Study.open(study).datasheet(preregistration=preregistration)

    show_result_of(work, format, output)


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
