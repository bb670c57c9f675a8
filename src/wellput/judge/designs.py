"""The nouns of a study as judges meet it: `Design` with its `Question`s, and what a judge is shown
(`Shown`, `Variant`, `Progress`).

A design says what is asked and in which words; which system wrote a text is never part of it. The
default wordings are here; `judge.settings` replaces them from a TOML file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

from wellput.core.errors import InputError, did_you_mean

Kind: TypeAlias = Literal["rating", "magnitude", "slider", "pairwise", "task"]
KINDS: tuple[Kind, ...] = get_args(Kind)
QuestionKind: TypeAlias = Literal["points", "number", "slider", "choice", "answer"]
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
class Design:
    """What judges are asked, in all its wording.

    `layout` is one variant at a time, or all variants of an item on a page. `consent` is asked for
    before anything else where there is a text. `modulus` is the number of the first sentence for
    magnitude estimation, None for a scale of one's own.
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

    def to_json(self) -> dict[str, Any]:
        """As plain values, for the store and for the file beside an export."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Design:
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
    """A text as a judge sees it; the id is opaque and belongs to this judge's trial alone."""

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


# Bangalore, Rambow & Whittaker 2000, section 4: three anchors, the other points have no words.
UNDERSTANDABILITY = Question(
    "understandability",
    "How easy is this sentence to understand?",
    "points",
    1,
    7,
    {"1": "Impossible", "4": "Just barely possible", "7": "Extremely easy"},
)
QUALITY = Question(
    "quality",
    "How well-written is this sentence?",
    "points",
    1,
    7,
    {"1": "Horrible", "4": "Pretty bad", "7": "Extremely well-written"},
)
FLUENCY = Question(
    "fluency",
    "How fluent is this sentence?",
    "points",
    1,
    7,
    {"1": "Not fluent at all", "4": "Somewhat fluent", "7": "Perfectly fluent"},
)
ADEQUACY = Question(
    "adequacy",
    "How much of what should be said does this sentence say?",
    "points",
    1,
    7,
    {"1": "None of it", "4": "About half of it", "7": "All of it"},
)
KNOWN_QUESTIONS = {
    question.name: question for question in (UNDERSTANDABILITY, QUALITY, FLUENCY, ADEQUACY)
}
"""Questions with a wording of their own, as 7-point ratings; the other designs reword the ends."""

DEFAULT_QUESTIONS: Mapping[Kind, tuple[str, ...]] = {
    "rating": ("understandability", "quality"),
    "magnitude": ("fluency",),
    "slider": ("quality",),
    "pairwise": ("preference",),
    "task": ("success",),
}

TITLES: Mapping[Kind, str] = {
    "rating": "How well is it put?",
    "magnitude": "How fluent is it?",
    "slider": "How well is it put?",
    "pairwise": "Which is better put?",
    "task": "Read and answer",
}

THANKS = "That was the last one. Thank you: your answers are saved, and you can close this page."

INSTRUCTIONS: Mapping[Kind, str] = {
    "rating": (
        "You will read sentences, some of them with a short paragraph that leads up to them. Rate "
        "each sentence on the scales below it. Some points of a scale carry a description; use the "
        "points in between as you see fit.\n\n"
        "There are no right or wrong answers: your first impression is what counts. You can go back "
        "one step, and you can leave at any time and come back with the same link."
    ),
    # Mutton et al. 2007, section 3.3: intuition rather than rules, and form rather than content.
    "magnitude": (
        "Judge how fluent each sentence is: how natural and grammatical it sounds. Judge the form, "
        "not the content. A sentence may be nonsense and still be perfectly fluent: “Colorless green "
        "ideas sleep furiously” is one.\n\n"
        "{scale}\n\n"
        "There are no right or wrong answers: go by your intuition. You can go back one step, and "
        "you can leave at any time and come back with the same link."
    ),
    "slider": (
        "You will read sentences, some of them with a short paragraph that leads up to them. Move the "
        "slider below each sentence to where you would put it between the two ends.\n\n"
        "There are no right or wrong answers: your first impression is what counts. You can go back "
        "one step, and you can leave at any time and come back with the same link."
    ),
    "pairwise": (
        "You will see two versions of a sentence at a time. Choose the one that you think is put "
        "better.{ties}\n\n"
        "There are no right or wrong answers: your first impression is what counts. You can go back "
        "one step, and you can leave at any time and come back with the same link."
    ),
    "task": (
        "You will read short texts, each with a question. Answer the question from the text alone, "
        "as quickly as you can without hurrying. The time from seeing a text to answering is "
        "measured.\n\n"
        "It is the texts that are being tested, not you. You can leave at any time between two texts "
        "and come back with the same link."
    ),
}
OWN_SCALE = (
    "Use a scale of your own. Give the first sentence any number above zero that seems right to you. "
    "Give every later sentence a number in proportion: twice the number if it is twice as fluent, "
    "half the number if it is half as fluent. There is no highest or lowest number, and decimals are "
    "fine."
)
MODULUS_SCALE = (
    "A middling sentence counts as {modulus:g}. Give every sentence a number in proportion to that: "
    "{double:g} if it is twice as fluent as a middling one, {half:g} if it is half as fluent. Any "
    "number above zero is allowed, and decimals are fine."
)
TIES = " If you find neither better, say so."


def default_design(
    kind: Kind,
    *,
    questions: Sequence[str] = (),
    points: int = 7,
    layout: Layout = "single",
    ties: bool = False,
    modulus: float | None = None,
) -> Design:
    """The design with its default wording; `questions` are names, known or one's own.

    >>> [question.name for question in default_design("rating").questions]
    ['understandability', 'quality']
    """
    if kind not in KINDS:
        raise InputError(f"No design {kind!r}; there are {', '.join(KINDS)}.")
    if modulus is not None and not modulus > 0:
        raise InputError(f"A modulus must be above zero; {modulus:g} is not.")
    names = tuple(questions) or DEFAULT_QUESTIONS[kind]
    design = Design(
        kind=kind,
        questions=tuple(default_question(name, kind, points=points, ties=ties) for name in names),
        title=TITLES[kind],
        instructions=_instructions(kind, ties, modulus),
        thanks=THANKS,
        layout=layout,
        ties=ties,
        modulus=modulus,
    )
    check_design(design)
    return design


def default_question(name: str, kind: Kind, *, points: int = 7, ties: bool = False) -> Question:
    """The question `name` in the words and on the scale that a design has for it."""
    known = KNOWN_QUESTIONS.get(name)
    text = known.text if known else f"How would you rate the {name} of this sentence?"
    if kind == "pairwise":
        asked = {"preference": "better put", **_BETTER}.get(name, f"better in {name}")
        choices = ("a", "b", "tie") if ties else ("a", "b")
        return Question(name, f"Which version is {asked}?", "choice", choices=choices)
    if kind == "task":
        return Question(name, "Please answer the question.", "answer")
    if kind == "magnitude":
        return Question(name, text, "number", low=0)
    ends = {"1": "Very low", "7": "Very high"} if known is None else known.labels
    if kind == "slider":
        return Question(name, text, "slider", 0, 100, {"0": ends["1"], "100": ends["7"]})
    if known is not None and points == known.high:
        return known
    labels = {"1": ends["1"], str(points): ends["7"]}
    return Question(name, text, "points", 1, points, labels)


_BETTER = {
    "understandability": "easier to understand",
    "quality": "better written",
    "fluency": "more fluent",
    "adequacy": "closer to what should be said",
}


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


def check_design(design: Design) -> None:
    """Raises InputError for a design that no judge could answer."""
    problems: list[str] = []
    names = [question.name for question in design.questions]
    if not names:
        problems.append("there is no question")
    problems += [f"the question {n!r} comes twice" for n in sorted({*names}) if names.count(n) > 1]
    for question in design.questions:
        problems += _question_problems(question)
    if design.kind == "task" and len(names) > 1:
        problems.append("a task has one question an item; give its wording under [[tasks]]")
    if design.layout == "page" and design.kind in ("pairwise", "task"):
        problems.append(f"a {design.kind} design shows one trial at a time: no layout page")
    if design.modulus is not None and design.kind != "magnitude":
        problems.append("only magnitude estimation has a modulus")
    if design.ties and design.kind != "pairwise":
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


def reworded(design: Design, name: str, *, text: str | None, labels: Mapping[str, str]) -> Design:
    """The design with other words for one of its questions."""
    if name not in {question.name for question in design.questions}:
        known = [question.name for question in design.questions]
        raise InputError(
            f"No question {name!r} in this design; it has {', '.join(known)}."
            f"{did_you_mean(name, known)}"
        )
    return replace(
        design,
        questions=tuple(
            replace(question, text=text or question.text, labels={**question.labels, **labels})
            if question.name == name
            else question
            for question in design.questions
        ),
    )
