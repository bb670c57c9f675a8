"""`wellput displays convert`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wellput.cli.options import making_options, show
from wellput.core.errors import InputError, did_you_mean
from wellput.reporting.table import Report, Table

if TYPE_CHECKING:
    from wellput.core.evalset import Item


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
    "displays",
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
@click.option("-o", "output", metavar="FILE", required=True, help="An evalset, or FILE.bml.")
@making_options
def command(
    inputs: Sequence[str],
    words: str,
    displays: Sequence[str],
    sentences: str,
    system: str | None,
    output: str,
    format: str,
    seed: int,
    threads: int | None,
) -> None:
    """Read annotations into a display corpus, or write schedules as BML.

    INPUTS are recordings annotated with ELAN (.eaf) or Praat (.TextGrid), OpenCCG testbeds (.xml), or
    evalsets. Where the output ends in .bml, the schedules of --system are written as Behavior Markup
    Language.
    """
    from wellput.core.evalset import EvalSet
    from wellput.displays.bml import bml_text
    from wellput.io import (
        check_distinct,
        check_table,
        check_writable,
        replacing_text,
        write_evalset,
    )

    (check_writable if output.endswith(".bml") else check_table)(output)
    check_distinct([output], list(inputs))
    tiers = [name for text in displays for name in text.split(",") if name]
    items = [item for path in inputs for item in _items(path, words, tiers, sentences)]
    evalset = EvalSet(items)
    systems = list(evalset.systems)
    if output.endswith(".bml"):
        if system is None:
            raise InputError(
                f"Whose schedules? Give --system, one of {', '.join(evalset.systems)}."
            )
        if system not in evalset.systems:
            raise InputError(
                f"No system {system!r}.{did_you_mean(system, evalset.systems)} There are "
                f"{', '.join(evalset.systems)}."
            )
        systems = [system]
        items = [item for item in items if system in item.outputs]
        with replacing_text(output) as file:
            file.write(bml_text(items, system))
    else:
        write_evalset(evalset, output)
    if output != "-":
        value = {"file": output, "items": len(items), "systems": systems}
        rows = [
            ["file", output],
            ["items", str(len(items))],
            ["systems", ", ".join(systems)],
        ]
        table = Table(["written", ""], rows, is_prose=True, caption="What was written")
        show(Report([table], value, ("file", "items"), [value]), format, "-")


def _items(path: str, words: str, displays: Sequence[str], sentences: str) -> Sequence[Item]:
    from wellput.displays.annotations import items_of_tiers
    from wellput.io import read_evalset
    from wellput.io.openccg import read_testbed
    from wellput.io.tiers import read_tiers

    suffix = Path(path).suffix.lower()
    if suffix in (".eaf", ".textgrid"):
        name = Path(path).stem
        tiers = read_tiers(path)
        return items_of_tiers(tiers, name, words=words, displays=displays, sentences=sentences)
    return read_testbed(path) if suffix == ".xml" else read_evalset(path).items
