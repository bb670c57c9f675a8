"""What judges have answered, with the names of the systems: `Answered` trials, and the judgments or
preferences they make.

Only the newest answer to a trial counts. Practice, attention checks and repeated trials make no
judgments; repeats are to be had by asking for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy import Connection

from wellput.core.judgment import Judgment, Preference
from wellput.studies import schema
from wellput.studies.answers import Values
from wellput.studies.designs.base import AnsweredTrial
from wellput.studies.handing_out import Purpose
from wellput.studies.study_setup import StudySetup


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
    """The judgments that the design makes of the answers, or preferences.

    Extra columns: `ms`, `position`, `recorded_at` (UTC), and `repeat` where repeats are asked for.
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


def answered_trial(setup: StudySetup, one: Answered, repeats: bool) -> AnsweredTrial:
    item = setup.items[setup.trials[one.number].item].id
    return AnsweredTrial(
        judge=one.judge,
        item=item,
        systems=one.systems,
        questions=setup.questionnaire.questions,
        answers=one.values,
        seconds=one.ms / 1000,
        task=setup.tasks.get(item),
        columns=_extra(one, repeats),
    )


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
