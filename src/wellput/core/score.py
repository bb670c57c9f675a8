"""The noun `Score`: one number for one system, with its interval and its test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FEWEST_ITEMS = 10
"""Fewer items say next to nothing of others: nothing counts as shown."""


@dataclass(frozen=True, slots=True)
class Score:
    """One system's score under one metric.

    `low` and `high` bound it where an interval was asked for. `delta` is the difference to the
    baseline on the `n_common` items that both have, with its interval `delta_low`, `delta_high` and the
    `p_value` of the paired test; `p_adjusted` is corrected for all differences of the result.
    `p_is_bound` where no resample was as extreme: the true p-values are these or smaller. `effect_size`
    is the mean difference of segment scores in standard deviations of such differences.
    `equivalence_p` is the p-value that the true difference is as large as the margin. `n` counts the
    items scored, `undefined` those of them without a segment score of their own, `left_out` the outputs
    that are not scored because their item has no reference.
    """

    system: str
    metric: str
    score: float
    signature: str
    n: int
    undefined: int = 0
    components: Mapping[str, float] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    baseline: str | None = None
    delta: float | None = None
    delta_low: float | None = None
    delta_high: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    p_is_bound: bool = False
    effect_size: float | None = None
    equivalence_p: float | None = None
    equivalence_p_adjusted: float | None = None
    n_common: int | None = None
    is_worse: bool | None = None
    left_out: int = 0
