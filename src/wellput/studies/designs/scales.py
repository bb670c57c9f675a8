"""Designs that ask for a number for each output: `Rating` on a scale of points, some with words;
`Slider` between two ends with words; `Magnitude` by a number in proportion, on the judge's own scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from wellput.core.errors import InputError
from wellput.studies.designs.base import Design, seven_points
from wellput.studies.questionnaire import Check
from wellput.studies.questions import Question


@dataclass(frozen=True)
class Rating(Design):
    """Each output on a scale of `points`. The scales of Bangalore, Rambow & Whittaker (2000) have 7."""

    name: ClassVar[str] = "rating"
    title: ClassVar[str] = "How well is it put?"
    instructions: ClassVar[str] = (
        "You will read sentences, some of them with a short paragraph that leads up to them. Rate "
        "each sentence on the scales below it. Some points of a scale carry a description; use the "
        "points in between as you see fit.\n\n"
        "There are no right or wrong answers: your first impression is what counts. You can go back "
        "one step, and you can leave at any time and come back with the same link."
    )
    default_questions: ClassVar[tuple[str, ...]] = ("understandability", "quality")

    points: int = 7

    def question(self, name: str) -> Question:
        text, labels = seven_points(name)
        if self.points != 7:
            labels = {"1": labels["1"], str(self.points): labels["7"]}
        return Question(name, text, "points", 1, self.points, labels)

    def kept_options(self) -> dict[str, Any]:
        """No options are stored: each question has its own points."""
        return {}

    def checks(self, questions: Sequence[Question]) -> tuple[Check, ...]:
        expected = 2 if min(question.high or 0 for question in questions) > 2 else 1
        words = f"This sentence is a check: please answer {expected} on every scale."
        return (Check((words,), {question.name: expected for question in questions}),)


@dataclass(frozen=True)
class Slider(Design):
    """Each output on a slider from 0 to 100."""

    name: ClassVar[str] = "slider"
    title: ClassVar[str] = "How well is it put?"
    instructions: ClassVar[str] = (
        "You will read sentences, some of them with a short paragraph that leads up to them. Move the "
        "slider below each sentence to where you would put it between the two ends.\n\n"
        "There are no right or wrong answers: your first impression is what counts. You can go back "
        "one step, and you can leave at any time and come back with the same link."
    )
    default_questions: ClassVar[tuple[str, ...]] = ("quality",)

    def question(self, name: str) -> Question:
        text, labels = seven_points(name)
        return Question(name, text, "slider", 0, 100, {"0": labels["1"], "100": labels["7"]})

    def checks(self, questions: Sequence[Question]) -> tuple[Check, ...]:
        first = questions[0]
        far_left = [first.low, (first.high or 0) / 10]
        words = "This sentence is a check: please move every slider to the far left."
        return (Check((words,), {question.name: far_left for question in questions}),)


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


@dataclass(frozen=True)
class Magnitude(Design):
    """Each output by a number. `modulus` is the number of a middling sentence, None for the judge's own
    scale.

    Mutton et al. 2007, section 3.3: judges go by intuition, not by rules, and judge form, not content.
    """

    name: ClassVar[str] = "magnitude"
    title: ClassVar[str] = "How fluent is it?"
    instructions: ClassVar[str] = (
        "Judge how fluent each sentence is: how natural and grammatical it sounds. Judge the form, "
        "not the content. A sentence may be nonsense and still be perfectly fluent: “Colorless green "
        "ideas sleep furiously” is one.\n\n"
        "{scale}\n\n"
        "There are no right or wrong answers: go by your intuition. You can go back one step, and "
        "you can leave at any time and come back with the same link."
    )
    default_questions: ClassVar[tuple[str, ...]] = ("fluency",)
    has_own_scales: ClassVar[bool] = True

    modulus: float | None = None

    def __post_init__(self) -> None:
        if self.modulus is not None and not self.modulus > 0:
            raise InputError(f"A modulus must be above zero; {self.modulus:g} is not.")

    def filled_in(self, text: str) -> str:
        if self.modulus is None:
            return text.format(scale=OWN_SCALE)
        modulus = self.modulus
        return text.format(
            scale=MODULUS_SCALE.format(modulus=modulus, double=2 * modulus, half=modulus / 2)
        )

    def question(self, name: str) -> Question:
        text, _ = seven_points(name)
        return Question(name, text, "number", low=0)

    def checks(self, questions: Sequence[Question]) -> tuple[Check, ...]:
        words = "This sentence is a check: please enter the number 5 here."
        return (Check((words,), {question.name: 5 for question in questions}),)
