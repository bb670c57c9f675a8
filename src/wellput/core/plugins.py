"""What other packages add to wellput, by the entry points of their distributions.

A group of entry points (`wellput.metrics`) has names; what stands behind a name is imported when it is
asked for. The names of wellput itself are in the tables of the modules that know the groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wellput.core.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def plugins(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group, by name and in the order of the names."""
    from importlib.metadata import entry_points  # here: it takes longer than asking for nothing

    return {point.name: point for point in sorted(entry_points(group=group), key=_by_name)}


def load_plugin(point: EntryPoint) -> Any:
    """What stands behind an entry point; raises InputError where it cannot be imported."""
    with _naming(point):
        return point.load()


def plugin_object(point: EntryPoint) -> Any:
    """The same, but of a class an object, made without arguments."""
    found = load_plugin(point)
    with _naming(point):
        return found() if isinstance(found, type) else found


def origin(point: EntryPoint) -> str:
    """An entry point in words: `The reader minutes of the package wellput-minutes 1.0`."""
    kind = point.group.removeprefix("wellput.").removesuffix("s")
    package = f" of the package {point.dist.name} {point.dist.version}" if point.dist else ""
    return f"The {kind} {point.name}{package}"


@contextmanager
def _naming(point: EntryPoint) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise InputError(
            f"{origin(point)} cannot be loaded ({type(error).__name__}: {error}). Repair the package "
            "or uninstall it."
        ) from error


def _by_name(point: EntryPoint) -> str:
    return point.name
