"""The noun `ScoringPlan`: where statistics are computed, what is kept, and what happens when something
fails on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from wellput.core.cores import available_cores
from wellput.core.errors import InputError
from wellput.io.files import PathLike

Engine = Literal["local", "ray"]
OnError = Literal["stop", "skip"]


@dataclass(frozen=True)
class ScoringPlan:
    """`engine` ray computes on the cluster at `address`, or on processes of this machine. `keep_rows`
    keeps the statistics of segments. `resume` is the folder of finished partitions, `segments` the
    folder for segment scores."""

    engine: Engine = "local"
    address: str | None = None
    threads: int = field(default_factory=available_cores)
    keep_rows: bool = False
    resume: PathLike | None = None
    on_error: OnError = "stop"
    segments: PathLike | None = None

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("engine", self.engine, get_args(Engine)),
            ("on_error", self.on_error, get_args(OnError)),
        ):
            if value not in choices:
                raise InputError(f"{name}={value!r} is not known; there are {', '.join(choices)}.")
        if self.threads < 1:
            raise InputError(f"threads={self.threads} must be 1 or more.")
        if self.address is not None and self.engine == "local":
            raise InputError(
                f"address={self.address!r} is that of a Ray cluster: pass engine='ray', too."
            )

    @property
    def needs_partitions(self) -> bool:
        """Whether one pass over the items would not do."""
        is_plain = self.resume is None and self.segments is None and self.on_error == "stop"
        return self.engine != "local" or not is_plain
