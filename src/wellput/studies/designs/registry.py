"""Designs by name: `create("rating")`, `create("rating:points=5")`.

The table `BUILT_IN` has "module:Class" for each name; a class is imported when it is first needed.
Other packages add designs by the entry-point group `wellput.designs`, with a class that extends
`Design`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from inspect import isabstract
from typing import Any

from wellput.core.errors import InputError, did_you_mean
from wellput.core.lazy_names import import_object
from wellput.core.registries import (
    given_options,
    load_plugin,
    option_names,
    plugin_in_words,
    plugins,
)
from wellput.studies.designs.base import Design
from wellput.studies.questionnaire import LAYOUTS, Layout, Questionnaire

GROUP = "wellput.designs"
NEEDED_ATTRIBUTES = ("title", "instructions", "default_questions")

BUILT_IN: dict[str, str] = {
    "rating": "wellput.studies.designs.scales:Rating",
    "magnitude": "wellput.studies.designs.scales:Magnitude",
    "slider": "wellput.studies.designs.scales:Slider",
    "pairwise": "wellput.studies.designs.pairwise:Pairwise",
    "spans": "wellput.studies.designs.spans:Spans",
    "mqm": "wellput.studies.designs.spans:Mqm",
    "task": "wellput.studies.designs.task:TaskDesign",
}


def names() -> list[str]:
    """The names of all designs, built in or from other packages."""
    return list(dict.fromkeys([*BUILT_IN, *plugins(GROUP)]))


def design_class(name: str) -> type[Design]:
    """The class behind a name."""
    if name in BUILT_IN:
        built_in: type[Design] = import_object(BUILT_IN[name])
        return built_in
    if point := plugins(GROUP).get(name):
        plugin = load_plugin(point)
        if not (isinstance(plugin, type) and issubclass(plugin, Design)):
            raise InputError(f"{plugin_in_words(point)} must be a class that extends Design.")
        if getattr(plugin, "name", None) != name:
            raise InputError(
                f"{plugin_in_words(point)} needs the line `name = {name!r}` in its class."
            )
        if missing := [part for part in NEEDED_ATTRIBUTES if not hasattr(plugin, part)]:
            raise InputError(f"{plugin_in_words(point)} has no {', '.join(missing)}.")
        if isabstract(plugin):
            raise InputError(f"{plugin_in_words(point)} has no method question.")
        return plugin
    raise InputError(
        f"No design {name!r}.{did_you_mean(name, names())} The designs are {', '.join(names())}. For a "
        "design of another package, install that package."
    )


def create(design: str | Design, **options: Any) -> Design:
    """A design, given by its name or as an object, with further options. Raises InputError for options
    that the design does not have."""
    if isinstance(design, str):
        name, _, tail = design.partition(":")
        cls = design_class(name)
        options = {**given_options(name, cls, tail), **options}
        refuse_unknown_options(cls, options)
        return cls(**options)
    if isinstance(design, type):
        raise InputError(f"{design.__name__} is a class: give a design, {design.__name__}().")
    if design.name not in names() or design_class(design.name) is not type(design):
        raise InputError(
            f"A study stores only the name of its design, {design.name!r}: install a package whose "
            f"entry-point group {GROUP} gives this name to {type(design).__name__}."
        )
    refuse_unknown_options(type(design), options)
    return replace(design, **options)


def refuse_unknown_options(cls: type[Design], options: dict[str, Any]) -> None:
    """Raises InputError if the class of a design does not have one of the options."""
    names_of_options = option_names(cls)
    for option in options:
        if option not in names_of_options:
            owners = [name for name in BUILT_IN if option in option_names(design_class(name))]
            if owners:
                raise InputError(
                    f"{option}= is an option of the design {' and '.join(owners)}, not of {cls.name}."
                )
            hint = f"It has {', '.join(names_of_options)}." if names_of_options else "It has none."
            raise InputError(f"The design {cls.name} has no option {option!r}. {hint}")


def default_questionnaire(
    design: str | Design,
    *,
    questions: Sequence[str] = (),
    layout: Layout | None = None,
    **options: Any,
) -> Questionnaire:
    """A questionnaire with the title and instructions of a design. `questions` are names, either of
    questions that wellput has a text for, or new ones.

    >>> [question.name for question in default_questionnaire("rating").questions]
    ['understandability', 'quality']
    """
    if layout is not None and layout not in LAYOUTS:
        raise InputError(f"No layout {layout!r}; there are {', '.join(LAYOUTS)}.")
    return create(design, **options).questionnaire(questions, layout)


def design_of(questionnaire: Questionnaire) -> Design:
    """The design of a questionnaire, with its options and with its texts (`words`: what judges read, in
    the language of the study)."""
    design = create(questionnaire.kind, **questionnaire.options)
    return replace(design, words=questionnaire.words)
