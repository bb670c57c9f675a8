"""Pairwise choices as ratings: 1 for the output chosen, 0 for the other, ½ each for a tie.

Their mean is the selection ratio: how often an output was chosen of the times it was offered.
"""

from __future__ import annotations

from collections.abc import Iterable

from wellput.core.judgment import Choice, Judgment, Preference

WON: dict[Choice, float] = {"a": 1.0, "tie": 0.5, "b": 0.0}


def selection_ratings(preferences: Iterable[Preference]) -> list[Judgment]:
    """Two ratings for each choice.

    >>> choice = Preference("J1", "7", "A", "B", "better", "a")
    >>> [(rating.system, rating.value) for rating in selection_ratings([choice])]
    [('A', 1.0), ('B', 0.0)]
    """
    return [
        Judgment(one.judge, one.item, system, one.question, value)
        for one in preferences
        for system, value in (
            (one.system_a, WON[one.choice]),
            (one.system_b, 1 - WON[one.choice]),
        )
    ]
