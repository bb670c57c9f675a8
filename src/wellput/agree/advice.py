"""What the numbers mean, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from wellput.agree.result import Agreement, Difference

SENTINELS = ("random", "length-only")


def advise(
    agreement: Sequence[Agreement],
    differences: Sequence[Difference],
    ceilings: Mapping[str, float | None],
    *,
    alpha: float = 0.05,
) -> list[str]:
    """For each question and coefficient: the best metric, what it cannot be told from, and where the
    ceiling (judges among themselves) and the floor (sentinels) lie."""
    sentences: list[str] = []
    groups: dict[tuple[str, str], list[Agreement]] = {}
    for row in agreement:
        groups.setdefault((row.question, row.coefficient), []).append(row)
    for (question, coefficient), rows in groups.items():
        pairs = [
            difference
            for difference in differences
            if (difference.question, difference.coefficient) == (question, coefficient)
        ]
        sentences.append(_about(question, coefficient, rows, pairs, ceilings.get(question), alpha))
    return sentences


def _about(
    question: str,
    coefficient: str,
    rows: Sequence[Agreement],
    pairs: Sequence[Difference],
    ceiling: float | None,
    alpha: float,
) -> str:
    start = f"{question} ({coefficient}): "
    metrics = [row for row in rows if not _is_sentinel(row.metric) and not math.isnan(row.value)]
    if not metrics:
        return start + "no metric's agreement is defined."
    best = max(metrics, key=lambda row: row.value)
    place = f"{best.metric} agrees best of {len(metrics)}" if len(metrics) > 1 else best.metric
    text = f"{start}{place}, {_with_margin(best)}"
    if ceiling is not None and coefficient == "pearson":
        text += f" of a ceiling of {_figure(ceiling)} between judges"
    if best.low is not None and not math.isnan(best.low) and best.low <= 0:
        text += ", which chance alone would explain"
    tied = _not_told_from(best.metric, pairs, alpha)
    rivals = [name for name in tied if not _is_sentinel(name)]
    if rivals:
        text += f"; it is not distinguishable from {_listed(rivals)}"
    floors = [
        row.metric
        for row in rows
        if _is_sentinel(row.metric) and (row.metric in tied or row.value >= best.value)
    ]
    if floors:
        text += "; nor does it beat" if rivals else "; it does not beat"
        text += f" {_listed(floors)}, so trust no metric here"
    return text + "."


def _is_sentinel(metric: str) -> bool:
    return metric.partition(":")[0] in SENTINELS


def _with_margin(row: Agreement) -> str:
    if row.low is None or row.high is None or math.isnan(row.low):
        return _figure(row.value)
    return f"{_figure(row.value)} ± {(row.high - row.low) / 2:.2f}"


def _figure(value: float) -> str:
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def _not_told_from(metric: str, pairs: Sequence[Difference], alpha: float) -> list[str]:
    """The metrics whose difference from this one is not significant after correction."""
    others: list[str] = []
    for pair in pairs:
        if metric in pair.metrics and not pair.p_adjusted < alpha:
            others += [name for name in pair.metrics if name != metric]
    return others


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
