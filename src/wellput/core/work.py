"""Work that takes long: the cores there are for it, the parts that may be done elsewhere
(`MapParts`), and how far it is (`OnPhase`, `OnProgress`).

Progress counts the things done since the last call, not in all. `ProgressShare` tells it in other
units than it is made in (sentences that are parsed as texts that are done).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeAlias, TypeVar


def available_cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


T = TypeVar("T")


class MapParts(Protocol):
    """Calls a function with each part and the same further arguments, here or elsewhere, and gives the
    results in the order of the parts. What goes elsewhere must be a function of a module."""

    def __call__(
        self, function: Callable[..., T], parts: Iterable[Any], *shared: Any
    ) -> Iterator[T]: ...


def map_here(function: Callable[..., T], parts: Iterable[Any], *shared: Any) -> Iterator[T]:
    """One part after the other, in this process."""
    return (function(part, *shared) for part in parts)


OnProgress: TypeAlias = Callable[[int], None]
"""Called with the number of things that are done since."""


def ignore_progress(n: int) -> None:
    """Progress that nobody wants to know of."""


class OnPhase(Protocol):
    """Called at the beginning of a phase, with what is done in it ("scoring items") and the number of
    things to do, where it is known. What it returns is called with the numbers done since."""

    def __call__(self, what: str, total: int | None = None) -> OnProgress: ...


def ignore_phase(what: str, total: int | None = None) -> OnProgress:
    """A phase that nobody wants to know of."""
    return ignore_progress


class ProgressShare:
    """Tells of `whole` things as many as the share of `parts` that is done, never more than all."""

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
