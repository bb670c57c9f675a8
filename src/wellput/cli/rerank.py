"""`wellput rerank`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import making_options, show_made


@click.command(
    epilog="""\b
Examples:
  wellput rerank nbest.jsonl -m fluency
  wellput rerank nbest.jsonl -m fluency -o best.txt --format json
  wellput rerank nbest.jsonl -m chrf -o oracle.jsonl
"""
)
@click.argument("nbest")
@click.option("-m", "--metric", required=True, metavar="METRIC", help="The metric to choose by.")
@click.option(
    "-o",
    "path",
    default="-",
    metavar="FILE",
    help="Write the best to FILE: text, or an evalset with what came first beside it (.jsonl).",
)
@making_options
def command(format: str, path: str, **options: Any) -> None:
    """Choose the best among several outputs for each item.

    NBEST has a line of JSON for each item: {"id": "7", "candidates": ["…", "…"]}, with "references" if
    the metric needs them. Without -o the best candidates are printed, one a line.
    """
    from wellput.api.rerank import rerank

    made = None if path == "-" else path  # on standard output they may have any format
    show_made(lambda on_phase: rerank(**options, path=made, on_phase=on_phase), format, made)
