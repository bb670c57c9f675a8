"""Erases a judge who withdraws consent."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from wellput.core.errors import InputError
from wellput.core.judgment import is_machine
from wellput.studies import schema
from wellput.studies.database import Database, StoreUnavailable
from wellput.studies.enrolment import forget_person
from wellput.studies.invitations import opaque_id
from wellput.studies.queries import update_judge
from wellput.studies.study_transactions import StudyTransaction

assignments = schema.assignments.c
answers = schema.answers.c
judges = schema.judges.c


@dataclass(frozen=True)
class ErasedJudge:
    """A judge who was erased: the random name that now stands for the judge, and the number of erased
    answers."""

    new_name: str
    answers: int


class TracesRemain(StoreUnavailable):
    """A judge was erased from the study, but its files still hold copies of what was erased; `reason`
    says why, and what to do."""

    def __init__(self, database: Database, erased: ErasedJudge, reason: str = "") -> None:
        holder = f"{database.name}-wal" if database.is_sqlite else "the server"
        reason = reason or (
            f"another program has been reading the study for more than {database.busy_seconds:g} "
            "seconds. Wait until it has ended (a status, a backup, a database shell), or end it."
        )
        super().__init__(
            f"The judge was erased from {database.name}, but {holder} still has copies of what was "
            f"erased: {reason} Then remove the copies: `wellput study forget STUDY {erased.new_name}`, "
            f"in Python `study.forget({erased.new_name!r})`."
        )


def erase_judge(transaction: StudyTransaction, name: str, now: float, *, study: str) -> ErasedJudge:
    """Erases a judge. The trials are then free for other judges. `name` may also be the new name of a
    judge who was erased before; then nothing is changed. `study` is the name of the database, for the
    error message."""
    connection = transaction.connection
    query = sa.select(schema.judges).where(judges.name == name)
    row = connection.execute(query).one_or_none()
    if row is not None and row.forgotten_at is not None:
        return ErasedJudge(row.name, row.forgotten_answers)
    if row is None:
        raise InputError(f"There is no judge {name!r} in {study}.")
    assigned = transaction.own_assignments(row.id)
    for assignment in assigned:
        is_counted = assignment.purpose == "trial" and not assignment.is_withdrawn
        if is_counted and not is_machine(row.name):
            transaction.change_given(assignment.number, -1)
    n_erased = sum(assignment.answered_at is not None for assignment in assigned)
    # A subquery, because a list of these ids could have more entries than PostgreSQL allows.
    own_ids = sa.select(assignments.id).where(assignments.judge == row.id)
    connection.execute(sa.delete(schema.answers).where(answers.assignment.in_(own_ids)))
    connection.execute(sa.delete(schema.assignments).where(assignments.judge == row.id))
    forget_person(connection, row.id)
    new_name = f"forgotten-{opaque_id()}"
    update_judge(
        connection,
        row.id,
        name=new_name,
        token_hash=None,
        demographics=sa.null(),
        consented_at=None,
        started_at=None,
        forgotten_at=now,
        forgotten_answers=n_erased,
    )
    return ErasedJudge(new_name, n_erased)
