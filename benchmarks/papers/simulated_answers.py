"""A study answered by SIMULATED judges: made, invited to, answered trial by trial and exported as with people.

It shows that a study runs as a paper describes it, and nothing about people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import wellput
from wellput.core.evalset import EvalSet
from wellput.core.judgment import Judgment, Preference
from wellput.studies.questionnaire import ShownTrial

Answering: TypeAlias = Callable[[int, ShownTrial], Mapping[str, Any]]
"""What a judge, by number, answers to a trial: {question: value}, or by variant if several are shown."""


def study_ratings(
    evalset: EvalSet, answering: Answering, *, folder: Path, name: str, judges: int, **options: Any
) -> list[Judgment]:
    """The answers of a study that `wellput study create` makes with these options; `NAME.csv` in the folder
    has them too, as `wellput study export` writes them."""
    answers = _answers(evalset, answering, folder, name, judges, options)
    return [answer for answer in answers if isinstance(answer, Judgment)]


def study_choices(
    evalset: EvalSet, answering: Answering, *, folder: Path, name: str, judges: int, **options: Any
) -> list[Preference]:
    """The same for a study of pairs."""
    answers = _answers(evalset, answering, folder, name, judges, options)
    return [answer for answer in answers if isinstance(answer, Preference)]


def _answers(
    evalset: EvalSet,
    answering: Answering,
    folder: Path,
    name: str,
    judges: int,
    options: Mapping[str, Any],
) -> Sequence[Judgment | Preference]:
    study = wellput.Study.create(evalset, path=folder / f"{name}.db", judges=judges, **options)
    store = study._store
    for number, invitation in enumerate(store.invite(judges)):
        judge = store.judge_of(invitation.token)
        assert judge is not None
        while (trial := store.next_trial(judge)) is not None:
            store.record(judge, trial.id, answering(number, trial), ms=1000)
    study.export(folder / f"{name}.csv")
    study.close()
    return wellput.read_judgments(folder / f"{name}.csv")
