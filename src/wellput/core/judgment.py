"""`Judgment` and `Preference`: one judge's answer to one question about one trial.

The values of a question are numbers, or one yes/no pair (`YES_NO_PAIRS`, in any letter case), which is
1 and 0, or else *labels*: texts that are only equal or not. A judge whose name begins with `model:` is
a machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Literal, TypeAlias, get_args

import numpy as np

from wellput.core.errors import InputError

PairwiseChoice: TypeAlias = Literal["a", "b", "tie"]
PAIRWISE_CHOICES: tuple[PairwiseChoice, ...] = get_args(PairwiseChoice)
YES_NO_PAIRS = (("yes", "no"), ("true", "false"), ("up", "down"))
MACHINE_PREFIX = "model:"
"""A judge whose name begins so is a machine."""
SAMPLE_COLUMN = "sample"


@dataclass(frozen=True, slots=True)
class Judgment:
    """A judge's rating of one system's output for one item; higher is better, yes is 1 and no is 0. A
    text is a label.

    `extra` holds the further columns of the file.
    """

    judge: str
    item: str
    system: str
    question: str
    value: float | str
    extra: Mapping[str, str] = field(default_factory=dict)

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
        """Which of several samples of the output was judged, by its number; empty for all of it."""
        return self.extra.get(SAMPLE_COLUMN, "")


@dataclass(frozen=True, slots=True)
class Preference:
    """A judge's choice between two systems' outputs for one item."""

    judge: str
    item: str
    system_a: str
    system_b: str
    question: str
    choice: PairwiseChoice
    extra: Mapping[str, str] = field(default_factory=dict)


def is_machine(judge: str) -> bool:
    """Whether the judge is a machine, not a person."""
    return judge.startswith(MACHINE_PREFIX)


def number_in(value: object) -> float | None:
    """The finite number that a value is or a text says; None for anything else, true and false too."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, str | Real):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def question_values(given: Sequence[object]) -> list[float] | list[str]:
    """The values of all answers to one question: numbers; 1 for yes and 0 for no; or labels.

    >>> question_values(["3", "4.5"]), question_values(["Yes", "no"]), question_values(["1", "yes"])
    ([3.0, 4.5], [1.0, 0.0], ['1', 'yes'])
    """
    numbers = [number for value in given if (number := number_in(value)) is not None]
    if len(numbers) == len(given):
        return numbers
    texts = [_text(value) for value in given]
    words = [text.strip().casefold() for text in texts]
    for pair in YES_NO_PAIRS:
        if set(words) <= set(pair):
            return [float(word == pair[0]) for word in words]
    return texts


def values_by_question(questions: Sequence[str], given: Sequence[object]) -> list[float | str]:
    """The values of answers to several questions, each given with its question."""
    places: dict[str, list[int]] = {}
    for place, question in enumerate(questions):
        places.setdefault(question, []).append(place)
    found: list[float | str] = [0.0] * len(given)
    for own in places.values():
        values: Sequence[float | str] = question_values([given[place] for place in own])
        for place, value in zip(own, values, strict=True):
            found[place] = value
    return found


def with_question_values(judgments: Sequence[Judgment]) -> list[Judgment]:
    """The judgments with values as `question_values` gives them."""
    if all(isinstance(one.value, float) for one in judgments):
        return list(judgments)
    values = values_by_question(
        [one.question for one in judgments], [one.value for one in judgments]
    )
    return [replace(one, value=value) for one, value in zip(judgments, values, strict=True)]


def _text(value: object) -> str:
    """A value as it stands in a file of text."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    return f"{float(value):.15g}" if isinstance(value, Real) else str(value)
