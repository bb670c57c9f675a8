"""Which predictors to keep.

By AIC: starting with all predictors, drop or take back the one that lowers AIC most, until none does
(as R's `step` with direction "both"). By p: drop the predictor with the largest p above 0.10, take
back the one with the smallest p below 0.05. Where there are too many predictors for the rows, the
search starts with none, and skips combinations of the predictors already taken. Figures of a model
chosen this way are too good: cross-validate it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.regression import (
    Regression,
    akaike,
    check_varied,
    complete_rows,
    is_combination,
    ols,
)

REMOVE_ABOVE_P = 0.10
ENTER_BELOW_P = 0.05


@dataclass(frozen=True, slots=True)
class SelectionStep:
    """One step of the search: the predictor dropped (`-name`) or taken (`+name`), and the model
    after."""

    change: str
    names: tuple[str, ...]
    aic: float


def stepwise(
    y: Floats, x: Floats, names: Sequence[str], *, by: Literal["aic", "p"]
) -> tuple[Regression, list[SelectionStep]]:
    """The chosen model, and the steps that led to it."""
    y, x, left_out = complete_rows(y, x)
    check_varied(y, x, names)
    search = _Search(y, x, list(names))
    chosen = frozenset(range(len(names)) if len(y) > len(names) + 1 else ())
    steps = [SelectionStep("start", search.names_of(chosen), search.aic(chosen))]
    seen = {chosen}
    change = search.by_aic if by == "aic" else search.by_p
    while (place := change(chosen)) is not None and chosen ^ {place} not in seen:
        sign = "-" if place in chosen else "+"
        chosen ^= {place}
        seen.add(chosen)
        steps.append(
            SelectionStep(f"{sign}{names[place]}", search.names_of(chosen), search.aic(chosen))
        )
    if not chosen:
        raise InputError(
            "No predictor is worth keeping: none explains the judgments better than their mean."
        )
    return replace(search.fit(chosen), left_out=left_out), steps


class _Search:
    """Models of subsets of the predictors; a subset is the set of their places."""

    def __init__(self, y: Floats, x: Floats, names: list[str]) -> None:
        self.y, self.x, self.names = y, x, names
        self.fitted: dict[frozenset[int], Regression] = {}

    def names_of(self, chosen: frozenset[int]) -> tuple[str, ...]:
        return tuple(self.names[place] for place in sorted(chosen))

    def fit(self, chosen: frozenset[int]) -> Regression:
        if chosen not in self.fitted:
            model = ols(self.y, self.x[:, sorted(chosen)], self.names_of(chosen))
            if model.is_exact:
                raise InputError(
                    f"{', '.join(model.names)} determine the judgments exactly, so models cannot be "
                    "compared. Are the judgments computed from the metric?"
                )
            self.fitted[chosen] = model
        return self.fitted[chosen]

    def aic(self, chosen: frozenset[int]) -> float:
        if chosen:
            return self.fit(chosen).aic
        return akaike(float(np.square(self.y - self.y.mean()).sum()), len(self.y), 0)

    def to_take(self, chosen: frozenset[int]) -> list[int]:
        """The predictors that can be added."""
        if len(self.y) <= len(chosen) + 2:
            return []
        others = sorted(set(range(len(self.names))) - chosen)
        return [p for p in others if not is_combination(self.x[:, p], self.x[:, sorted(chosen)])]

    def by_aic(self, chosen: frozenset[int]) -> int | None:
        scores = {
            place: self.aic(chosen ^ {place}) for place in [*sorted(chosen), *self.to_take(chosen)]
        }
        best = min(scores, key=lambda place: scores[place], default=None)
        if best is None or not scores[best] < self.aic(chosen) - 1e-9:
            return None
        return best

    def by_p(self, chosen: frozenset[int]) -> int | None:
        if chosen:
            p_values = self.fit(chosen).p_values
            worst = int(np.argmax(p_values))
            if p_values[worst] > REMOVE_ABOVE_P:
                return sorted(chosen)[worst]
        candidates: dict[int, float] = {}
        for place in self.to_take(chosen):
            grown = chosen | {place}
            candidates[place] = float(self.fit(grown).p_values[sorted(grown).index(place)])
        best = min(candidates, key=lambda place: candidates[place], default=None)
        return best if best is not None and candidates[best] < ENTER_BELOW_P else None
