"""Reads a study from its tables and writes it: the statements that the store's methods share, and the
answered trials, from which judgments or preferences are made.

Only the latest answer to a trial counts. Practice trials, attention checks and repeated trials make no
judgments; repeats are given on request.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, cast, get_args

import sqlalchemy as sa
from sqlalchemy import Connection

from wellput.agreement.rankings.judgment_design import DOCUMENT_COLUMN
from wellput.core.errors import InputError, WellputError
from wellput.core.judgment import Judgment, Preference
from wellput.studies import schema
from wellput.studies.designs.base import AnsweredTrial
from wellput.studies.invitations import opaque_id
from wellput.studies.judge_queue import (
    Assignment,
    AssignmentPurpose,
    NewAssignment,
    change_given,
)
from wellput.studies.questionnaire import Check, Questionnaire, Task, from_record
from wellput.studies.questions import AnswerValues, is_storable
from wellput.studies.study_setup import (
    StudyItem,
    StudyPlan,
    StudySetup,
    Trial,
    beside_items,
    with_beside,
)

StudyState: TypeAlias = Literal["open", "paused", "closed"]
STUDY_STATES: tuple[StudyState, ...] = get_args(StudyState)

assignments = schema.assignments.c
answers = schema.answers.c
judges = schema.judges.c

# Statements of every request, built once.
STATE_QUERY = sa.select(schema.study.c.state)
LATEST_ANSWER_QUERY = (
    sa.select(schema.answers)
    .where(answers.assignment == sa.bindparam("of_assignment"))
    .order_by(answers.revision.desc())
    .limit(1)
)


class StudyClosed(WellputError):
    """The study is paused or closed; `state` says which."""

    def __init__(self, state: StudyState) -> None:
        super().__init__(f"The study is {state}.")
        self.state = state


def insert_setup(connection: Connection, setup: StudySetup, owner_hash: str, now: float) -> None:
    settings = setup.settings()
    if beside := beside_items(setup.items):
        settings["beside_items"] = beside
    connection.execute(
        schema.study.insert().values(
            id=1, settings=settings, state="open", owner_hash=owner_hash, created_at=now
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
                "document": item.document,
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


def state_of(connection: Connection) -> StudyState:
    state: StudyState = connection.scalars(STATE_QUERY).one()
    return state


def require_state(connection: Connection, allowed: Sequence[StudyState]) -> None:
    if (state := state_of(connection)) not in allowed:
        raise StudyClosed(state)


def lock_study(connection: Connection) -> None:
    """Lets one transaction at a time hand out trials. (SQLite locks the whole file anyway.)"""
    connection.execute(sa.select(schema.study.c.id).with_for_update())


def own_assignment(
    connection: Connection, judge: int, key: str, *, lock: bool = False
) -> Assignment | None:
    if not is_storable(key):
        return None
    rows = sa.select(schema.assignments).where(assignments.key == key, assignments.judge == judge)
    return connection.execute(rows.with_for_update() if lock else rows).one_or_none()


def speech_of(connection: Connection, item: int) -> bytes | None:
    """The sound of an item; None where it has none."""
    found: bytes | None = connection.scalar(
        sa.select(schema.speech.c.wav).where(schema.speech.c.item == item)
    )
    return found


def latest_answer(connection: Connection, assignment: int) -> Assignment | None:
    return connection.execute(LATEST_ANSWER_QUERY, {"of_assignment": assignment}).one_or_none()


def has_consented(connection: Connection, judge: int) -> bool:
    return connection.scalar(sa.select(judges.consented_at).where(judges.id == judge)) is not None


def give(
    connection: Connection,
    judge: int,
    given: NewAssignment,
    now: float,
    *,
    is_machine: bool = False,
) -> Assignment:
    """Gives a trial to a judge. What a machine gets does not count as one of the planned judgments."""
    values = {
        "variants": given.variants,
        "given_at": now,
        "answered_at": None,
        "is_reopened": False,
        "is_withdrawn": False,
    }
    # A trial that was withdrawn from the judge and comes back is the same trial.
    row = connection.execute(
        sa.update(schema.assignments)
        .where(
            assignments.judge == judge,
            assignments.purpose == given.purpose,
            assignments.number == given.number,
            assignments.is_withdrawn.is_(True),
        )
        .values(values)
        .returning(schema.assignments)
    ).one_or_none()
    if row is None:
        fixed = {"key": opaque_id(), "judge": judge, "purpose": given.purpose}
        row = connection.execute(
            schema.assignments.insert()
            .values({**values, **fixed, "number": given.number})
            .returning(schema.assignments)
        ).one()
    if given.purpose == "trial" and not is_machine:
        change_given(connection, given.number, +1)
    return row


def note_seen(connection: Connection, judge: int, now: float) -> None:
    """Notes when a judge was last there, and how many answers there were then."""
    newest = connection.scalar(sa.select(sa.func.max(answers.id))) or 0
    started = sa.func.coalesce(judges.started_at, now)
    update_judge(connection, judge, seen_at=now, seen_answer=newest, started_at=started)


def update_judge(connection: Connection, judge: int, **values: Any) -> None:
    connection.execute(sa.update(schema.judges).where(judges.id == judge).values(**values))


def load_setup(connection: Connection, where: str) -> StudySetup:
    """The inverse of `insert_setup`, without the speech, which is read when a judge plays it."""
    settings = connection.scalar(sa.select(schema.study.c.settings))
    if settings is None:
        raise InputError(f"{where} holds no study.")
    rows = connection.execute(sa.select(schema.items).order_by(schema.items.c.number))
    beside = settings.get("beside_items", {})
    items = tuple(
        with_beside(StudyItem(r.id, r.outputs, r.context, r.source, document=r.document), beside)
        for r in rows
    )
    rows = connection.execute(sa.select(schema.trials).order_by(schema.trials.c.number))
    trials = tuple(Trial(r.item, tuple(r.systems)) for r in rows)
    setup = StudySetup(
        questionnaire=Questionnaire.from_json(settings["design"]),
        plan=StudyPlan(**settings["plan"]),
        items=items,
        trials=trials,
        seed=settings["seed"],
        checks=tuple(from_record(Check, check) for check in settings["checks"]),
        tasks={task["item"]: from_record(Task, task) for task in settings["tasks"]},
        selection=settings["selection"],
    )
    try:
        _ = setup.design
    except InputError as error:  # its package is missing, or another version of it
        raise InputError(f"{where} cannot be opened. {error}") from None
    return setup


@dataclass(frozen=True)
class AnsweredRow:
    """One trial as a judge answered it: the systems in the order shown, and the values along them.

    `position` is the place among the trials that the judge answered, from 1.
    """

    judge_id: int
    judge: str
    purpose: AssignmentPurpose
    number: int
    systems: tuple[str, ...]
    values: Sequence[AnswerValues]
    ms: int
    recorded_at: float
    position: int


def read_answered(connection: Connection) -> list[AnsweredRow]:
    """Every answered trial of every judge, with its latest answer, in the order of the trials."""
    assignments, answers, judges = schema.assignments.c, schema.answers.c, schema.judges.c
    rows = connection.execute(
        sa.select(
            assignments.id,
            assignments.judge,
            judges.name,
            assignments.purpose,
            assignments.number,
            assignments.variants,
            answers.answers,
            answers.ms,
            answers.recorded_at,
        )
        .join_from(schema.answers, schema.assignments, answers.assignment == assignments.id)
        .join(schema.judges, assignments.judge == judges.id)
        .order_by(assignments.judge, assignments.id, answers.revision)
    )
    newest: dict[int, Any] = {row.id: row for row in rows}
    positions: dict[int, int] = {}
    found: list[AnsweredRow] = []
    for row in newest.values():
        positions[row.judge] = positions.get(row.judge, 0) + 1
        found.append(
            AnsweredRow(
                judge_id=row.judge,
                judge=row.name,
                purpose=row.purpose,
                number=row.number,
                systems=tuple(system for _, system in row.variants),
                values=row.answers,
                ms=row.ms,
                recorded_at=row.recorded_at,
                position=positions[row.judge],
            )
        )
    return found


def judgments_of(
    setup: StudySetup, answered: Iterable[AnsweredRow], *, repeats: bool = False
) -> list[Judgment] | list[Preference]:
    """The judgments or preferences that the design makes from the answers.

    Extra columns: `ms`, `position`, `recorded_at` (UTC), `document` where items have one, and `repeat`
    where repeats are asked for.
    """
    wanted = [
        one for one in answered if one.purpose == "trial" or (repeats and one.purpose == "repeat")
    ]
    made = [
        answer
        for one in wanted
        for answer in setup.design.judgments(answered_trial(setup, one, repeats))
    ]
    return cast("list[Judgment] | list[Preference]", made)


def answered_trial(setup: StudySetup, one: AnsweredRow, repeats: bool) -> AnsweredTrial:
    item = setup.items[setup.trials[one.number].item]
    documents = {DOCUMENT_COLUMN: item.document or ""} if setup.has_documents else {}
    return AnsweredTrial(
        judge=one.judge,
        item=item.id,
        systems=one.systems,
        questions=setup.questionnaire.questions,
        answers=one.values,
        seconds=one.ms / 1000,
        task=setup.tasks.get(item.id),
        columns=_extra(one, repeats) | documents,
        prefilled=item.prefilled if setup.has_prefilled else None,
    )


def _extra(one: AnsweredRow, repeats: bool) -> dict[str, str]:
    moment = datetime.fromtimestamp(one.recorded_at, UTC)
    extra = {
        "ms": str(one.ms),
        "position": str(one.position),
        "recorded_at": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    if repeats:
        extra["repeat"] = "1" if one.purpose == "repeat" else "0"
    return extra
