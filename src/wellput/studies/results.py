"""What judges have answered, with the names of the systems: `Answered` trials, and the judgments or
preferences they make.

Only the newest answer to a trial counts. Practice, attention checks and repeated trials make no
judgments; repeats are to be had by asking for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from wellput.core.judgment import Judgment, Preference
from wellput.studies import schema
from wellput.studies.answers import Values, is_success
from wellput.studies.handing_out import Purpose
from wellput.studies.study_setup import StudySetup

SECONDS = "seconds"
"""The question under which the time of a task stands."""


@dataclass(frozen=True)
class Answered:
    """One trial as a judge answered it: the systems in the order shown, and the values along them.

    `position` is the place among the judge's answered trials, from 1.
    """

    judge_id: int
    judge: str
    purpose: Purpose
    number: int
    systems: tuple[str, ...]
    values: Sequence[Values]
    ms: int
    recorded_at: float
    position: int


def read_answered(connection: Connection) -> list[Answered]:
    """Every answered trial of every judge, with its newest answer, in the order given."""
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
    found: list[Answered] = []
    for row in newest.values():
        positions[row.judge] = positions.get(row.judge, 0) + 1
        found.append(
            Answered(
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
    setup: StudySetup, answered: Iterable[Answered], *, repeats: bool = False
) -> list[Judgment] | list[Preference]:
    """The judgments that the answers make, preferences for a pairwise design.

    Extra columns: `ms`, `position`, `recorded_at` (UTC), and `repeat` where repeats are asked for.
    """
    wanted = [
        one for one in answered if one.purpose == "trial" or (repeats and one.purpose == "repeat")
    ]
    if setup.questionnaire.kind == "pairwise":
        return [answer for one in wanted for answer in _preferences(setup, one, repeats)]
    return [answer for one in wanted for answer in _judgments(setup, one, repeats)]


def _preferences(setup: StudySetup, one: Answered, repeats: bool) -> Iterator[Preference]:
    item = setup.items[setup.trials[one.number].item].id
    a, b = one.systems
    for question, choice in one.values[0].items():
        yield Preference(one.judge, item, a, b, question, choice, _extra(one, repeats))


def _judgments(setup: StudySetup, one: Answered, repeats: bool) -> Iterator[Judgment]:
    item = setup.items[setup.trials[one.number].item].id
    extra = _extra(one, repeats)
    for system, values in zip(one.systems, one.values, strict=True):
        for question, value in values.items():
            if setup.questionnaire.kind != "task":
                yield Judgment(one.judge, item, system, question, float(value), extra)
                continue
            success = is_success(value, setup.tasks[item].answers)
            named = {**extra, "answer": value}
            yield Judgment(one.judge, item, system, question, float(success), named)
            yield Judgment(one.judge, item, system, SECONDS, one.ms / 1000, named)


def _extra(one: Answered, repeats: bool) -> dict[str, str]:
    moment = datetime.fromtimestamp(one.recorded_at, UTC)
    extra = {
        "ms": str(one.ms),
        "position": str(one.position),
        "recorded_at": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    if repeats:
        extra["repeat"] = "1" if one.purpose == "repeat" else "0"
    return extra
