"""`wellput displays convert`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import making_options, show_made


@click.command(
    epilog="""\b
Examples:
  wellput displays convert rec1.eaf rec2.eaf --words words -o corpus.jsonl
  wellput displays convert talk.TextGrid --displays head,brows -o corpus.jsonl
  wellput displays convert testbed.xml -o sentences.jsonl
  wellput displays convert all.jsonl --system weighted -o weighted.bml
"""
)
@click.argument("inputs", nargs=-1, required=True)
@click.option("--words", default="words", show_default=True, help="The tier of the words.")
@click.option(
    "--displays",
    multiple=True,
    metavar="TIERS",
    help="The tiers of the displays (default: all others).",
)
@click.option(
    "--sentences",
    default="sentences",
    show_default=True,
    help="The tier of the sentences; without one a recording is one sentence.",
)
@click.option("--system", metavar="NAME", help="The system whose schedules become BML.")
@click.option("-o", "path", metavar="FILE", required=True, help="An evalset, or FILE.bml.")
@making_options
def command(format: str, path: str, **options: Any) -> None:
    """Read annotations into a display corpus, or write schedules as BML.

    INPUTS are recordings annotated with ELAN (.eaf) or Praat (.TextGrid), OpenCCG testbeds (.xml), or
    evalsets. Where the output ends in .bml, the schedules of --system are written as Behavior Markup
    Language.
    """
    from wellput.displays.conversion import convert

    show_made(lambda _: convert(**options, path=path), format, path)
