"""The steps of a judge in one request, each inside one transaction: to find the judge by the token, to
get the next trial, to answer it. Each function reads what it needs from the database only once,
because hundreds of judges may ask at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa
from sqlalchemy import Connection, Row

from wellput.core.errors import InputError, WellputError
from wellput.core.judgment import is_machine
from wellput.core.line_breaks import with_line_feeds
from wellput.studies import schema
from wellput.studies.enrolment import (
    Enrolment,
    enrolment_of,
    fields_of_finished,
    is_unfinished,
    keep_or_regain_place,
    note_finished,
)
from wellput.studies.expected_answers import Feedback, feedback_of, has_feedback
from wellput.studies.invitations import insert_judges, is_token, token_hash
from wellput.studies.judge_queue import JudgeQueue
from wellput.studies.machine_queue import MachineQueue
from wellput.studies.queries import give_assignment, latest_answer
from wellput.studies.questionnaire import JudgeProgress, ShownTrial
from wellput.studies.questions import AnswerError, is_storable
from wellput.studies.shown_trials import checked_answers, shown_trial
from wellput.studies.study_setup import StudySetup
from wellput.studies.study_transactions import (
    Assignment,
    StudyReading,
    StudyState,
    StudyTransaction,
)
from wellput.studies.wording import ENGLISH

Outcome: TypeAlias = Literal["created", "repeated", "superseded"]
"""Whether an answer is the first one to its trial, the same as before, or replaces another one."""

MAX_STORED_MS = 2**31 - 1
"""A longer time (25 days) is stored as this number of milliseconds."""
MAX_REVISIONS = 100
"""How often an answer can be changed. There is a limit because every version is kept: a judge could
fill the disk."""
MAX_COMMENT_CHARACTERS = 2000
SEEN_EVERY_SECONDS = 60.0
"""If a judge only looks at a page, the time when the judge was last seen is written at most this
often."""

assignments = schema.assignments.c
judges = schema.judges.c


class UnknownTrial(WellputError):
    """A trial that is not the judge's."""


class AlreadyAnswered(WellputError):
    """A trial whose answer cannot be changed: the design allows no second try, or it was changed too
    often."""


@dataclass(frozen=True, slots=True)
class JudgeRef:
    """A judge who came with a valid token. `seen_at` is when the judge was last here, in seconds since
    1970."""

    id: int
    name: str
    has_consented: bool
    has_demographics: bool
    has_started: bool
    seen_at: float = 0.0


@dataclass(frozen=True, slots=True)
class NextTurn:
    """The judge's next trial (None when all are answered) and progress."""

    trial: ShownTrial | None
    progress: JudgeProgress


@dataclass(frozen=True, slots=True)
class AnswerTurn:
    """What became of an answer, and how far the judge is now. A practice trial may have `feedback`."""

    outcome: Outcome
    progress: JudgeProgress
    feedback: Feedback | None = None


def find_judge(reading: StudyReading, token: str) -> JudgeRef | None:
    """The judge with this token, None where there is none."""
    row = reading.judge_with(token_hash(token))
    # The database finds the row by the hash; the comparison in constant time decides.
    if row is None or not is_token(token, row.token_hash):
        return None
    return judge_of_row(row)


def machine_judge(transaction: StudyTransaction, name: str, now: float) -> JudgeRef:
    """The machine judge of this name, which is invited if it is new."""
    if not is_machine(name):
        raise InputError(f"{name!r} is not the name of a machine: it must begin with model:.")
    query = sa.select(schema.judges).where(judges.name == name)
    row = transaction.connection.execute(query).one_or_none()
    if row is None:
        insert_judges(transaction.connection, 1, [name], now)
        row = transaction.connection.execute(query).one()
    return replace(judge_of_row(row), has_consented=True, has_demographics=True)


def judge_of_row(row: Any) -> JudgeRef:
    return JudgeRef(
        id=row.id,
        name=row.name,
        has_consented=row.consented_at is not None,
        has_demographics=row.demographics is not None,
        has_started=row.started_at is not None,
        seen_at=row.seen_at,
    )


def next_turn(
    setup: StudySetup, transaction: StudyTransaction, judge: JudgeRef, now: float
) -> NextTurn:
    """The judge's current trial, the same until it is answered.

    Raises StudyClosed while the study is paused or closed.
    """
    transaction.require_state(("open",))
    connection = transaction.connection
    queue = queue_of(setup, transaction, judge, now)
    current = queue.current()
    if current is None and (given := queue.next()) is not None:
        current = give_assignment(transaction, queue, given, now)
        transaction.note_seen(judge.id, now)
        return NextTurn(shown_trial(setup, current, None), queue.progress())
    if abs(now - judge.seen_at) > SEEN_EVERY_SECONDS:
        transaction.note_seen(judge.id, now)
    shown = None if current is None else shown_with_answer(setup, connection, current)
    return NextTurn(shown, queue.progress())


def answer_turn(
    setup: StudySetup,
    transaction: StudyTransaction,
    judge: JudgeRef,
    trial_id: str,
    answers: object,
    *,
    ms: int,
    now: float,
    comment: str = "",
    seconds_kept: float = 0.0,
) -> AnswerTurn:
    """Stores an answer, which the judge gave `seconds_kept` ago. The same answer again changes nothing;
    a different one, or another `comment`, supersedes it.

    Raises AnswerError, UnknownTrial, AlreadyAnswered, or StudyClosed. A paused study still takes
    answers to trials that judges already have.
    """
    if isinstance(ms, bool) or not isinstance(ms, int) or ms < 0:
        raise AnswerError(["ms: the time taken, in whole milliseconds, is needed"])
    connection = transaction.connection
    queue = queue_of(setup, transaction, judge, now)
    row = queue.assignment(trial_id)
    if row is None:
        raise UnknownTrial("This trial is not yours.")
    transaction.require_state(("open", "paused"))
    if lacks_consent(setup, judge) and not is_machine(judge.name):
        raise AnswerError(["the study needs your consent first"])
    values = checked_answers(setup, row, answers)
    stored_comment = checked_comment(setup, comment)
    latest = None if row.answered_at is None else latest_answer(connection, row.id)
    moment = time_given(row, now, seconds_kept)
    if latest is not None and (latest.answers, latest.comment) == (values, stored_comment):
        outcome: Outcome = "repeated"
    else:
        outcome = "created" if latest is None else "superseded"
        if latest is not None and not setup.design.can_undo:
            raise AlreadyAnswered("This trial is answered; its answer cannot be changed.")
        if latest is not None and latest.revision >= MAX_REVISIONS:
            raise AlreadyAnswered(f"This answer was changed {MAX_REVISIONS} times; it stays now.")
        transaction.new_answer(
            {
                "assignment": row.id,
                "revision": 0 if latest is None else latest.revision + 1,
                "supersedes": None if latest is None else latest.id,
                "answers": values,
                "ms": min(ms, MAX_STORED_MS),
                "recorded_at": moment,
                "comment": stored_comment,
            }
        )
        if is_machine(judge.name):
            # The answers of machines must not count among those since a judge was last seen.
            connection.execute(
                sa.update(schema.judges)
                .where(judges.id != judge.id)
                .values(seen_answer=judges.seen_answer + 1)
            )
    transaction.mark_answered(row.id, moment)
    if row.is_withdrawn and row.purpose == "trial":  # `mark_answered` gave the trial back
        transaction.change_given(row.number, +1)
        queue = queue_of(setup, transaction, judge, now)
    transaction.note_seen(judge.id, now)
    feedback = feedback_of(setup, row, values) if has_feedback(setup, row) else None
    progress = queue.progress(answered=row)
    note_if_finished(setup, transaction, judge, progress, now)
    return AnswerTurn(outcome, progress, feedback)


def note_if_finished(
    setup: StudySetup,
    transaction: StudyTransaction,
    judge: JudgeRef,
    progress: JudgeProgress,
    now: float,
) -> None:
    """Notes that a judge who came by the open link has finished, if nothing is left to answer. Somebody
    who has answered nothing has not finished."""
    if not progress.done or progress.done < progress.total:
        return
    if is_unfinished(transaction.connection, judge.id):
        queue = queue_of(setup, transaction, judge, now)
        if queue.current() is None and queue.next() is None:
            note_finished(transaction.connection, judge.id, now)


def undo_turn(
    setup: StudySetup, transaction: StudyTransaction, judge: JudgeRef
) -> ShownTrial | None:
    """The trial that the judge answered last, which now comes next again; None where there is none."""
    transaction.require_state(("open",))
    connection = transaction.connection
    answered = [row for row in transaction.own_assignments(judge.id) if row.answered_at]
    if not answered:
        return None
    last = next((row for row in answered if row.is_reopened), None)
    if last is None:
        last = max(answered, key=lambda row: (row.answered_at, row.id))
        connection.execute(
            sa.update(schema.assignments).where(assignments.id == last.id).values(is_reopened=True)
        )
    return shown_with_answer(setup, connection, last)


@dataclass(frozen=True, slots=True)
class Visit:
    """What a judge finds behind a link. `judge` is None for an unknown link. `turn` is None if consent
    or demographics are missing, or if the place was given to somebody else. `is_enrolled` says that
    the judge came by the open link and has not finished. `platform_fields` are the platform's
    parameters in the address of a judge who came by the open link and has finished, in any state;
    `enrolment` has the settings of that link."""

    judge: JudgeRef | None
    state: StudyState
    turn: NextTurn | None = None
    has_place: bool = True
    is_enrolled: bool = False
    platform_fields: Mapping[str, str] | None = None
    enrolment: Enrolment | None = None


def visit(
    setup: StudySetup,
    transaction: StudyTransaction,
    token: str,
    now: float,
    *,
    asks_demographics: bool = False,
) -> Visit:
    """What comes next for the judge with this token. With `asks_demographics`, the questions about the
    judge come before the trials."""
    judge = find_judge(transaction, token)
    state = transaction.state
    if judge is None or lacks_consent(setup, judge):
        return Visit(judge, state)
    if asks_demographics and setup.questionnaire.demographics and not judge.has_demographics:
        return Visit(judge, state)
    enrolment = enrolment_of(transaction)
    if enrolment is not None and not keep_or_regain_place(enrolment, transaction, judge.id, now):
        return Visit(judge, state, has_place=False)
    if state == "open":
        turn = next_turn(setup, transaction, judge, now)
    else:
        turn = NextTurn(None, queue_of(setup, transaction, judge, now).progress())
    if enrolment is None or turn.trial is not None:
        is_enrolled = enrolment is not None and is_unfinished(transaction.connection, judge.id)
        return Visit(judge, state, turn, is_enrolled=is_enrolled)
    note_if_finished(setup, transaction, judge, turn.progress, now)
    fields = fields_of_finished(transaction.connection, judge.id)
    return Visit(judge, state, turn, platform_fields=fields, enrolment=enrolment)


def checked_comment(setup: StudySetup, comment: str) -> str | None:
    """A comment as it is stored, None for an empty one. Raises AnswerError if it cannot be stored."""
    text = with_line_feeds(comment).strip()
    if not text:
        return None
    if not setup.questionnaire.comments:
        raise AnswerError(["this study takes no comments"])
    name = setup.words("pages.comment")
    if len(text) > MAX_COMMENT_CHARACTERS:
        reason = ENGLISH("reasons.too_long", n=MAX_COMMENT_CHARACTERS)
        raise AnswerError([ENGLISH("reasons.about_question", question=name, reason=reason)])
    if not is_storable(text):
        reason = ENGLISH("reasons.not_storable")
        raise AnswerError([ENGLISH("reasons.about_question", question=name, reason=reason)])
    return text


def lacks_consent(setup: StudySetup, judge: JudgeRef) -> bool:
    """Whether the judge must agree to the text of consent first."""
    return setup.questionnaire.consent is not None and not judge.has_consented


def queue_of(
    setup: StudySetup, transaction: StudyReading, judge: JudgeRef, now: float
) -> JudgeQueue | MachineQueue:
    if is_machine(judge.name):
        return MachineQueue(setup, transaction, judge.id)
    return JudgeQueue(setup, transaction, judge.id, now)


def shown_with_answer(setup: StudySetup, connection: Connection, row: Assignment) -> ShownTrial:
    """The trial with the judge's answer so far."""
    latest = None if row.answered_at is None else latest_answer(connection, row.id)
    if latest is None:
        return shown_trial(setup, row, None)
    shown = shown_trial(setup, row, latest.answers, latest.comment)
    return replace(shown, answered_at=time_of_answer(row, latest))


def time_given(row: Assignment, now: float, seconds_kept: float) -> float:
    """When the judge gave an answer that arrives now: `seconds_kept` ago, but not before the judge got
    the trial, since the judge's clock may have been changed meanwhile."""
    return min(now, max(now - seconds_kept, row.given_at))


def time_of_answer(row: Assignment, latest: Row[Any]) -> float:
    """When the judge gave the latest answer to a trial. A judge who takes the answer back and goes on
    without a change gives it at that moment."""
    return float(max(latest.recorded_at, row.answered_at or latest.recorded_at))
