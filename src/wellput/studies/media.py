"""The noun `Medium`: what shows an output to judges. A text is read; displays are performed by the
talking head, which lives in another room and is found by name, as a design is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources.abc import Traversable
from typing import Protocol

from wellput.core.evalset import Item, Output
from wellput.core.lazy_names import import_object
from wellput.studies.designs.base import Design
from wellput.studies.questionnaire import Questionnaire


class Medium(Protocol):
    """What must be known of a medium, from an evalset's outputs to the page of a trial."""

    name: str
    shows_text: bool
    """Whether practice trials and attention checks, which are texts, can be shown as well."""
    template: str
    """Where the macro `output(variant, speech)` is: one of `studies/templates`, or `package:path`."""
    styles: tuple[str, ...]
    scripts: tuple[str, ...]
    static: Mapping[str, Traversable]
    """The styles, the scripts and what they load, by the name under which they are served."""

    def takes(self, output: Output) -> bool:
        """Whether an output is to be shown by this medium."""
        ...

    def prepared(self, item: Item) -> tuple[dict[str, str], bytes | None, list[str]]:
        """An item's outputs in the form in which they are stored, the sound (a WAV file) that they
        share, and what is wrong with them."""
        ...

    def reworded(self, questionnaire: Questionnaire, design: Design) -> Questionnaire:
        """The questionnaire in words that fit the medium; words of one's own are kept."""
        ...


class TextMedium:
    """A text, to be read as it is."""

    name = "text"
    shows_text = True
    template = "text.html"
    styles: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    static: Mapping[str, Traversable] = {}

    def takes(self, output: Output) -> bool:
        return isinstance(output, str)

    def prepared(self, item: Item) -> tuple[dict[str, str], bytes | None, list[str]]:
        texts = {s: output for s, output in item.outputs.items() if isinstance(output, str)}
        return texts, None, []

    def reworded(self, questionnaire: Questionnaire, design: Design) -> Questionnaire:
        return questionnaire


MEDIA: Mapping[str, str] = {
    "head": "wellput.displays.talking_head:HeadMedium",
    "text": "wellput.studies.media:TextMedium",
}


def medium_named(name: str) -> Medium:
    found: Medium = import_object(MEDIA[name])()
    return found


def medium_for(items: Iterable[Item]) -> Medium:
    """The medium that takes some output: text where no other does."""
    others = [medium_named(name) for name in MEDIA if name != "text"]
    for item in items:
        for output in item.outputs.values():
            for medium in others:
                if medium.takes(output):
                    return medium
    return medium_named("text")
