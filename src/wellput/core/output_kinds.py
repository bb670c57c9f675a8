"""`OutputKind`: what must be known of outputs that are JSON objects instead of text.

A package names its kind in the entry-point group `wellput.outputs`. wellput's facial displays come
in this way. This module is imported where an object is met, and not before.
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
    """In the plural, as messages say it: "display schedules"."""
    usual_metrics: ClassVar[str]
    """What a report shows where no metrics are given: names, separated by commas."""

    def knows(self, output: Mapping[str, Any]) -> bool:
        """Whether an output is of this kind. An item with a derivation and no object asks with {}."""
        ...

    def check(
        self,
        derivation: Any,
        outputs: Mapping[str, Mapping[str, Any]],
        complain: Callable[[str], None],
    ) -> None:
        """Complains about an item as it was read: its derivation, and its objects by system."""
        ...

    def text_of(self, output: Mapping[str, Any]) -> str:
        """An output as a report shows it."""
        ...

    def medium(self) -> Any:
        """The `wellput.studies.media.Medium` that shows an output to judges, None where there is
        none."""
        ...


def output_kinds() -> tuple[OutputKind, ...]:
    """Every kind; those of other packages before wellput's, which knows every object."""
    return _kinds(tuple(sys.path))


@lru_cache(maxsize=8)
def _kinds(path: tuple[str, ...]) -> tuple[OutputKind, ...]:
    points = sorted(plugins(GROUP).values(), key=is_own)
    return tuple(plugin_object(point) for point in points)


def kind_of(output: Mapping[str, Any]) -> OutputKind:
    """The first kind that knows an output."""
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
    """Checks those outputs of an item that are objects, by system, and its derivation."""
    objects = {system: output for system, output in outputs.items() if isinstance(output, Mapping)}
    kind_of(next(iter(objects.values()), {})).check(derivation, objects, complain)


def kind_names(outputs: Iterable[object]) -> dict[str, None]:
    """The names of the kinds among outputs, in their order; text is named "text"."""
    return dict.fromkeys(
        kind_of(output).name if isinstance(output, Mapping) else "text" for output in outputs
    )
