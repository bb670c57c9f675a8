"""The noun `Resampling`: intervals and differences from the rows of a score table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Literal

import numpy as np

from wellput.core.progress import OnProgress, unheard
from wellput.core.score import FEWEST_ITEMS
from wellput.core.table import Estimate, ScoreTable
from wellput.engine.result import Comparison
from wellput.stats.corrections import holm
from wellput.stats.resampling import approximate_randomization, bootstrap, paired_bootstrap

Test = Literal["ar", "bs"]


@dataclass(frozen=True, slots=True)
class Resampling:
    """How uncertainty is measured: the same for every system, metric and pair."""

    n_resamples: int
    seed: int
    threads: int
    alpha: float
    confidence: float

    def interval(self, table: ScoreTable, system: str) -> Estimate:
        row = table.row(system)
        return bootstrap(
            table.statistics[row][table.present[row]],
            table.aggregate,
            n_resamples=self.n_resamples,
            seed=self.seed,
            threads=self.threads,
            confidence=self.confidence,
        )

    def difference(self, table: ScoreTable, a: str, b: str, test: Test) -> Estimate:
        """score(a) − score(b) on the items that both have."""
        first, second = table.row(a), table.row(b)
        both = table.present[first] & table.present[second]
        left, right = table.statistics[first][both], table.statistics[second][both]
        # `bs` is the test people know from sacreBLEU, its p-value included; the report says what that
        # p-value is worth.
        procedure = (
            approximate_randomization
            if test == "ar"
            else partial(paired_bootstrap, null="sacrebleu", confidence=self.confidence)
        )
        return procedure(
            left,
            right,
            table.aggregate,
            n_resamples=self.n_resamples,
            seed=self.seed,
            threads=self.threads,
        )


def is_worse(delta: Estimate, higher_is_better: bool | None, alpha: float) -> bool | None:
    """Whether a difference is one for the worse and significant; None where nothing can be said."""
    if higher_is_better is None or delta.p_value is None or (delta.n or 0) < FEWEST_ITEMS:
        return None
    better = delta.value if higher_is_better else -delta.value
    return better < 0 and delta.p_value < alpha


def compare_all(
    table: ScoreTable, test: Test, resampling: Resampling, on_progress: OnProgress = unheard
) -> list[Comparison]:
    """Every pair of systems, with Holm's correction."""
    pairs = list(combinations(table.systems, 2))
    deltas: list[Estimate] = []
    for a, b in pairs:
        deltas.append(resampling.difference(table, a, b, test))
        on_progress(1)
    p_values = np.array([np.nan if d.p_value is None else d.p_value for d in deltas])
    return [
        Comparison(
            metric=table.scorer,
            a=a,
            b=b,
            delta=delta.value,
            p_value=float(p_value),
            p_adjusted=float(adjusted),
            n=delta.n or 0,
            low=delta.low,
            high=delta.high,
        )
        for (a, b), delta, p_value, adjusted in zip(
            pairs, deltas, p_values, holm(p_values), strict=True
        )
    ]
