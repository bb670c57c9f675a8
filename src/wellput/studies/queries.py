"""Reads a study from its tables and writes it: the database statements that the store's methods share,
and the answered trials, from which judgments or preferences are made.

Only the latest answer to a trial counts. Practice trials and attention checks make no judgments;
repeated trials make judgments only on request.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy import Connection, Row

from wellput.agreement.rankings.judgment_design import DOCUMENT_COLUMN
from wellput.core.errors import InputError
from wellput.core.judgment import Judgment, Preference
from wellput.studies import schema
from wellput.studies.designs.base import AnsweredTrial
from wellput.studies.invitations import opaque_id
from wellput.studies.judge_queue import AssignmentPurpose, JudgeQueue, NewAssignment
from wellput.studies.machine_queue import MachineQueue
from wellput.studies.questionnaire import Check, Questionnaire, Task, from_record
from wellput.studies.questions import AnswerValues, is_storable
from wellput.studies.study_setup import (
    StudyItem,
    StudyPlan,
    StudySetup,
    Trial,
    references_and_prefilled,
    with_references_and_prefilled,
)
from wellput.studies.study_transactions import Assignment, StudyState, StudyTransaction

UNKNOWN_MS = -1
UNKNOWN_TIME = 0.0
"""The values of the tables for an unknown duration and an unknown time: imported judgments may lack
them."""
FIRST_TIME = datetime.min.replace(tzinfo=UTC).timestamp()
LAST_TIME = datetime.max.replace(tzinfo=UTC, microsecond=0).timestamp()
"""The first and the last time that has a date in the years 1 to 9999, in seconds since 1970."""

assignments = schema.assignments.c
answers = schema.answers.c
judges = schema.judges.c

# Statements that every request needs, so they are built only once.
STATE_QUERY = sa.select(schema.study.c.state)
LATEST_ANSWER_QUERY = (
    sa.select(schema.answers)
    .where(answers.assignment == sa.bindparam("of_assignment"))
    .order_by(answers.revision.desc())
    .limit(1)
)


def insert_setup(connection: Connection, setup: StudySetup, owner_hash: str, now: float) -> None:
    """Writes a new study to its empty tables. `owner_hash` is the hash of the owner's token."""
    settings = setup.settings()
    # The table of items has no columns for references and prefilled spans.
    if beside_items := references_and_prefilled(setup.items):
        settings["beside_items"] = beside_items
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


def own_assignment(connection: Connection, judge: int, key: str) -> Row[Any] | None:
    """The assignment with this key; None where the judge has no such assignment."""
    if not is_storable(key):  # NUL and half surrogate pairs: a database may refuse them
        return None
    query = sa.select(schema.assignments).where(assignments.key == key, assignments.judge == judge)
    return connection.execute(query).one_or_none()


def speech_of(connection: Connection, item: int) -> bytes | None:
    """The sound of an item; None where it has none."""
    wav: bytes | None = connection.scalar(
        sa.select(schema.speech.c.wav).where(schema.speech.c.item == item)
    )
    return wav


def latest_answer(connection: Connection, assignment: int) -> Row[Any] | None:
    return connection.execute(LATEST_ANSWER_QUERY, {"of_assignment": assignment}).one_or_none()


def give_assignment(
    transaction: StudyTransaction,
    queue: JudgeQueue | MachineQueue,
    given: NewAssignment,
    now: float,
) -> Assignment:
    """Gives a judge the new assignment `given`. If it is taken from a judge who is away, that judge's
    assignment is withdrawn. Trials of machines do not count among the planned judgments."""
    if given.taken_from is not None:
        transaction.connection.execute(
            sa.update(schema.assignments)
            .where(assignments.id == given.taken_from.id)
            .values(is_withdrawn=True)
        )
        transaction.change_given(given.number, -1)
    values: dict[str, Any] = {
        "given_at": now,
        "answered_at": None,
        "is_reopened": False,
        "is_withdrawn": False,
    }
    # A trial that was withdrawn from the judge and comes back is the same trial, with its texts in the
    # same order: an older page, or an answer that the browser kept, may still answer it.
    withdrawn = queue.withdrawn(given)
    if withdrawn is None:
        identity = {
            "key": opaque_id(),
            "judge": queue.judge,
            "purpose": given.purpose,
            "number": given.number,
            "variants": given.variants,  # pairs (random id, system) of the outputs, in the order shown
        }
        row: Assignment = transaction.new_assignment({**values, **identity})
    else:
        row = transaction.connection.execute(
            sa.update(schema.assignments)
            .where(assignments.id == withdrawn.id)
            .values(values)
            .returning(schema.assignments)
        ).one()
    if given.purpose == "trial" and not queue.is_machine:
        transaction.change_given(given.number, +1)
    queue.add(row)
    return row


def update_judge(connection: Connection, judge: int, **values: Any) -> None:
    connection.execute(sa.update(schema.judges).where(judges.id == judge).values(**values))


def load_setup(connection: Connection, where: str) -> StudySetup:
    """The inverse of `insert_setup`, without the speech, which is read when a judge plays it. `where`
    names the database in error messages."""
    settings = connection.scalar(sa.select(schema.study.c.settings))
    if settings is None:
        raise InputError(f"{where} holds no study.")
    rows = connection.execute(sa.select(schema.items).order_by(schema.items.c.number))
    beside_items = settings.get("beside_items", {})
    items = tuple(
        with_references_and_prefilled(
            StudyItem(r.id, r.outputs, r.context, r.source, document=r.document), beside_items
        )
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
    """One trial as a judge answered it: the systems in the order shown, and the `values`, a dictionary
    of answers by question for each system (one dictionary for a pair).

    `number` is that of the trial, practice trial or check. `position` is the place among the trials
    that the judge answered, from 1. `ms` and `recorded_at` are None where they are not known.
    `imported` has, by question, the further columns of an imported judgment.
    """

    judge_id: int
    judge: str
    purpose: AssignmentPurpose
    number: int
    systems: tuple[str, ...]
    values: Sequence[AnswerValues]
    ms: int | None
    recorded_at: float | None
    position: int
    comment: str | None = None
    imported: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def read_answered(connection: Connection) -> list[AnsweredRow]:
    """Every answered trial of every judge, with its latest answer, in the order in which each judge got
    them."""
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
            answers.comment,
            answers.imported,
        )
        .join_from(schema.answers, schema.assignments, answers.assignment == assignments.id)
        .join(schema.judges, assignments.judge == judges.id)
        .order_by(assignments.judge, assignments.id, answers.revision)
    )
    # Later revisions of an answer replace earlier ones.
    newest: dict[int, Any] = {row.id: row for row in rows}
    positions: dict[int, int] = {}
    answered: list[AnsweredRow] = []
    for row in newest.values():
        positions[row.judge] = positions.get(row.judge, 0) + 1
        answered.append(
            AnsweredRow(
                judge_id=row.judge,
                judge=row.name,
                purpose=row.purpose,
                number=row.number,
                systems=tuple(system for _random_id, system in row.variants),
                values=row.answers,
                ms=None if row.ms == UNKNOWN_MS else row.ms,
                recorded_at=known_time(row.recorded_at),
                position=positions[row.judge],
                comment=row.comment,
                imported=row.imported or {},
            )
        )
    return answered


def judgments_of(
    setup: StudySetup, answered: Iterable[AnsweredRow], *, repeats: bool = False
) -> list[Judgment] | list[Preference]:
    """The judgments or preferences that the design makes from the answers.

    Extra columns: `ms`, `position`, `recorded_at` (UTC), `document` where items have one,
    `comment` where judges may comment, and `repeat` where repeats are asked for.
    """
    judgments = [
        judgment
        for row in answered
        if row.purpose == "trial" or (repeats and row.purpose == "repeat")
        for judgment in judgments_of_row(setup, row, repeats=repeats)
    ]
    return cast("list[Judgment] | list[Preference]", judgments)


def judgments_of_row(
    setup: StudySetup, row: AnsweredRow, *, repeats: bool, item: StudyItem | None = None
) -> list[Judgment | Preference]:
    """The judgments of one answer. With `repeats`, judgments have the column `repeat`. The answer to an
    attention check needs the `item` that its text was made of."""
    judgments = setup.design.judgments(_answered_trial(setup, row, repeats, item))
    return [
        replace(judgment, extra={**judgment.extra, **imported})
        if (imported := row.imported.get(judgment.question))
        else judgment
        for judgment in judgments
    ]


def _answered_trial(
    setup: StudySetup, row: AnsweredRow, repeats: bool, item: StudyItem | None
) -> AnsweredTrial:
    """The answer with all that its judgments need."""
    item = item or setup.items[setup.trials[row.number].item]
    documents = {DOCUMENT_COLUMN: item.document or ""} if setup.has_documents else {}
    comments = {"comment": row.comment or ""} if setup.questionnaire.comments else {}
    return AnsweredTrial(
        judge=row.judge,
        item=item.id,
        systems=row.systems,
        questions=setup.questionnaire.questions,
        answers=row.values,
        seconds=math.nan if row.ms is None else row.ms / 1000,
        task=setup.tasks.get(item.id),
        columns=_extra_columns(row, repeats) | documents | comments,
        prefilled=item.prefilled if setup.has_prefilled else None,
    )


def _extra_columns(row: AnsweredRow, repeats: bool) -> dict[str, str]:
    """The columns of a judgment about when and how the answer was given; with `repeats`, also whether
    it repeats an earlier trial."""
    columns = {
        "ms": "" if row.ms is None else str(row.ms),
        "position": str(row.position),
        "recorded_at": written_time(row.recorded_at),
    }
    if repeats:
        columns["repeat"] = "1" if row.purpose == "repeat" else "0"
    return columns


def known_time(moment: float) -> float | None:
    """A stored time; None where it is not known or has no date."""
    has_date = FIRST_TIME <= moment <= LAST_TIME
    return moment if has_date and moment != UNKNOWN_TIME else None


def written_time(moment: float | None) -> str:
    """A time in UTC as the column `recorded_at` has it, empty where it is not known.

    >>> written_time(1_769_860_800), written_time(None)
    ('2026-01-31T12:00:00Z', '')
    """
    if moment is None:
        return ""
    date = datetime.fromtimestamp(moment, UTC).replace(tzinfo=None)
    return f"{date.isoformat(timespec='seconds')}Z"  # strftime writes the year 5 with one digit
