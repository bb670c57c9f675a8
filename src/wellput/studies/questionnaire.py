"""A study as judges see it: the `Questionnaire` with its parts, and what a judge is shown
(`ShownTrial`, `Variant`, `JudgeProgress`).

A questionnaire has the questions and all their wording, never the name of a system. The words come
from the study's design (`studies.designs`); a TOML file (`studies.settings`) may replace them.

`checked_demographics` checks what judges say about themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from wellput.studies.questions import AnswerError, Question, is_storable
from wellput.studies.wording import SENTENCE, Wording, language_of, wording

Layout: TypeAlias = Literal["single", "page"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
FieldKind: TypeAlias = Literal["text", "number", "choice"]


@dataclass(frozen=True)
class DemographicField:
    """One voluntary question about the judge. `choices` are for the kind "choice"."""

    name: str
    text: str
    kind: FieldKind = "text"
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Practice:
    """A trial that every judge sees first. Its answers are stored, but never counted as judgments. A
    comparison has two texts. `question` is the question about the text in the design `task`.

    After the answer, judges read the `feedback`, and whether they answered as `expected` (in the form
    of `Check.expected`; {} if any answer is fine). Without both, the next trial follows at once.
    """

    texts: tuple[str, ...]
    context: str | None = None
    source: str | None = None
    question: str | None = None
    expected: Mapping[str, Any] = field(default_factory=dict)
    feedback: str | None = None


@dataclass(frozen=True)
class Check:
    """An attention check: a trial with a known answer, shown among the others.

    `expected` has the right value of each question, or [lowest, highest] for numbers. On a page all
    texts have the same expected values. `question` is the question about the text in the design `task`.
    If the check was made by spoiling an output, `made_of` has the place of its item and its system,
    and the check is shown inside the document of that output.
    """

    texts: tuple[str, ...]
    expected: Mapping[str, Any]
    context: str | None = None
    source: str | None = None
    question: str | None = None
    made_of: tuple[int, str] | None = None


@dataclass(frozen=True)
class Task:
    """A question about an item (by its id) with its right answers. `choices` are for multiple
    choice."""

    item: str
    text: str
    answers: tuple[str, ...]
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Questionnaire:
    """What judges are asked, with all its wording.

    `kind` is the name of the design, `options` are the design's options that differ from the default.
    `layout` is "single" (one variant, that is one text, at a time) or "page" (all variants of an item
    on one page). If there is a text of `consent`, judges must agree to it first. `medium` is the name
    of the medium that shows a variant. `language` is the code of the language of the pages. `texts`
    are the contents of a language file, if the owner gave one. `unit` is the word for an output on the
    pages. A break is suggested after every `break_every` answers. With `comments`, judges may add a
    comment to every answer.
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
    language: str = "en"
    unit: str = SENTENCE
    texts: Mapping[str, Any] = field(default_factory=dict)
    break_every: int | None = None
    comments: bool = False

    @property
    def words(self) -> Wording:
        """The texts of the pages."""
        if self.texts:
            return Wording(language_of(self.texts), self.unit)
        return wording(self.language, self.unit)

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the study's database and for the file of the design that an export writes.

        The options `ties` (of pairwise) and `modulus` (of magnitude) are always part of the record
        itself, as older versions wrote them. Settings with their usual values (English, about
        sentences, without breaks and comments) are left out.
        """
        record = asdict(self)
        for question in record["questions"]:
            if not question["severities"]:  # older versions wrote no empty list
                del question["severities"]
        for practice in record["practice"]:
            for name in ("expected", "feedback"):
                if not practice[name]:
                    del practice[name]
        options, medium = dict(record.pop("options")), record.pop("medium")
        record["ties"] = options.pop("ties", False)
        record["modulus"] = options.pop("modulus", None)
        record["medium"] = medium
        usual_values: dict[str, Any] = {
            "language": "en",
            "unit": SENTENCE,
            "texts": {},
            "break_every": None,
            "comments": False,
        }
        for name, usual in usual_values.items():
            value = record.pop(name)
            if value != usual:
                record[name] = value
        return {**record, "options": options} if options else record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Questionnaire:
        """The inverse of `to_json`, from values that were read from JSON."""
        fields = {name: value for name, value in record.items() if name not in ("ties", "modulus")}
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
        return cls(**{**fields, **nested})


@dataclass(frozen=True)
class Variant:
    """One output as a judge sees it: its text, or an output of another kind as JSON. The id is random
    and is used only in this judge's trial.

    `before` and `after` are the same system's texts around it in its document. `prefilled` are error
    spans that the judge finds marked already; None where nothing was marked beforehand.
    """

    id: str
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    prefilled: tuple[Mapping[str, Any], ...] | None = None


@dataclass(frozen=True)
class ShownTrial:
    """All that a judge may see of a trial: no system names, no answers of other judges.

    `answers` are the judge's own so far, in the shape in which judges give them: {question: value}, or
    {variant id: {question: value}} if `is_by_variant`; {} before the first answer. `references` are
    good texts to compare with; `sources_before` and `sources_after` are the sources around this source
    in its document. `comment` is the judge's comment on the answer so far, None in a study without
    comments. `answered_at` is when the judge gave the answers, in seconds since 1970; None if the trial
    is shown without them.
    """

    id: str
    context: str | None
    source: str | None
    variants: tuple[Variant, ...]
    questions: tuple[Question, ...]
    is_practice: bool
    is_by_variant: bool
    answers: Mapping[str, Any]
    references: tuple[str, ...] = ()
    sources_before: tuple[str, ...] = ()
    sources_after: tuple[str, ...] = ()
    comment: str | None = None
    answered_at: float | None = None


@dataclass(frozen=True)
class JudgeProgress:
    """How far a judge is: the number of answered trials and of all trials, with practice, checks and
    repeats."""

    done: int
    total: int


def from_record(kind: type[Any], record: Mapping[str, Any]) -> Any:
    """An object of the dataclass `kind` from its JSON record. Lists become tuples."""
    return kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in record.items()})


MAX_DEMOGRAPHIC_CHARACTERS = 500


def checked_demographics(
    fields: Sequence[DemographicField], answers: Mapping[str, str]
) -> dict[str, str]:
    """The answers that are not empty: all are voluntary. Raises AnswerError with every reason."""
    known = {field.name: field for field in fields}
    reasons = []
    for name, text in answers.items():
        if name not in known:
            reasons.append("unknown question")
        elif (
            not isinstance(text, str)
            or len(text) > MAX_DEMOGRAPHIC_CHARACTERS
            or not is_storable(text)
        ):
            reasons.append(f"{name}: at most {MAX_DEMOGRAPHIC_CHARACTERS} characters of text")
        elif text and known[name].choices and text not in known[name].choices:
            reasons.append(f"{name}: one of {', '.join(known[name].choices)} is needed")
    if reasons:
        raise AnswerError(reasons)
    return {name: text for name, text in answers.items() if text.strip()}
