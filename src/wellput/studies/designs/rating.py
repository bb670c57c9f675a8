"""Ratings: points of a scale with words at some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from wellput.studies.designs.base import Design
from wellput.studies.questionnaire import Check
from wellput.studies.questions import Question
from wellput.studies.wordings import seven_points


@dataclass(frozen=True)
class Rating(Design):
    """Each output on a scale of `points`; those of Bangalore, Rambow & Whittaker (2000) have 7."""

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
        """None: each question has its own points."""
        return {}

    def checks(self, questions: Sequence[Question]) -> tuple[Check, ...]:
        expected = 2 if min(question.high or 0 for question in questions) > 2 else 1
        words = f"This sentence is a check: please answer {expected} on every scale."
        return (Check((words,), {question.name: expected for question in questions}),)
