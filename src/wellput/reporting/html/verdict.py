"""What a report says first, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from wellput.agreement.orders import is_sentinel
from wellput.core.counted import counted
from wellput.core.evalset import Item
from wellput.engine.result import ScoreResult
from wellput.metrics.accuracy import GenerationStringAccuracy
from wellput.metrics.alignments import aligned
from wellput.reporting.score import all_of


def headline(result: ScoreResult) -> str:
    """Which system scores best under how many metrics, and whether its lead is real."""
    metrics = ranking_metrics(result)
    if len(result.systems) < 2 or not metrics:
        counts = counted(len(result.systems), "system"), counted(len(result.metrics), "metric")
        return f"{counts[0]} under {counts[1]}."
    winners: dict[str, list[str]] = {}
    real: dict[str, list[str]] = {}
    for metric in metrics:
        order = best_first(result, metric)
        if len(order) > 1 and _value(result, order[0], metric) == _value(result, order[1], metric):
            continue
        if order:
            winners.setdefault(order[0], []).append(metric)
        if len(order) > 1 and _is_real(result, metric, order[0], order[1]):
            real.setdefault(order[0], []).append(metric)
    if not winners:
        return "No system is ahead under any metric."
    parts = [
        f"{system} scores best under {_which(won, metrics)}; {_lead(won, real.get(system, []))}"
        for system, won in sorted(winners.items(), key=lambda entry: -len(entry[1]))
    ]
    return ". ".join(parts) + "."


def likeness(items: Sequence[Item]) -> str:
    """How alike the references of an item are, where there are several."""
    several = [item.references for item in items if len(item.references) > 1]
    if not several:
        return ""
    metric = GenerationStringAccuracy()
    identical = sum(len(set(references)) == 1 for references in several)
    apart: list[float] = []
    for references in several:
        for one, other in combinations([metric.tokens(text) for text in references], 2):
            steps = aligned(one, other, metric.costs, with_moves=False)
            apart.append(sum(step.mark != "." for step in steps))
    distance = f"{sum(apart) / len(apart):.1f} words apart on average"
    if len(several) == 1:
        return f"1 item has several references: two of them are {distance}."
    return (
        f"{len(several):,} items have several references: they are identical in "
        f"{identical / len(several):.0%} of them, and two references of an item are {distance}."
    )


def ranking_metrics(result: ScoreResult) -> list[str]:
    """The metrics that say which of two systems is better."""
    return [
        name
        for name in result.metrics
        if result.higher_is_better[name] is not None and not is_sentinel(name)
    ]


def best_first(result: ScoreResult, metric: str) -> list[str]:
    """The systems that have a score, in the metric's order."""
    known = [s for s in result.systems if not math.isnan(_value(result, s, metric))]
    is_better = result.higher_is_better[metric]
    return sorted(known, key=lambda s: _value(result, s, metric) * (-1 if is_better else 1))


def _value(result: ScoreResult, system: str, metric: str) -> float:
    return result[system, metric].score


def _is_real(result: ScoreResult, metric: str, a: str, b: str) -> bool:
    return any(
        result.is_shown(pair.p_adjusted, pair.n)
        for pair in result.comparisons
        if pair.metric == metric and {pair.a, pair.b} == {a, b}
    )


def _which(won: Sequence[str], metrics: Sequence[str]) -> str:
    if len(won) == len(metrics):
        return all_of(len(metrics)) if len(metrics) > 1 else metrics[0]
    if len(won) > 4:
        return f"{len(won)} of {counted(len(metrics), 'metric')}"
    return f"{', '.join(won)} ({len(won)} of {counted(len(metrics), 'metric')})"


def _lead(won: Sequence[str], real: Sequence[str]) -> str:
    """Whether its lead over the next best, which chance may give, is real."""
    if len(real) == len(won):
        return "its lead over the next best is real" + (" under each" if len(won) > 1 else "")
    if not real:
        return "its lead over the next best may be chance"
    return (
        f"its lead over the next best is real under {', '.join(real)}, and may be chance elsewhere"
    )
