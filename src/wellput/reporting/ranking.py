"""Tables of whom people prefer: systems best first, and how far each is behind the first.

`board_table`, the table of `wellput demo`, has the metrics beside the people in 80 columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from wellput.agreement.orders import MetricOrder, misplaced, order_sentence
from wellput.agreement.rankings.plain_ranking import (
    ESTIMATE_HEADINGS,
    SEQUENTIAL_NOTE,
    RankedSystem,
    Ranking,
    RankingModel,
    SystemDifference,
    shown_difference,
    shown_estimate,
    shown_interval,
    shown_rank,
    shown_share,
    winner_sentence,
)
from wellput.reporting.score import CSV_COLUMNS
from wellput.reporting.table import Report, Table, number, p_text, with_interval

DIFFERENCE_HEADINGS: dict[RankingModel, str] = {
    "mean": "difference",
    "rate": "percentage points",
    "win rate": "share of the first",
}
MAX_PAIRS_SHOWN = 28
"""All pairs of 8 systems; of more systems, the neighbors in the ranking."""
GAP_HEADINGS: dict[RankingModel, str] = {
    "mean": "behind first",
    "rate": "percentage points behind first",
    "win rate": "against first",
}


def ranking_tables(rankings: Sequence[Ranking], orders: Sequence[MetricOrder] = ()) -> list[Table]:
    """A table for each question. Its notes say who won, whether the metrics see it, and what this holds
    for."""
    return [ranking_table(ranking, orders) for ranking in rankings]


def ranking_table(ranking: Ranking, orders: Sequence[MetricOrder] = ()) -> Table:
    """The systems best first; those of a study that is still running have no intervals."""
    has_intervals = not ranking.sequential
    columns = ["system", ESTIMATE_HEADINGS[ranking.model], "judgments"]
    rows = [
        [row.system, shown_estimate(row.estimate, ranking.model), judgments_text(row, ranking)]
        for row in ranking.systems
    ]
    if has_intervals:
        columns.insert(2, "95% interval")
        for cells, row in zip(rows, ranking.systems, strict=True):
            cells.insert(2, shown_interval(row, ranking.model))
    if ranking.has_tests:
        are_choices = ranking.model == "win rate"
        columns += ["rank", GAP_HEADINGS[ranking.model], "p (Holm)"]
        gaps = {d.systems[1]: d for d in ranking.of_first}
        if (
            are_choices
        ):  # a system that is chosen less often overall may still win against the first
            first = ranking.systems[0].system
            gaps |= {d.systems[0]: d for d in ranking.differences if d.systems[1] == first}
        for cells, row in zip(rows, ranking.systems, strict=True):
            cells += [shown_rank(row), *_gap(row.system, gaps.get(row.system), ranking.model)]
    best = frozenset(
        (place, 1) for place, row in enumerate(ranking.systems) if row.system in ranking.highlighted
    )
    return Table(
        columns,
        rows,
        title=f"Whom people prefer: {ranking.question}",
        notes=_notes(ranking, orders),
        best=best,
    )


def _notes(ranking: Ranking, orders: Sequence[MetricOrder]) -> list[str]:
    sentences = [winner_sentence(ranking), order_sentence(orders, ranking)]
    holds = f" Intervals and tests hold for {ranking.scope}." if ranking.has_tests else ""
    return [
        *(sentence for sentence in sentences if sentence),
        *([SEQUENTIAL_NOTE] if ranking.sequential else ()),
        *ranking.notes,
        f"{ranking.size}.{holds}",
    ]


def _gap(system: str, difference: SystemDifference | None, model: RankingModel) -> list[str]:
    """How far the system is behind the first (for choices: how often it is chosen over the first), and
    the corrected p-value. Empty for the first."""
    if difference is None:
        return ["", ""]
    if model == "win rate":
        sign = 1 if difference.systems[0] == system else -1
        return [shown_share(sign * difference.delta), p_text(difference.p_adjusted)]
    return [shown_difference(abs(difference.delta), model), p_text(difference.p_adjusted)]


def judgments_text(row: RankedSystem, ranking: Ranking) -> str:
    """How many judgments a system has, marked where they are very few beside those of the others."""
    return f"{row.n:,} (few)" if row.system in ranking.rarely_judged else f"{row.n:,}"


def difference_text(delta: float, model: RankingModel) -> str:
    """How far a system is ahead of another, with its sign; of choices its share of those between the
    two.

    >>> difference_text(0.5, "mean"), difference_text(0.5, "win rate")
    ('+0.50', '75%')
    """
    if model == "win rate":
        return shown_share(delta)
    text = shown_difference(delta, model)
    return text if text.startswith("−") else f"+{text}"


def difference_interval(one: SystemDifference, model: RankingModel) -> str:
    """`[low, high]`, a dash where there is none."""
    if one.low is None or one.high is None or math.isnan(one.low):
        return "–"
    return f"[{difference_text(one.low, model)}, {difference_text(one.high, model)}]"


MIN_MARKED_RANKS = 2


def demo_report(shown: Any) -> Report:
    """People and metrics side by side, with the answer in words."""
    (ranking,) = shown.agreement.ranking
    table = board_table(ranking, shown.agreement.orders)
    return Report([table], shown.values(), CSV_COLUMNS, shown.records())


def board_table(ranking: Ranking, orders: Sequence[MetricOrder]) -> Table:
    """Systems in people's order, with the score and the rank that each metric gives them."""
    rows = [
        [
            row.system,
            with_interval(number(row.estimate, 1), row.low, row.high, 1),
            *(_board_cell(row, order) for order in orders),
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
            f"{MIN_MARKED_RANKS} or more ranks above or below where people put it.",
            "",
            winner_sentence(ranking),
            order_sentence(orders, ranking),
        ],
    )


def _board_cell(row: RankedSystem, order: MetricOrder) -> str:
    if row.system not in order.systems:
        return "–"
    place = order.systems.index(row.system)
    score = order.scores[place]
    places = misplaced(row, order)
    mark = "" if abs(places) < MIN_MARKED_RANKS else "▲" if places > 0 else "▼"
    return f"{number(score, 1 if abs(score) >= 10 else 2)} ({place + 1}){mark}"
