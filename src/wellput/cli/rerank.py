"""`wellput rerank`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from wellput.cli.options import emit, making_options, show
from wellput.core.errors import InputError
from wellput.reporting.table import Report, Table

if TYPE_CHECKING:
    from wellput.core.metric import Metric
    from wellput.engine.rerank import Choice


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
    "output",
    default="-",
    metavar="FILE",
    help="Write the best to FILE: text, or an evalset with what came first beside it (.jsonl).",
)
@making_options
def command(
    nbest: str, metric: str, output: str, format: str, seed: int, threads: int | None
) -> None:
    """Choose the best among several outputs for each item.

    NBEST has a line of JSON for each item: {"id": "7", "candidates": ["…", "…"]}, with "references" if
    the metric needs them. Without -o the best candidates are printed, one a line.
    """
    from wellput.cli.progress import progress
    from wellput.core.evalset import EvalSet, Item
    from wellput.engine.rerank import rerank
    from wellput.io import check_distinct, check_text, write_evalset
    from wellput.io.nbest import read_nbest
    from wellput.metrics.registry import create_all

    [chosen, *more] = create_all(metric)
    if more:
        raise InputError(f"Candidates are ordered by one metric; {metric} are {1 + len(more)}.")
    check_text(output, allowed=[".jsonl"])
    check_distinct([output], [nbest])
    with progress() as on_phase:
        on_phase("reading candidates")
        candidates = read_nbest(nbest)
        choices = rerank(candidates, chosen, threads=threads, on_phase=on_phase)
    if output.endswith(".jsonl"):
        items = [
            Item(
                own.candidates.id,
                {"first": own.candidates.texts[0], "reranked": own.text},
                own.candidates.references,
                source=own.candidates.source,
                context=own.candidates.context,
            )
            for own in choices
        ]
        write_evalset(EvalSet(items), output)
    elif output != "-" or format == "table":
        emit("".join(f"{' '.join(choice.text.split())}\n" for choice in choices), output)
    if output != "-" or format != "table":
        show(rerank_report(choices, chosen), format, "-")


def rerank_report(choices: Sequence[Choice], metric: Metric) -> Report:
    """A summary for people; every item's choice for programs."""
    columns = ("id", "place", "candidates", "score", "first_score", "text")
    records: list[dict[str, object]] = [
        {
            "id": choice.candidates.id,
            "place": choice.best + 1,
            "candidates": len(choice.scores),
            "score": _defined(choice.scores[choice.best]),
            "first_score": _defined(choice.scores[0]),
            "text": choice.text,
        }
        for choice in choices
    ]
    changed = sum(choice.best > 0 for choice in choices)
    rows = [
        ["items", f"{len(choices):,}"],
        ["another than the first chosen", f"{changed:,}"],
        [f"mean {metric.name} of the first", _mean([choice.scores[0] for choice in choices])],
        [f"mean {metric.name} of the chosen", _mean([c.scores[c.best] for c in choices])],
    ]
    value = {"metric": metric.name, "signature": metric.signature(), "items": records}
    table = Table(("", ""), rows, caption=f"Candidates chosen by {metric.name}")
    return Report([table], value, columns, records)


def _defined(score: float) -> float | None:
    return None if math.isnan(score) else score


def _mean(scores: Sequence[float]) -> str:
    """Over those that are defined."""
    known = [score for score in scores if not math.isnan(score)]
    return f"{sum(known) / len(known):.3f}".replace("-", "−") if known else "–"
