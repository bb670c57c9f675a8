"""Long work: the cores it may use, and how it reports progress (`OnPhase`, `OnProgress`).

Progress is the number of things done since the last call, not the total. `ProgressShare` converts
units: for example, it reports parsed sentences as finished texts.
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
"""A function that is called with the number of things done since the last call."""


def ignore_progress(n: int) -> None:
    """Ignores progress."""


class OnPhase(Protocol):
    """A function that is called at the beginning of a phase of work, with the phase's name (`what`,
    such as "scoring items") and the number of things to do, if known. It returns the `OnProgress` of
    this phase."""

    def __call__(self, what: str, total: int | None = None) -> OnProgress: ...


def ignore_phase(what: str, total: int | None = None) -> OnProgress:
    """Ignores phases and their progress."""
    return ignore_progress


class ProgressShare:
    """Counts finished parts (such as sentences) and reports them as things of another unit (such as
    texts): `whole` things are done when all `parts` are finished."""

    def __init__(self, whole: int, parts: int, on_progress: OnProgress) -> None:
        self._whole = whole
        self._parts = parts
        self._on_progress = on_progress
        self._done = 0
        self._reported = 0

    def add(self, parts: int) -> None:
        """Counts this many more finished parts."""
        self._done += parts
        self._report_up_to(min(self._whole, self._whole * self._done // self._parts))

    def finish(self) -> None:
        """Reports all things as done."""
        self._report_up_to(self._whole)

    def _report_up_to(self, done: int) -> None:
        if done > self._reported:
            self._on_progress(done - self._reported)
            self._reported = done
