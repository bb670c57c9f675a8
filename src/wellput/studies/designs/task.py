"""The design `TaskDesign`: judges answer a question about the text, and their time is measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from wellput.core.judgment import Judgment
from wellput.studies.designs.base import AnsweredTrial, Design
from wellput.studies.questionnaire import Layout, Practice, Questionnaire, Task
from wellput.studies.questions import Question, is_right_answer
from wellput.studies.wording import ENGLISH

SECONDS_QUESTION = "seconds"
"""The time of a task is stored as a judgment on a question of this name."""


@dataclass(frozen=True)
class TaskDesign(Design):
    """Judges read one output and answer a question that belongs to its item.

    The answers depend on reading the text for the first time. So answers cannot be taken back, and a
    judge sees each item only once.
    """

    name: ClassVar[str] = "task"
    title: ClassVar[str] = ENGLISH("designs.task.title")
    instructions: ClassVar[str] = ENGLISH("designs.task.instructions")
    default_questions: ClassVar[tuple[str, ...]] = ("success",)
    layouts: ClassVar[tuple[Layout, ...]] = ("single",)
    shows_items_once: ClassVar[bool] = True
    can_undo: ClassVar[bool] = False
    has_tasks: ClassVar[bool] = True
    n_texts: ClassVar[int | None] = 1

    def question(self, name: str) -> Question:
        return Question(name, self.words("designs.task.question"), "answer")

    def problems(self, questionnaire: Questionnaire) -> list[str]:
        problems = super().problems(questionnaire)
        if len(questionnaire.questions) > 1:
            problems.append(
                "a task has one question for each item; give its wording under [[tasks]]"
            )
        return problems

    def practice(self, questions: Sequence[Question]) -> tuple[Practice, ...]:
        answers = list(self.words.all("practice.answers"))
        return tuple(
            Practice(
                (text,),
                question=self.words("practice.question"),
                expected={question.name: answers for question in questions},
                feedback=self.words("practice.task_feedback"),
            )
            for text in self.words.all("practice.texts")
        )

    def asked(self, questions: tuple[Question, ...], task: Task | None) -> tuple[Question, ...]:
        if task is None:
            return questions
        return (Question(questions[0].name, task.text, "answer", choices=task.choices),)

    def is_expected(self, answer: Any, expected: Any) -> bool:
        """Whether the answer is right. `expected` is the right answer, or a list of right answers."""
        right_answers = expected if isinstance(expected, list | tuple) else [expected]
        return is_right_answer(answer, [str(right) for right in right_answers])

    def is_alike(self, question: Question, answer: Any, before: Any) -> bool:
        return bool(answer == before)

    def judgments(self, trial: AnsweredTrial) -> Iterator[Judgment]:
        """Two judgments of each output: whether the answer was right (0 or 1), and the seconds that
        the judge took."""
        assert trial.task is not None
        for system, answers in zip(trial.systems, trial.answers, strict=True):
            for question, answer in answers.items():
                columns = {"answer": str(answer)}
                success = is_right_answer(answer, trial.task.answers)
                yield trial.judgment(system, question, success, columns)
                yield trial.judgment(system, SECONDS_QUESTION, trial.seconds, columns)
