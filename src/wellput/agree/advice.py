"""What the numbers mean, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

from wellput.agree.result import Agreement, Difference
from wellput.core.counted import counted
from wellput.core.score import FEWEST_ITEMS

SENTINELS = ("random", "length-only")


def advise(
    agreement: Sequence[Agreement],
    differences: Sequence[Difference],
    ceilings: Mapping[str, float | None],
    *,
    items: Mapping[str, int] | None = None,
    neutral: Collection[str] = (),
    alpha: float = 0.05,
) -> list[str]:
    """For each question and coefficient: the best metric, what it cannot be told from, and where the
    ceiling (the judges' noise) and the floor (sentinels) lie. `items` are the numbers of items judged:
    a few show nothing. `neutral` metrics, such as a length, are neither good nor bad and cannot be the
    best."""
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
        start = f"{question} ({coefficient}): "
        judged = (items or {}).get(question, FEWEST_ITEMS)
        if judged < FEWEST_ITEMS:
            judged_items = counted(judged, "judged item")
            sentences.append(
                f"{start}{judged_items} cannot show how far a metric agrees: bring more."
            )
            continue
        candidates = [
            row
            for row in rows
            if not _is_sentinel(row) and row.metric not in neutral and not math.isnan(row.value)
        ]
        if not candidates:
            sentences.append(start + "no metric's agreement is defined.")
            continue
        best = max(candidates, key=lambda row: row.value)
        place = (
            f"{best.metric} agrees best of {len(candidates)}"
            if len(candidates) > 1
            else best.metric
        )
        sentences.append(
            f"{start}{place}, {_with_margin(best)}{_of_ceiling(best, ceilings.get(question))}"
            f"{_above_floor(best, [row for row in rows if _is_sentinel(row)], pairs, alpha)}"
            f"{_told_from(best, candidates, pairs, alpha)}."
        )
    return sentences


def _is_sentinel(row: Agreement) -> bool:
    return row.metric.partition(":")[0] in SENTINELS


def _with_margin(row: Agreement) -> str:
    if row.low is None or row.high is None or math.isnan(row.low):
        return _figure(row.value)
    return f"{_figure(row.value)} ± {(row.high - row.low) / 2:.2f}"


def _figure(value: float) -> str:
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def _of_ceiling(best: Agreement, ceiling: float | None) -> str:
    # The judges' own agreement is Pearson's r over pooled segments: a ceiling for nothing else.
    if ceiling is None or (best.coefficient, best.average) != ("pearson", "none"):
        return ""
    return f" of a ceiling of {_figure(ceiling)} that the judges' own noise sets"


def _above_floor(
    best: Agreement, sentinels: Sequence[Agreement], pairs: Sequence[Difference], alpha: float
) -> str:
    """What chance and length alone reach. Sentinels were not chosen for their agreement, so their
    p-values need no correction for there being many pairs."""
    tied = _not_told_from(best.metric, pairs, lambda pair: pair.p_value, alpha)
    text = ""
    chance = [row for row in sentinels if row.metric.startswith("random")]
    is_no_better = any(row.metric in tied or row.value >= best.value for row in chance)
    if is_no_better or (best.low is not None and best.low <= 0):
        text += ", which chance alone may explain: trust no metric here"
    # Longer may be better or worse: what length alone explains is the size of its correlation.
    for row in sentinels:
        if row.metric.startswith("length-only"):
            if abs(row.value) >= best.value:
                text += f"; the length of the output alone correlates as much, {row.value:+.2f}"
            elif row.metric in tied:
                text += f"; it is not shown to beat the length of the output, {row.value:+.2f}"
    return text


def _told_from(
    best: Agreement, candidates: Sequence[Agreement], pairs: Sequence[Difference], alpha: float
) -> str:
    tied = _not_told_from(best.metric, pairs, lambda pair: pair.p_adjusted, alpha)
    rivals = [row.metric for row in candidates if row.metric in tied]
    return f"; it is not distinguishable from {_listed(rivals)}" if rivals else ""


def _not_told_from(
    metric: str,
    pairs: Sequence[Difference],
    p_value: Callable[[Difference], float],
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


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
