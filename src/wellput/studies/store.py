"""`Store`: a study in its database, and all that judges and the owner do with it.

Every method is one transaction. `record` has committed before it returns. Of a trial, judges see only
a `ShownTrial`. System names appear only in `judgments` and in the overview.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa
from sqlalchemy import Connection

from wellput.core.errors import InputError, WellputError, counted
from wellput.core.judgment import Judgment, Preference, is_machine
from wellput.studies import schema
from wellput.studies.database import (
    BUSY_SECONDS,
    HOW_TO_MAKE_ONE,
    Database,
    StoreUnavailable,
    check_file,
    create_file,
    parse_url,
    remove_files,
)
from wellput.studies.invitations import (
    Invitation,
    checked_names,
    is_token,
    new_names,
    new_token,
    opaque_id,
    token_hash,
)
from wellput.studies.judge_queue import (
    Assignment,
    JudgeQueue,
    change_given,
    open_assignment,
    own_assignments,
)
from wellput.studies.migrations import is_study, migrate
from wellput.studies.overview import LatestRankings, Overview, overview
from wellput.studies.owner_sessions import OwnerSessions
from wellput.studies.queries import (
    STUDY_STATES,
    StudyClosed,
    StudyState,
    give,
    has_consented,
    insert_setup,
    judgments_of,
    latest_answer,
    load_setup,
    lock_study,
    note_seen,
    own_assignment,
    read_answered,
    require_state,
    speech_of,
    state_of,
    update_judge,
)
from wellput.studies.questionnaire import JudgeProgress, Questionnaire, ShownTrial
from wellput.studies.questions import AnswerError, is_storable
from wellput.studies.shown_trials import checked_answers, shown_trial
from wellput.studies.study_setup import StudySetup

Outcome: TypeAlias = Literal["created", "repeated", "superseded"]

MAX_STORED_MS = 2**31 - 1
SEEN_EVERY_SECONDS = 60.0
"""A judge who only looks at a page is noted as seen at most this often."""

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

assignments = schema.assignments.c
answers = schema.answers.c
judges = schema.judges.c


class UnknownTrial(WellputError):
    """A trial that is not the judge's."""


class AlreadyAnswered(WellputError):
    """A trial whose answer cannot be changed: the design allows no second try."""


@dataclass(frozen=True, slots=True)
class JudgeRef:
    """A judge who came with a valid token."""

    id: int
    name: str
    has_consented: bool
    has_demographics: bool
    has_started: bool


class Store:
    """A study in its database. `owner_token` is set by `create` and `renew_owner_token` alone."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self.database = database
        self.clock = clock
        self.latest_rankings = LatestRankings()
        self.owner_token: str | None = None
        self.owner_sessions = OwnerSessions(database, clock)
        with database.read() as connection:
            self.setup = load_setup(connection, database.name)

    @classmethod
    def create(
        cls, url: str | Path, setup: StudySetup, *, clock: Callable[[], float] = time.time
    ) -> Store:
        """A new study. Raises InputError where there is already one."""
        parsed = parse_url(url)
        is_file = parsed.get_backend_name() == "sqlite"
        if is_file:
            create_file(parsed)
        database = Database(parsed)
        token = new_token()
        try:
            with database.write() as connection:
                if is_study(connection):
                    raise InputError(
                        f"{database.name} already holds a study. A study is never overwritten: use "
                        "another database."
                    )
                migrate(connection, where=database.name)
                insert_setup(connection, setup, token_hash(token), clock())
            store = cls(database, clock)
        except BaseException:
            database.close()
            if is_file:
                remove_files(parsed)
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
        """An existing study. One of an older version is migrated to this version's schema."""
        parsed = parse_url(url)
        if parsed.get_backend_name() == "sqlite":
            check_file(parsed)
        database = Database(parsed, busy_seconds=busy_seconds)
        try:
            with database.write() as connection:
                if not is_study(connection):
                    raise InputError(f"{database.name} is not a study. {HOW_TO_MAKE_ONE}")
                migrate(connection, where=database.name)
            return cls(database, clock)
        except BaseException:
            database.close()
            raise

    def close(self) -> None:
        self.database.close()

    @property
    def questionnaire(self) -> Questionnaire:
        return self.setup.questionnaire

    @property
    def state(self) -> StudyState:
        with self.database.read() as connection:
            return state_of(connection)

    def set_state(self, state: StudyState) -> None:
        """Paused: judges get no new trials. Closed: answers are not taken either."""
        if state not in STUDY_STATES:
            raise InputError(f"No state {state!r}; there are {', '.join(STUDY_STATES)}.")
        with self.database.write() as connection:
            connection.execute(sa.update(schema.study).values(state=state))

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
        now = self.clock()
        with self.database.write() as connection:
            lock_study(connection)
            there = set(connection.scalars(sa.select(schema.judges.c.name)))
            n_before = connection.scalar(sa.select(sa.func.count()).select_from(schema.judges)) or 0
            chosen = checked_names(names, there) if names else new_names(judges, n_before, there)
            invitations = [Invitation(name, new_token()) for name in chosen]
            connection.execute(
                schema.judges.insert(),
                [
                    {
                        "id": n_before + place,
                        "name": invitation.judge,
                        "token_hash": token_hash(invitation.token),
                        "invited_at": now,
                        "seen_at": now,
                        "seen_answer": 0,
                    }
                    for place, invitation in enumerate(invitations, start=1)
                ],
            )
        return invitations

    def judge_of(self, token: str) -> JudgeRef | None:
        """The judge with this token, None where there is none."""
        with self.database.read() as connection:
            row = connection.execute(
                sa.select(schema.judges).where(judges.token_hash == token_hash(token))
            ).one_or_none()
        # The lookup is by hash; the comparison in constant time decides.
        if row is None or not is_token(token, row.token_hash):
            return None
        return JudgeRef(
            id=row.id,
            name=row.name,
            has_consented=row.consented_at is not None,
            has_demographics=row.demographics is not None,
            has_started=row.started_at is not None,
        )

    def consent(self, judge: JudgeRef) -> None:
        with self.database.write() as connection:
            update_judge(connection, judge.id, consented_at=self.clock())

    def demographics(self, judge: JudgeRef, answers: Mapping[str, str]) -> None:
        """What judges say about themselves. Every answer is voluntary; {} notes that none was given."""
        known = {field.name: field for field in self.questionnaire.demographics}
        reasons = []
        for name, text in answers.items():
            if name not in known:
                reasons.append("unknown question")
            elif not isinstance(text, str) or len(text) > 500 or not is_storable(text):
                reasons.append(f"{name}: at most 500 characters of text")
            elif text and known[name].choices and text not in known[name].choices:
                reasons.append(f"{name}: one of {', '.join(known[name].choices)} is needed")
        if reasons:
            raise AnswerError(reasons)
        given = {name: text for name, text in answers.items() if text.strip()}
        with self.database.write() as connection:
            update_judge(connection, judge.id, demographics=given)

    def next_trial(self, judge: JudgeRef) -> ShownTrial | None:
        """The judge's current trial, the same until it is answered; None when all are answered.

        Raises StudyClosed while the study is paused or closed.
        """
        now = self.clock()
        with self.database.write() as connection:
            lock_study(connection)
            require_state(connection, ("open",))
            queue = JudgeQueue(self.setup, connection, judge.id, now)
            current = open_assignment(queue.own)
            seen = connection.scalar(sa.select(judges.seen_at).where(judges.id == judge.id))
            if current is None and (given := queue.next()) is not None:
                current = give(connection, judge.id, given, now, is_machine=queue.is_machine)
                note_seen(connection, judge.id, now)
            elif abs(now - (seen or 0)) > SEEN_EVERY_SECONDS:
                note_seen(connection, judge.id, now)
            return None if current is None else self._shown(connection, current)

    def next_trials(self, judge: JudgeRef, most: int) -> list[ShownTrial]:
        """Up to `most` trials for a machine, which answers several at a time: first those that it was
        given and has not answered, then others.

        Raises StudyClosed while the study is paused or closed.
        """
        now = self.clock()
        with self.database.write() as connection:
            lock_study(connection)
            require_state(connection, ("open",))
            queue = JudgeQueue(self.setup, connection, judge.id, now)
            rows = [row for row in queue.had if row.answered_at is None][:most]
            for given in queue.for_machine(most - len(rows)):
                rows.append(give(connection, judge.id, given, now, is_machine=True))
            note_seen(connection, judge.id, now)
            return [self._shown(connection, row) for row in rows]

    def machine(self, name: str, about: Mapping[str, str]) -> JudgeRef:
        """The machine judge of this name, which is invited if it is new. What is said `about` it stands
        where judges say something about themselves."""
        if not is_machine(name):
            raise InputError(f"{name!r} is not the name of a machine: it must begin with model:.")
        with self.database.read() as connection:
            found = connection.scalar(sa.select(judges.id).where(judges.name == name))
        if found is None:
            self.invite(1, [name])
        with self.database.write() as connection:
            row = connection.execute(sa.select(schema.judges).where(judges.name == name)).one()
            update_judge(connection, row.id, demographics=dict(about))
        return JudgeRef(row.id, row.name, True, True, row.started_at is not None)

    def trial(self, judge: JudgeRef, trial_id: str) -> ShownTrial | None:
        """One of the judge's own trials; None for any other trial."""
        with self.database.read() as connection:
            row = own_assignment(connection, judge.id, trial_id)
            return None if row is None else self._shown(connection, row)

    def speech(self, judge: JudgeRef, trial_id: str) -> bytes | None:
        """The sound of one of the judge's own trials, as a WAV file; None where there is none."""
        with self.database.read() as connection:
            row = own_assignment(connection, judge.id, trial_id)
            if row is None or row.purpose in ("practice", "check"):
                return None
            return speech_of(connection, self.setup.trials[row.number].item)

    def progress(self, judge: JudgeRef) -> JudgeProgress:
        with self.database.read() as connection:
            return JudgeQueue(self.setup, connection, judge.id, self.clock()).progress()

    def record(self, judge: JudgeRef, trial_id: str, answers: object, *, ms: int) -> Outcome:
        """Stores an answer. The same answer again changes nothing; a different one supersedes it.

        Raises AnswerError, UnknownTrial, AlreadyAnswered, or StudyClosed. A paused study still takes
        answers to trials that judges already have.
        """
        if isinstance(ms, bool) or not isinstance(ms, int) or ms < 0:
            raise AnswerError(["ms: the time taken, in whole milliseconds, is needed"])
        now = self.clock()
        with self.database.write() as connection:
            row = own_assignment(connection, judge.id, trial_id, lock=True)
            if row is None:
                raise UnknownTrial("This trial is not yours.")
            require_state(connection, ("open", "paused"))
            needs_consent = self.questionnaire.consent is not None and not is_machine(judge.name)
            if needs_consent and not has_consented(connection, judge.id):
                raise AnswerError(["the study needs your consent first"])
            values = checked_answers(self.setup, row, answers)
            latest = latest_answer(connection, row.id)
            if latest is not None and latest.answers == values:
                outcome: Outcome = "repeated"
            else:
                outcome = "created" if latest is None else "superseded"
                if latest is not None and not self.setup.design.can_undo:
                    raise AlreadyAnswered("This trial is answered; its answer cannot be changed.")
                connection.execute(
                    schema.answers.insert().values(
                        assignment=row.id,
                        revision=0 if latest is None else latest.revision + 1,
                        supersedes=None if latest is None else latest.id,
                        answers=values,
                        ms=min(ms, MAX_STORED_MS),
                        recorded_at=now,
                    )
                )
                if is_machine(judge.name):  # people are not late because a machine is quick
                    connection.execute(
                        sa.update(schema.judges)
                        .where(judges.id != judge.id)
                        .values(seen_answer=judges.seen_answer + 1)
                    )
            changes: dict[str, Any] = {"is_reopened": False, "is_withdrawn": False}
            if row.answered_at is None:
                changes["answered_at"] = now
            connection.execute(
                sa.update(schema.assignments).where(assignments.id == row.id).values(changes)
            )
            if row.is_withdrawn and row.purpose == "trial":
                change_given(connection, row.number, +1)
            note_seen(connection, judge.id, now)
        return outcome

    def undo(self, judge: JudgeRef) -> ShownTrial | None:
        """Takes back the last answer: its trial comes next again and still has the answer.

        Only one step is possible, and none where the design does not allow it.
        """
        if not self.setup.design.can_undo:
            return None
        with self.database.write() as connection:
            require_state(connection, ("open",))
            own = [row for row in own_assignments(connection, judge.id) if row.answered_at]
            if not own:
                return None
            last = next((row for row in own if row.is_reopened), None)
            if last is None:
                last = max(own, key=lambda row: (row.answered_at, row.id))
                connection.execute(
                    sa.update(schema.assignments)
                    .where(assignments.id == last.id)
                    .values(is_reopened=True)
                )
            return self._shown(connection, last)

    def forget(self, judge_name: str) -> int:
        """Erases a judge's answers, demographics, name and link. Returns the number of erased answers.

        The study keeps only that somebody withdrew, and the number of erased answers. Other judges get
        the trials.
        """
        with self.database.write() as connection:
            lock_study(connection)
            row = connection.execute(
                sa.select(schema.judges).where(judges.name == judge_name)
            ).one_or_none()
            if row is None or row.forgotten_at is not None:
                raise InputError(f"There is no judge {judge_name!r} in {self.database.name}.")
            own = own_assignments(connection, row.id)
            ids = [one.id for one in own]
            for one in own:
                if one.purpose == "trial" and not one.is_withdrawn and not is_machine(row.name):
                    change_given(connection, one.number, -1)
            erased = sum(one.answered_at is not None for one in own)
            connection.execute(sa.delete(schema.answers).where(answers.assignment.in_(ids)))
            connection.execute(sa.delete(schema.assignments).where(assignments.judge == row.id))
            update_judge(
                connection,
                row.id,
                name=f"forgotten-{opaque_id()}",
                token_hash=None,
                demographics=sa.null(),
                consented_at=None,
                started_at=None,
                forgotten_at=self.clock(),
                forgotten_answers=erased,
            )
        self.database.erase_traces()
        return erased

    def overview(self, *, ranking_may_be_old: bool = False) -> Overview:
        """The state of the study, for its owner. A ranking that may be old can lack the newest answers
        where it takes long to make."""
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
        """By judge, what judges said about themselves."""
        with self.database.read() as connection:
            rows = connection.execute(sa.select(judges.name, judges.demographics))
            return {row.name: row.demographics for row in rows if row.demographics}

    def _shown(self, connection: Connection, row: Assignment) -> ShownTrial:
        latest = latest_answer(connection, row.id)
        return shown_trial(self.setup, row, None if latest is None else latest.answers)
