"""A metric against people: one coefficient, and what it is without each system, item and cell.

The noun is `Held`, a metric held against people. Segment level correlates segment scores with mean
ratings, pooled or averaged by item or by system. System level correlates systems' scores, each from
summed statistics; document level does so within documents. Only cells that people and all the metrics
have count, so that metrics are compared on the same ground.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.cells import segment_scores, system_scores, system_scores_without_items
from wellput.agreement.result import Agreement, AgreementLevel
from wellput.core.generalize import Generalize
from wellput.core.metric import Floats
from wellput.core.table import Estimate, ScoreTable
from wellput.stats.chance import Chance, chance_of, chance_of_segments
from wellput.stats.correlation import Coefficient, Correlation, correlation_value
from wellput.stats.left_out import leave_out, leave_out_of_scores, scale_of
from wellput.stats.soft_accuracy import leave_out_of_spa, spa
from wellput.stats.table_figure import TableFigure

Cells = NDArray[np.bool_]
SPA_EXCHANGES = 1000
"""Of each pair of systems, as in mt-metrics-eval."""


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """What intervals and p-values hold for, and how surely. Resamples are those of the tests that
    draw or exchange, by name."""

    generalize: Generalize = "both"
    n_resamples: int = 1000
    confidence: float = 0.95
    seed: int = 12345
    threads: int = 1


@dataclass(frozen=True, eq=False)
class Held:
    """One metric held against people by one coefficient; `figure` is None where that is undefined."""

    metric: str
    question: str
    level: AgreementLevel
    correlation: Correlation
    estimate: Estimate
    figure: TableFigure | None
    chance: Chance

    def agreement(self, uncertainty: Uncertainty) -> Agreement:
        """With interval and p-value."""
        found = self.estimate
        inferred = self._inferred(uncertainty)
        return Agreement(
            metric=self.metric,
            question=self.question,
            level=self.level,
            average=self.correlation.average if self.level == "segment" else None,
            coefficient=self.correlation.coefficient,
            value=found.value,
            low=inferred.low,
            high=inferred.high,
            p_value=inferred.p_value,
            null=self.chance.null,
            chance_low=self.chance.low,
            chance_high=self.chance.high,
            n=found.n or 0,
            method=inferred.method,
            note=_note(found),
        )

    def _inferred(self, uncertainty: Uncertainty) -> Estimate:
        if self.figure is None:
            return Estimate(math.nan, method=self.estimate.method)
        return self.figure.estimate(
            generalize=uncertainty.generalize,
            null=self.chance.null,
            scale=scale_of(self.correlation, self.figure.n_systems),
            confidence=uncertainty.confidence,
        )

    def minus(self, other: Held, uncertainty: Uncertainty) -> Estimate:
        """The difference of two metrics' coefficients, with interval and p-value."""
        if self.figure is None or other.figure is None:
            return Estimate(math.nan, p_value=math.nan, method="undefined")
        return (self.figure - other.figure).estimate(
            generalize=uncertainty.generalize,
            confidence=uncertainty.confidence,
        )


def hold_segments(
    table: ScoreTable,
    human: ScoreTable,
    cells: Cells,
    correlation: Correlation,
    seed: int,
    threads: int = 1,
) -> Held:
    """Segment scores against mean ratings."""
    x, z = segment_scores(table, cells), segment_scores(human, cells)
    return _held(
        table,
        human,
        correlation,
        correlation_value(x, z, correlation),
        lambda _: leave_out(x, z, correlation),
        lambda: chance_of_segments(x, z, correlation, seed=seed, threads=threads),
    )


def hold_systems(
    table: ScoreTable, human: ScoreTable, cells: Cells, coefficient: Coefficient, seed: int
) -> Held:
    """Systems' scores against their mean ratings."""
    if coefficient == "spa":
        return _hold_spa(table, human, cells, seed)
    x, z = system_scores(table, cells), system_scores(human, cells)
    return _held(
        table,
        human,
        Correlation("system", coefficient=coefficient),
        vector_correlation(x, z, coefficient),
        lambda _: left_out_systems(table, human, cells, coefficient),
        lambda: chance_of(
            lambda scores: vector_correlation(scores[:, 0], z, coefficient).value,
            x[:, None],
            coefficient,
            seed=seed,
        ),
    )


def _hold_spa(table: ScoreTable, human: ScoreTable, cells: Cells, seed: int) -> Held:
    x, z = segment_scores(table, cells), segment_scores(human, cells)
    return _held(
        table,
        human,
        Correlation("system", coefficient="spa"),
        spa(x, z, n_resamples=SPA_EXCHANGES, seed=seed),
        lambda value: leave_out_of_spa(x, z, value),
        lambda: chance_of(lambda scores: leave_out_of_spa(scores, z).value, x, "spa", seed=seed),
    )


def _held(
    table: ScoreTable,
    human: ScoreTable,
    correlation: Correlation,
    estimate: Estimate,
    figure: Callable[[float], TableFigure],
    chance: Callable[[], Chance],
) -> Held:
    """`figure` and `chance` are computed only where the value, which `figure` is given, is defined."""
    is_defined = not math.isnan(estimate.value)
    return Held(
        table.scorer,
        human.scorer,
        correlation.level,
        correlation,
        estimate,
        figure(estimate.value) if is_defined else None,
        chance() if is_defined else Chance(None),
    )


def left_out_systems(
    table: ScoreTable, human: ScoreTable, cells: Cells, coefficient: Coefficient
) -> TableFigure:
    """The coefficient of the systems' scores without each system, item and cell."""
    return leave_out_of_scores(
        (system_scores(table, cells), system_scores_without_items(table, cells)),
        (system_scores(human, cells), system_scores_without_items(human, cells)),
        cells,
        coefficient,
    )


def vector_correlation(x: Floats, z: Floats, coefficient: Coefficient) -> Estimate:
    """The coefficient of two vectors, a score for each system."""
    correlation = Correlation("system", coefficient=coefficient)
    return correlation_value(x[:, None], z[:, None], correlation)


def _note(estimate: Estimate) -> str:
    """Why a value is undefined, or what else belongs to it."""
    return estimate.method if np.isnan(estimate.value) or "ties within" in estimate.method else ""
