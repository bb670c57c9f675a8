"""What judges answer: checked against the questions, and brought into one shape for the store.

In the store the answers to a trial are a list with one {question: value} per variant; a pair has one
such entry for both.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from wellput.core.errors import InputError
from wellput.studies.questionnaire import Question

Values = dict[str, Any]

MAX_TEXT = 2000
LARGEST = 1e15
"""Bounds of a magnitude: beyond them it is a slip of the keyboard, and not a number to average."""


class AnswerError(InputError):
    """An answer that the questions do not allow; `reasons` say why, one by one."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = list(reasons)


def check_values(questions: Sequence[Question], values: object, where: str = "") -> Values:
    """The answers to all questions about one variant, as they are stored.

    Raises AnswerError with every reason at once; `where` is put before each.
    """
    if not isinstance(values, Mapping):
        raise AnswerError([f"{where}answers must be an object of question and value"])
    names = [question.name for question in questions]
    reasons = [f"{where}unknown question {_shown(name)}" for name in values if name not in names]
    found: Values = {}
    for question in questions:
        if question.name not in values:
            reasons.append(f"{where}no answer to {question.name}")
            continue
        value, reason = _checked(question, values[question.name])
        if reason:
            reasons.append(f"{where}{question.name}: {reason}")
        found[question.name] = value
    if reasons:
        raise AnswerError(reasons)
    return found


def from_text(question: Question, text: str) -> Any:
    """A form's text as the value that the question wants; the text itself where it is none."""
    if question.kind not in ("points", "slider", "number"):
        return text
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        return text
    return int(number) if math.isfinite(number) and number == int(number) else number


def is_storable(text: str) -> bool:
    """Whether every database can hold the text: no NUL, no half of a surrogate pair."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def is_success(answer: str, keys: Sequence[str]) -> bool:
    """Whether an answer is one of the keyed ones, but for case, spacing and a final full stop."""
    return _plain(answer) in {_plain(key) for key in keys}


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).rstrip(".!? ")


def _checked(question: Question, value: object) -> tuple[Any, str]:
    """The value in its stored form, and why it is none ("" where it is)."""
    if question.kind in ("choice", "answer"):
        return _checked_text(question, value)
    # A whole number may be too large for a float; bool is an int in Python, but no rating.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None, f"a number is needed, not {_shown(value)}"
    if isinstance(value, int) and abs(value) > LARGEST:
        return None, "the number is too large"
    number = float(value)
    if not math.isfinite(number):
        return None, "the number is not finite"
    low, high = question.low, question.high
    if question.kind == "number":
        if not (low or 0) < number <= LARGEST:
            return None, f"a number above {low or 0:g} is needed, at most {LARGEST:g}"
        return number, ""
    assert low is not None and high is not None
    if question.kind == "points" and number != int(number):
        return None, f"a whole number from {low:g} to {high:g} is needed"
    if not low <= number <= high:
        return None, f"{_shown(value)} is not between {low:g} and {high:g}"
    return number, ""


def _checked_text(question: Question, value: object) -> tuple[Any, str]:
    if not isinstance(value, str):
        return None, f"text is needed, not {_shown(value)}"
    if question.choices:
        wanted = ", ".join(question.choices)
        return value, "" if value in question.choices else f"one of {wanted} is needed"
    if not value.strip():
        return None, "the answer is empty"
    if len(value) > MAX_TEXT:
        return None, f"the answer is longer than {MAX_TEXT} characters"
    return value, "" if is_storable(value) else "the answer has characters that cannot be stored"


def _shown(value: object) -> str:
    text = repr(value).encode("ascii", "backslashreplace").decode("ascii")
    return text if len(text) <= 40 else text[:39] + "…"
