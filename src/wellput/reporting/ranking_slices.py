"""Whom people prefer in each slice of the items, and the slices where systems part from their overall
order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from wellput.agreement.rankings.plain_ranking import (
    ESTIMATE_HEADINGS,
    Ranking,
    SystemDifference,
    shown_estimate,
    shown_interval,
    shown_rank,
)
from wellput.core.errors import counted
from wellput.reporting.table import Table, p_with_relation
from wellput.stats.corrections import holm

MAX_NAMED_SLICES = 8
"""Of the slices whose order differs by no more than chance, so many are named."""


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
                    f"{tag} {name} parts from the whole: there {whole.who} prefer {ahead} to {behind} "
                    f"on {whole.question} (p {p_with_relation(p)}, corrected for "
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
