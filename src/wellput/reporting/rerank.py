"""What `wellput rerank` shows: the chosen texts, or what choosing changed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wellput.engine.rerank import RerankResult
from wellput.reporting.table import Report, Table

COLUMNS = ("id", "place", "candidates", "score", "first_score", "text")


def rerank_report(result: RerankResult) -> Report:
    """A summary for people, on a terminal the texts unless they are in a file; every item's choice for
    programs."""
    choices, name = result.choices, result.metric
    changed = sum(choice.best > 0 for choice in choices)
    rows = [
        ["items", f"{len(choices):,}"],
        ["another than the first chosen", f"{changed:,}"],
        [f"mean {name} of the first", _mean([choice.scores[0] for choice in choices])],
        [f"mean {name} of the chosen", _mean([choice.scores[choice.best] for choice in choices])],
    ]
    return Report(
        [Table(("", ""), rows, caption=f"Candidates chosen by {name}")],
        result.values(),
        COLUMNS,
        result.records(),
        text=result.lines if result.path is None else None,
    )


def _mean(scores: Sequence[float]) -> str:
    """Over those that are defined."""
    known = [score for score in scores if not math.isnan(score)]
    return f"{sum(known) / len(known):.3f}".replace("-", "−") if known else "–"
