"""The nouns `Run`, one call of `score` as it is kept, and `RunScore`, one system's score under one
metric in it: what is needed to find a number again and to say what it may be compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from wellput.core.score import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScore(Score):
    """A score and where it came from.

    `data` is the hash of what the outputs were compared with, `outputs` that of the outputs
    themselves: equal hashes, equal content. `score` is NaN where it is undefined. `p_against` has
    Holm's p-value for each other system where all pairs were tested.
    """

    data: str
    outputs: str
    higher_is_better: bool | None = None
    p_against: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """The scores of one call, what called it, and when. `time` is in UTC; `command` is empty where the
    call came from Python. `skipped` counts the partitions that could not be evaluated and are in no
    score."""

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
