"""Which predictors to keep.

By AIC: from all predictors, drop or take back the one that lowers AIC most, until none does (as R's
`step` with direction "both"). By p: drop the predictor with the largest p above 0.10, take back the one
with the smallest p below 0.05. Where there are too many predictors for the rows, the search starts
from none. Figures of a model chosen this way are too good: cross-validate it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.regression import Regression, complete_rows, ols

REMOVE_ABOVE = 0.10
ENTER_BELOW = 0.05


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the search: what was dropped (`-name`) or taken (`+name`), and what came of it."""

    change: str
    names: tuple[str, ...]
    aic: float


def stepwise(
    y: Floats, x: Floats, names: Sequence[str], *, by: Literal["aic", "p"]
) -> tuple[Regression, list[Step]]:
    """The chosen model and the way to it."""
    y, x, left_out = complete_rows(y, x)
    search = _Search(y, x, list(names))
    chosen = set(range(len(names))) if len(y) > len(names) + 1 else set[int]()
    steps = [Step("start", search.names_of(chosen), search.aic(chosen))]
    seen = {frozenset(chosen)}
    change = search.by_aic if by == "aic" else search.by_p
    while (place := change(chosen)) is not None:
        sign = "-" if place in chosen else "+"
        chosen = chosen ^ {place}
        if frozenset(chosen) in seen:
            break
        seen.add(frozenset(chosen))
        steps.append(Step(f"{sign}{names[place]}", search.names_of(chosen), search.aic(chosen)))
    if not chosen:
        raise InputError(
            "No predictor is worth keeping: none explains the judgments better than their mean does."
        )
    model = search.fit(chosen)
    return Regression(**{**vars(model), "left_out": left_out}), steps


class _Search:
    def __init__(self, y: Floats, x: Floats, names: list[str]) -> None:
        self.y, self.x, self.names = y, x, names

    def names_of(self, chosen: set[int]) -> tuple[str, ...]:
        return tuple(self.names[place] for place in sorted(chosen))

    def fit(self, chosen: set[int]) -> Regression:
        places = sorted(chosen)
        return ols(self.y, self.x[:, places], [self.names[place] for place in places])

    def aic(self, chosen: set[int]) -> float:
        if chosen:
            return self.fit(chosen).aic
        n, squares = len(self.y), float(((self.y - self.y.mean()) ** 2).sum())
        return float(n * (np.log(2 * np.pi * squares / n) + 1) + 2)

    def can_grow(self, chosen: set[int]) -> bool:
        return len(self.y) > len(chosen) + 2

    def by_aic(self, chosen: set[int]) -> int | None:
        places = [p for p in range(len(self.names)) if p in chosen or self.can_grow(chosen)]
        scores = {place: self.aic(chosen ^ {place}) for place in places}
        best = min(scores, key=lambda place: scores[place], default=None)
        if best is None or not scores[best] < self.aic(chosen) - 1e-9:
            return None
        return best

    def by_p(self, chosen: set[int]) -> int | None:
        if chosen:
            p_values = self.fit(chosen).p_values
            worst = int(np.argmax(p_values))
            if p_values[worst] > REMOVE_ABOVE:
                return sorted(chosen)[worst]
        candidates: dict[int, float] = {}
        if self.can_grow(chosen):
            for place in set(range(len(self.names))) - chosen:
                grown = sorted(chosen | {place})
                candidates[place] = float(self.fit(set(grown)).p_values[grown.index(place)])
        best = min(candidates, key=lambda place: candidates[place], default=None)
        return best if best is not None and candidates[best] < ENTER_BELOW else None
