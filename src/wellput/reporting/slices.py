"""The tables of scores by slice: a row for each system in each slice, and the slices in which systems
are in another order than over all items. A *slice* is the items with one value of a tag."""

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
"""A function that shows the score of a system under a metric: (result, system, metric) -> text."""


def slice_tables(result: ScoreResult, cells: CellText) -> list[Table]:
    """The scores by slice, and the differences by slice if they were tested."""
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
    """The notes below the table of scores by slice."""
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
    """The slices for which some metrics, or all, have no score, and what is missing there."""
    slices_without: dict[tuple[str, ...], list[str]] = {}
    for part in result.slices:
        metrics = tuple(
            metric
            for metric in result.metrics
            if not any(part[system, metric].n for system in result.systems)
        )
        if metrics:
            slices_without.setdefault(metrics, []).append(str(part.slice_name))
    # Metrics leave out only items that have no reference.
    need_references = {metric for items in result.left_out for metric in items.metrics}
    lines = []
    for metrics, names in slices_without.items():
        where = ", ".join(names)
        need = "needs" if len(metrics) == 1 else "need"
        if set(metrics) <= need_references:
            lines.append(
                f"No output with a reference in {where}: {', '.join(metrics)} {need} both."
            )
        else:
            lines.append(f"No output in {where}.")
    return lines


def dependence_sentences(result: ScoreResult, tag: str) -> list[str]:
    """Sentences about the pairs of systems whose difference is shown to depend on the slice, or a
    sentence that no pair's does."""
    if not result.slice_tests:
        if len(result.systems) < 2 or len(result.slices) < 2:
            return []
        return [
            f"Too few {_units(result)} differ in each slice to test whether differences depend on "
            f"{tag}."
        ]
    n_tests = len(result.slice_tests)
    corrected = f", corrected by Holm's method for {n_tests:,} tests" if n_tests > 1 else ""
    method = f"Welch's analysis of variance of the slices' differences{corrected}"
    small = _too_small(result)
    lines = shown_dependences(result, tag)
    if not lines:
        least = min(test.p_adjusted for test in result.slice_tests)
        return [
            f"No pair's difference is shown to depend on {tag} (smallest p "
            f"{p_with_relation(least)}; {method}).",
            *small,
        ]
    return [*lines, f"Whether a difference depends on {tag} is tested by {method}.", *small]


def shown_dependences(result: ScoreResult, tag: str) -> list[str]:
    """A sentence for each pair of systems whose difference is shown to depend on the slice, smallest p
    first."""
    shown = sorted(
        (test for test in result.slice_tests if _is_significant(result, test)),
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
        lines.append(f"Other differences that depend on {tag}: {more} (in the JSON, slice_tests).")
    return lines


def _units(result: ScoreResult) -> str:
    return "items" if result.clusters is None else result.clusters.words


def _too_small(result: ScoreResult) -> list[str]:
    """A sentence that names the slices which have outputs, but too few for the test to use them."""
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


def _is_significant(result: ScoreResult, test: SliceTest) -> bool:
    """Whether the test is significant."""
    return result.is_significant(test.p_adjusted, test.n)


def order_sentences(result: ScoreResult) -> list[str]:
    """Sentences about the slices in which two systems are in another order than over all items: one for
    each slice for which a test shows it; the other slices are only named, unless the pair's difference
    is already shown to depend on the slice."""
    sentences: list[str] = []
    may_be_chance: dict[str, None] = {}
    untested: dict[str, None] = {}
    dependence = {
        (test.metric, *pair): _is_significant(result, test)
        for test in result.slice_tests
        for pair in ((test.a, test.b), (test.b, test.a))
    }
    for part in result.slices:
        for metric, a, b in _reversed_pairs(result, part):
            name = str(part.slice_name)
            comparison = _comparison_of(part, metric, a, b)
            if comparison is not None and part.is_significant(comparison.p_adjusted, comparison.n):
                digits = digits_of(part[system, metric].score for system in part.systems)
                sentences.append(
                    f"{name} differs from the whole: there {a} is better than {b} on {metric} "
                    f"({number(comparison.delta, digits, sign=True)}, p "
                    f"{p_with_relation(comparison.p_adjusted, is_bound=comparison.p_is_bound)})."
                )
            elif (metric, a, b) not in dependence:
                untested[f"{name} ({a}, {b} on {metric})"] = None
            elif not dependence[metric, a, b]:
                may_be_chance[f"{name} ({a}, {b} on {metric})"] = None
    for names, why in (
        (may_be_chance, "but no test shows that this is more than chance"),
        (untested, "which is not tested"),
    ):
        if names:
            some = list(names)[:MAX_NAMED_SLICES]
            more = f" and {len(names) - len(some)} more" if len(names) > len(some) else ""
            also = "also " if sentences else ""
            sentences.append(
                f"The order of two systems {also}differs from the whole in {', '.join(some)}{more}; "
                f"{why}."
            )
    return sentences


def _reversed_pairs(whole: ScoreResult, part: ScoreResult) -> Iterator[tuple[str, str, str]]:
    """The (metric, a, b) where system a is better than b in the slice, but worse over all items."""
    for metric in whole.metrics:
        higher_is_better = whole.higher_is_better[metric]
        if higher_is_better is None:
            continue
        for pair in combinations(whole.systems, 2):
            overall, here = (
                scores[pair[0], metric].score - scores[pair[1], metric].score
                for scores in (whole, part)
            )
            if math.isnan(overall) or math.isnan(here) or overall * here >= 0:
                continue
            a, b = pair if (here > 0) == higher_is_better else pair[::-1]
            yield metric, a, b


def _comparison_of(part: ScoreResult, metric: str, a: str, b: str) -> Comparison | None:
    """The comparison of a with b under the metric, None if there is none."""
    for comparison in part.differences:
        for ordered in (comparison, comparison.swapped):
            if (ordered.metric, ordered.a, ordered.b) == (metric, a, b):
                return ordered
    return None


def _differences(result: ScoreResult, tag: str, names: Sequence[str]) -> Table:
    """The differences of pairs of systems in each slice (the items with one value of the tag).
    `names` are the names of the slices."""
    interval = f"{100 * result.confidence:g}% interval"
    rows = [
        [
            name,
            f"{difference.a} − {difference.b}",
            difference.metric,
            number(difference.delta, digits, sign=True),
            interval_text(difference.low, difference.high, digits, sign=True),
            p_text(difference.p_value, is_bound=difference.p_is_bound),
            p_text(difference.p_adjusted, is_bound=difference.p_is_bound),
            str(difference.n),
        ]
        for name, part in zip(names, result.slices, strict=True)
        for difference in part.differences
        for digits in [digits_of(part[system, difference.metric].score for system in part.systems)]
    ]
    return Table(
        columns=[tag, "pair", "metric", "difference", interval, "p", "p (Holm)", "items"],
        rows=rows,
        title=f"Differences by {tag}",
        caption=f"Differences between systems by {tag}, corrected by Holm's method over all slices",
        name="differences by slice",
    )
