"""What `wellput score` shows: scores in a table, and what they mean in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wellput.core.counted import counted
from wellput.core.score import FEWEST_ITEMS, Score
from wellput.engine.result import LeftOut, ScoreResult, Skipped
from wellput.reporting.table import Report, Table, number, p_text

CSV_COLUMNS = (
    "system", "metric", "score", "low", "high", "baseline", "delta", "p_value", "n", "undefined",
    "signature",
)  # fmt: skip


def score_report(result: ScoreResult) -> Report:
    """Scores with their verdict, all pairs if asked for, and what is wrong in the worst items."""
    tables = [score_table(result)]
    if result.comparisons:
        tables.append(pair_table(result))
    value = result.values()
    return Report(tables, value, CSV_COLUMNS, value["scores"], result.explanations)


def score_table(result: ScoreResult) -> Table:
    """Systems down and metrics across, or turned; signatures and the verdict beneath."""
    digits = {metric: _digits(result, metric) for metric in result.metrics}
    names = {metric: _heading(result, metric) for metric in result.metrics}
    cells = {
        (system, metric): _cell(result[system, metric], digits[metric], result)
        for system in result.systems
        for metric in result.metrics
    }
    best = _best(result)
    notes = [*_counts(result), *verdict(result), *_legend(result), *_signatures(result)]
    best_means = _best_means(result) if best else ""
    caption = (
        f"Scores of {counted(len(result.systems), 'system')} on {counted(result.items, 'item')}"
    )
    turned = Table(
        columns=["metric", *result.systems],
        rows=[[name, *(cells[s, m] for s in result.systems)] for m, name in names.items()],
        notes=notes,
        best=frozenset((j - 1, i + 1) for i, j in best),
        best_means=best_means,
        caption=caption,
        name="scores",
    )
    return Table(
        columns=["system", *names.values()],
        rows=[[s, *(cells[s, metric] for metric in result.metrics)] for s in result.systems],
        notes=notes,
        best=best,
        best_means=best_means,
        caption=caption,
        name="scores",
        turned=turned,
    )


def _best(result: ScoreResult) -> frozenset[tuple[int, int]]:
    """The cells of the systems that no other is shown to be better than; none without a test."""
    found: set[tuple[int, int]] = set()
    for column, metric in enumerate(result.metrics, 1):
        beaten = result.beaten(metric)
        if beaten is None:
            continue
        found |= {
            (row, column)
            for row, system in enumerate(result.systems)
            if system not in beaten and not math.isnan(result[system, metric].score)
        }
    return frozenset(found)


def _test_name(result: ScoreResult) -> str:
    return "approximate randomization" if result.test == "ar" else "paired bootstrap"


def _best_means(result: ScoreResult) -> str:
    """What bold says, in words."""
    test = _test_name(result) if result.test == "bs" else f"paired {_test_name(result)}"
    if result.comparisons:
        return f"no system is significantly better ({test}, p < {result.alpha:g} by Holm's method)"
    baseline = next((score.baseline for score in result.scores if score.baseline), "")
    return (
        f"no system is significantly better ({test}, p < {result.alpha:g}; only differences from "
        f"{baseline} are tested)"
    )


def pair_table(result: ScoreResult) -> Table:
    """Every pair of systems under every metric, p-values corrected by Holm's method."""
    rows = [
        [
            f"{pair.a} − {pair.b}",
            pair.metric,
            number(pair.delta, _digits(result, pair.metric), sign=True),
            p_text(pair.p_value),
            p_text(pair.p_adjusted),
            str(pair.n),
        ]
        for pair in result.comparisons
    ]
    return Table(
        columns=["pair", "metric", "difference", "p", "p (Holm)", "items"],
        rows=rows,
        title="All pairs of systems",
        caption=f"Differences between all pairs of systems, with p by {_test_name(result)} and "
        "corrected by Holm's method",
        name="pairs",
    )


def verdict(result: ScoreResult) -> list[str]:
    """One sentence per system: which differences from the baseline are real."""
    sentences: list[str] = []
    for system in result.systems:
        scores = [result[system, metric] for metric in result.metrics]
        tested = [score for score in scores if score.p_value is not None]
        if not tested:
            continue
        groups: dict[str, list[Score]] = {}
        for score in tested:
            groups.setdefault(_claim(score, result), []).append(score)
        claims = "; ".join(f"{claim} {_listed(found, result)}" for claim, found in groups.items())
        where = _where(tested, result)
        sentences.append(f"{system} against {tested[0].baseline}{where}: {claims}.")
    return sentences


def _where(tested: Sequence[Score], result: ScoreResult) -> str:
    """On which items two systems are compared, where one of them lacks outputs."""
    unreferenced = {metric: left.n for left in result.left_out for metric in left.metrics}
    missing = [s for s in tested if s.n_common != result.items - unreferenced.get(s.metric, 0)]
    if not missing:
        return ""
    common = sorted({score.n_common or 0 for score in missing})
    shown = f"{common[0]:,} to {common[-1]:,}" if len(common) > 1 else f"{common[0]:,}"
    return f" on the {shown} {'item' if common == [1] else 'items'} both have"


def _listed(scores: Sequence[Score], result: ScoreResult) -> str:
    """Each metric with its difference and p."""
    return ", ".join(
        f"{score.metric} ({number(score.delta, _digits(result, score.metric), sign=True)}, "
        f"p {_relation(score.p_value)})"
        for score in scores
    )


def all_of(n_metrics: int) -> str:
    return "both metrics" if n_metrics == 2 else f"all {n_metrics} metrics"


def _claim(score: Score, result: ScoreResult) -> str:
    better = result.higher_is_better[score.metric]
    if score.p_value is None or math.isnan(score.p_value):
        return "undefined on"
    if not result.is_shown(score.p_value, score.n_common):
        return "no difference shown on"
    if better is None or not score.delta:
        return "different on"
    return "better on" if (score.delta > 0) == better else "worse on"


def _heading(result: ScoreResult, metric: str) -> str:
    return f"{metric} ↓" if result.higher_is_better[metric] is False else metric


def _cell(score: Score, digits: int, result: ScoreResult) -> str:
    text = number(score.score, digits)
    if score.low is not None and score.high is not None:
        text += f" [{number(score.low, digits)}, {number(score.high, digits)}]"
    if result.is_shown(score.p_value, score.n_common):
        text += " *"
    return text


def _left_out(skipped: Skipped) -> str:
    """The partition, the headline of the reason and the first thing it names."""
    reason = " ".join(line.strip() for line in skipped.reason.split("\n")[:2])
    return reason if reason.startswith(skipped.partition) else f"{skipped.partition}: {reason}"


def left_out_sentence(left_out: LeftOut) -> str:
    """How many items some metrics leave out, why, and which come first.

    >>> left_out_sentence(LeftOut("no reference", ("bleu", "chrf"), 7, ("h04", "h07")))
    '7 items have no reference and are left out for bleu, chrf: h04, h07 and 5 more.'
    """
    verbs = ("has", "is") if left_out.n == 1 else ("have", "are")
    more = left_out.n - len(left_out.first)
    which = ", ".join(left_out.first) + (f" and {more:,} more" if more else "")
    return (
        f"{counted(left_out.n, 'item')} {verbs[0]} {left_out.reason} and {verbs[1]} left out for "
        f"{', '.join(left_out.metrics)}: {which}."
    )


def _counts(result: ScoreResult) -> list[str]:
    """Says what is missing or undefined: a score over fewer items must not go unnoticed."""
    lines: list[str] = []
    outputs = {score.system: score.n + score.left_out for score in result.scores}
    missing = "".join(
        f"; {system} has outputs for {n:,} of them"
        for system, n in outputs.items()
        if n < result.items
    )
    lines.append(f"{counted(result.items, 'item')}{missing}.")
    lines += map(left_out_sentence, result.left_out)
    if result.skipped:
        lines.append(f"Left out because of errors: {counted(len(result.skipped), 'partition')}.")
        lines += [f"  {_left_out(skipped)}" for skipped in result.skipped]
    undefined: dict[tuple[str, int], list[str]] = {}
    for score in result.scores:
        if score.undefined:
            undefined.setdefault((score.system, score.undefined), []).append(score.metric)
    lines += [
        f"{n:,} {f'segment of {system} has' if n == 1 else f'segments of {system} have'} no score "
        f"alone under {', '.join(metrics)}."
        for (system, n), metrics in undefined.items()
    ]
    return lines


def few_items(result: ScoreResult) -> list[str]:
    """Says that there are too few items for intervals and tests, where any were made."""
    fewest = min(score.n if score.n_common is None else score.n_common for score in result.scores)
    has_uncertainty = result.test is not None or any(s.low is not None for s in result.scores)
    if not has_uncertainty or fewest >= FEWEST_ITEMS:
        return []
    items = counted(fewest, "item")
    return [f"With {items} no interval or test of a metric says anything: bring more."]


def _legend(result: ScoreResult) -> list[str]:
    lines: list[str] = []
    lines += few_items(result)
    if any(score.low is not None for score in result.scores):
        lines.append(
            f"[low, high]: {result.confidence:.0%} bootstrap interval, "
            f"{counted(result.n_resamples, 'resample')}, seed {result.seed}."
        )
    if result.test is not None:
        lines.append(
            f"*: p < {result.alpha:g} by {_test_name(result)}, "
            f"{counted(result.n_resamples, 'resample')}, seed {result.seed}."
        )
    if result.test == "bs":
        lines.append(
            "The p of bs is sacreBLEU's, which calls about 1 in 10 chance differences real at .05; "
            "that of --paired ar keeps its level."
        )
    return lines


def _signatures(result: ScoreResult) -> list[str]:
    """One line for all metrics that share a signature."""
    groups: dict[str, dict[str, None]] = {}
    for score in result.scores:
        groups.setdefault(score.signature, {})[score.metric] = None
    return [f"{', '.join(metrics)}: {signature}" for signature, metrics in groups.items()]


def _digits(result: ScoreResult, metric: str) -> int:
    values = [abs(result[system, metric].score) for system in result.systems]
    return 2 if any(value >= 10 for value in values) else 3


def _relation(p_value: float | None) -> str:
    """`= 0.020`, `< 0.001`"""
    text = p_text(p_value)
    return text if text.startswith("<") else f"= {text}"
