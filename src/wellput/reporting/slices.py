"""The tables of scores by slice: a row for each system in each slice, and where slices part from the
order of systems over all items."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

from wellput.core.errors import counted
from wellput.engine.result import Comparison, ScoreResult
from wellput.reporting.table import Table, digits_of, interval_text, number, p_text, p_with_relation

CellText: TypeAlias = Callable[[ScoreResult, str, str], str]
"""Shows the score of (result, system, metric)."""
MAX_NAMED_SLICES = 8
"""Of the slices whose order differs by no more than chance, so many are named."""


def slice_tables(result: ScoreResult, cells: CellText) -> list[Table]:
    """The scores by slice, and the differences by slice where they were tested."""
    tag = next(iter(result.slices[0].by or {}))
    names = [part.by[tag] for part in result.slices if part.by is not None]
    rows = [
        [name, f"{part.items:,}", system, *(cells(part, system, metric) for metric in part.metrics)]
        for name, part in zip(names, result.slices, strict=True)
        for system in part.systems
    ]
    tables = [
        Table(
            columns=[tag, "items", "system", *result.metrics],
            rows=rows,
            notes=slice_notes(result, tag),
            title=f"By {tag}",
            caption=f"Scores of {counted(len(result.systems), 'system')} by {tag}",
            name="by",
        )
    ]
    if result.differences:
        tables.append(_differences(result, tag, names))
    return tables


def slice_notes(result: ScoreResult, tag: str) -> list[str]:
    lines = []
    if result.in_no_slice:
        has = "has" if result.in_no_slice == 1 else "have"
        lines.append(f"{counted(result.in_no_slice, 'item')} {has} no {tag} and are in no slice.")
    if empty := [
        part.slice_name for part in result.slices if not part.tables or not _outputs(part)
    ]:
        lines.append(f"No output in {', '.join(str(name) for name in empty)}.")
    lines += order_sentences(result)
    if n_tests := sum(part.n_tests for part in result.slices):
        lines.append(
            f"p-values by {tag} are corrected by Holm's method for all {n_tests:,} differences of all "
            "slices."
        )
    return lines


def _outputs(part: ScoreResult) -> int:
    return sum(score.n for score in part.scores)


def order_sentences(result: ScoreResult) -> list[str]:
    """The slices where two systems are in another order than over all items: those where a test shows
    it, one by one, and the names of the others."""
    shown: list[str] = []
    chance: dict[str, None] = {}
    is_tested = any(part.differences for part in result.slices)
    for part in result.slices:
        for metric, a, b in _turned(result, part):
            name = str(part.slice_name)
            found = _test_of(part, metric, a, b)
            if found is None or not part.is_significant(found.p_adjusted, found.n):
                chance[f"{name} ({metric})"] = None
                continue
            digits = digits_of(part[system, metric].score for system in part.systems)
            shown.append(
                f"{name} parts from the whole: there {a} is better than {b} on {metric} "
                f"({number(found.delta, digits, sign=True)}, p "
                f"{p_with_relation(found.p_adjusted, is_bound=found.p_is_bound)})."
            )
    if chance:
        some = list(chance)[:MAX_NAMED_SLICES]
        more = f" and {len(chance) - len(some)} more" if len(chance) > len(some) else ""
        also = "also " if shown else ""
        why = (
            "but no test shows that this is more than chance"
            if is_tested
            else "not tested: add baseline= or all_pairs=True"
        )
        shown.append(
            f"The order of systems {also}differs from the whole in {', '.join(some)}{more}; {why}."
        )
    return shown


def _turned(whole: ScoreResult, part: ScoreResult) -> Iterator[tuple[str, str, str]]:
    """(metric, a, b) where a is better than b in the slice, and worse over all items."""
    for metric in whole.metrics:
        is_higher = whole.higher_is_better[metric]
        if is_higher is None:
            continue
        for pair in combinations(whole.systems, 2):
            overall, here = (
                one[pair[0], metric].score - one[pair[1], metric].score for one in (whole, part)
            )
            if math.isnan(overall) or math.isnan(here) or overall * here >= 0:
                continue
            a, b = pair if (here > 0) == is_higher else pair[::-1]
            yield metric, a, b


def _test_of(part: ScoreResult, metric: str, a: str, b: str) -> Comparison | None:
    for either in part.differences:
        for one in (either, either.turned):
            if (one.metric, one.a, one.b) == (metric, a, b):
                return one
    return None


def _differences(result: ScoreResult, tag: str, names: Sequence[str]) -> Table:
    interval = f"{result.confidence:.0%} interval"
    rows = [
        [
            name,
            f"{one.a} − {one.b}",
            one.metric,
            number(one.delta, digits, sign=True),
            interval_text(one.low, one.high, digits, sign=True),
            p_text(one.p_value, is_bound=one.p_is_bound),
            p_text(one.p_adjusted, is_bound=one.p_is_bound),
            str(one.n),
        ]
        for name, part in zip(names, result.slices, strict=True)
        for one in part.differences
        for digits in [digits_of(part[system, one.metric].score for system in part.systems)]
    ]
    return Table(
        columns=[tag, "pair", "metric", "difference", interval, "p", "p (Holm)", "items"],
        rows=rows,
        title=f"Differences by {tag}",
        caption=f"Differences between systems by {tag}, corrected by Holm's method over all slices",
        name="differences by slice",
    )
