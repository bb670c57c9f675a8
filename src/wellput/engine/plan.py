"""The noun `Plan`: where statistics are computed, and what happens when something fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wellput.io.files import PathLike

Engine = Literal["local", "ray"]
OnError = Literal["stop", "skip"]


@dataclass(frozen=True)
class Plan:
    """Where and how partitions are evaluated. `resume` is the folder of finished ones, `segments` the
    folder for segment scores, `parser` what the trees of the references come from."""

    engine: Engine = "local"
    address: str | None = None
    threads: int = 1
    keep_rows: bool = False
    resume: PathLike | None = None
    on_error: OnError = "stop"
    segments: PathLike | None = None
    parser: str | None = None

    @property
    def needs_partitions(self) -> bool:
        """Whether one pass over the items would not do."""
        is_plain = self.resume is None and self.segments is None and self.on_error == "stop"
        return self.engine != "local" or not is_plain
