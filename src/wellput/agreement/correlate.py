"""A metric against people: one coefficient with its interval.

Segment level correlates segment scores with mean ratings, pooled or averaged by item or by system.
System level correlates systems' scores, each from summed statistics. Only cells that people and all
the metrics have count, so that metrics are compared on the same ground.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.cells import segment_scores, system_scores
from wellput.agreement.intervals import (
    Resampled,
    replicate_correlations,
    system_level_replicates,
    vector_correlation,
)
from wellput.agreement.result import Agreement
from wellput.core.table import Estimate, ScoreTable
from wellput.stats.correlation import Coefficient, Correlation, correlate
from wellput.stats.correlation_bootstrap import bootstrap_correlation
from wellput.stats.resampling import percentile_interval
from wellput.stats.soft_accuracy import spa

MIN_SYSTEMS_TO_GENERALIZE = 4
"""With fewer systems no interval can claim to hold for others: there is none, and the note says so."""


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """How intervals are made: what is resampled, how often, from which seed."""

    resample: Resampled | Literal["auto"] = "auto"
    n_resamples: int = 1000
    confidence: float = 0.95
    seed: int = 12345
    threads: int = 1

    def resampled(self, n_systems: int, coefficient: Coefficient) -> Resampled | None:
        """`auto`: systems and items; None, no interval, where there are too few systems for that.

        Always items for `acc-t`: a system drawn twice ties with itself for people and metric, which
        that counts as agreement, so that the interval can lie above the estimate.
        """
        if self.resample != "auto":
            return self.resample
        if coefficient == "acc-t":
            return "items"
        return "both" if n_systems >= MIN_SYSTEMS_TO_GENERALIZE else None


def segment_agreement(
    table: ScoreTable,
    human: ScoreTable,
    cells: NDArray[np.bool_],
    correlation: Correlation,
    uncertainty: Uncertainty,
) -> Agreement:
    """Segment scores against mean ratings."""
    x, z = segment_scores(table, cells), segment_scores(human, cells)
    estimate = correlate(x, z, correlation)
    interval: Estimate | None = None
    drawn = uncertainty.resampled(_n_systems(cells), correlation.coefficient)
    if drawn is not None and not np.isnan(estimate.value):
        interval = bootstrap_correlation(
            x,
            z,
            correlation,
            drawn=drawn,
            n_resamples=uncertainty.n_resamples,
            confidence=uncertainty.confidence,
            seed=uncertainty.seed,
            threads=uncertainty.threads,
        )
    return Agreement(
        metric=table.scorer,
        question=human.scorer,
        level="segment",
        average=correlation.average,
        coefficient=correlation.coefficient,
        value=estimate.value,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        p_value=estimate.p_value,
        n=estimate.n or 0,
        note=note_of(estimate),
    )


def system_agreement(
    table: ScoreTable,
    human: ScoreTable,
    cells: NDArray[np.bool_],
    coefficient: Coefficient,
    uncertainty: Uncertainty,
) -> Agreement:
    """Systems' scores against the systems' mean ratings."""
    low = high = None
    if coefficient == "spa":
        x, z = segment_scores(table, cells), segment_scores(human, cells)
        estimate = spa(
            x,
            z,
            n_resamples=uncertainty.n_resamples,
            seed=uncertainty.seed,
            threads=uncertainty.threads,
        )
    else:
        x, z = system_scores(table, cells), system_scores(human, cells)
        estimate = vector_correlation(x, z, coefficient)
        drawn = uncertainty.resampled(_n_systems(cells), coefficient)
        if drawn is not None and not np.isnan(estimate.value):
            replicates_x, replicates_z = system_level_replicates(
                table,
                human,
                cells,
                resample=drawn,
                n_resamples=uncertainty.n_resamples,
                seed=uncertainty.seed,
            )
            replicates = replicate_correlations(replicates_x, replicates_z, coefficient)
            low, high = percentile_interval(replicates, confidence=uncertainty.confidence)
    return Agreement(
        metric=table.scorer,
        question=human.scorer,
        level="system",
        average=None,
        coefficient=coefficient,
        value=estimate.value,
        low=low,
        high=high,
        p_value=estimate.p_value,
        n=estimate.n or 0,
        note=note_of(estimate),
    )


def _n_systems(cells: NDArray[np.bool_]) -> int:
    """The systems that were judged."""
    return int(cells.any(axis=1).sum())


def note_of(estimate: Estimate) -> str:
    """Why a value is undefined, or what else belongs to it."""
    return estimate.method if np.isnan(estimate.value) or "ties within" in estimate.method else ""
