"""`Medium`: what shows an output to judges. A text is read. Outputs of another kind bring
their medium with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.resources.abc import Traversable
from typing import Literal, Protocol, TypeAlias, get_args

from wellput.core.errors import InputError
from wellput.core.evalset import Item
from wellput.core.output_kinds import kind_of, output_kinds
from wellput.studies.designs.base import Design
from wellput.studies.questionnaire import Questionnaire

ShownAs: TypeAlias = Literal["plain", "markdown"]
SHOWN_AS: tuple[ShownAs, ...] = get_args(ShownAs)
"""How texts can be shown."""


class Medium(Protocol):
    """How outputs of one kind are stored in a study, and shown on the page of a trial."""

    name: str
    shows_text: bool
    """Whether it can also show texts: practice trials and attention checks."""
    template: str
    """One of `studies/templates`, or `package:path`. It has the macro `output(variant, speech)`."""
    styles: tuple[str, ...]
    scripts: tuple[str, ...]
    static: Mapping[str, Traversable]
    """The styles, the scripts and the files that they load, by the name in their address."""

    def prepared(self, item: Item) -> tuple[dict[str, str], bytes | None, list[str]]:
        """An item's outputs as they are stored, their common sound (a WAV file), and the problems that
        they have."""
        ...

    def reworded(self, questionnaire: Questionnaire, design: Design) -> Questionnaire:
        """The questionnaire in words that fit the medium. The owner's own words are kept."""
        ...


class TextMedium:
    """Shows a text as it is."""

    name = "text"
    shows_text = True
    template = "text.html"
    styles: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    static: Mapping[str, Traversable] = {}

    def prepared(self, item: Item) -> tuple[dict[str, str], bytes | None, list[str]]:
        texts = {s: output for s, output in item.outputs.items() if isinstance(output, str)}
        sampled = [s for s, output in item.outputs.items() if isinstance(output, tuple)]
        return (
            texts,
            None,
            [
                f"item {item.id}: {system} has several samples; give one text as its output"
                for system in sampled
            ],
        )

    def reworded(self, questionnaire: Questionnaire, design: Design) -> Questionnaire:
        return questionnaire


class MarkdownMedium(TextMedium):
    """Shows a text as markdown: tables, code, formulas, images and sounds. Nothing in it runs."""

    name = "markdown"
    template = "markdown.html"
    has_blocks = True
    """Whether an output is more than a phrase, and cannot be a button."""

    def reworded(self, questionnaire: Questionnaire, design: Design) -> Questionnaire:
        return replace(questionnaire, medium=self.name)


def all_media() -> list[Medium]:
    """The medium of text, and those of other kinds of outputs."""
    others = (kind.medium() for kind in output_kinds())
    return [TextMedium(), MarkdownMedium(), *(medium for medium in others if medium is not None)]


def medium_named(name: str) -> Medium:
    if name == TextMedium.name:
        return TextMedium()
    for medium in all_media():
        if medium.name == name:
            return medium
    raise InputError(
        f"Nothing shows outputs as {name!r}. Install the package that the study needs."
    )


def medium_for(items: Iterable[Item], show: ShownAs = "plain") -> Medium:
    """The medium of the first output that is not text, or that of text: plain or as markdown."""
    for item in items:
        for output in item.outputs.values():
            if isinstance(output, Mapping):
                kind = kind_of(output)
                medium: Medium | None = kind.medium()
                if medium is None:
                    raise InputError(f"A study cannot show {kind.name}: they have no medium.")
                if show != "plain":
                    raise InputError(f"show={show!r} is for texts; these outputs are {kind.name}.")
                return medium
    return MarkdownMedium() if show == "markdown" else TextMedium()
