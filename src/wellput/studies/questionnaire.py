"""The nouns of a study as judges meet it: `Questionnaire` with its `Question`s, and what a judge is
shown (`Shown`, `Variant`, `Progress`).

A questionnaire says what is asked and in which words; which system wrote a text is never part of it.
The default words are in `studies.wordings`; `studies.settings` replaces them from a TOML file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from wellput.core.errors import InputError
from wellput.studies.wordings import (
    BETTER,
    INSTRUCTIONS,
    MODULUS_SCALE,
    OWN_SCALE,
    SEVEN_POINTS,
    THANKS,
    TIES,
    TITLES,
)

Kind: TypeAlias = Literal["rating", "magnitude", "slider", "pairwise", "task"]
KINDS: tuple[Kind, ...] = get_args(Kind)
QuestionKind: TypeAlias = Literal["points", "number", "slider", "choice", "answer"]
Medium: TypeAlias = Literal["text", "head"]
Layout: TypeAlias = Literal["single", "page"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
FieldKind: TypeAlias = Literal["text", "number", "choice"]

MAX_POINTS = 100


@dataclass(frozen=True)
class Question:
    """One question about a variant, or about a pair.

    `points`: whole numbers `low`..`high`; `slider`: any number in between; `number`: any number above
    `low`; `choice`: one of `choices` ("a" is the variant shown first); `answer`: one of `choices`, or
    free text where there are none. `labels` puts words to values, e.g. {"1": "Impossible"}.
    """

    name: str
    text: str
    kind: QuestionKind
    low: float | None = None
    high: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    choices: tuple[str, ...] = ()


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
class Questionnaire:
    """What judges are asked, in all its wording.

    `layout` is one variant at a time, or all variants of an item on a page. `consent` is asked for
    before anything else where there is a text. `modulus` is the number of the first sentence for
    magnitude estimation, None for a scale of one's own. `medium` is what shows a variant: a text to be
    read, or the talking head.
    """

    kind: Kind
    questions: tuple[Question, ...]
    title: str
    instructions: str
    thanks: str
    consent: str | None = None
    layout: Layout = "single"
    demographics: tuple[DemographicField, ...] = ()
    practice: tuple[Practice, ...] = ()
    ties: bool = False
    modulus: float | None = None
    medium: Medium = "text"

    def to_json(self) -> dict[str, Any]:
        """As plain values, for the store and for the file beside an export."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Questionnaire:
        """The inverse of `to_json`, after a trip through JSON."""
        nested = {
            "questions": tuple(_tupled(Question, entry) for entry in record["questions"]),
            "demographics": tuple(
                _tupled(DemographicField, entry) for entry in record["demographics"]
            ),
            "practice": tuple(_tupled(Practice, entry) for entry in record["practice"]),
        }
        return cls(**{**record, **nested})


@dataclass(frozen=True)
class Variant:
    """A text as a judge sees it, or a performance as JSON; the id is opaque and belongs to this judge's
    trial alone."""

    id: str
    text: str


@dataclass(frozen=True)
class Shown:
    """All that a judge may see of a trial: no system names, no other judge's answers.

    `answers` are the judge's own so far, in the shape in which they are given: {question: value} for
    one variant or a pair, {variant id: {question: value}} for a page; empty where there are none.
    """

    id: str
    context: str | None
    source: str | None
    variants: tuple[Variant, ...]
    questions: tuple[Question, ...]
    is_practice: bool
    answers: Mapping[str, Any]


@dataclass(frozen=True)
class Progress:
    """How many of a judge's trials are answered, practice included."""

    done: int
    total: int


def _tupled(kind: type[Any], record: Mapping[str, Any]) -> Any:
    return kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in record.items()})


DEFAULT_QUESTIONS: Mapping[Kind, tuple[str, ...]] = {
    "rating": ("understandability", "quality"),
    "magnitude": ("fluency",),
    "slider": ("quality",),
    "pairwise": ("preference",),
    "task": ("success",),
}


def default_questionnaire(
    kind: Kind,
    *,
    questions: Sequence[str] = (),
    points: int = 7,
    layout: Layout = "single",
    ties: bool = False,
    modulus: float | None = None,
) -> Questionnaire:
    """A questionnaire in the default words of its design; `questions` are names, known or one's own.

    >>> [question.name for question in default_questionnaire("rating").questions]
    ['understandability', 'quality']
    """
    if kind not in KINDS:
        raise InputError(f"No design {kind!r}; there are {', '.join(KINDS)}.")
    if modulus is not None and not modulus > 0:
        raise InputError(f"A modulus must be above zero; {modulus:g} is not.")
    names = tuple(questions) or DEFAULT_QUESTIONS[kind]
    questionnaire = Questionnaire(
        kind=kind,
        questions=tuple(default_question(name, kind, points=points, ties=ties) for name in names),
        title=TITLES[kind],
        instructions=_instructions(kind, ties, modulus),
        thanks=THANKS,
        layout=layout,
        ties=ties,
        modulus=modulus,
    )
    check_questionnaire(questionnaire)
    return questionnaire


def default_question(name: str, kind: Kind, *, points: int = 7, ties: bool = False) -> Question:
    """The question `name` in the words and on the scale that a design has for it."""
    plain = f"How would you rate the {name} of this sentence?"
    text, labels = SEVEN_POINTS.get(name, (plain, {"1": "Very low", "7": "Very high"}))
    if kind == "pairwise":
        asked = BETTER.get(name, f"better in {name}")
        choices = ("a", "b", "tie") if ties else ("a", "b")
        return Question(name, f"Which version is {asked}?", "choice", choices=choices)
    if kind == "task":
        return Question(name, "Please answer the question.", "answer")
    if kind == "magnitude":
        return Question(name, text, "number", low=0)
    if kind == "slider":
        return Question(name, text, "slider", 0, 100, {"0": labels["1"], "100": labels["7"]})
    if points != 7:
        labels = {"1": labels["1"], str(points): labels["7"]}
    return Question(name, text, "points", 1, points, labels)


def _instructions(kind: Kind, ties: bool, modulus: float | None) -> str:
    text = INSTRUCTIONS[kind]
    if kind == "magnitude":
        if modulus is None:
            return text.format(scale=OWN_SCALE)
        words = MODULUS_SCALE.format(modulus=modulus, double=2 * modulus, half=modulus / 2)
        return text.format(scale=words)
    if kind == "pairwise":
        return text.format(ties=TIES if ties else "")
    return text


def check_questionnaire(questionnaire: Questionnaire) -> None:
    """Raises InputError for a design that no judge could answer."""
    problems: list[str] = []
    names = [question.name for question in questionnaire.questions]
    if not names:
        problems.append("there is no question")
    problems += [f"the question {n!r} comes twice" for n in sorted({*names}) if names.count(n) > 1]
    for question in questionnaire.questions:
        problems += _question_problems(question)
    if questionnaire.kind == "task" and len(names) > 1:
        problems.append("a task has one question an item; give its wording under [[tasks]]")
    if questionnaire.layout == "page" and questionnaire.kind in ("pairwise", "task"):
        problems.append(f"a {questionnaire.kind} design shows one trial at a time: no layout page")
    if questionnaire.modulus is not None and questionnaire.kind != "magnitude":
        problems.append("only magnitude estimation has a modulus")
    if questionnaire.ties and questionnaire.kind != "pairwise":
        problems.append("only pairs can tie")
    if problems:
        raise InputError.collect("This design cannot be used:", problems)


def _question_problems(question: Question) -> list[str]:
    name = question.name
    if not name.strip():
        return ["a question has no name"]
    if question.kind == "points":
        low, high = question.low, question.high
        if low is None or high is None or low != int(low) or high != int(high):
            return [f"the scale of {name} has no whole first and last point"]
        if high - low < 1:
            return [f"the scale of {name} has one point; a scale needs at least two"]
        if high - low + 1 > MAX_POINTS:
            return [f"the scale of {name} has over {MAX_POINTS} points: use the slider design"]
    if question.kind == "slider" and not (
        question.low is not None and question.high is not None and question.low < question.high
    ):
        return [f"the slider of {name} must run from a lower to a higher number"]
    if question.kind == "choice" and not {"a", "b"} <= {*question.choices} <= {"a", "b", "tie"}:
        return [f"the choices of {name} must be a, b and perhaps tie"]
    return []
