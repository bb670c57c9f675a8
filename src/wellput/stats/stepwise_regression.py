"""The choice of a regression's predictors, step by step, by AIC or by p-values.

`stepwise` chooses predictors. By AIC, it starts with all of them and drops or takes back the one that
lowers AIC most, until none lowers it (as R's `step` with direction "both"). By p, it drops the
predictor with the largest p above 0.10 and takes back the one with the smallest p below 0.05. Where
there are too many predictors for the rows, the search starts without predictors, and skips those that
are linear combinations of the ones already taken. Figures of a model chosen this way are too good:
cross-validate it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.core.options import checks_options
from wellput.stats.regression import (
    Regression,
    akaike,
    check_varied,
    complete_rows,
    is_combination,
    ols,
    standardized,
)

REMOVE_ABOVE_P = 0.10
ENTER_BELOW_P = 0.05
"""The choice by p-values drops predictors with a p above `REMOVE_ABOVE_P`, and takes predictors with a
p below `ENTER_BELOW_P`."""


@dataclass(frozen=True, slots=True)
class SelectionStep:
    """One step of the search: the `change` ("start", "-name" for a predictor dropped, "+name" for one
    taken), and the predictors and the AIC of the model after it."""

    change: str
    names: tuple[str, ...]
    aic: float


@checks_options
def stepwise(
    y: Floats, x: Floats, names: Sequence[str], *, by: Literal["aic", "p"]
) -> tuple[Regression, list[SelectionStep]]:
    """The chosen model, and the steps that led to it."""
    y, x, left_out = complete_rows(y, x)
    check_varied(y, x, names)
    search = _Search(y, x, list(names))
    chosen = frozenset(range(len(names)) if len(y) > len(names) + 1 else ())
    if chosen:
        search.fit(chosen)  # an error if predictors are linear combinations of others
    steps = [SelectionStep("start", search.names_of(chosen), search.aic(chosen))]
    tried = {chosen}
    change = search.by_aic if by == "aic" else search.by_p
    while (place := change(chosen)) is not None and chosen ^ {place} not in tried:
        sign = "-" if place in chosen else "+"
        chosen ^= {place}
        tried.add(chosen)
        steps.append(
            SelectionStep(f"{sign}{names[place]}", search.names_of(chosen), search.aic(chosen))
        )
    if not chosen:
        raise InputError(
            "No predictor is worth keeping: none explains the judgments better than their mean."
        )
    return replace(search.fit(chosen), left_out=left_out), steps


MIN_SHARE_BY_SUMS = 1e-6
"""A smaller share of variance is computed from all rows: from sums of products it would be rounded too
much."""


class _Search:
    """Models of subsets of the predictors; a subset is the set of their places."""

    def __init__(self, y: Floats, x: Floats, names: list[str]) -> None:
        self.y, self.x, self.names = y, x, names
        self.fitted: dict[frozenset[int], Regression] = {}
        # The sums of squares and products of the standardized predictors, then of y, give the residuals
        # of every subset, without a fit to all rows.
        together = np.column_stack([standardized(x)[0], y - y.mean()])
        self.products = together.T @ together

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
        unexplained = self.unexplained(chosen, len(self.names))
        if unexplained < MIN_SHARE_BY_SUMS:
            return self.fit(chosen).aic
        return akaike(unexplained * float(self.products[-1, -1]), len(self.y), len(chosen))

    def unexplained(self, chosen: frozenset[int], column: int) -> float:
        """The share of the variance of a predictor, or of y (the last column), that the chosen
        predictors do not explain."""
        places = sorted(chosen)
        inner, cross = self.products[np.ix_(places, places)], self.products[places, column]
        explained = float(cross @ np.linalg.solve(inner, cross))
        return 1.0 - explained / float(self.products[column, column])

    def to_take(self, chosen: frozenset[int]) -> list[int]:
        """The places of the predictors that can be added."""
        if len(self.y) <= len(chosen) + 2:
            return []
        others = sorted(set(range(len(self.names))) - chosen)
        return [
            place
            for place in others
            if self.unexplained(chosen, place) > MIN_SHARE_BY_SUMS
            or not is_combination(self.x[:, place], self.x[:, sorted(chosen)])
        ]

    def by_aic(self, chosen: frozenset[int]) -> int | None:
        """The predictor to drop or to take by AIC; None where no change lowers AIC."""
        scores = {
            place: self.aic(chosen ^ {place}) for place in [*sorted(chosen), *self.to_take(chosen)]
        }
        best = min(scores, key=lambda place: scores[place], default=None)
        if best is None or not scores[best] < self.aic(chosen) - 1e-9:
            return None  # lower by no more than rounding
        return best

    def by_p(self, chosen: frozenset[int]) -> int | None:
        """The predictor to drop or to take by p; None where there is none."""
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
