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
    """One person who took a place. `minutes` count from taking the place to finishing, or to the last
    visit. `person` is the person's name on the platform, or "" for a browser that no platform sent.
    `finished` says that the person answered all trials, `returned` that the place was given back, or
    lost by being away. `answers` count all answered trials, and `checks` the attention checks among
    them."""

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
    """The people who came by the open link, in the order in which they came."""
    # By judge, for each answer: whether it passed, if it answers an attention check; otherwise None.
    outcomes: dict[int, list[bool | None]] = {}
    for answer in read_answered(connection):
        is_check = answer.purpose == "check"
        passed = passes(setup, setup.checks[answer.number], answer.values) if is_check else None
        outcomes.setdefault(answer.judge_id, []).append(passed)
    rows = connection.execute(
        sa.select(schema.enrolments, judges.name, judges.seen_at)
        .join_from(schema.enrolments, schema.judges, enrolments.judge == judges.id)
        .where(judges.forgotten_at.is_(None))
        .order_by(enrolments.id)
    )
    payments = []
    for row in rows:
        outcomes_of_judge = outcomes.get(row.judge, [])
        end = row.seen_at if row.finished_at is None else row.finished_at
        payments.append(
            Payment(
                judge=row.name,
                platform=row.platform,
                person="" if row.platform == "browser" else row.person,
                finished=row.finished_at is not None,
                returned=row.returned_at is not None,
                answers=len(outcomes_of_judge),
                minutes=round(max(0.0, end - row.enrolled_at) / 60, 1),
                checks=sum(passed is not None for passed in outcomes_of_judge),
                checks_passed=sum(passed is True for passed in outcomes_of_judge),
            )
        )
    return payments


def payments_csv(payments: Sequence[Payment]) -> str:
    """The list as CSV, with a header."""
    names = [field.name for field in fields(Payment)]
    text = io.StringIO()
    # A person's name on the platform comes from the address of a request, which anybody can write: a
    # spreadsheet must not read such a name as a formula or a row.
    table = TableWriter(text, ",", names, mark_formulas=True)
    table.write([_written(getattr(payment, name)) for name in names] for payment in payments)
    return text.getvalue()


def _written(value: str | bool | float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else f"{value:g}"
