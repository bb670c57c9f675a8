"""Erases a judge who withdraws consent."""

from __future__ import annotations

import sqlalchemy as sa

from wellput.core.errors import InputError
from wellput.core.judgment import is_machine
from wellput.studies import schema
from wellput.studies.enrolment import forget_person
from wellput.studies.invitations import opaque_id
from wellput.studies.queries import update_judge
from wellput.studies.study_transactions import StudyTransaction

assignments = schema.assignments.c
answers = schema.answers.c
judges = schema.judges.c


def erase_judge(transaction: StudyTransaction, name: str, now: float, *, study: str) -> int:
    """Erases a judge. The trials are then free for other judges. Returns the number of erased answers.
    `study` is the name of the database, for the error message."""
    connection = transaction.connection
    query = sa.select(schema.judges).where(judges.name == name)
    row = connection.execute(query).one_or_none()
    if row is None or row.forgotten_at is not None:
        raise InputError(f"There is no judge {name!r} in {study}.")
    assigned = transaction.own_assignments(row.id)
    ids = [assignment.id for assignment in assigned]
    for assignment in assigned:
        is_counted = assignment.purpose == "trial" and not assignment.is_withdrawn
        if is_counted and not is_machine(row.name):
            transaction.change_given(assignment.number, -1)
    n_erased = sum(assignment.answered_at is not None for assignment in assigned)
    connection.execute(sa.delete(schema.answers).where(answers.assignment.in_(ids)))
    connection.execute(sa.delete(schema.assignments).where(assignments.judge == row.id))
    forget_person(connection, row.id)
    update_judge(
        connection,
        row.id,
        name=f"forgotten-{opaque_id()}",
        token_hash=None,
        demographics=sa.null(),
        consented_at=None,
        started_at=None,
        forgotten_at=now,
        forgotten_answers=n_erased,
    )
    return n_erased
