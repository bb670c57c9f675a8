"""Sliders: any number between two ends that carry words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from wellput.studies.designs.base import Design
from wellput.studies.questionnaire import Check
from wellput.studies.questions import Question
from wellput.studies.wordings import seven_points


@dataclass(frozen=True)
class Slider(Design):
    """Each output by a slider from 0 to 100."""

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
