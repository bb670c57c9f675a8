"""`Judgment` and `Preference`: one judge's answer to one question about one trial. A trial is what
the judge compares or rates at once: an output (`Judgment`), or two outputs for the same item
(`Preference`).

The values of a question are numbers; or one yes/no pair (`YES_NO_PAIRS`, in any letter case), read as
1 and 0; or else *labels*: texts without an order, which are either equal or different. A judge whose
name begins with `model:` is a machine.

`ErrorSpan`: a part of an output that a judge marked as wrong. A judgment's column `spans` has a JSON
list of them: `[{"start": 4, "end": 9, "severity": "major", "category": "accuracy/omission"}]`.

`start` and `end` count characters of the output from 0, a line break as one character; `end` is the
first character after the span. Both are `"missing"` if the output leaves something out, which
therefore has no place in it. A span may also have the marked words, as `text`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Literal, TypeAlias, TypeVar, get_args

import numpy as np

from wellput.core.errors import InputError
from wellput.core.line_breaks import place_with_line_feeds

PairwiseChoice: TypeAlias = Literal["a", "b", "tie"]
PAIRWISE_CHOICES: tuple[PairwiseChoice, ...] = get_args(PairwiseChoice)
YES_NO_PAIRS = (("yes", "no"), ("true", "false"), ("up", "down"))
MACHINE_PREFIX = "model:"
"""A judge whose name begins so is a machine."""
MODEL_NAME_PATTERN = re.compile(
    r"gpt|llama|qwen|deepseek|mixtral|\bllm\b"
    r"|\b(claude|gemini|gemma|mistral|grok|phi)[-_ :]?(v?\d|opus|sonnet|haiku|pro\b|flash|large|small)"
)
"""Names of language models, in lower case. Claude and Gemma are also names of people, so they count
only with a version."""
SAMPLE_COLUMN = "sample"


@dataclass(frozen=True, slots=True)
class Judgment:
    """A judge's answer to a question about one system's output for one item. `value` is a number
    (higher is better; yes is 1 and no is 0) or a text, which is a label.

    `extra` has the other columns of the file. `file` is the name of the file, if several files were
    read together; else it is empty. It is not compared and not written.
    """

    judge: str
    item: str
    system: str
    question: str
    value: float | str
    extra: Mapping[str, str] = field(default_factory=dict)
    file: str = field(default="", compare=False, repr=False)

    @property
    def number(self) -> float:
        """The value, which must not be a label."""
        if isinstance(self.value, str):
            raise InputError(
                f"{self.question}: {self.value!r} (judge {self.judge}, item {self.item}, system "
                f"{self.system}) is a label, not a number."
            )
        return self.value

    @property
    def sample(self) -> str:
        """The number of the judged sample, if the output has several samples; empty if the output as a
        whole was judged."""
        return self.extra.get(SAMPLE_COLUMN, "")


@dataclass(frozen=True, slots=True)
class Preference:
    """A judge's choice between two systems' outputs for one item. `extra` and `file` are as for a
    `Judgment`."""

    judge: str
    item: str
    system_a: str
    system_b: str
    question: str
    choice: PairwiseChoice
    extra: Mapping[str, str] = field(default_factory=dict)
    file: str = field(default="", compare=False, repr=False)

    @property
    def sample(self) -> str:
        """As for a `Judgment`: the number of the judged sample of both outputs, or empty."""
        return self.extra.get(SAMPLE_COLUMN, "")


AnswerT = TypeVar("AnswerT", bound="Judgment | Preference")


def without_lone_samples(answers: Sequence[AnswerT]) -> list[AnswerT]:
    """The answers, where sample 0 of an output is the output as a whole if nobody judged another sample
    of it: a single text is sample 0, and files may say so or not."""
    samples_of: dict[tuple[str, ...], set[str]] = {}
    for answer in answers:
        samples_of.setdefault(judged_output(answer), set()).add(answer.sample)
    lone = {
        output
        for output, samples in samples_of.items()
        if len(samples) > 1 and all(not sample.strip("0") for sample in samples)
    }
    return [
        replace(answer, extra={**answer.extra, SAMPLE_COLUMN: ""})
        if judged_output(answer) in lone
        else answer
        for answer in answers
    ]


def judged_output(answer: Judgment | Preference) -> tuple[str, ...]:
    """The item and the system; for a choice the item and both systems, in alphabetical order."""
    if isinstance(answer, Preference):
        return answer.item, *sorted((answer.system_a, answer.system_b))
    return answer.item, answer.system


def is_machine(judge: str) -> bool:
    """Whether the judge is a machine, not a person."""
    return judge.startswith(MACHINE_PREFIX)


def seems_machine(judge: str) -> bool:
    """Whether a judge without the prefix `model:` has the name of a language model.

    >>> [name for name in ("gpt-4o", "Claude", "claude-3", "Llama 3", "J3") if seems_machine(name)]
    ['gpt-4o', 'claude-3', 'Llama 3']
    """
    return not is_machine(judge) and MODEL_NAME_PATTERN.search(judge.casefold()) is not None


def number_in(value: object) -> float | None:
    """The value as a finite number, if it is a number or the text of one; None otherwise, also for true
    and false.

    >>> number_in(" 4.5 "), number_in("4_5"), number_in(True)  # 4_5 is 45 in Python only
    (4.5, None, None)
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, str | Real):
        return None
    if isinstance(value, str) and "_" in value:
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def question_values(answers: Sequence[object]) -> list[float] | list[str]:
    """Converts all answers to one question: to numbers; to 1 for yes and 0 for no; or to labels.

    >>> question_values(["3", "4.5"]), question_values(["Yes", "no"]), question_values(["1", "yes"])
    ([3.0, 4.5], [1.0, 0.0], ['1', 'yes'])
    """
    numbers = [number for value in answers if (number := number_in(value)) is not None]
    if len(numbers) == len(answers):
        return numbers
    texts = [_text(value) for value in answers]
    words = [text.strip().casefold() for text in texts]
    for pair in YES_NO_PAIRS:
        if set(words) <= set(pair):
            return [float(word == pair[0]) for word in words]
    return texts


def values_by_question(questions: Sequence[str], answers: Sequence[object]) -> list[float | str]:
    """Converts answers to several questions as `question_values` does; `questions` has the question of
    each answer."""
    places_of: dict[str, list[int]] = {}
    for place, question in enumerate(questions):
        places_of.setdefault(question, []).append(place)
    converted: list[float | str] = [0.0] * len(answers)
    for places in places_of.values():
        values: Sequence[float | str] = question_values([answers[place] for place in places])
        for place, value in zip(places, values, strict=True):
            converted[place] = value
    return converted


def with_question_values(judgments: Sequence[Judgment]) -> list[Judgment]:
    """The judgments with their values converted by `question_values`."""
    if all(isinstance(judgment.value, float) for judgment in judgments):
        return list(judgments)
    values = values_by_question(
        [judgment.question for judgment in judgments], [judgment.value for judgment in judgments]
    )
    return [
        replace(judgment, value=value) for judgment, value in zip(judgments, values, strict=True)
    ]


def _text(value: object) -> str:
    """A value as a text file has it: true and false in lower case, numbers with up to 15 digits."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    return f"{float(value):.15g}" if isinstance(value, Real) else str(value)


SPANS_COLUMN = "spans"
MISSING = "missing"
"""The value of `start` and `end` if something is missing from the output."""


@dataclass(frozen=True, slots=True, order=True)
class ErrorSpan:
    """Characters `start` up to but without `end` of an output; both are −1 if something is missing from
    the output."""

    start: int
    end: int
    severity: str = ""
    category: str = ""

    @property
    def is_missing(self) -> bool:
        return self.start < 0


def read_error_spans(cell: str, output: str = "") -> list[ErrorSpan]:
    """The spans of a cell; an empty cell has none. Raises InputError that says what is wrong. If the
    `output` that was marked is given, the returned offsets count a line break as one character.

    >>> read_error_spans('[{"start": 4, "end": 9, "severity": "major"}]')
    [ErrorSpan(start=4, end=9, severity='major', category='')]
    """
    if not cell.strip():
        return []
    try:
        records = json.loads(cell)
    except (ValueError, RecursionError):
        raise InputError("its spans are not JSON") from None
    if not isinstance(records, list):
        raise InputError("its spans are not a list")
    return [_span(record, number, output) for number, record in enumerate(records, start=1)]


def _span(record: object, number: int, output: str) -> ErrorSpan:
    """The error span of a record, checked. `number` is its number for error messages, `output` the
    judged text. A mark that something is missing has the start and end −1."""
    if not isinstance(record, Mapping):
        raise InputError(f"span {number} is not an object with start and end")
    start, end = record.get("start"), record.get("end")
    severity, category = record.get("severity") or "", record.get("category") or ""
    if not isinstance(severity, str) or not isinstance(category, str):
        raise InputError(f"span {number}: its severity and category must be texts")
    if start == MISSING:
        return ErrorSpan(-1, -1, severity, category)
    if type(start) is not int or type(end) is not int:
        raise InputError(f'span {number}: start and end must be whole numbers, or "{MISSING}"')
    if not 0 <= start < end:
        raise InputError(f"span {number} goes from {start} to {end}: it has no characters")
    places = place_with_line_feeds(start, end, output, record.get("text"))
    return ErrorSpan(*places, severity, category)
