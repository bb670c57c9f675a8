"""The command `wellput demo` and its options; `wellput.api.demo` does the work."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import check_output, common_options, show


@click.command(
    epilog="""\b
Examples:
  wellput demo
  wellput demo --save demo.jsonl && wellput score demo.jsonl -m gsa --explain
"""
)
@click.option("--save", metavar="FILE", help="Write the evalset of the example to FILE.")
@click.option("--save-judgments", metavar="FILE", help="Write the simulated judgments to FILE.")
@click.option(
    "--report",
    metavar="FILE",
    default="wellput-demo.html",
    show_default=True,
    help="Write the report that opens in a browser to FILE.",
)
@click.option("--no-report", is_flag=True, help="Write no report.")
@common_options
def command(format: str, output: str, **options: Any) -> None:
    """Show wellput on an embedded example: announcements of a harbor, written by seven systems, each
    with two references and their trees, and ratings by eight simulated judges."""
    from wellput.api.demo import demo
    from wellput.cli.progress import progress

    check_output(output)
    with progress(is_slow=not options["no_report"]) as on_phase:
        result = demo(**options, on_phase=on_phase)
    after = closing(result.page, is_wanted=not options["no_report"])
    show(result, format, output, before=INTRODUCTION, after=after)


INTRODUCTION = """\
60 announcements of a harbor town, written by seven systems, each with two
references. careful and template say what the source says; smooth writes well
but says something else; hasty and jumbled have errors; realizer and lr put the
words of a reference in order. Eight SIMULATED judges rated the outputs; real
judgments come from `wellput study`.

"""


def closing(report: object, *, is_wanted: bool) -> str:
    """The text after the table. `report` is the file of the report, None if it was not written;
    `is_wanted` says whether the user wanted one."""
    if report is not None:
        first_line = f"Open {report} in a browser: this answer as a picture, and every item."
    elif is_wanted:
        first_line = "To see this as a picture: pip install 'wellput[report]', then wellput demo."
    else:
        first_line = (
            "wellput demo                                             this answer as a picture"
        )
    return f"""
Next:
  {first_line}
  wellput demo --save d.jsonl --save-judgments d.csv       write the files of the example
  wellput agree d.jsonl d.csv -m bleu,chrf,fluency         how far metrics agree
  wellput report YOURS.jsonl JUDGMENTS.csv -o report.html  a report on your files
"""
