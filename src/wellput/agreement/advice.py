"""What the figures of an agreement analysis mean, in plain sentences.

A sentinel is a metric that ignores quality (`random`, `length-only`): a useful metric must agree more
with people. A ceiling is the correlation that a perfect metric would reach with these judges.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

from wellput.agreement.rankings.plain_ranking import listed
from wellput.agreement.result import Agreement, MetricDifference
from wellput.core.errors import counted
from wellput.core.metric import is_sentinel
from wellput.core.scores import MIN_ITEMS_FOR_CLAIMS

CORRELATION_COEFFICIENTS = ("pearson", "spearman", "kendall", "kendall-c")
"""The coefficients that are 0 for a metric whose scores have nothing to do with quality."""


def advise(
    agreement: Sequence[Agreement],
    differences: Sequence[MetricDifference],
    ceilings: Mapping[str, float | None],
    *,
    items: Mapping[str, int] | None = None,
    neutral: Collection[str] = (),
    alpha: float = 0.05,
    confidence: float = 0.95,
) -> list[str]:
    """One paragraph for each question and coefficient: the best metric with its interval, whether its
    agreement is more than chance, how far length alone agrees, and which metrics the best one is not
    shown to beat. `ceilings` and `items` (the numbers of judged items) are by question; with very few
    items the paragraph says only that more are needed. `neutral` metrics cannot be the best: a length,
    for example, which is neither good nor bad when it is high."""
    sentences: list[str] = []
    groups: dict[tuple[str, str], list[Agreement]] = {}
    for row in agreement:
        groups.setdefault((row.question, row.coefficient), []).append(row)
    for (question, coefficient), rows in groups.items():
        group_differences = [
            difference
            for difference in differences
            if (difference.question, difference.coefficient) == (question, coefficient)
        ]
        n_judged_items = (items or {}).get(question, MIN_ITEMS_FOR_CLAIMS)
        if n_judged_items < MIN_ITEMS_FOR_CLAIMS:
            items_in_words = counted(n_judged_items, "judged item")
            sentences.append(
                f"{question}: {items_in_words} cannot show how far a metric agrees: more are needed."
            )
            continue
        candidates = [
            row
            for row in rows
            if not is_sentinel(row.metric)
            and row.metric not in neutral
            and not math.isnan(row.value)
        ]
        if not candidates:
            has_values = any(not math.isnan(row.value) for row in rows)
            reason = (
                "no metric here says which output is better"
                if has_values
                else "no metric's agreement is defined"
            )
            sentences.append(f"{question} ({coefficient}): {reason}.")
            continue
        best = max(candidates, key=lambda row: row.value)
        if best.coefficient in CORRELATION_COEFFICIENTS and best.value <= 0:
            sentences.append(
                f"{question}: {_no_metric(rows, candidates)} agrees with people; the highest "
                f"correlation, that of {best.metric}, is {_figure(best.value)} ({best.coefficient})."
            )
            continue
        best_of = f", the best of {len(candidates)} metrics" if len(candidates) > 1 else ""
        equally_good = [row.metric for row in candidates if _is_equally_good(row, best)]
        if equally_good:
            best_of += f" together with {listed(equally_good)}"
        bounds = _bounds(best, ceilings.get(question), confidence)
        parts = [
            f"{question}: {best.metric} {_agrees(best)}{best_of}{bounds}.",
            _lack_of_evidence(best, alpha),
            _against_length(
                best, [row for row in rows if is_sentinel(row.metric)], group_differences, alpha
            ),
            _not_shown_to_beat(best, candidates, group_differences, alpha),
        ]
        sentences.append(" ".join(part for part in parts if part))
    return sentences


def _is_equally_good(row: Agreement, best: Agreement) -> bool:
    """Whether another metric agrees as well as the best, except for rounding."""
    return row.metric != best.metric and math.isclose(row.value, best.value, rel_tol=1e-12)


def shown_to_agree(
    agreement: Sequence[Agreement], *, neutral: Collection[str] = (), alpha: float = 0.05
) -> list[str]:
    """The metrics that agree best on some question by some coefficient, if this is more than chance."""
    groups: dict[tuple[str, str], list[Agreement]] = {}
    for row in agreement:
        if not (is_sentinel(row.metric) or row.metric in neutral or math.isnan(row.value)):
            groups.setdefault((row.question, row.coefficient), []).append(row)
    best = [max(rows, key=lambda row: row.value) for rows in groups.values()]
    return list(
        dict.fromkeys(
            row.metric for row in best if row.value > 0 and not _lack_of_evidence(row, alpha)
        )
    )


def _no_metric(rows: Sequence[Agreement], candidates: Sequence[Agreement]) -> str:
    """The words "no metric". Neutral metrics could not be the best but may correlate higher, so they
    are named as left out."""
    left_out = [
        row.metric
        for row in rows
        if not (is_sentinel(row.metric) or row in candidates or math.isnan(row.value))
    ]
    return f"leaving {listed(left_out)} out, no metric" if left_out else "no metric"


def _agrees(row: Agreement) -> str:
    if row.coefficient in CORRELATION_COEFFICIENTS:
        return f"correlates {_figure(row.value)} with people ({row.coefficient})"
    return f"agrees {_figure(row.value)} with people ({row.coefficient})"


def _bounds(best: Agreement, ceiling: float | None, confidence: float) -> str:
    """The interval and the ceiling, in brackets. The ceiling is shown only for Pearson's r over pooled
    segments, because it is computed for that coefficient."""
    parts = []
    if has_interval(best):
        parts.append(f"{100 * confidence:g}% interval {_figure(best.low)} to {_figure(best.high)}")
    if ceiling is not None and (best.coefficient, best.average) == ("pearson", "none"):
        parts.append(f"a perfect metric would reach about {_figure(ceiling)} with these judges")
    return f" ({'; '.join(parts)})" if parts else ""


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}".replace("-", "−")


def _lack_of_evidence(best: Agreement, alpha: float) -> str:
    """A sentence if the agreement may be chance; empty if it is evidence."""
    if best.p_adjusted is None and has_interval(best):
        return "It is not known here what chance gives: this is no evidence yet."
    if best.p_adjusted is None:
        reason = best.method.removeprefix("no interval: ")
        return f"There is no interval{f' ({reason})' if reason else ''}: this is no evidence yet."
    if best.p_adjusted < alpha:
        return ""
    chance = "0" if best.null == 0 else f"{_figure(best.null)}, what chance gives"
    if best.p_value is not None and best.p_value < alpha:
        return "Corrected for the number of metrics tried, this is no evidence yet."
    return f"The interval includes {chance}: this is no evidence yet."


def has_interval(row: Agreement) -> bool:
    """Whether there are bounds and they are defined."""
    return row.low is not None and row.high is not None and not math.isnan(row.low)


def _against_length(
    best: Agreement, sentinels: Sequence[Agreement], pairs: Sequence[MetricDifference], alpha: float
) -> str:
    """A sentence if the length of the output alone agrees about as well as the best metric. Length was
    not chosen for its agreement, so its p-value needs no correction for many pairs."""
    not_different = _not_different_from(best.metric, pairs, lambda pair: pair.p_value, alpha)
    # Longer outputs may be better or worse: only the size of length's correlation counts.
    for row in sentinels:
        if row.metric.startswith("length-only"):
            if abs(row.value) >= best.value:
                return (
                    "The length of the output alone correlates at least as strongly: "
                    f"{_figure(row.value)}."
                )
            if row.metric in not_different:
                return (
                    f"{best.metric} is not shown to beat the length of the output, "
                    f"{_figure(row.value)}."
                )
    return ""


def _not_shown_to_beat(
    best: Agreement,
    candidates: Sequence[Agreement],
    pairs: Sequence[MetricDifference],
    alpha: float,
) -> str:
    """A sentence that names the metrics from which the best does not differ significantly; or empty."""
    tested_pairs = [pair for pair in pairs if not math.isnan(pair.p_adjusted)]
    not_different = _not_different_from(
        best.metric, tested_pairs, lambda pair: pair.p_adjusted, alpha
    )
    rivals = [row.metric for row in candidates if row.metric in not_different]
    if not rivals:
        return ""
    others = listed(rivals)
    return f"Corrected for all pairs, {best.metric} is not shown to agree better than {others}."


def _not_different_from(
    metric: str,
    pairs: Sequence[MetricDifference],
    p_value: Callable[[MetricDifference], float],
    alpha: float,
) -> list[str]:
    """The metrics whose difference from this one is not significant."""
    return [
        name
        for pair in pairs
        if metric in pair.metrics and not p_value(pair) < alpha
        for name in pair.metrics
        if name != metric
    ]
