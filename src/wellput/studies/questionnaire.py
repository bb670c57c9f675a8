"""The nouns of a study as judges meet it: `Questionnaire` with what belongs to it, and what a judge is
shown (`ShownTrial`, `Variant`, `JudgeProgress`).

A questionnaire says what is asked and in which words; which system wrote a text is never part of it.
Its design (`studies.designs`) has the words unless a TOML file (`studies.settings`) replaces them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from wellput.studies.questions import Question

Layout: TypeAlias = Literal["single", "page"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
FieldKind: TypeAlias = Literal["text", "number", "choice"]


@dataclass(frozen=True)
class DemographicField:
    """One voluntary question about the judge; `choices` where the kind is choice."""

    name: str
    text: str
    kind: FieldKind = "text"
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Practice:
    """A trial shown first to everybody, whose answers are kept apart; two texts for pairs.

    `question` is what a task asks about the text."""

    texts: tuple[str, ...]
    context: str | None = None
    source: str | None = None
    question: str | None = None


@dataclass(frozen=True)
class Check:
    """An attention check: a trial with a known answer, shown among the others.

    `expected` holds the right value by question, or [lowest, highest] for numbers; on a page every
    text expects the same. `question` is what a task asks about the text.
    """

    texts: tuple[str, ...]
    expected: Mapping[str, Any]
    context: str | None = None
    source: str | None = None
    question: str | None = None


@dataclass(frozen=True)
class Task:
    """A question about an item with its keyed answers; `choices` where it is multiple choice."""

    item: str
    text: str
    answers: tuple[str, ...]
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Questionnaire:
    """What judges are asked, in all its wording.

    `kind` is the name of its design, `options` are the design's, as far as they differ from the usual.
    `layout` is one variant at a time, or all variants of an item on a page. `consent` is asked for
    before anything else where there is a text. `medium` is the name of what shows a variant.
    """

    kind: str
    questions: tuple[Question, ...]
    title: str
    instructions: str
    thanks: str
    consent: str | None = None
    layout: Layout = "single"
    demographics: tuple[DemographicField, ...] = ()
    practice: tuple[Practice, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    medium: str = "text"

    def to_json(self) -> dict[str, Any]:
        """As plain values, for the store and for the file beside an export.

        The options `ties` and `modulus` stand in every record, as they always did.
        """
        record = asdict(self)
        options, medium = dict(record.pop("options")), record.pop("medium")
        record["ties"] = options.pop("ties", False)
        record["modulus"] = options.pop("modulus", None)
        record["medium"] = medium
        return {**record, "options": options} if options else record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Questionnaire:
        """The inverse of `to_json`, after a trip through JSON."""
        known = {name: value for name, value in record.items() if name not in ("ties", "modulus")}
        options = dict(record.get("options", {}))
        if record.get("ties"):
            options["ties"] = True
        if record.get("modulus") is not None:
            options["modulus"] = record["modulus"]
        nested = {
            "questions": tuple(from_record(Question, entry) for entry in record["questions"]),
            "demographics": tuple(
                from_record(DemographicField, entry) for entry in record["demographics"]
            ),
            "practice": tuple(from_record(Practice, entry) for entry in record["practice"]),
            "options": options,
        }
        return cls(**{**known, **nested})


@dataclass(frozen=True)
class Variant:
    """A text as a judge sees it, or a performance as JSON; the id is opaque and belongs to this judge's
    trial alone."""

    id: str
    text: str


@dataclass(frozen=True)
class ShownTrial:
    """All that a judge may see of a trial: no system names, no other judge's answers.

    `answers` are the judge's own so far, in the shape in which they are given: {question: value}, or
    where `is_by_variant` {variant id: {question: value}}; empty where there are none.
    """

    id: str
    context: str | None
    source: str | None
    variants: tuple[Variant, ...]
    questions: tuple[Question, ...]
    is_practice: bool
    is_by_variant: bool
    answers: Mapping[str, Any]


@dataclass(frozen=True)
class JudgeProgress:
    """How many of a judge's trials are answered, practice included."""

    done: int
    total: int


def from_record(kind: type[Any], record: Mapping[str, Any]) -> Any:
    """A dataclass from its JSON, whose lists are tuples."""
    return kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in record.items()})
