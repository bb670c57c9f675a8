"""Compares answers with the expected ones: in attention checks, and for the feedback after a practice
trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wellput.studies.questionnaire import Check, Practice
from wellput.studies.questions import AnswerValues, Question
from wellput.studies.shown_trials import questions_of
from wellput.studies.study_setup import StudySetup
from wellput.studies.study_transactions import Assignment


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a judge reads after a practice trial. `is_right` is None where nothing was expected. `text`
    is written by the owner. `given` has each question with the judge's answer in words."""

    is_right: bool | None
    text: str
    given: tuple[tuple[str, str], ...]


def passes(setup: StudySetup, trial: Check | Practice, values: Sequence[AnswerValues]) -> bool:
    """Whether every text was answered as expected."""
    return all(
        setup.design.is_expected(given[question], expected)
        for given in values
        for question, expected in trial.expected.items()
    )


def has_feedback(setup: StudySetup, row: Assignment) -> bool:
    """Whether the judge reads something after answering this trial."""
    if row.purpose != "practice":
        return False
    practice = setup.questionnaire.practice[row.number]
    return bool(practice.feedback or practice.expected)


def feedback_of(setup: StudySetup, row: Assignment, values: Sequence[AnswerValues]) -> Feedback:
    """What to say about the answers to a practice trial."""
    practice = setup.questionnaire.practice[row.number]
    questions = questions_of(setup, row)
    return Feedback(
        is_right=passes(setup, practice, values) if practice.expected else None,
        text=practice.feedback or "",
        given=tuple(
            (question.text, in_words(setup, question, answers[question.name]))
            for answers in values
            for question in questions
        ),
    )


def in_words(setup: StudySetup, question: Question, answer: Any) -> str:
    """An answer as the judge reads it back."""
    words = setup.words
    if question.kind == "choice":
        keys = {"a": "pages.first", "b": "pages.second", "tie": "pages.no_difference"}
        return words(keys[answer])
    if question.kind == "spans":
        marks = [span["text"] or words("marking.missing") for span in answer]
        return "; ".join(f"“{mark}”" for mark in marks) or words("feedback.nothing_marked")
    return f"{answer:g}" if isinstance(answer, int | float) else str(answer)
