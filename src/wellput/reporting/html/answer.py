"""`ReportAnswer`: the top of a report, two sentences and one picture for each question.

With judgments the picture has the systems in people's order with their estimates, and beside them
the rank that each metric gives every system. Without judgments it has the systems under each metric,
and `headline` says which system scores best and whether its lead is significant ("real" in its words).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from wellput.agreement.orders import MetricOrder, misplaced, order_sentence
from wellput.agreement.rankings.plain_ranking import (
    ESTIMATE_HEADINGS,
    RankedSystem,
    Ranking,
    shown_rank,
    winner_sentence,
)
from wellput.agreement.result import AgreementResult
from wellput.core.errors import counted
from wellput.core.evalset import Item
from wellput.core.metric import is_sentinel
from wellput.engine.result import ScoreResult
from wellput.metrics.accuracy import GenerationStringAccuracy
from wellput.metrics.alignments import alignment_steps
from wellput.reporting.ranking import ranking_table, whom
from wellput.reporting.score import all_metrics_text
from wellput.reporting.table import Table

NO_JUDGMENTS_NOTE = "There are no judgments: whether people agree with the metrics is unknown."
MAX_METRICS_NAMED = 4
MIN_SHARE_OF_SCALE = 0.3
"""The share of a rating scale that the systems' intervals must cover for the axis to show all of it."""


@dataclass(frozen=True)
class ReportAnswer:
    """`picture` has the data that the page draws: the systems in people's order, or under the
    metrics. `question` is the one that people answered, empty without judgments."""

    sentences: Sequence[str]
    picture: Mapping[str, Any]
    question: str = ""
    notes: Sequence[str] = ()
    tables: Sequence[Table] = ()

    def to_dict(self) -> dict[str, Any]:
        """The values as the scripts of the page read them."""
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
) -> list[ReportAnswer]:
    """An answer for each question that people were asked; without judgments, one about the metrics.
    `scales` has the lowest and the highest rating given to each question."""
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
    """All systems, best first: by people's answers to the first question, then those that nobody
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
) -> ReportAnswer:
    """The answer to one question; `is_named` says that its sentence names the question."""
    whole_scale = scale if ranking.model == "mean" else (0.0, 1.0)
    domain = shown_range(ranking.systems, whole_scale)
    picture = {
        "kind": "people",
        "who": whom(ranking),
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
                "cells": [_rank_cell(row, order) for row in ranking.systems],
            }
            for order in sorted(orders, key=lambda order: -order.agreeing / max(order.pairs, 1))
        ],
    }
    sentences = [winner_sentence(ranking, with_question=is_named), order_sentence(orders, ranking)]
    return ReportAnswer(
        [sentence for sentence in sentences if sentence],
        picture,
        ranking.question,
        _notes(ranking, result.systems, domain, whole_scale),
        [replace(ranking_table(ranking), notes=())],
    )


def _rank_cell(row: RankedSystem, order: MetricOrder) -> dict[str, Any] | None:
    """The system's rank and score under the metric; how far this rank is from the ranks that people's
    judgments allow; and the systems that the metric puts `below` or `above` it, although people order
    the two the other way. None if the metric has no score for the system."""
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
    whole_scale: tuple[float, float],
) -> list[str]:
    """Notes below the chart. `domain` is the part of the scale that the axis shows."""
    notes: list[str] = []
    if any(row.low is not None for row in ranking.systems):
        level = f"{100 * ranking.confidence:g}%"
        notes.append(f"Whiskers: {level} intervals; they and the tests hold for {ranking.scope}.")
    if domain != whole_scale:
        low, high = whole_scale
        notes.append(f"The axis shows a part of the scale, which runs from {low:g} to {high:g}.")
    judged = {row.system for row in ranking.systems}
    unjudged = [system for system in systems if system not in judged]
    if unjudged:
        notes.append(f"Nobody judged {', '.join(unjudged)}.")
    return notes


def _by_metrics(result: ScoreResult) -> ReportAnswer:
    systems = _by_mean_rank(result)
    metrics = ranking_metrics(result) or list(result.metrics)
    picture = {
        "kind": "metrics",
        "systems": [{"system": system} for system in systems],
        "metrics": [_metric_column(result, metric, systems) for metric in metrics],
    }
    return ReportAnswer([headline(result), NO_JUDGMENTS_NOTE], picture)


def _metric_column(result: ScoreResult, metric: str, systems: Sequence[str]) -> dict[str, Any]:
    """A metric's scores of the systems, with their ranks if the metric can rank systems."""
    order = best_first(result, metric) if metric in ranking_metrics(result) else []
    ranked_scores = [result[system, metric].score for system in order]
    cells: list[dict[str, Any] | None] = []
    for system in systems:
        score = result[system, metric]
        rank = ranked_scores.index(score.score) + 1 if system in order else None
        cell = {"value": score.score, "low": score.low, "high": score.high, "rank": rank}
        cells.append(None if math.isnan(score.score) else cell)
    return {
        "metric": metric,
        "is_lower_better": result.higher_is_better[metric] is False,
        "cells": cells,
    }


def _by_mean_rank(result: ScoreResult) -> list[str]:
    """All systems by their mean rank under the metrics, best first. Where a system has no score, its
    rank is after the last."""
    metrics = ranking_metrics(result)
    orders = [best_first(result, metric) for metric in metrics]
    rank_sums = {
        system: sum(
            order.index(system) if system in order else len(result.systems) for order in orders
        )
        for system in result.systems
    }
    return sorted(result.systems, key=lambda system: rank_sums[system])


def shown_range(systems: Sequence[RankedSystem], scale: tuple[float, float]) -> tuple[float, float]:
    """The part of the rating scale that the axis shows: all of it if the intervals cover at least
    `MIN_SHARE_OF_SCALE` of it, otherwise only what the intervals cover."""
    shown_values = [
        value
        for row in systems
        for value in (row.estimate, row.low, row.high)
        if value is not None and math.isfinite(value)
    ]
    low, high = min(shown_values), max(shown_values)
    if high == low or high - low >= MIN_SHARE_OF_SCALE * (scale[1] - scale[0]):
        return scale
    return max(low, scale[0]), min(high, scale[1])


def headline(result: ScoreResult) -> str:
    """Which systems score best, under which metrics, and whether their leads are significant."""
    metrics = ranking_metrics(result)
    if len(result.systems) < 2 or not metrics:
        counts = counted(len(result.systems), "system"), counted(len(result.metrics), "metric")
        return f"{counts[0]} under {counts[1]}."
    winners: dict[str, list[str]] = {}
    significant: dict[str, list[str]] = {}
    for metric in metrics:
        order = best_first(result, metric)
        if len(order) > 1 and _value(result, order[0], metric) == _value(result, order[1], metric):
            continue
        if order:
            winners.setdefault(order[0], []).append(metric)
        if len(order) > 1 and _are_different(result, metric, order[0], order[1]):
            significant.setdefault(order[0], []).append(metric)
    if not winners:
        return "No system is ahead under any metric."
    parts = [
        f"{system} scores best under {_metrics_text(won, metrics)}; "
        f"{_lead(won, significant.get(system, []))}"
        for system, won in sorted(winners.items(), key=lambda entry: -len(entry[1]))
    ]
    return ". ".join(parts) + "."


def references_sentence(items: Sequence[Item]) -> str:
    """A sentence that says how similar the references of an item are; empty if no item has
    several."""
    several = [item.references for item in items if len(item.references) > 1]
    if not several:
        return ""
    metric = GenerationStringAccuracy()
    identical = sum(len(set(references)) == 1 for references in several)
    distances: list[float] = []
    for references in several:
        for first, other in combinations([metric.tokens(text) for text in references], 2):
            steps = alignment_steps(first, other, metric.costs, with_moves=False)
            distances.append(sum(step.mark != "." for step in steps))
    difference = f"differ in {sum(distances) / len(distances):.1f} words on average"
    if len(several) == 1:
        return f"1 item has several references: two of them {difference}."
    return (
        f"{len(several):,} items have several references. They are identical for "
        f"{identical / len(several):.0%} of the items; two references of an item {difference}."
    )


def ranking_metrics(result: ScoreResult) -> list[str]:
    """The metrics that say which of two systems is better."""
    return [name for name in result.metrics if higher_is_better(result, name) is not None]


def higher_is_better(result: ScoreResult, metric: str) -> bool | None:
    """Whether a higher score is better; None for metrics where neither is better, and for sentinels
    (random numbers and the output's length, which useful metrics must beat)."""
    return None if is_sentinel(metric) else result.higher_is_better[metric]


def best_first(result: ScoreResult, metric: str) -> list[str]:
    """The systems that have a score, best first under the metric; the lowest score first if the metric
    does not say which score is better."""
    known = [system for system in result.systems if not math.isnan(_value(result, system, metric))]
    sign = -1 if result.higher_is_better[metric] else 1
    return sorted(known, key=lambda system: sign * _value(result, system, metric))


def _value(result: ScoreResult, system: str, metric: str) -> float:
    return result[system, metric].score


def _are_different(result: ScoreResult, metric: str, a: str, b: str) -> bool:
    """Whether the difference of two systems is significant under a metric."""
    return any(
        result.is_significant(pair.p_adjusted, pair.n)
        for pair in result.comparisons
        if pair.metric == metric and {pair.a, pair.b} == {a, b}
    )


def _metrics_text(won: Sequence[str], metrics: Sequence[str]) -> str:
    """The metrics under which a system scores best, in words; `metrics` are all that were used."""
    if len(won) == len(metrics):
        return all_metrics_text(len(metrics)) if len(metrics) > 1 else metrics[0]
    if len(won) > MAX_METRICS_NAMED:
        return f"{len(won)} of {counted(len(metrics), 'metric')}"
    return f"{', '.join(won)} ({len(won)} of {counted(len(metrics), 'metric')})"


def _lead(won: Sequence[str], significant: Sequence[str]) -> str:
    """Whether the system's lead over the next best is real or may be chance: it scores best under the
    metrics `won`, and its lead is significant under those in `significant`."""
    if len(significant) == len(won):
        return "its lead over the next best is real" + (" under each" if len(won) > 1 else "")
    if not significant:
        return "its lead over the next best may be chance"
    names = ", ".join(significant)
    return f"its lead over the next best is real under {names}; it may be chance elsewhere"
