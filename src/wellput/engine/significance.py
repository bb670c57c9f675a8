"""The noun `Resampling`: intervals and differences from the rows of a score table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from wellput.core.errors import InputError, did_you_mean
from wellput.core.progress import OnProgress, unheard
from wellput.core.score import FEWEST_ITEMS
from wellput.core.table import Estimate, ScoreTable
from wellput.engine.result import Comparison

Test = Literal["ar", "bs"]


@dataclass(frozen=True, slots=True)
class Resampling:
    """How uncertainty is measured: the same for every system, metric and pair."""

    n_resamples: int = 1000
    seed: int = 12345
    threads: int = 1
    alpha: float = 0.05
    confidence: float = 0.95

    def interval(self, table: ScoreTable, system: str) -> Estimate:

        from wellput.stats.resampling import bootstrap

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

        from wellput.stats.resampling import approximate_randomization, paired_bootstrap

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


@dataclass(frozen=True)
class Inference:
    """What is asked of the uncertainty of scores: intervals, a paired test of every system against the
    `baseline` (the first system, unless named), and the same test of all pairs with Holm's correction.

    A baseline or all pairs ask for approximate randomization where no test is named.
    """

    has_intervals: bool = False
    paired: Test | None = None
    baseline: str | None = None
    all_pairs: bool = False
    resampling: Resampling = field(default_factory=Resampling)

    def __post_init__(self) -> None:
        how = self.resampling
        if self.paired not in (None, *get_args(Test)):
            known = ", ".join(get_args(Test))
            raise InputError(f"paired={self.paired!r} is no test; there are {known}.")
        if not 0 < how.confidence < 1:
            raise InputError(f"confidence={how.confidence} must lie between 0 and 1, such as 0.95.")
        if how.n_resamples < 1 or how.seed < 0:
            raise InputError(
                f"resamples={how.n_resamples} must be 1 or more, seed={how.seed} 0 or more."
            )

    @property
    def test(self) -> Test | None:
        """The test to make, None for none."""
        is_implied = self.baseline is not None or self.all_pairs
        return self.paired or ("ar" if is_implied else None)

    @property
    def resamples(self) -> bool:
        """Whether rows of segments must be kept, to be drawn again and again."""
        return self.has_intervals or self.test is not None

    def baseline_among(self, systems: Sequence[str]) -> str | None:
        """The system to compare with, None where nothing is compared."""
        if self.test is None:
            return None
        if len(systems) < 2:
            raise InputError(f"A paired test needs two systems; there is only {systems[0]}.")
        if self.baseline is not None and self.baseline not in systems:
            raise InputError(
                f"baseline={self.baseline!r} is no system of the evalset."
                f"{did_you_mean(self.baseline, systems)} There are {', '.join(systems)}."
            )
        return self.baseline if self.baseline is not None else systems[0]


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

    from wellput.stats.corrections import holm

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
