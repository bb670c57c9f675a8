"""Progress: what is being done, how much of it is done, and told in other units than it is made in
(sentences that are parsed as texts that are done)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

OnProgress: TypeAlias = Callable[[int], None]
"""Called with the number of things that are done since."""


def unheard(n: int) -> None:
    """Progress that nobody wants to know of."""


def together(*listeners: OnProgress) -> OnProgress:
    """Tells all of them."""

    def tell(n: int) -> None:
        for listener in listeners:
            listener(n)

    return tell


class OnPhase(Protocol):
    """Called at the beginning of a phase, with what is done in it ("scoring items") and the number of
    things to do, where it is known. What it returns is called with the numbers done since."""

    def __call__(self, what: str, total: int | None = None) -> OnProgress: ...


def unheard_phase(what: str, total: int | None = None) -> OnProgress:
    """A phase that nobody wants to know of."""
    return unheard


class Share:
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
