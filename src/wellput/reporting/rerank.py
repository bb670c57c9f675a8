"""The output of `wellput rerank`, which chooses one of several candidate texts for each item by a
metric: the chosen texts, or a table of how much the choice changed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wellput.engine.rerank import RerankResult
from wellput.reporting.table import Report, Table, number

CSV_COLUMNS = ("id", "place", "candidates", "score", "first_score", "text")


def rerank_report(result: RerankResult) -> Report:
    """A summary for people, and every item's choice for programs. A terminal shows the texts instead,
    unless they are in a file."""
    choices, name = result.choices, result.metric
    changed = sum(choice.best > 0 for choice in choices)
    rows = [
        ["items", f"{len(choices):,}"],
        ["items where the first was not chosen", f"{changed:,}"],
        [f"mean {name} of the first", _mean([choice.scores[0] for choice in choices])],
        [f"mean {name} of the chosen", _mean([choice.scores[choice.best] for choice in choices])],
    ]
    return Report(
        [Table(("", ""), rows, caption=f"Candidates chosen by {name}")],
        result.values(),
        CSV_COLUMNS,
        result.records(),
        text=result.lines if result.path is None else None,
    )


def _mean(scores: Sequence[float]) -> str:
    """The mean of the defined scores."""
    known = [score for score in scores if not math.isnan(score)]
    return number(sum(known) / len(known), 3) if known else "–"
