"""Designs that ask for a number for each output.

`Rating` has a scale of points, some of which are described in words. `Slider` has two ends that are
described in words. `Magnitude` takes any number above zero: an output that is twice as good gets twice
the number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from wellput.core.errors import InputError
from wellput.studies.designs.base import Design, seven_points
from wellput.studies.questionnaire import Check, Practice
from wellput.studies.questions import Question
from wellput.studies.wording import ENGLISH


@dataclass(frozen=True)
class Rating(Design):
    """Each output on a scale of `points`. The scales of Bangalore, Rambow & Whittaker (2000) have 7."""

    name: ClassVar[str] = "rating"
    title: ClassVar[str] = ENGLISH("designs.rating.title")
    instructions: ClassVar[str] = ENGLISH("designs.rating.instructions")
    default_questions: ClassVar[tuple[str, ...]] = ("understandability", "quality")

    points: int = 7

    def question(self, name: str) -> Question:
        text, labels = seven_points(name, self.words)
        if self.points != 7:
            labels = {"1": labels["1"], str(self.points): labels["7"]}
        return Question(name, text, "points", 1, self.points, labels)

    def kept_options(self) -> dict[str, Any]:
        """No options are stored: each question has its own points."""
        return {}

    def checks(self, questions: Sequence[Question]) -> tuple[Check, ...]:
        # The text asks for this point: the second one, unless a scale has no point above it.
        expected = 2 if min(question.high or 0 for question in questions) > 2 else 1
        text = self.words("designs.rating.check", number=expected)
        return (Check((text,), {question.name: expected for question in questions}),)


@dataclass(frozen=True)
class Slider(Design):
    """Each output on a slider from 0 to 100."""

    name: ClassVar[str] = "slider"
    title: ClassVar[str] = ENGLISH("designs.slider.title")
    instructions: ClassVar[str] = ENGLISH("designs.slider.instructions")
    default_questions: ClassVar[tuple[str, ...]] = ("quality",)

    def question(self, name: str) -> Question:
        text, labels = seven_points(name, self.words)
        return Question(name, text, "slider", 0, 100, {"0": labels["1"], "100": labels["7"]})

    def checks(self, questions: Sequence[Question]) -> tuple[Check, ...]:
        first = questions[0]
        far_left = [first.low, (first.high or 0) / 10]
        return (
            Check(
                (self.words("designs.slider.check"),),
                {question.name: far_left for question in questions},
            ),
        )


@dataclass(frozen=True)
class Magnitude(Design):
    """Judges give each output any number above zero. `modulus` is the number for a sentence of middle
    quality; None lets each judge choose a scale.

    As in Mutton et al. 2007, section 3.3, judges go by intuition, not by rules, and judge the form,
    not the content.
    """

    name: ClassVar[str] = "magnitude"
    title: ClassVar[str] = ENGLISH("designs.magnitude.title")
    instructions: ClassVar[str] = ENGLISH("designs.magnitude.instructions")
    default_questions: ClassVar[tuple[str, ...]] = ("fluency",)
    has_own_scales: ClassVar[bool] = True

    modulus: float | None = None

    def __post_init__(self) -> None:
        if self.modulus is not None and not self.modulus > 0:
            raise InputError(f"A modulus must be above zero; {self.modulus:g} is not.")

    def filled_in(self, text: str) -> str:
        scale = self.words("designs.magnitude.own_scale")
        if self.modulus is not None:
            scale = self.words(
                "designs.magnitude.modulus_scale",
                modulus=f"{self.modulus:g}",
                double=f"{2 * self.modulus:g}",
                half=f"{self.modulus / 2:g}",
            )
        return text.format(scale=scale)

    def question(self, name: str) -> Question:
        text, _ = seven_points(name, self.words)
        return Question(name, text, "number", low=0)

    def practice(self, questions: Sequence[Question]) -> tuple[Practice, ...]:
        """Any number may be right, so no answer is expected."""
        texts = self.words.all("practice.texts")
        feedback = self.words.all("practice.number_feedback")
        return tuple(
            Practice((text,), feedback=words) for text, words in zip(texts, feedback, strict=True)
        )

    def checks(self, questions: Sequence[Question]) -> tuple[Check, ...]:
        # The text asks for this number.
        text = self.words("designs.magnitude.check", number=5)
        return (Check((text,), {question.name: 5 for question in questions}),)
