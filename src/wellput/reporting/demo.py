"""What `wellput demo` shows: the whole loop in one screenful of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wellput.agreement.orders import MetricOrder, misplaced, order_sentence
from wellput.agreement.ranking import (
    ESTIMATE_HEADINGS,
    RankedSystem,
    Ranking,
    winner_sentence,
)
from wellput.reporting.score import CSV_COLUMNS
from wellput.reporting.table import Report, Table, number

MARKED_PLACES = 2


def demo_report(shown: Any) -> Report:
    """People and metrics side by side, and what that means."""
    (ranking,) = shown.agreement.ranking
    table = board_table(ranking, shown.agreement.orders)
    return Report([table], shown.values(), CSV_COLUMNS, shown.records())


def board_table(ranking: Ranking, orders: Sequence[MetricOrder]) -> Table:
    """Systems in people's order, with the score and the rank that each metric gives them."""
    rows = [
        [
            row.system,
            _with_interval(row),
            *(_cell(row, order) for order in orders),
        ]
        for row in ranking.systems
    ]
    rows.append(["pairs right", "", *(f"{o.agreeing} of {o.pairs}" for o in orders)])
    return Table(
        columns=["system", "people", *(order.metric for order in orders)],
        rows=rows,
        title=f"Whom do people prefer, and do the metrics see it? {ranking.question}",
        notes=[
            f"people: {ESTIMATE_HEADINGS[ranking.model]} [95% interval]. (1): ranked first. ▲ ▼: "
            f"{MARKED_PLACES} or more ranks above or below where people put it.",
            "",
            winner_sentence(ranking),
            order_sentence(orders, ranking),
        ],
    )


def _with_interval(row: RankedSystem) -> str:
    if row.low is None or row.high is None:
        return number(row.estimate, 1)
    return f"{number(row.estimate, 1)} [{number(row.low, 1)}, {number(row.high, 1)}]"


def _cell(row: RankedSystem, order: MetricOrder) -> str:
    if row.system not in order.systems:
        return "–"
    place = order.systems.index(row.system)
    score = order.scores[place]
    places = misplaced(row, order)
    mark = "" if abs(places) < MARKED_PLACES else "▲" if places > 0 else "▼"
    return f"{number(score, 1 if abs(score) >= 10 else 2)} ({place + 1}){mark}"
