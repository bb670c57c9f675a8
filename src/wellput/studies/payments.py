"""The payment list of an open study: who took part, under which name of the platform, and whether the
study was finished."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, fields

import sqlalchemy as sa
from sqlalchemy import Connection

from wellput.io.tables import TableWriter
from wellput.studies import schema
from wellput.studies.expected_answers import passes
from wellput.studies.queries import read_answered
from wellput.studies.study_setup import StudySetup

enrolments = schema.enrolments.c
judges = schema.judges.c


@dataclass(frozen=True)
class Payment:
    """One person who took a place. `minutes` count from taking it to finishing, or to the last visit.
    `person` is the platform's name of somebody, or "" for a browser."""

    judge: str
    platform: str
    person: str
    finished: bool
    returned: bool
    answers: int
    minutes: float
    checks: int
    checks_passed: int


def payments_of(setup: StudySetup, connection: Connection) -> list[Payment]:
    answered: dict[int, list[bool | None]] = {}
    for one in read_answered(connection):
        is_check = one.purpose == "check"
        passed = passes(setup, setup.checks[one.number], one.values) if is_check else None
        answered.setdefault(one.judge_id, []).append(passed)
    rows = connection.execute(
        sa.select(schema.enrolments, judges.name, judges.seen_at)
        .join_from(schema.enrolments, schema.judges, enrolments.judge == judges.id)
        .where(judges.forgotten_at.is_(None))
        .order_by(enrolments.id)
    )
    found = []
    for row in rows:
        own = answered.get(row.judge, [])
        end = row.seen_at if row.finished_at is None else row.finished_at
        found.append(
            Payment(
                judge=row.name,
                platform=row.platform,
                person="" if row.platform == "browser" else row.person,
                finished=row.finished_at is not None,
                returned=row.returned_at is not None,
                answers=len(own),
                minutes=round(max(0.0, end - row.enrolled_at) / 60, 1),
                checks=sum(passed is not None for passed in own),
                checks_passed=sum(passed is True for passed in own),
            )
        )
    return found


def payments_csv(payments: Sequence[Payment]) -> str:
    """The list as CSV, with a header."""
    names = [field.name for field in fields(Payment)]
    text = io.StringIO()
    # A spreadsheet must not take what a stranger put into an address for a formula, or for a new row.
    table = TableWriter(text, ",", names, mark_formulas=True)
    table.write([_written(getattr(payment, name)) for name in names] for payment in payments)
    return text.getvalue()


def _written(value: str | bool | float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else f"{value:g}"
