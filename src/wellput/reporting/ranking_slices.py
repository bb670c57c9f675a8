"""Whom people prefer in each slice of the items, and the slices where systems part from their overall
order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np

from wellput.agreement.rankings.fitted_ranking import FittedRanking
from wellput.agreement.rankings.plain_ranking import (
    ESTIMATE_HEADINGS,
    Ranking,
    SystemDifference,
    shown_estimate,
    shown_interval,
    shown_rank,
)
from wellput.agreement.rankings.slices import SliceTest
from wellput.core.errors import counted
from wellput.reporting.ranking import (
    DIFFERENCE_HEADINGS,
    MAX_PAIRS_SHOWN,
    difference_interval,
    difference_text,
)
from wellput.reporting.table import Table, p_text, p_with_relation
from wellput.stats.corrections import holm

MAX_NAMED_SLICES = 8
"""Of the slices whose order differs by no more than chance, this many are named."""


def ranking_slice_table(whole: Ranking, slices: Mapping[str, Ranking], tag: str) -> Table:
    """A row for each system in each slice, best first; `slices` has the rankings by the tag's
    values."""
    rows = [
        [
            name,
            row.system,
            shown_estimate(row.estimate, ranking.model),
            shown_interval(row, ranking.model),
            *([shown_rank(row)] if whole.has_tests else []),
            f"{row.n:,}",
        ]
        for name, ranking in slices.items()
        for row in ranking.systems
    ]
    return Table(
        columns=[
            tag,
            "system",
            ESTIMATE_HEADINGS[whole.model],
            "95% interval",
            *(["rank"] if whole.has_tests else []),
            "judgments",
        ],
        rows=rows,
        title=f"Whom {whole.who} prefer by {tag}: {whole.question}",
        notes=parting_sentences(whole, slices, tag),
        name="people by slice",
    )


def parting_sentences(whole: Ranking, slices: Mapping[str, Ranking], tag: str) -> list[str]:
    """The slices where two systems are in another order than over all items: those where a test shows
    it, one by one, and the names of the others. p-values are corrected over all slices."""
    tests = [(name, one) for name, part in slices.items() for one in part.differences]
    adjusted = holm(np.array([one.p_value for _, one in tests], float))
    n_tests = int(np.isfinite(adjusted).sum())
    p_values = {
        (name, frozenset(one.systems)): float(p)
        for (name, one), p in zip(tests, adjusted, strict=True)
    }
    shown: list[str] = []
    chance: list[str] = []
    for name, part in slices.items():
        for ahead, behind in _turned(whole, part):
            p = p_values.get((name, frozenset((ahead, behind))), float("nan"))
            if p < _alpha(part.differences):
                shown.append(
                    f"{tag} {name} differs from the whole: there {whole.who} prefer {ahead} to "
                    f"{behind} on {whole.question} (p {p_with_relation(p)}, corrected for "
                    f"{counted(n_tests, 'difference')} of all slices)."
                )
            else:
                chance.append(f"{name} ({ahead} before {behind})")
    if chance:
        some = ", ".join(chance[:MAX_NAMED_SLICES])
        more = (
            f" and {len(chance) - MAX_NAMED_SLICES} more" if len(chance) > MAX_NAMED_SLICES else ""
        )
        also = "also " if shown else ""
        shown.append(
            f"For {whole.who} on {whole.question}, the order {also}differs from the whole in "
            f"{some}{more}; no test shows that this is more than chance."
        )
    return shown


def _turned(whole: Ranking, part: Ranking) -> list[tuple[str, str]]:
    """(a, b) where a is ahead of b in the slice, and behind it over all items."""
    overall, here = (
        {row.system: place for place, row in enumerate(one.systems)} for one in (whole, part)
    )
    both = [system for system in overall if system in here]
    return [(b, a) for a, b in combinations(both, 2) if here[b] < here[a]]


def _alpha(differences: Sequence[SystemDifference]) -> float:
    return differences[0].alpha if differences else 0.0


def slice_differences_table(
    whole: FittedRanking, slices: Sequence[FittedRanking], tests: Sequence[SliceTest]
) -> Table:
    """The differences in each slice. The notes say which differences depend on the slice, and which
    slices have another order than the whole."""
    tag, _ = _tag_and_name(slices[0])
    shown = [(part, one) for part in slices for one in _shown_pairs(whole, part)]
    is_corrected = whole.correction == "holm"
    rows = [
        [
            _tag_and_name(part)[1],
            f"{one.systems[0]} – {one.systems[1]}",
            difference_text(one.delta, whole.model),
            difference_interval(one, whole.model),
            p_text(one.p_value),
            *([p_text(one.p_adjusted)] if is_corrected else ()),
        ]
        for part, one in shown
    ]
    n_all = sum(len(part.differences) for part in slices)
    corrected = (
        [f"p (Holm): corrected for all {counted(n_all, 'difference')} of all slices."]
        if is_corrected
        else []
    )
    parting = parting_sentences(whole, {_tag_and_name(one)[1]: one for one in slices}, tag)
    left = f" (neighbors in the whole; JSON has all {n_all:,})" if len(shown) < n_all else ""
    return Table(
        [
            tag,
            "systems",
            DIFFERENCE_HEADINGS[whole.model],
            f"{100 * whole.confidence:g}% interval",
            "p",
            *(["p (Holm)"] if is_corrected else ()),
        ],
        rows,
        title=f"How far systems are apart, by {tag}: {whole.question}{left}",
        notes=[
            *_dependence_sentences(whole, slices, tests, tag),
            *(parting or ["Every slice has the systems in the order of the whole."]),
            *_model_sentence(whole, slices),
            *corrected,
        ],
    )


def _tag_and_name(ranking: FittedRanking) -> tuple[str, str]:
    ((tag, name),) = (ranking.by or {}).items()
    return tag, name


def _shown_pairs(whole: FittedRanking, part: FittedRanking) -> Iterator[SystemDifference]:
    """All pairs of the slice, the better one of the whole first; of many only neighbors."""
    order = [row.system for row in whole.systems]
    chosen = [one.systems for one in whole.differences]
    if len(chosen) > MAX_PAIRS_SHOWN and whole.against is None:
        chosen = list(pairwise(order))
    found = {frozenset(one.systems): one for one in part.differences}
    for pair in chosen:
        if (one := found.get(frozenset(pair))) is not None:
            yield one if one.systems == pair else one.turned


def _dependence_sentences(
    whole: FittedRanking, slices: Sequence[FittedRanking], tests: Sequence[SliceTest], tag: str
) -> list[str]:
    """The pairs whose difference is not the same in all slices, or that none is shown to be so."""
    if whole.sequential or len(slices) < 2:
        return []
    if not tests:
        return [
            f"The slices have too few judges or items to test whether differences depend on {tag}."
        ]
    corrected = f", corrected by Holm's method for {len(tests):,} tests" if len(tests) > 1 else ""
    how = f"Welch's analysis of variance of the slices' differences{corrected}"
    shown = sorted((one for one in tests if _is_shown(one, whole)), key=lambda one: one.p_adjusted)
    if not shown:
        least = min(one.p_adjusted for one in tests)
        return [
            f"No difference between systems is shown to depend on {tag} (smallest p "
            f"{p_with_relation(least)}; {how})."
        ]
    lines = []
    for one in shown[:MAX_NAMED_SLICES]:
        low, high = (choose(one.deltas, key=one.deltas.__getitem__) for choose in (min, max))
        lines.append(
            f"How far {one.systems[0]} is ahead of {one.systems[1]} depends on {tag}, p "
            f"{p_with_relation(one.p_adjusted)}: {difference_text(one.deltas[high], whole.model)} in "
            f"{high} but {difference_text(one.deltas[low], whole.model)} in {low}."
        )
    if len(shown) > MAX_NAMED_SLICES:
        more = counted(len(shown) - MAX_NAMED_SLICES, "other difference")
        lines.append(f"{more} too (in the JSON, slice_tests).")
    return [*lines, f"Whether a difference depends on {tag} is tested by {how}."]


def _is_shown(test: SliceTest, whole: FittedRanking) -> bool:
    return test.p_adjusted < 1 - whole.confidence


def _model_sentence(whole: FittedRanking, slices: Sequence[FittedRanking]) -> list[str]:
    if all(part.fitted == whole.fitted for part in slices):
        return []
    return [
        f"All slices are by the linear model, so that they can be compared: for one of them the "
        f"{whole.fitted} model has no finite estimate."
    ]
