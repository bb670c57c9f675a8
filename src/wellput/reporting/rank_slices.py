"""The closing table of a ranking by slice: how far systems are apart in each slice, and where a slice
parts from the order of the whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from wellput.agreement.fitted_ranking import FittedRanking
from wellput.agreement.ranking import SystemDifference
from wellput.agreement.ranking_slices import SliceTest, difference_of
from wellput.core.errors import counted
from wellput.reporting.ranking import (
    DIFFERENCE_HEADINGS,
    MAX_PAIRS_SHOWN,
    difference_interval,
    difference_text,
)
from wellput.reporting.table import Table, p_text, p_with_relation

MAX_NAMED = 8
"""So many pairs or slices are named in a sentence; JSON has all."""


def slices_table(
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
            *_order_sentences(whole, slices, tests),
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
    for one in shown[:MAX_NAMED]:
        low, high = (choose(one.deltas, key=one.deltas.__getitem__) for choose in (min, max))
        lines.append(
            f"How far {one.systems[0]} is ahead of {one.systems[1]} depends on {tag}, p "
            f"{p_with_relation(one.p_adjusted)}: {difference_text(one.deltas[high], whole.model)} in "
            f"{high} but {difference_text(one.deltas[low], whole.model)} in {low}."
        )
    if len(shown) > MAX_NAMED:
        more = counted(len(shown) - MAX_NAMED, "other difference")
        lines.append(f"{more} too (in the JSON, slice_tests).")
    return [*lines, f"Whether a difference depends on {tag} is tested by {how}."]


def _is_shown(test: SliceTest, whole: FittedRanking) -> bool:
    return test.p_adjusted < 1 - whole.confidence


def _order_sentences(
    whole: FittedRanking, slices: Sequence[FittedRanking], tests: Sequence[SliceTest]
) -> list[str]:
    """The slices where two systems are in another order than in the whole: those where a test shows it,
    one by one, and the names of the others, unless the pair is shown to depend on the slice."""
    shown: list[str] = []
    chance: list[str] = []
    dependent = {one.systems for one in tests if _is_shown(one, whole)}
    for part in slices:
        name = _tag_and_name(part)[1]
        for ahead, behind in _turned(whole, part):
            found = next(one for one in part.differences if set(one.systems) == {ahead, behind})
            if found.is_real:
                shown.append(
                    f"{name} parts from the whole: there {ahead} is ahead of {behind} (p "
                    f"{p_with_relation(found.p_adjusted)})."
                )
            elif (behind, ahead) not in dependent:
                chance.append(f"{name} ({ahead} before {behind})")
    if chance:
        more = f" and {len(chance) - MAX_NAMED} more" if len(chance) > MAX_NAMED else ""
        also = "also " if shown else ""
        shown.append(
            f"The order of two systems {also}differs from the whole in "
            f"{', '.join(chance[:MAX_NAMED])}{more}; no test shows that this is more than chance."
        )
    if not shown and len(slices) > 1:
        if whole.against is not None:
            return [
                f"In every slice the same systems are ahead of {whole.against} as in the whole."
            ]
        return ["Every slice has the systems in the order of the whole."]
    return shown


def _turned(whole: FittedRanking, part: FittedRanking) -> Iterator[tuple[str, str]]:
    """(a, b) where a is ahead of b in the slice, and behind it in the whole."""
    ranks = {row.system: row.rank for row in part.systems}
    values = {row.system: row.estimate for row in part.systems}
    for better, worse in (one.systems for one in whole.differences):
        if not {better, worse} <= set(ranks) or values[better] == values[worse]:
            continue
        if ranks[better] > ranks[worse] and difference_of(part, (better, worse)):
            yield worse, better


def _model_sentence(whole: FittedRanking, slices: Sequence[FittedRanking]) -> list[str]:
    if all(part.fitted == whole.fitted for part in slices):
        return []
    return [
        f"All slices are by the linear model, so that they can be compared: for one of them the "
        f"{whole.fitted} model has no finite estimate."
    ]
