"""`Question`, the `Widget`s with which judges answer it, and `AnswerError`, which says why an
answer is refused.

A question's `kind` names its widget. The widget says which values are allowed, how the text in a field
of a form becomes a value, and when two answers are alike. Its part of the page is in
`templates/question.html`. The study's database keeps the answers to a trial as a list with one
{question: value} per variant (a text that the trial shows); a pair has one entry for both variants.
"""

from __future__ import annotations

import json
import math
import re
import reprlib
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from wellput.core.errors import InputError, did_you_mean
from wellput.studies.marked_spans import checked_spans, is_marked_alike
from wellput.studies.wording import ENGLISH, Wording

AnswerValues = dict[str, Any]
"""Answers by question."""


class AnswerError(InputError):
    """An answer that the questions do not allow. `reasons` has every reason."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = list(reasons)


def is_storable(text: str) -> bool:
    """Whether every database can store the text: it has no NUL and no half of a surrogate pair."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


NOT_STORABLE = "has characters (NUL or half a surrogate pair) that cannot be stored: remove them"


def unstorable_places(value: object, place: str = "") -> Iterator[str]:
    """Where in a setting a text is that cannot be stored. `place` is the place of the setting.

    >>> list(unstorable_places({"title": "a\\0", "labels": ["b", "\\0"]}))
    ['title', 'labels[2]']
    """
    if isinstance(value, str):
        if not is_storable(value):
            yield place
    elif isinstance(value, Mapping):
        for name, part in value.items():
            shown_name = ascii(name)[1:-1]  # without the quotes
            inner = f"{place}.{shown_name}" if place else shown_name
            if isinstance(name, str) and not is_storable(name):
                yield inner
            yield from unstorable_places(part, inner)
    elif isinstance(value, Sequence):
        for number, part in enumerate(value, start=1):
            yield from unstorable_places(part, f"{place}[{number}]")


def is_right_answer(answer: str, right_answers: Sequence[str]) -> bool:
    """Whether an answer is one of the right answers. Case, spacing and punctuation at the end do not
    matter."""
    return _comparable(answer) in set(map(_comparable, right_answers))


def _comparable(text: str) -> str:
    """A text without what does not matter for `is_right_answer`."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).rstrip(".!? ")


def quoted(value: object) -> str:
    """A value that a judge sent, for an error message: at most 40 ASCII characters."""
    # `reprlib` reads only the beginning of a list or an object, however long or deep it is.
    is_nested = isinstance(value, list | dict)
    text = reprlib.repr(value) if is_nested else repr(value)
    text = text.encode("ascii", "backslashreplace").decode("ascii")
    return text if len(text) <= 40 else text[:39] + "…"


QuestionKind: TypeAlias = Literal["points", "number", "slider", "choice", "answer", "spans"]

MAX_POINTS = 100
MAX_TEXT_CHARACTERS = 2000
MAY_HAVE_THOUSANDS = re.compile(r"[1-9][0-9]{0,2},[0-9]{3}")
"""A number such as 1,000: its comma may separate thousands or decimals, so the number is refused."""
MAX_MAGNITUDE = 1e15
"""A larger magnitude is a typing error, not a number to average."""


@dataclass(frozen=True)
class Question:
    """One question about a variant, or about a pair.

    The kinds: `points` is a whole number from `low` to `high`; `slider` is any number between them;
    `number` is any number above `low`; `choice` is one of `choices` ("a" is the variant shown first);
    `answer` is one of `choices`, or free text without choices; `spans` is a list of error spans
    (`studies.marked_spans`), each with one of `severities` and, if there are `choices`, with one of
    them as its category. `labels` has words for some values, such as {"1": "Impossible"}.
    """

    name: str
    text: str
    kind: QuestionKind
    low: float | None = None
    high: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    choices: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in WIDGETS:
            raise InputError(
                f"A question's kind is one of {', '.join(WIDGETS)}, not {self.kind!r}."
                f"{did_you_mean(self.kind, list(WIDGETS))}"
            )

    @property
    def widget(self) -> Widget:
        return WIDGETS[self.kind]

    def problems(self) -> list[str]:
        """What makes the question impossible to answer, in sentences; [] if nothing does."""
        return self.widget.problems(self) if self.name.strip() else ["a question has no name"]


class Widget(ABC):
    """One way of answering a question."""

    has_scale: ClassVar[bool] = False
    """Whether the question's labels belong to points of a scale."""

    def problems(self, question: Question) -> list[str]:
        """What makes the question impossible to answer in this way, in sentences."""
        return []

    @abstractmethod
    def checked(self, question: Question, value: object) -> tuple[Any, str]:
        """The value as it is stored, and the reason why it is refused ("" if it is not)."""

    def checked_about(self, question: Question, value: object, text: str) -> tuple[Any, str]:
        """As `checked`, for an answer about `text`. Only marks in a text depend on the text."""
        return self.checked(question, value)

    def from_text(self, text: str) -> Any:
        """The value for the text in a field of a form; the text itself if it stands for no value."""
        return text

    def is_alike(self, question: Question, value: Any, before: Any) -> bool:
        """Whether two answers to the same question about the same trial are consistent."""
        return bool(value == before)

    @abstractmethod
    def keys(self, question: Question, words: Wording = ENGLISH) -> str:
        """A line that tells judges which keys of the keyboard answer the question."""


class NumberWidget(Widget):
    """Any number above `low`, typed."""

    def checked(self, question: Question, value: object) -> tuple[Any, str]:
        # A whole number may be too large for a float. bool is an int in Python, but not a rating.
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None, ENGLISH("reasons.number_needed", given=quoted(value))
        if isinstance(value, int) and abs(value) > MAX_MAGNITUDE:
            return None, ENGLISH("reasons.too_large")
        number = float(value)
        if not math.isfinite(number):
            return None, ENGLISH("reasons.not_finite")
        return number, self.out_of_range(question, number, quoted(value))

    def out_of_range(self, question: Question, number: float, given: str) -> str:
        """Why a number is refused, "" if it is not. `given` is the answer for the message."""
        low = question.low or 0
        if low < number <= MAX_MAGNITUDE:
            return ""
        return ENGLISH("reasons.above", low=f"{low:g}", high=f"{MAX_MAGNITUDE:g}")

    def from_text(self, text: str) -> Any:
        if MAY_HAVE_THOUSANDS.fullmatch(text.strip()):
            return text
        try:
            number = float(text.strip().replace(",", "."))
        except ValueError:
            return text
        return int(number) if math.isfinite(number) and number == int(number) else number

    def is_alike(self, question: Question, value: Any, before: Any) -> bool:
        """Whether they differ by at most a factor of two. Zero is alike only to itself."""
        return bool(value == before or (before and 0.5 <= value / before <= 2.0))

    def keys(self, question: Question, words: Wording = ENGLISH) -> str:
        return words("keys.enter")


class SliderWidget(NumberWidget):
    """Any number between two ends."""

    has_scale = True

    def problems(self, question: Question) -> list[str]:
        low, high = question.low, question.high
        if low is None or high is None or not low < high:
            return [f"the slider of {question.name} must run from a lower to a higher number"]
        return []

    def out_of_range(self, question: Question, number: float, given: str) -> str:
        low, high = scale_ends(question)
        if low <= number <= high:
            return ""
        return ENGLISH("reasons.between", given=given, low=f"{low:g}", high=f"{high:g}")

    def is_alike(self, question: Question, value: Any, before: Any) -> bool:
        """Whether they differ by at most a tenth of the slider."""
        low, high = scale_ends(question)
        return bool(abs(value - before) <= (high - low) / 10)

    def keys(self, question: Question, words: Wording = ENGLISH) -> str:
        return words("keys.slider")


class PointsWidget(SliderWidget):
    """One of the whole numbers between two ends."""

    def problems(self, question: Question) -> list[str]:
        name, low, high = question.name, question.low, question.high
        if low is None or high is None or low != int(low) or high != int(high):
            return [f"the scale of {name} has no whole first and last point"]
        if high - low < 1:
            return [f"the scale of {name} has one point; a scale needs at least two"]
        if high - low + 1 > MAX_POINTS:
            return [f"the scale of {name} has over {MAX_POINTS} points: use the slider design"]
        return []

    def out_of_range(self, question: Question, number: float, given: str) -> str:
        low, high = scale_ends(question)
        if number != int(number):
            return ENGLISH("reasons.whole_number", low=f"{low:g}", high=f"{high:g}")
        return super().out_of_range(question, number, given)

    def is_alike(self, question: Question, value: Any, before: Any) -> bool:
        """Whether they differ by at most one point. On a scale of two points they must be equal."""
        low, high = scale_ends(question)
        return bool(abs(value - before) <= min(1, high - low - 1))

    def keys(self, question: Question, words: Wording = ENGLISH) -> str:
        low, high = scale_ends(question)
        return words("keys.points", low=f"{low:g}", high=f"{high:g}")


class AnswerWidget(Widget):
    """One of several words, or free text."""

    def checked(self, question: Question, value: object) -> tuple[Any, str]:
        if not isinstance(value, str):
            return None, ENGLISH("reasons.text_needed", given=quoted(value))
        if question.choices:
            if value in question.choices:
                return value, ""
            return value, ENGLISH("reasons.one_of", choices=", ".join(question.choices))
        if not value.strip():
            return None, ENGLISH("reasons.empty")
        if len(value) > MAX_TEXT_CHARACTERS:
            return None, ENGLISH("reasons.too_long", n=MAX_TEXT_CHARACTERS)
        return value, "" if is_storable(value) else ENGLISH("reasons.not_storable")

    def keys(self, question: Question, words: Wording = ENGLISH) -> str:
        if not question.choices:
            return words("keys.enter")
        return words("keys.choices", high=min(len(question.choices), 9))  # the keys 1 to 9


class ChoiceWidget(AnswerWidget):
    """One of two variants, or neither."""

    def problems(self, question: Question) -> list[str]:
        if {"a", "b"} <= {*question.choices} <= {"a", "b", "tie"}:
            return []
        return [f"the choices of {question.name} must be a, b and perhaps tie"]

    def keys(self, question: Question, words: Wording = ENGLISH) -> str:
        return words("keys.pair_or_tie" if "tie" in question.choices else "keys.pair")


class SpansWidget(Widget):
    """Error spans, marked in the text. A form sends them as JSON."""

    def problems(self, question: Question) -> list[str]:
        if question.severities:
            return []
        return [f"{question.name} has no severities: a mark says how bad the error is"]

    def checked(self, question: Question, value: object) -> tuple[Any, str]:
        return self.checked_about(question, value, "")

    def checked_about(self, question: Question, value: object, text: str) -> tuple[Any, str]:
        spans, reasons = checked_spans(
            value, text, severities=question.severities, categories=question.choices
        )
        return spans, "; ".join(reasons)

    def from_text(self, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text

    def is_alike(self, question: Question, value: Any, before: Any) -> bool:
        """Whether half of the marked characters are the same."""
        return is_marked_alike(value, before)

    def keys(self, question: Question, words: Wording = ENGLISH) -> str:
        return words("keys.spans")


WIDGETS: Mapping[QuestionKind, Widget] = {
    "points": PointsWidget(),
    "slider": SliderWidget(),
    "number": NumberWidget(),
    "choice": ChoiceWidget(),
    "answer": AnswerWidget(),
    "spans": SpansWidget(),
}


def scale_ends(question: Question) -> tuple[float, float]:
    """The first and the last point of a scale."""
    assert question.low is not None and question.high is not None
    return question.low, question.high


def check_values(
    questions: Sequence[Question], values: object, where: str = "", *, text: str = ""
) -> AnswerValues:
    """The answers to all questions about one variant, as they are stored. `text` is the variant's text.

    Raises AnswerError with all reasons at once; each reason begins with `where`.
    """
    if not isinstance(values, Mapping):
        raise AnswerError([f"{where}answers must be an object of question and value"])
    names = [question.name for question in questions]
    reasons = [f"{where}unknown question {quoted(name)}" for name in values if name not in names]
    checked: AnswerValues = {}
    for question in questions:
        if question.name not in values:
            reasons.append(where + ENGLISH("reasons.no_answer", question=question.name))
            continue
        value, reason = question.widget.checked_about(question, values[question.name], text)
        if reason:
            about = ENGLISH("reasons.about_question", question=question.name, reason=reason)
            reasons.append(where + about)
        checked[question.name] = value
    if reasons:
        raise AnswerError(reasons)
    return checked
