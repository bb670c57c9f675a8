"""Studies for the tests of the store, and judges who answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.questionnaire import Check, Questionnaire, ShownTrial, Task
from wellput.studies.store import JudgeRef, Store
from wellput.studies.study_setup import StudyItem, StudyPlan, StudySetup, all_trials, make_setup


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def items_of(n: int, systems: str = "ABC") -> tuple[StudyItem, ...]:
    return tuple(
        StudyItem(f"i{k}", {system: f"{system} says {k}" for system in systems}, f"context {k}")
        for k in range(n)
    )


def new_setup(
    questionnaire: Questionnaire | None = None,
    *,
    n_items: int = 4,
    systems: str = "ABC",
    check_trials: Sequence[Check] = (),
    tasks: Sequence[Task] = (),
    seed: int = 7,
    **plan: Any,
) -> StudySetup:
    questionnaire = questionnaire or default_questionnaire("rating")
    items = items_of(n_items, systems)
    return make_setup(
        questionnaire,
        StudyPlan(**{"judges": 3, "per_item": 3, **plan}),
        items,
        all_trials(questionnaire, items),
        seed=seed,
        checks=check_trials,
        tasks=tasks,
    )


def judges_of(store: Store, n: int) -> list[JudgeRef]:
    """`n` new judges."""
    found = [store.judge_of(invitation.token) for invitation in store.invite(n)]
    return [judge for judge in found if judge is not None]


def answer_to(trial: ShownTrial, number: int = 0) -> dict[str, Any]:
    """An allowed answer, a different one for each number."""
    values: dict[str, Any] = {}
    for question in trial.questions:
        if question.kind == "choice":
            values[question.name] = question.choices[number % len(question.choices)]
        elif question.kind == "answer":
            values[question.name] = (
                question.choices[number % len(question.choices)]
                if question.choices
                else f"n{number}"
            )
        elif question.kind == "number":
            values[question.name] = 1.5 + number
        else:
            span = int((question.high or 0) - (question.low or 0)) + 1
            values[question.name] = (question.low or 0) + number % span
    if trial.questions[0].kind != "choice" and len(trial.variants) > 1:
        return {variant.id: dict(values) for variant in trial.variants}
    return values


def answer_all(store: Store, judge: JudgeRef, *, at_most: int = 10_000) -> list[ShownTrial]:
    """Answers until nothing is left, or `at_most` times. Returns the trials that were shown."""
    shown: list[ShownTrial] = []
    while len(shown) < at_most and (trial := store.next_trial(judge)) is not None:
        assert store.record(judge, trial.id, answer_to(trial, len(shown)), ms=1500) == "created"
        shown.append(trial)
    return shown
