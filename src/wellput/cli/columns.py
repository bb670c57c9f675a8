"""The command `wellput columns` and its options; `wellput.api.columns` does the work."""

from __future__ import annotations

import click

from wellput.cli.options import check_output, column_option, name_options_in_errors, show
from wellput.reporting.table import FORMATS


@click.command(
    epilog="""\b
Examples:
  wellput columns answers.csv
  wellput columns answers.csv --column id=prompt_id --column outputs=gpt --save evalset.jsonl
"""
)
@click.argument("file")
@column_option
@click.option(
    "--save",
    metavar="EVALSET",
    help="Write the items to EVALSET, so that other commands need no --column.",
)
@click.option("-o", "output", metavar="FILE", default="-", help="Write the report to FILE.")
@click.option(
    "--format",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="The format of the report.",
)
@name_options_in_errors
def command(file: str, column: tuple[str, ...], save: str | None, output: str, format: str) -> None:
    """Show how each column of FILE is read, which columns are ignored, and which options make wellput
    read them.

    FILE is a CSV, TSV, JSONL or Parquet file with an item on each row.
    """
    check_output(output)
    from wellput.api.columns import columns

    show(columns(file, column=column, save=save), format, output)
