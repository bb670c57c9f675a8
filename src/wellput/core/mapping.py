"""The noun `MapParts`: work on parts of something, which whoever starts it may have done elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

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
