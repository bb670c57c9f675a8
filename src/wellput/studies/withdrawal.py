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
    """The number of answers that were erased. The trials are free for other judges. `study` is the name
    of the database, for the error message."""
    connection = transaction.connection
    found = sa.select(schema.judges).where(judges.name == name)
    row = connection.execute(found).one_or_none()
    if row is None or row.forgotten_at is not None:
        raise InputError(f"There is no judge {name!r} in {study}.")
    own = transaction.own_assignments(row.id)
    ids = [one.id for one in own]
    for one in own:
        if one.purpose == "trial" and not one.is_withdrawn and not is_machine(row.name):
            transaction.change_given(one.number, -1)
    erased = sum(one.answered_at is not None for one in own)
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
        forgotten_answers=erased,
    )
    return erased
