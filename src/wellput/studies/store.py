"""`Store`: a study in its database, and all that judges and the owner do with it.

Every method is one transaction, which is committed before the method returns; several steps share one
by `writing`. Judges see a trial only as a `ShownTrial`. System names appear only in `judgments` and in
the overview.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import Connection

from wellput.core.errors import InputError, counted
from wellput.core.judgment import Judgment, Preference
from wellput.studies import schema
from wellput.studies.database import (
    BUSY_SECONDS,
    HOW_TO_MAKE_ONE,
    Database,
    StoreUnavailable,
    file_of,
    new_database,
    parse_url,
)
from wellput.studies.enrolment import (
    Enrolment,
    Person,
    Place,
    enrol,
    enrolment_of,
    give_back,
    write_enrolment,
)
from wellput.studies.expected_answers import Feedback, feedback_of, has_feedback
from wellput.studies.foreign_logs import check_file, is_used_with_log
from wellput.studies.invitations import Invitation, insert_judges, is_token, new_token, token_hash
from wellput.studies.judge_turns import (
    AlreadyAnswered,
    JudgeRef,
    Outcome,
    UnknownTrial,
    answer_turn,
    find_judge,
    judge_of_row,
    next_turn,
    queue_of,
    shown_with_answer,
    undo_turn,
)
from wellput.studies.machine_queue import MachineQueue
from wellput.studies.migrations import is_study, lock_schema, migrate
from wellput.studies.overview import LatestRankings, Overview, overview
from wellput.studies.owner_sessions import OwnerSessions
from wellput.studies.payments import Payment, payments_of
from wellput.studies.queries import (
    give_assignment,
    insert_setup,
    judgments_of,
    latest_answer,
    load_setup,
    own_assignment,
    read_answered,
    speech_of,
    state_of,
    update_judge,
)
from wellput.studies.questionnaire import (
    JudgeProgress,
    Questionnaire,
    ShownTrial,
    checked_demographics,
)
from wellput.studies.questions import AnswerError
from wellput.studies.shown_trials import shown_trial
from wellput.studies.study_setup import StudySetup
from wellput.studies.study_transactions import (
    STUDY_STATES,
    Assignment,
    GroupedWrites,
    StudyClosed,
    StudyReading,
    StudyState,
    StudyTransaction,
)
from wellput.studies.withdrawal import TracesRemain, erase_judge

__all__ = [
    "STUDY_STATES",
    "AlreadyAnswered",
    "AnswerError",
    "Invitation",
    "JudgeRef",
    "Outcome",
    "Store",
    "StoreUnavailable",
    "StudyClosed",
    "StudyState",
    "UnknownTrial",
]

judges = schema.judges.c


class Store:
    """A study in its database. `owner_token` is None unless this object made the token (`create`,
    `renew_owner_token`): the database has only its hash."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self.database = database
        self.clock = clock
        self.latest_rankings = LatestRankings()
        self.owner_token: str | None = None
        self.owner_sessions = OwnerSessions(database, clock)
        with database.read() as connection:
            self.setup = load_setup(connection, database.name)
            database.created_at = connection.scalar(sa.select(schema.study.c.created_at))
        self.grouped_writes = GroupedWrites(database, len(self.setup.trials))

    @classmethod
    def create(
        cls,
        url: str | Path,
        setup: StudySetup,
        *,
        clock: Callable[[], float] = time.time,
        fill: Callable[[Connection, float], None] = lambda connection, now: None,
    ) -> Store:
        """A new study. Raises InputError if the database has one already. `fill` writes more to it in
        the same transaction, so that either all of the study is made or nothing."""
        parsed = parse_url(url)
        token = new_token()
        with new_database(parsed) as database, database.write() as connection:
            lock_schema(connection)
            if is_study(connection):
                raise InputError(
                    f"{database.name} already holds a study. A study is never overwritten: use another "
                    "database."
                )
            migrate(connection, where=database.name)
            now = clock()
            insert_setup(connection, setup, token_hash(token), now)
            fill(connection, now)
        database = Database(parsed)
        try:
            store = cls(database, clock)
        except BaseException:
            database.close()
            raise
        store.owner_token = token
        return store

    @classmethod
    def open(
        cls,
        url: str | Path,
        *,
        clock: Callable[[], float] = time.time,
        busy_seconds: float = BUSY_SECONDS,
    ) -> Store:
        """An existing study. If an older version of wellput made it, its tables are migrated."""
        parsed = parse_url(url)
        if parsed.get_backend_name() == "sqlite":
            check_file(parsed)
        database = Database(parsed, busy_seconds=busy_seconds)
        database.is_backup = database.is_sqlite and not is_used_with_log(file_of(parsed))
        try:
            with database.write() as connection:
                lock_schema(connection)
                if not is_study(connection):
                    raise InputError(f"{database.name} is not a study. {HOW_TO_MAKE_ONE}")
                migrate(connection, where=database.name)
            return cls(database, clock)
        except BaseException:
            database.close()
            raise

    @contextmanager
    def writing(self) -> Iterator[StudyTransaction]:
        """A transaction that writes to the study. It is undone if the block raises."""
        with self.database.write() as connection:
            yield StudyTransaction(connection, len(self.setup.trials))

    def close(self) -> None:
        self.database.close()

    @property
    def questionnaire(self) -> Questionnaire:
        return self.setup.questionnaire

    @property
    def state(self) -> StudyState:
        with self.database.read() as connection:
            return state_of(connection)

    def set_state(self, state: StudyState, *, seen: StudyState | None = None) -> bool:
        """Opens, pauses or closes the study. While it is paused, judges get no new trials; when it is
        closed, it takes no answers either. If the state of the study is neither `seen`, which the owner
        saw on the page, nor `state`, nothing is changed, and the result is false."""
        if state not in STUDY_STATES:
            raise InputError(f"No state {state!r}; there are {', '.join(STUDY_STATES)}.")
        allowed = STUDY_STATES if seen is None else (seen, state)
        update = sa.update(schema.study).where(schema.study.c.state.in_(allowed))
        with self.database.write() as connection:
            return connection.execute(update.values(state=state)).rowcount > 0

    def verify_owner(self, token: str) -> bool:
        with self.database.read() as connection:
            stored = connection.scalar(sa.select(schema.study.c.owner_hash))
        return is_token(token, str(stored))

    def renew_owner_token(self) -> str:
        """A new token for the owner. The old one becomes invalid, and all sessions end."""
        token = new_token()
        with self.database.write() as connection:
            connection.execute(sa.update(schema.study).values(owner_hash=token_hash(token)))
            connection.execute(sa.delete(schema.owner_sessions))
        self.owner_token = token
        return token

    def invite(self, judges: int, names: Sequence[str] | None = None) -> list[Invitation]:
        """New judges, named J1, J2, … unless names are given. Their tokens are shown only here."""
        if judges < 1:
            raise InputError("Invite at least one judge.")
        if names is not None and len(names) != judges:
            are = "is" if len(names) == 1 else "are"
            given, asked = counted(len(names), "name"), counted(judges, "judge")
            raise InputError(f"There {are} {given} for {asked}.")
        with self.writing() as transaction:
            return insert_judges(transaction.connection, judges, names, self.clock())

    @property
    def enrolment(self) -> Enrolment | None:
        """The open link, as the database has it now; None where the study has none."""
        with self.database.read() as connection:
            return enrolment_of(StudyReading(connection, len(self.setup.trials)))

    def open_enrolment(self, enrolment: Enrolment) -> None:
        """Makes the open link, by which everybody may come in. If the study has one already, the link
        stays the same and gets these settings."""
        with self.writing() as transaction:
            before = enrolment_of(transaction)
            if before is not None:
                enrolment = replace(enrolment, key=before.key, secret=before.secret)
            write_enrolment(transaction.connection, enrolment)

    def enrol(self, person: Person, *, is_accepted: bool = True) -> Place:
        """A place for somebody who came by the open link."""
        with self.writing() as transaction:
            enrolment = enrolment_of(transaction)
            if enrolment is None:
                raise InputError(f"{self.database.name} has no open link.")
            transaction.require_state(("open",))
            return enrol(enrolment, transaction, person, self.clock(), is_accepted=is_accepted)

    def give_place_back(self, judge: JudgeRef) -> None:
        """Frees the place of a judge who came by the open link and has not finished."""
        with self.writing() as transaction:
            give_back(transaction.connection, judge.id, self.clock())

    def payments(self) -> list[Payment]:
        """The people who came by the open link, for paying them."""
        with self.database.read() as connection:
            return payments_of(self.setup, connection)

    def judge_of(self, token: str) -> JudgeRef | None:
        """The judge with this token, None where there is none."""
        with self.database.read() as connection:
            return find_judge(StudyReading(connection, len(self.setup.trials)), token)

    def token_hashes(self) -> set[str]:
        """The hashes of the tokens of all judges."""
        with self.database.read() as connection:
            hashes = connection.scalars(sa.select(judges.token_hash))
            return {hashed for hashed in hashes if hashed is not None}

    def consent(self, judge: JudgeRef) -> None:
        with self.database.write() as connection:
            update_judge(connection, judge.id, consented_at=self.clock())

    def demographics(self, judge: JudgeRef, answers: Mapping[str, str]) -> None:
        """Stores the answers to the questions about the judge. Every answer is voluntary; {} says that
        the judge was asked and gave none."""
        given = checked_demographics(self.questionnaire.demographics, answers)
        with self.database.write() as connection:
            update_judge(connection, judge.id, demographics=given)

    def next_trial(self, judge: JudgeRef) -> ShownTrial | None:
        """The judge's current trial, the same until it is answered; None when all are answered.

        Raises StudyClosed while the study is paused or closed.
        """
        with self.writing() as transaction:
            current = _current(transaction, judge)
            return next_turn(self.setup, transaction, current, self.clock()).trial

    def next_trials(self, judge: JudgeRef, most: int, *, skip: int = 0) -> list[ShownTrial]:
        """Up to `most` trials for a machine, which answers several at a time: first those that it was
        never given, then those that it was given and has not answered. Of the latter, the one that
        was given last comes first, and the first `skip` are left out.

        Raises StudyClosed while the study is paused or closed.
        """
        now = self.clock()
        with self.writing() as transaction:
            transaction.require_state(("open",))
            queue = MachineQueue(self.setup, transaction, judge.id)
            new = queue.new_trials(most)
            rows: list[Assignment] = [*queue.unanswered(most - len(new), skip=skip)]
            rows = [give_assignment(transaction, queue, given, now) for given in new] + rows
            transaction.note_seen(judge.id, now)
            return [shown_with_answer(self.setup, transaction.connection, row) for row in rows]

    def trial(self, judge: JudgeRef, trial_id: str) -> ShownTrial | None:
        """One of the judge's own trials; None for any other trial."""
        with self.database.read() as connection:
            row = own_assignment(connection, judge.id, trial_id)
            return None if row is None else shown_with_answer(self.setup, connection, row)

    def feedback(self, judge: JudgeRef, trial_id: str) -> tuple[ShownTrial, Feedback] | None:
        """One of the judge's own answered practice trials with its feedback; None for any other trial,
        and for a practice trial without an answer or without feedback."""
        with self.database.read() as connection:
            row = own_assignment(connection, judge.id, trial_id)
            if row is None or row.answered_at is None or not has_feedback(self.setup, row):
                return None
            latest = latest_answer(connection, row.id)
            assert latest is not None
            shown = shown_trial(self.setup, row, latest.answers)
            return shown, feedback_of(self.setup, row, latest.answers)

    def speech(self, judge: JudgeRef, trial_id: str) -> bytes | None:
        """The sound of one of the judge's own trials, as a WAV file; None where there is none."""
        with self.database.read() as connection:
            row = own_assignment(connection, judge.id, trial_id)
            if row is None or row.purpose in ("practice", "check"):
                return None
            return speech_of(connection, self.setup.trials[row.number].item)

    def progress(self, judge: JudgeRef) -> JudgeProgress:
        with self.database.read() as connection:
            reading = StudyReading(connection, len(self.setup.trials))
            return queue_of(self.setup, reading, judge, self.clock()).progress()

    def record(
        self, judge: JudgeRef, trial_id: str, answers: object, *, ms: int, comment: str = ""
    ) -> Outcome:
        """Stores an answer. The same answer again changes nothing; a different one supersedes it.

        Raises AnswerError, UnknownTrial, AlreadyAnswered, or StudyClosed. A paused study still takes
        answers to trials that judges already have.
        """
        with self.writing() as transaction:
            current = _current(transaction, judge)
            return answer_turn(
                self.setup,
                transaction,
                current,
                trial_id,
                answers,
                ms=ms,
                now=self.clock(),
                comment=comment,
            ).outcome

    def undo(self, judge: JudgeRef) -> ShownTrial | None:
        """Takes back the last answer: its trial comes next again and still has the answer.

        Only one step is possible, and none where the design does not allow it.
        """
        if not self.setup.design.can_undo:
            return None
        with self.writing() as transaction:
            return undo_turn(self.setup, transaction, judge)

    def forget(self, judge_name: str) -> int:
        """Erases a judge's answers, demographics, name and link. Returns the number of erased answers.

        The study keeps only that somebody withdrew, and the number of erased answers. Other judges get
        the trials. Raises TracesRemain with the judge's new name if files still have copies, mostly
        because another program reads the study. To remove the copies, call `forget` with this name.
        """
        with self.writing() as transaction:
            erased = erase_judge(transaction, judge_name, self.clock(), study=self.database.name)
        try:
            is_complete = self.database.erase_traces()
        except StoreUnavailable as error:
            raise TracesRemain(self.database, erased, str(error)) from None
        if not is_complete:
            raise TracesRemain(self.database, erased)
        return erased.answers

    def overview(self, *, ranking_may_be_old: bool = False) -> Overview:
        """The state of the study, for its owner. With `ranking_may_be_old`, the ranking may lack the
        newest answers if it takes long to compute."""
        with self.database.read() as connection:
            state = state_of(connection)
            return overview(
                self.setup,
                connection,
                state=state,
                now=self.clock(),
                latest=self.latest_rankings,
                ranking_may_be_old=ranking_may_be_old,
            )

    def judgments(self, *, repeats: bool = False) -> list[Judgment] | list[Preference]:
        """The latest answer to every trial, with the names of the systems."""
        with self.database.read() as connection:
            return judgments_of(self.setup, read_answered(connection), repeats=repeats)

    def all_demographics(self) -> dict[str, dict[str, str]]:
        """The answers to the questions about the judge, by the judge's name."""
        with self.database.read() as connection:
            rows = connection.execute(sa.select(judges.name, judges.demographics))
            return {row.name: row.demographics for row in rows if row.demographics}


def _current(transaction: StudyTransaction, judge: JudgeRef) -> JudgeRef:
    """The same judge, as the database describes the judge now."""
    query = sa.select(schema.judges).where(judges.id == judge.id)
    return judge_of_row(transaction.connection.execute(query).one())
