"""The tables of scores by slice: a row for each system in each slice, and the slices that order the
systems differently than all items together do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

from wellput.core.errors import counted
from wellput.engine.result import Comparison, ScoreResult
from wellput.engine.slices import SliceTest
from wellput.reporting.ranking import MAX_NAMED_SLICES
from wellput.reporting.table import Table, digits_of, interval_text, number, p_text, p_with_relation

CellText: TypeAlias = Callable[[ScoreResult, str, str], str]
"""Shows the score of (result, system, metric)."""


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
    lines += _unscored_sentences(result)
    lines += dependence_sentences(result, tag)
    lines += order_sentences(result)
    if n_tests := sum(part.n_tests for part in result.slices):
        lines.append(
            f"p-values by {tag} are corrected by Holm's method for all {n_tests:,} differences of all "
            "slices."
        )
    return lines


def _unscored_sentences(result: ScoreResult) -> list[str]:
    """The slices that some metrics, or all, have no score for, and what these lack."""
    lacking: dict[tuple[str, ...], list[str]] = {}
    for part in result.slices:
        metrics = tuple(
            metric
            for metric in result.metrics
            if not any(part[system, metric].n for system in result.systems)
        )
        if metrics:
            lacking.setdefault(metrics, []).append(str(part.slice_name))
    unreferenced = {metric for left in result.left_out for metric in left.metrics}
    lines = []
    for metrics, names in lacking.items():
        where = ", ".join(names)
        need = "needs" if len(metrics) == 1 else "need"
        if set(metrics) <= unreferenced:
            lines.append(
                f"No output with a reference in {where}: {', '.join(metrics)} {need} both."
            )
        else:
            lines.append(f"No output in {where}.")
    return lines


def dependence_sentences(result: ScoreResult, tag: str) -> list[str]:
    """The pairs whose difference is not the same in all slices, or that none is shown to be so."""
    if not result.slice_tests:
        if len(result.systems) < 2 or len(result.slices) < 2:
            return []
        return [
            f"Too few {_units(result)} differ in each slice to test whether differences depend on "
            f"{tag}."
        ]
    n_tests = len(result.slice_tests)
    corrected = f", corrected by Holm's method for {n_tests:,} tests" if n_tests > 1 else ""
    how = f"Welch's analysis of variance of the slices' differences{corrected}"
    small = _too_small(result)
    lines = shown_dependences(result, tag)
    if not lines:
        least = min(test.p_adjusted for test in result.slice_tests)
        return [
            f"No pair's difference is shown to depend on {tag} (smallest p "
            f"{p_with_relation(least)}; {how}).",
            *small,
        ]
    return [*lines, f"Whether a difference depends on {tag} is tested by {how}.", *small]


def shown_dependences(result: ScoreResult, tag: str) -> list[str]:
    """The pairs whose difference is shown not to be the same in all slices, the surest first."""
    shown = sorted(
        (test for test in result.slice_tests if _is_shown(result, test)),
        key=lambda test: test.p_adjusted,
    )
    lines = []
    for test in shown[:MAX_NAMED_SLICES]:
        digits = digits_of(result[system, test.metric].score for system in result.systems)
        low, high = (choose(test.deltas, key=test.deltas.__getitem__) for choose in (min, max))
        lines.append(
            f"The difference {test.a} − {test.b} on {test.metric} depends on {tag}, p "
            f"{p_with_relation(test.p_adjusted)}: it is "
            f"{number(test.deltas[high], digits, sign=True)} in {high} but "
            f"{number(test.deltas[low], digits, sign=True)} in {low}."
        )
    if (more := len(shown) - MAX_NAMED_SLICES) > 0:
        lines.append(f"So do {counted(more, 'other difference')} (in the JSON, slice_tests).")
    return lines


def _units(result: ScoreResult) -> str:
    return "items" if result.clusters is None else result.clusters.words


def _too_small(result: ScoreResult) -> list[str]:
    """The slices with outputs that no test compares with others."""
    tested = {name for test in result.slice_tests for name in test.deltas}
    names = [
        str(part.slice_name)
        for part in result.slices
        if not tested & set((part.by or {}).values()) and any(score.n for score in part.scores)
    ]
    if not names:
        return []
    some = ", ".join(names[:MAX_NAMED_SLICES])
    more = f" and {len(names) - MAX_NAMED_SLICES} more" if len(names) > MAX_NAMED_SLICES else ""
    has = "has" if len(names) == 1 else "have"
    return [f"{some}{more} {has} too few {_units(result)} that differ for this test."]


def _is_shown(result: ScoreResult, test: SliceTest) -> bool:
    return result.is_significant(test.p_adjusted, test.n)


def order_sentences(result: ScoreResult) -> list[str]:
    """The slices where two systems are in another order than over all items: those where a test shows
    it, one by one, and the names of the others, unless the pair is shown to depend on the slice."""
    shown: list[str] = []
    chance: dict[str, None] = {}
    untested: dict[str, None] = {}
    dependence = {
        (test.metric, *pair): _is_shown(result, test)
        for test in result.slice_tests
        for pair in ((test.a, test.b), (test.b, test.a))
    }
    for part in result.slices:
        for metric, a, b in _turned(result, part):
            name = str(part.slice_name)
            found = _test_of(part, metric, a, b)
            if found is not None and part.is_significant(found.p_adjusted, found.n):
                digits = digits_of(part[system, metric].score for system in part.systems)
                shown.append(
                    f"{name} differs from the whole: there {a} is better than {b} on {metric} "
                    f"({number(found.delta, digits, sign=True)}, p "
                    f"{p_with_relation(found.p_adjusted, is_bound=found.p_is_bound)})."
                )
            elif (metric, a, b) not in dependence:
                untested[f"{name} ({a}, {b} on {metric})"] = None
            elif not dependence[metric, a, b]:
                chance[f"{name} ({a}, {b} on {metric})"] = None
    for names, why in (
        (chance, "but no test shows that this is more than chance"),
        (untested, "which is not tested"),
    ):
        if names:
            some = list(names)[:MAX_NAMED_SLICES]
            more = f" and {len(names) - len(some)} more" if len(names) > len(some) else ""
            also = "also " if shown else ""
            shown.append(
                f"The order of two systems {also}differs from the whole in {', '.join(some)}{more}; "
                f"{why}."
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
        for one in (either, either.swapped):
            if (one.metric, one.a, one.b) == (metric, a, b):
                return one
    return None


def _differences(result: ScoreResult, tag: str, names: Sequence[str]) -> Table:
    interval = f"{100 * result.confidence:g}% interval"
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
