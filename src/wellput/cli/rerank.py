"""The command `wellput rerank` and its options; `wellput.api.rerank` does the work."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import basic_options, show_summary_of


@click.command(
    epilog="""\b
Examples:
  wellput rerank nbest.jsonl -m fluency
  wellput rerank nbest.jsonl -m fluency -o best.txt --format json
  wellput rerank nbest.jsonl -m chrf -o oracle.jsonl
"""
)
@click.argument("nbest")
@click.option("-m", "--metric", required=True, metavar="METRIC", help="Choose by this metric.")
@click.option(
    "-o",
    "path",
    default="-",
    metavar="FILE",
    help="Write the best candidates to FILE as text; a .jsonl file is an evalset that also has the "
    "first candidates.",
)
@basic_options
def command(format: str, path: str, **options: Any) -> None:
    """Choose the best of several outputs for each item.

    NBEST has a line of JSON for each item: {"id": "7", "candidates": ["…", "…"]}, with "references" if
    the metric needs them. Without -o the best candidates are printed, one per line.
    """
    from wellput.api.rerank import rerank

    # With the path None, the best candidates are the summary and are shown in --format.
    product_path = None if path == "-" else path
    show_summary_of(
        lambda on_phase: rerank(**options, path=product_path, on_phase=on_phase),
        format,
        product_path,
    )
