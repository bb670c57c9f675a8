"""The section about slices of the items: scores, people and agreement by the values of a tag."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wellput.agreement.orders import is_sentinel
from wellput.agreement.result import AgreementResult
from wellput.core.scores import Score
from wellput.engine.result import ScoreResult
from wellput.reporting.agree import (
    parting_metrics,
    ranked_slices,
    ranking_slice_tables,
    slice_table,
)
from wellput.reporting.html import report_charts
from wellput.reporting.html.charts import Chart
from wellput.reporting.ranking_slices import parting_sentences
from wellput.reporting.score import score_slice_tables
from wellput.reporting.slices import order_sentences
from wellput.reporting.table import Table

MAX_SLICES_DRAWN = 24
"""Of more slices, those with the most items are drawn; the tables have all."""


def slice_tables_of(result: ScoreResult, agreement: AgreementResult | None) -> list[Table]:
    """Scores, whom people prefer, and how far metrics agree with people, by slice."""
    tables = score_slice_tables(result)
    if agreement is not None and agreement.slices:
        tables += ranking_slice_tables(agreement)
        if agreement.agreement:
            tables.append(slice_table(agreement))
    return tables


def slices_words(result: ScoreResult, agreement: AgreementResult | None) -> list[str]:
    """The slices that differ from the whole, under metrics and for people."""
    words = order_sentences(result)
    if agreement is not None and agreement.slices:
        for whole, slices, tag in ranked_slices(agreement):
            words += parting_sentences(whole, slices, tag)
        words += parting_metrics(agreement)
    tag = next(iter(result.slices[0].by or {}))
    return words or [f"In every {tag} the systems are in the same order as over all items."]


def slices_chart_of(
    result: ScoreResult,
    order: Sequence[str],
    row_of: Callable[[Score, ScoreResult], Mapping[str, Any]],
) -> Chart:
    """A panel for each slice, systems in the given order."""
    tag = next(iter(result.slices[0].by or {}))
    largest = sorted(result.slices, key=lambda part: -part.items)[:MAX_SLICES_DRAWN]
    drawn = [part for part in result.slices if part in largest]
    rows = [
        {"slice": (part.by or {})[tag], **row_of(score, part)}
        for part in drawn
        for score in part.scores
        if score.n and not is_sentinel(score.metric)
    ]
    rows.sort(key=lambda row: order.index(row["system"]))
    places = {(part.by or {})[tag]: place for place, part in enumerate(drawn)}
    rows.sort(key=lambda row: places[row["slice"]])
    more = (
        ""
        if len(drawn) == len(result.slices)
        else (f"Only the {MAX_SLICES_DRAWN} largest of {len(result.slices)} slices are drawn.")
    )
    return report_charts.slices_chart(rows, tag, more)
