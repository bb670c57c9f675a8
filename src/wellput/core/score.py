"""The noun `Score`: one number for one system, with its interval and its test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FEWEST_ITEMS = 10
"""With fewer items resampling has next to nothing to draw from: nothing counts as shown."""


@dataclass(frozen=True, slots=True)
class Score:
    """One system's score under one metric.

    `low` and `high` bound it where an interval was asked for. `delta` is the difference to the
    baseline on the `n_common` items that both have, `p_value` that of the paired test. `n` counts the
    items scored, `undefined` those of them without a segment score of their own, `left_out` the
    outputs that are not scored because their item has no reference.
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
    p_value: float | None = None
    n_common: int | None = None
    is_worse: bool | None = None
    left_out: int = 0
