"""`OutputKind`: how outputs that are JSON objects instead of texts are recognized, checked and shown.

A package adds a kind by the entry-point group `wellput.outputs`; wellput's own facial displays are
added in the same way. This module is imported only when an output is an object.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, ClassVar, Protocol

from wellput.core.errors import InputError
from wellput.core.registries import is_own, plugin_object, plugins

GROUP = "wellput.outputs"


class OutputKind(Protocol):
    """Outputs of one kind. Its metrics name it as their `output_kind`."""

    name: ClassVar[str]
    """The name in messages, in the plural: "display schedules"."""
    usual_metrics: ClassVar[str]
    """The metrics of a report if the user gives none: names, separated by commas."""

    def knows(self, output: Mapping[str, Any]) -> bool:
        """Whether an output is of this kind. For an item that has a derivation (a tree of phrases to
        which displays are attached) but no objects, `output` is {}."""
        ...

    def check(
        self,
        derivation: Any,
        outputs: Mapping[str, Mapping[str, Any]],
        complain: Callable[[str], None],
    ) -> None:
        """Calls `complain` with each problem of an item: of its derivation, or of its objects, which
        `outputs` has by system."""
        ...

    def text_of(self, output: Mapping[str, Any]) -> str:
        """The text that a report shows for an output."""
        ...

    def medium(self) -> Any:
        """The `wellput.studies.media.Medium` that shows an output to judges; None if this kind has
        no medium."""
        ...


def output_kinds() -> tuple[OutputKind, ...]:
    """All kinds: those of other packages first, because wellput's own kind accepts every object."""
    return _kinds(tuple(sys.path))


@lru_cache(maxsize=8)
def _kinds(path: tuple[str, ...]) -> tuple[OutputKind, ...]:
    """The kinds of the packages in the folders of `path`, which is `sys.path`."""
    points = sorted(plugins(GROUP).values(), key=is_own)
    return tuple(plugin_object(point) for point in points)


def kind_of(output: Mapping[str, Any]) -> OutputKind:
    """The kind of an output: the first kind whose `knows` accepts it."""
    for kind in output_kinds():
        if kind.knows(output):
            return kind
    raise InputError(
        "An output is an object, and no installed package knows its kind. "
        "Install wellput again: it lacks its entry points."
    )


def check_objects(
    derivation: Any, outputs: Mapping[str, Any], complain: Callable[[str], None]
) -> None:
    """Checks an item's derivation and those of its outputs (by system) that are objects."""
    objects = {system: output for system, output in outputs.items() if isinstance(output, Mapping)}
    kind_of(next(iter(objects.values()), {})).check(derivation, objects, complain)


def kind_names(outputs: Iterable[object]) -> dict[str, None]:
    """The names of the kinds of these outputs, in order of appearance; the kind of a text is "text"."""
    return dict.fromkeys(
        kind_of(output).name if isinstance(output, Mapping) else "text" for output in outputs
    )
