"""Long work: the cores it may use, and how it reports progress (`OnPhase`, `OnProgress`).

Progress is the number of things done since the last call, not the total. `ProgressShare` converts
units: it reports parsed sentences, say, as finished texts.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol, TypeAlias


def available_cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


OnProgress: TypeAlias = Callable[[int], None]
"""Called with the number of things done since the last call."""


def ignore_progress(n: int) -> None:
    """Ignores progress."""


class OnPhase(Protocol):
    """Called at the beginning of a phase with its name ("scoring items") and the number of things to
    do, if known. It returns the `OnProgress` of this phase."""

    def __call__(self, what: str, total: int | None = None) -> OnProgress: ...


def ignore_phase(what: str, total: int | None = None) -> OnProgress:
    """Ignores phases and their progress."""
    return ignore_progress


class ProgressShare:
    """Counts finished parts and reports them in another unit: all `parts` make `whole` things."""

    def __init__(self, whole: int, parts: int, on_progress: OnProgress) -> None:
        self._whole = whole
        self._parts = parts
        self._on_progress = on_progress
        self._done = 0
        self._told = 0

    def add(self, parts: int) -> None:
        self._done += parts
        self._tell(min(self._whole, self._whole * self._done // self._parts))

    def finish(self) -> None:
        self._tell(self._whole)

    def _tell(self, due: int) -> None:
        if due > self._told:
            self._on_progress(due - self._told)
            self._told = due
