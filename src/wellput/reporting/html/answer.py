"""The noun `Answer`: what a report says first, in two sentences and one picture for each question.

With judgments the picture has the systems in people's order with their estimates, and beside them
the rank that each metric gives every system. Without any it has the systems under each metric.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wellput.agreement.orders import MetricOrder, misplaced, order_sentence
from wellput.agreement.ranking import ESTIMATE_HEADINGS, RankedSystem, Ranking, winner_sentence
from wellput.agreement.result import AgreementResult
from wellput.engine.result import ScoreResult
from wellput.reporting.html.verdict import best_first, headline, ranking_metrics
from wellput.reporting.ranking import ranking_table, shown_rank
from wellput.reporting.table import Table

NOBODY_ASKED = "No people were asked: whether they would agree with the metrics is not known."
WHOLE_SCALE_FROM = 0.3
"""The share of a rating scale that the systems' intervals must cover for the axis to show all of it."""


@dataclass(frozen=True)
class Answer:
    """`picture` is what the page draws, by people's order or under the metrics."""

    sentences: Sequence[str]
    picture: Mapping[str, Any]
    question: str = ""
    notes: Sequence[str] = ()
    tables: Sequence[Table] = ()

    def to_dict(self) -> dict[str, Any]:
        """As the page gets it."""
        return {
            "question": self.question,
            "sentences": list(self.sentences),
            "notes": list(self.notes),
            "tables": [table.to_dict() for table in self.tables],
            **self.picture,
        }


def answers_of(
    result: ScoreResult,
    agreement: AgreementResult | None,
    scales: Mapping[str, tuple[float, float]],
) -> list[Answer]:
    """An answer for each question that people were asked; one about the metrics where none was.
    `scales` are the lowest and the highest rating given to each question."""
    rankings = () if agreement is None else agreement.ranking
    if agreement is None or not rankings:
        return [_by_metrics(result)]
    return [
        _by_people(
            result,
            ranking,
            [order for order in agreement.orders if order.question == ranking.question],
            scales.get(ranking.question, (0.0, 1.0)),
            is_named=len(rankings) > 1,
        )
        for ranking in rankings
    ]


def system_order(result: ScoreResult, agreement: AgreementResult | None) -> list[str]:
    """All systems, best first: by people's answers to the first question, then those that were not
    judged; without judgments by their mean rank under the metrics."""
    judged = agreement.ranking[0].systems if agreement is not None and agreement.ranking else ()
    return list(dict.fromkeys([*(row.system for row in judged), *_by_mean_rank(result)]))


def _by_people(
    result: ScoreResult,
    ranking: Ranking,
    orders: Sequence[MetricOrder],
    scale: tuple[float, float],
    *,
    is_named: bool,
) -> Answer:
    whole = scale if ranking.model == "mean" else (0.0, 1.0)
    domain = shown_range(ranking.systems, whole)
    picture = {
        "kind": "people",
        "unit": ESTIMATE_HEADINGS[ranking.model],
        "is_share": ranking.model != "mean",
        "domain": domain,
        "systems": [
            {
                "system": row.system,
                "value": row.estimate,
                "low": row.low,
                "high": row.high,
                "rank": row.rank,
                "ranks": shown_rank(row) if ranking.has_tests else str(row.rank),
                "cluster": row.cluster,
                "n": row.n,
            }
            for row in ranking.systems
        ],
        "metrics": [
            {
                "metric": order.metric,
                "agreeing": order.agreeing,
                "pairs": order.pairs,
                "cells": [_cell(row, order) for row in ranking.systems],
            }
            for order in sorted(orders, key=lambda order: -order.agreeing / max(order.pairs, 1))
        ],
    }
    sentences = [winner_sentence(ranking, with_question=is_named), order_sentence(orders, ranking)]
    return Answer(
        [sentence for sentence in sentences if sentence],
        picture,
        ranking.question,
        _notes(ranking, result.systems, domain, whole),
        [replace(ranking_table(ranking), notes=())],
    )


def _cell(row: RankedSystem, order: MetricOrder) -> dict[str, Any] | None:
    """The system's rank and score under the metric, how far that is from the ranks that people leave
    open, and the systems that it stands `above` or `below` although people see it the other way; None
    where the metric has no score for it."""
    if row.system not in order.systems:
        return None
    place = order.systems.index(row.system)
    return {
        "rank": place + 1,
        "score": order.scores[place],
        "misplaced": misplaced(row, order),
        "above": [ahead for ahead, other in order.against if other == row.system],
        "below": [other for ahead, other in order.against if ahead == row.system],
    }


def _notes(
    ranking: Ranking,
    systems: Sequence[str],
    domain: tuple[float, float],
    whole: tuple[float, float],
) -> list[str]:
    notes: list[str] = []
    if any(row.low is not None for row in ranking.systems):
        notes.append(f"Whiskers: 95% intervals; they and the tests hold for {ranking.scope}.")
    if domain != whole:
        notes.append(
            f"The axis shows a part of the scale: ratings run from {whole[0]:g} to {whole[1]:g}."
        )
    judged = {row.system for row in ranking.systems}
    unjudged = [system for system in systems if system not in judged]
    if unjudged:
        notes.append(f"Nobody judged {', '.join(unjudged)}.")
    return notes


def _by_metrics(result: ScoreResult) -> Answer:
    systems = _by_mean_rank(result)
    metrics = ranking_metrics(result) or list(result.metrics)
    picture = {
        "kind": "metrics",
        "systems": [{"system": system} for system in systems],
        "metrics": [_metric_column(result, metric, systems) for metric in metrics],
    }
    return Answer([headline(result), NOBODY_ASKED], picture)


def _metric_column(result: ScoreResult, metric: str, systems: Sequence[str]) -> dict[str, Any]:
    order = best_first(result, metric) if metric in ranking_metrics(result) else []
    ranked = [result[system, metric].score for system in order]
    cells: list[dict[str, Any] | None] = []
    for system in systems:
        score = result[system, metric]
        known = {"value": score.score, "low": score.low, "high": score.high}
        rank = ranked.index(score.score) + 1 if system in order else None
        cells.append(None if math.isnan(score.score) else {**known, "rank": rank})
    return {
        "metric": metric,
        "is_lower_better": result.higher_is_better[metric] is False,
        "cells": cells,
    }


def _by_mean_rank(result: ScoreResult) -> list[str]:
    metrics = ranking_metrics(result)
    orders = [best_first(result, metric) for metric in metrics]
    places = {
        system: sum(o.index(system) if system in o else len(result.systems) for o in orders)
        for system in result.systems
    }
    return sorted(result.systems, key=lambda system: places[system])


def shown_range(systems: Sequence[RankedSystem], scale: tuple[float, float]) -> tuple[float, float]:
    """The part of the rating scale that the axis shows: all of it where the intervals cover a good
    share of it, else what they cover."""
    ends = [
        end
        for row in systems
        for end in (row.estimate, row.low, row.high)
        if end is not None and math.isfinite(end)
    ]
    low, high = min(ends), max(ends)
    if high == low or high - low >= WHOLE_SCALE_FROM * (scale[1] - scale[0]):
        return scale
    return max(low, scale[0]), min(high, scale[1])
