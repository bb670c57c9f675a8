"""The statements that the store's methods share: a study in and out of its tables, its state, a
judge's assignments with their newest answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import sqlalchemy as sa
from sqlalchemy import Connection

from wellput.core.errors import InputError, WellputError
from wellput.studies import schema
from wellput.studies.answers import is_storable
from wellput.studies.handing_out import Assignment
from wellput.studies.questionnaire import Check, Questionnaire, Task
from wellput.studies.study_setup import StudyItem, StudyPlan, StudySetup, Trial

State: TypeAlias = Literal["open", "paused", "closed"]
STATES: tuple[State, ...] = get_args(State)

assignments = schema.assignments.c
answers = schema.answers.c
judges = schema.judges.c

# Statements of every request, built once.
STATE = sa.select(schema.study.c.state)
LATEST = (
    sa.select(schema.answers)
    .where(answers.assignment == sa.bindparam("of_assignment"))
    .order_by(answers.revision.desc())
    .limit(1)
)


class StudyClosed(WellputError):
    """The study is paused or closed; `state` says which."""

    def __init__(self, state: State) -> None:
        super().__init__(f"The study is {state}.")
        self.state = state


def insert_setup(connection: Connection, setup: StudySetup, owner_hash: str, now: float) -> None:
    connection.execute(
        schema.study.insert().values(
            id=1, settings=setup.settings(), state="open", owner_hash=owner_hash, created_at=now
        )
    )
    connection.execute(
        schema.items.insert(),
        [
            {
                "number": number,
                "id": item.id,
                "context": item.context,
                "source": item.source,
                "outputs": dict(item.outputs),
            }
            for number, item in enumerate(setup.items)
        ],
    )
    spoken = [
        {"item": number, "wav": item.speech}
        for number, item in enumerate(setup.items)
        if item.speech is not None
    ]
    if spoken:
        connection.execute(schema.speech.insert(), spoken)
    planned = setup.plan.per_item if setup.plan.kind == "per-item" else 0
    connection.execute(
        schema.trials.insert(),
        [
            {
                "number": number,
                "item": trial.item,
                "systems": list(trial.systems),
                "planned": planned,
                "given": 0,
            }
            for number, trial in enumerate(setup.trials)
        ],
    )


def _task(record: Mapping[str, Any]) -> Task:
    lists = {name: tuple(record[name]) for name in ("answers", "choices")}
    return Task(**{**record, **lists})


def state_of(connection: Connection) -> State:
    state: State = connection.scalars(STATE).one()
    return state


def require_state(connection: Connection, allowed: Sequence[State]) -> None:
    if (state := state_of(connection)) not in allowed:
        raise StudyClosed(state)


def lock_study(connection: Connection) -> None:
    """Handing out is one at a time: SQLite locks everything anyway, PostgreSQL this row."""
    connection.execute(sa.select(schema.study.c.id).with_for_update())


def own_assignment(
    connection: Connection, judge: int, key: str, *, lock: bool = False
) -> Assignment | None:
    if not is_storable(key):
        return None
    rows = sa.select(schema.assignments).where(assignments.key == key, assignments.judge == judge)
    return connection.execute(rows.with_for_update() if lock else rows).one_or_none()


def speech_of(connection: Connection, item: int) -> bytes | None:
    """What is said of an item; None where it is read, or performed in silence."""
    found: bytes | None = connection.scalar(
        sa.select(schema.speech.c.wav).where(schema.speech.c.item == item)
    )
    return found


def latest_answer(connection: Connection, assignment: int) -> Assignment | None:
    return connection.execute(LATEST, {"of_assignment": assignment}).one_or_none()


def has_consented(connection: Connection, judge: int) -> bool:
    return connection.scalar(sa.select(judges.consented_at).where(judges.id == judge)) is not None


def load_setup(connection: Connection, where: str) -> StudySetup:
    """The inverse of `insert_setup`, but for the speech, which is fetched when it is heard."""
    settings = connection.scalar(sa.select(schema.study.c.settings))
    if settings is None:
        raise InputError(f"{where} holds no study.")
    rows = connection.execute(sa.select(schema.items).order_by(schema.items.c.number))
    items = tuple(StudyItem(r.id, r.outputs, r.context, r.source) for r in rows)
    rows = connection.execute(sa.select(schema.trials).order_by(schema.trials.c.number))
    trials = tuple(Trial(r.item, tuple(r.systems)) for r in rows)
    return StudySetup(
        questionnaire=Questionnaire.from_json(settings["design"]),
        plan=StudyPlan(**settings["plan"]),
        items=items,
        trials=trials,
        seed=settings["seed"],
        checks=tuple(Check(**{**c, "texts": tuple(c["texts"])}) for c in settings["checks"]),
        tasks={task["item"]: _task(task) for task in settings["tasks"]},
        selection=settings["selection"],
    )
