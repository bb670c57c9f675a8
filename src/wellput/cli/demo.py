"""`wellput demo`."""

from __future__ import annotations

import click

from wellput.cli.options import common_options, emit, show

METRICS = "bleu,gsa,gta,fluency,length-only,random"
TITLE = "Harbor announcements (wellput demo, judges simulated)"


@click.command(
    epilog="""\b
Examples:
  wellput demo
  wellput demo --save demo.jsonl && wellput score demo.jsonl -m gsa --explain
"""
)
@click.option("--save", metavar="FILE", help="Write the example's evalset to FILE, to play with.")
@click.option(
    "--save-judgments", metavar="FILE", help="Write the simulated judgments to FILE, to play with."
)
@click.option(
    "--report",
    metavar="FILE",
    default="wellput-demo.html",
    show_default=True,
    help="Write the report that opens in a browser to FILE.",
)
@click.option("--no-report", is_flag=True, help="Write no report.")
@common_options
def command(
    save: str | None,
    save_judgments: str | None,
    report: str,
    no_report: bool,
    format: str,
    output: str,
    seed: int,
    threads: int | None,
) -> None:
    """Show the tool on an embedded example: announcements of a harbor, written by six systems, with
    two references and their trees, and the ratings of six simulated judges."""
    from wellput.agree.analysis import AgreementOptions
    from wellput.agree.correlate import Uncertainty
    from wellput.cli.progress import progress
    from wellput.demo.example import BASELINE, harbor_example
    from wellput.demo.judges import simulated_judgments
    from wellput.engine.score import available_cores
    from wellput.io import (
        check_distinct,
        check_table,
        check_writable,
        write_evalset,
        write_judgments,
    )
    from wellput.report.demo import demo_report
    from wellput.report.html.evaluate import evaluate
    from wellput.report.html.page import report_page

    for path in filter(None, (save, save_judgments)):
        check_table(path)
    with progress(at_once=not no_report) as on_phase:
        on_phase("loading the charts")
        library = None if no_report else library_if_installed()
    asked = (output, save, save_judgments, None if library is None else report)
    made = [path for path in asked if path is not None]
    for path in made:
        check_writable(path)
    check_distinct(made, [])
    cores = threads or available_cores()
    with progress() as on_phase:
        on_phase("realizing sentences")
        example = harbor_example(threads=cores)
        judgments = simulated_judgments(example)
        if save is not None:
            write_evalset(example, save)
        if save_judgments is not None:
            write_judgments(judgments, save_judgments)
        evaluation = evaluate(
            example,
            judgments,
            [METRICS],
            title=TITLE,
            baseline=BASELINE,
            shown=len(example),
            options=AgreementOptions(uncertainty=Uncertainty(seed=seed, threads=cores)),
            on_phase=on_phase,
        )
        page = None if library is None else report_page(evaluation, library, on_phase=on_phase)
    if page is not None:
        emit(page, report)
    assert evaluation.agreement is not None  # there are judgments
    shown = demo_report(evaluation, evaluation.agreement)
    show(
        shown,
        format,
        output,
        before=INTRODUCTION,
        after=closing(None if library is None else report),
    )


def library_if_installed() -> str | None:
    """The demo shows what it can where the extra `report` is missing."""
    from wellput.core.errors import MissingExtra
    from wellput.report.html.page import chart_library

    try:
        return chart_library()
    except MissingExtra:
        return None


INTRODUCTION = """\
60 announcements of a harbor town, each with two references and their trees, by
six systems: careful and template were written by hand, hasty and jumbled
spoiled; realizer and lr put the words of a reference's tree in order just now.
Six SIMULATED judges rate what a system is known to be worth (careful 6,
template 5, realizer 4.5, hasty 3, jumbled 2.5, lr 2 of 7) with noise; real
judges come from `wellput study`.

"""


def closing(report: str | None) -> str:
    shown = (
        f"\nThe report with charts and every item: {report}. Open it in a browser."
        if report
        else "\nThe same with charts: pip install 'wellput[report]', and wellput demo again."
    )
    return f"""{shown}
On your own files:
  wellput score --ref ref.txt --hyp A=a.txt --hyp B=b.txt -m bleu,gsa --paired ar
  wellput report evalset.jsonl judgments.csv -o report.html
"""
