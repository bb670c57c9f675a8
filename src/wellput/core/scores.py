"""`Score`, a system's score with its interval and its test, and `Run`, a stored call of `score`.

A `RunScore` is a score with hashes of its data: scores of the same data may be compared. A `RunList`
has the runs of a folder. Nothing here imports NumPy, so listing runs does not load it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from wellput.core.result import Result

MIN_ITEMS_FOR_CLAIMS = 10
"""If there are fewer items, wellput claims no difference between systems."""


@dataclass(frozen=True, slots=True)
class Score:
    """One system's score under one metric.

    `low` and `high` are the interval, if asked for. `delta` is the difference from the baseline on
    the `n_common` items that both have, with its interval `delta_low`, `delta_high` and the `p_value`
    of the paired test; `p_adjusted` is corrected for all differences of the result. `p_is_bound`: no
    resample was as extreme, so the true p-value is this or smaller. `effect_size` is the mean
    difference of segment scores, in standard deviations of these differences. `equivalence_p` is the
    p-value of the hypothesis that the true difference is as large as the margin, the smallest
    difference that matters. `n` is the number of scored items; `undefined` of them have no segment
    score; `undefined_reasons` has the reasons, if the metric gives any. `left_out` outputs are not
    scored because their item has no reference. `is_worse`: the system is significantly worse than the
    baseline; None if this cannot be said, for example with too few items. `method` is the name of the
    interval ("wilson" or "exact" for a share of items), `delta_method` that of the paired test.
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
    method: str | None = None
    delta_method: str | None = None
    undefined_reasons: Mapping[str, int] = field(default_factory=dict)


CIRCUMSTANCES = (
    "command", "wellput", "python", "platform", "items", "skipped", "seed", "resamples", "confidence",
    "alpha", "test",
)  # fmt: skip
"""The fields of `Run` that hold for all its scores, except its id and its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScore(Score):
    """A score, with hashes of the data from which it was computed.

    `data` is the hash of what the outputs were compared with, `outputs` the hash of the outputs. Equal
    hashes mean equal content. An undefined `score` is NaN. If all pairs were tested, `p_against` has
    Holm's p-value for each other system.
    """

    data: str
    outputs: str
    higher_is_better: bool | None = None
    p_against: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class Run(Result):
    """The scores of one call of `score`. `time` is in UTC; `command` is empty for a call from Python.
    `skipped` counts the partitions that could not be evaluated and are in no score."""

    presented_by: ClassVar[str] = "wellput.reporting.runs:show_report"

    id: str
    time: datetime
    command: str
    wellput: str
    python: str
    platform: str
    items: int
    seed: int
    resamples: int
    confidence: float
    alpha: float
    test: str | None
    scores: tuple[RunScore, ...]
    skipped: int = 0

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(score.system for score in self.scores))

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(score.metric for score in self.scores))

    @property
    def circumstances(self) -> dict[str, Any]:
        """Everything that holds for all scores, for JSON."""
        fields = {name: getattr(self, name) for name in CIRCUMSTANCES}
        return {"run": self.id, "time": self.time.isoformat(), **fields}

    def records(self) -> list[dict[str, Any]]:
        """A record for each score."""
        return [{**self.circumstances, **asdict(score)} for score in self.scores]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput runs show`."""
        return {**self.circumstances, "scores": [asdict(score) for score in self.scores]}


@dataclass(frozen=True, repr=False)
class RunList(Result):
    """The requested runs of a folder, newest first; `total` is the number of all runs. `left_out` says
    which files could not be read, and why."""

    presented_by: ClassVar[str] = "wellput.reporting.runs:list_report"

    runs: tuple[Run, ...]
    total: int
    left_out: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """A record for each score of each run."""
        return [record for run in self.runs for record in run.records()]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput runs list`."""
        runs = [run.values() for run in self.runs]
        return {"runs": runs, "total": self.total, "left_out": list(self.left_out)}
