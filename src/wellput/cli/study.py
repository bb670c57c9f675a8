"""`wellput study`: create, invite, serve, status, export, forget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import click

from wellput.cli.options import common_options, emit, making_options
from wellput.cli.study_create import command as create
from wellput.cli.study_options import listed, open_study, print_records, rendered
from wellput.core.counted import counted
from wellput.core.errors import InputError, MissingExtra
from wellput.reporting.ranking import ranking_table
from wellput.reporting.table import Table, as_csv, as_json, number

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
    study: str,
    judges: int | None,
    names: Sequence[str],
    url: str,
    format: str,
    output: str,
    seed: int,
    threads: int | None,
) -> None:
    """Invite judges: one private link each, shown only now."""
    from wellput.io import check_writable

    check_writable(output)
    chosen = listed(names)
    store = open_study(study)
    invited = store.invite(judges or len(chosen) or store.setup.plan.judges, chosen or None)
    records = [
        {"judge": one.judge, "token": one.token, "url": f"{url.rstrip('/')}/judge/{one.token}"}
        for one in invited
    ]
    table = Table(
        ["judge", "link"],
        [[record["judge"], record["url"]] for record in records],
        notes=["Give each judge their own link. Links are not shown again."],
        caption="Invitations",
    )
    print_records("invitations", records, table, format, output)


@command.command(epilog="\b\nExample:\n  wellput study serve study.db --port 8000")
@click.argument("study")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Its port."
)
@click.option("--certificate", metavar="FILE.pem", help="For TLS: the certificate.")
@click.option("--key", metavar="FILE.pem", help="For TLS: its private key.")
@click.option("--new-owner-token", is_flag=True, help="Replace the owner's token and show it.")
def serve(
    study: str,
    host: str,
    port: int,
    certificate: str | None,
    key: str | None,
    new_owner_token: bool,
) -> None:
    """Serve the study's pages, its JSON interface and the dashboard until interrupted."""
    from pathlib import Path

    if (certificate is None) != (key is None):
        raise InputError("TLS needs both: --certificate and --key.")
    store = open_study(study)
    try:
        from wellput.studies.app import serve as run
    except ModuleNotFoundError as error:
        raise MissingExtra("`wellput study serve`", "judge") from error
    scheme = "http" if certificate is None else "https"
    address = f"{scheme}://{host}:{port}"
    if new_owner_token:
        click.echo(f"The owner's token is now {store.renew_owner_token()}")
    click.echo(store.questionnaire.title)
    click.echo(f"  judges     {address}/judge/TOKEN\n  dashboard  {address}/dashboard")
    run(
        store,
        host=host,
        port=port,
        certificate=None if certificate is None else Path(certificate),
        key=None if key is None else Path(key),
    )


@command.command(epilog="\b\nExample:\n  wellput study status study.db")
@click.argument("study")
@common_options
def status(study: str, format: str, output: str, seed: int, threads: int | None) -> None:
    """Say whom the judges prefer, how far they are, what looks wrong, and how well they agree."""
    from wellput.cli.progress import progress

    with progress() as on_phase:
        on_phase("reading the study")
        store = open_study(study)
        on_phase("comparing judges")
        overview = store.overview()
    record = overview.to_dict()
    if format == "json":
        emit(as_json(record), output)
        return
    if format == "csv":
        columns = list(record["judges"][0]) if record["judges"] else ["name"]
        flat = [{**one, "flags": "; ".join(one["flags"])} for one in record["judges"]]
        emit(as_csv(columns, flat), output)
        return
    rows = [
        [
            one.name,
            one.state,
            f"{one.done}/{one.total}",
            "" if one.seconds is None else number(one.seconds, 1),
            "; ".join(one.flags),
        ]
        for one in overview.judges
    ]
    answered = f"{overview.done:,} of {counted(overview.planned, 'trial')} answered"
    notes = [f"{answered}; the study is {overview.state}."]
    if overview.unreachable:
        are = "is" if overview.unreachable == 1 else "are"
        trials = counted(overview.unreachable, "trial")
        notes.append(f"{trials} {are} left to nobody: invite more judges.")
    if overview.forgotten:
        notes.append(
            f"{counted(overview.forgotten, 'judge')} withdrew, "
            f"{counted(overview.forgotten_answers, 'answer')} erased."
        )
    tables = [
        *(ranking_table(ranking, is_final=overview.is_final) for ranking in overview.ranking),
        Table(["judge", "state", "trials", "seconds", "flags"], rows, overview.title, notes),
        Table(
            ["question", "judges", "α", "mean r", "lowest r", "highest r"],
            [
                [
                    one.question,
                    str(one.n_judges),
                    *(number(value, 2) for value in (one.alpha, one.r_mean, one.r_min, one.r_max)),
                ]
                for one in overview.agreement
            ],
            title="Agreement so far",
        ),
    ]
    emit(rendered(tables if overview.agreement else tables[:-1], format, output), output)


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
    "output",
    metavar="FILE",
    default="-",
    help="CSV, TSV, JSONL or Parquet by suffix; the design goes beside it (default: CSV on stdout).",
)
@click.option(
    "--as",
    "target",
    type=click.Choice(["judgments", "evalica", "mt-metrics-eval"]),
    default="judgments",
    show_default=True,
    help="For whom: wellput itself, evalica, or mt-metrics-eval (.seg.score, .sys.score).",
)
@click.option("--question", metavar="Q", help="Only this question.")
@click.option("--repeats", is_flag=True, help="Repeated trials too, marked in a column.")
@making_options
def export(
    study: str,
    output: str,
    target: str,
    question: str | None,
    repeats: bool,
    format: str,
    seed: int,
    threads: int | None,
) -> None:
    """Write the judgments to a file, for `wellput agree` and others."""
    from wellput.cli.progress import progress
    from wellput.io import check_table
    from wellput.io.score_files import check_score_file
    from wellput.studies.exports import Target
    from wellput.studies.exports import export as write

    (check_score_file if target == "mt-metrics-eval" else check_table)(output)
    with progress() as on_phase:
        on_phase("reading the study")
        store = open_study(study)
        from wellput.studies.exports import Target
        from wellput.studies.exports import export as write

        done = write(
            store,
            output,
            target=cast("Target", target),
            question=question,
            repeats=repeats,
            on_phase=on_phase,
        )
    if output != "-":
        beside = f", the design to {done['design']}" if done["design"] else ""
        note = f"{counted(done['answers'], 'answer')} written to {output}{beside}."
        row = [str(done["answers"]), output]
        table = Table(["answers", "output"], [row], notes=[note], caption="The export")
        print_records("export", [done], table, format, "-")


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
    who = judge or name
    if who is None or (judge and name):
        raise InputError("Name the one judge to forget: wellput study forget STUDY NAME.")
    erased = open_study(study).forget(who)
    record = {"judge": who, "answers_erased": erased}
    table = Table(["judge", "answers erased"], [[who, str(erased)]], caption="A judge forgotten")
    print_records("forgotten", [record], table, format, output)
