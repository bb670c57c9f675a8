"""`wellput report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from wellput.cli.options import emit, making_options, refuse_stdin_twice, show
from wellput.cli.panel_options import panel_options
from wellput.cli.score import complete_metric
from wellput.core.errors import InputError


@click.command(
    epilog="""\b
Examples:
  wellput report evalset.jsonl -o report.html
  wellput report evalset.jsonl judgments.csv -m bleu,chrf,gta,random -o report.html
"""
)
@click.argument("evalset")
@click.argument("judgments", required=False)
@click.option(
    "-m",
    "--metrics",
    "metrics",
    multiple=True,
    metavar="METRICS",
    shell_complete=complete_metric,
    help="Metrics, separated by commas (default: those that the items allow).",
)
@click.option("--baseline", metavar="NAME", help="The system to compare with (default: the first).")
@panel_options
@click.option(
    "--items",
    type=click.IntRange(min=1),
    default=2000,
    show_default=True,
    help="Show at most so many items; scores are over all.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Resamples of intervals and tests; at least 40 for each pair of systems.",
)
@click.option("--title", metavar="TEXT", help="The report's heading (default: the file's name).")
@click.option("-o", "output", metavar="FILE", required=True, help="Write the report to FILE.")
@making_options
def command(
    evalset: str,
    judgments: str | None,
    metrics: Sequence[str],
    baseline: str | None,
    questions: Sequence[str],
    exclusions: Sequence[str],
    items: int,
    resamples: int,
    title: str | None,
    output: str,
    format: str,
    seed: int,
    threads: int | None,
    **choices: Any,
) -> None:
    """Make a report that opens in a browser: one file with the verdict, charts, and every item with
    its alignment, to search, filter and sort.

    JUDGMENTS as for wellput agree: with them, the report holds the metrics against people.
    """
    from wellput.agree.analysis import AgreementOptions
    from wellput.agree.correlate import Uncertainty
    from wellput.agree.exclusions import parse_exclusion
    from wellput.cli.progress import progress
    from wellput.engine.score import available_cores
    from wellput.io import check_distinct, check_writable, open_evalset, read_judgments
    from wellput.report.html.evaluate import evaluate
    from wellput.report.html.page import chart_library, report_page
    from wellput.report.html.summary import report_summary

    refuse_stdin_twice(evalset, judgments or "")
    about_people = {"--question": questions, "--exclude": exclusions} | {
        f"--{name.replace('_', '-')}": value for name, value in choices.items()
    }
    given = [option for option, value in about_people.items() if value not in ((), None)]
    if judgments is None and given:
        raise InputError(f"{given[0]} is about judgments: give their file after {evalset}.")
    if Path(output).suffix.lower() not in ("", ".html", ".htm"):
        raise InputError(f"{output}: a report is an HTML page: give a name that ends in .html.")
    check_writable(output)
    check_distinct([output], [name for name in (evalset, judgments) if name is not None])
    options = AgreementOptions(
        normalization=choices["normalize"],
        questions=questions,
        exclusions=[parse_exclusion(text, "") for text in exclusions],
        judges_below=choices["exclude_judges_below"],
        uncertainty=Uncertainty(
            n_resamples=resamples, seed=seed, threads=threads or available_cores()
        ),
    )
    with progress(at_once=True) as on_phase:
        on_phase("loading the charts")
        library = chart_library()  # says at once where the extra is missing
        on_phase("reading judgments")
        answers = [] if judgments is None else read_judgments(judgments)
        source = open_evalset(evalset)
        evaluation = evaluate(
            source,
            answers,
            metrics,
            title=title or Path(evalset).name,
            baseline=baseline,
            shown=items,
            options=options,
            on_phase=on_phase,
        )
        page = report_page(evaluation, library, on_phase=on_phase)
    emit(page, output)
    if output != "-":
        show(report_summary(evaluation, output, len(page.encode())), format, "-")
