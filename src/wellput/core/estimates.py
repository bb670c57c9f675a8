"""The nouns `Estimate`, a number with its uncertainty, and `ScoreTable`, the statistics of one
scorer; and what an interval holds for: the one option `generalize`, with the words beneath every
table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.core.metric import Floats

Generalize: TypeAlias = Literal["items", "systems", "both"]

GENERALIZE_WORDS: dict[Generalize, str] = {
    "items": "these systems, other items",
    "systems": "other systems, these items",
    "both": "other systems and other items",
}


def refuse_other_than_items(generalize: Generalize) -> None:
    """Refuses what a comparison of systems on one set of items cannot say."""
    if generalize == "items":
        return
    if generalize in GENERALIZE_WORDS:
        raise InputError(
            f"generalize={generalize!r} is not for comparing systems: their scores are about "
            f"{GENERALIZE_WORDS['items']}. Leave it out, or give generalize='items'."
        )
    raise InputError(f"generalize={generalize!r} is none of {', '.join(GENERALIZE_WORDS)}.")


def holds_for(generalize: Generalize) -> str:
    """The sentence beneath a table.

    >>> holds_for("items")
    'Intervals and p hold for these systems, other items.'
    """
    return f"Intervals and p hold for {GENERALIZE_WORDS[generalize]}."


Bounds: TypeAlias = tuple[float | None, float | None]
"""The lowest and the highest score there can be; None where there is no end."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its uncertainty. What does not apply is None; undefined is NaN.

    `p_value` is that of the hypothesis that the true value is `null`. Where there are an interval and a
    p-value they come from one inference: p is below .05 just where the 95% interval leaves `null` out.
    `p_adjusted` is p corrected for the comparisons made beside this one.
    """

    value: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    method: str = ""
    n: int | None = None
    seed: int | None = None
    null: float | None = None
    p_adjusted: float | None = None


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """One scorer's statistics for systems × items, and the functions that turn them into scores.

    A metric and a panel of judges both give one. `statistics` has shape (systems, items, k), with
    zeros where `present` (systems, items) is False; `aggregate` scores summed statistics (a metric's
    `score`, the mean for judges), `segment` single rows. A system's or a document's score is the
    score of summed statistics, not the mean of its segments' scores. `components` and `perfect` are the
    metric's own, with the value of a perfect score under `score`; no score lies outside `bounds`.
    """

    scorer: str
    signature: str
    systems: tuple[str, ...]
    items: tuple[str, ...]
    statistics: Floats
    present: NDArray[np.bool_]
    aggregate: Callable[[Floats], Floats]
    segment: Callable[[Floats], Floats]
    higher_is_better: bool | None = True
    components: Callable[[Floats], dict[str, Floats]] = lambda _: {}
    perfect: Mapping[str, float] = field(default_factory=dict)
    bounds: Bounds = (None, None)

    def row(self, system: str) -> int:
        """The place of a system among the rows."""
        if system not in self.systems:
            raise InputError(f"No system {system!r}; there are {', '.join(self.systems)}.")
        return self.systems.index(system)

    @property
    def scores(self) -> Floats:
        """Segment scores, shape (systems, items), NaN where missing or undefined."""
        scores = self.segment(self.statistics)
        return np.where(self.present, scores, np.nan)

    @property
    def system_scores(self) -> Floats:
        """Each system's score over the items it has an output for, NaN where it has none."""
        sums = np.stack([block_sum(rows) for rows in self.statistics])
        return np.where(self.present.any(axis=1), self.aggregate(sums), np.nan)


def block_sum(statistics: Floats, *, block: int = 4096) -> Floats:
    """The sum over axis 0, block by block in order: the same digits however the rows were made."""
    total = np.zeros(statistics.shape[1:])
    for start in range(0, len(statistics), block):
        total += statistics[start : start + block].sum(axis=0)
    return total
