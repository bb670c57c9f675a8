"""`StudyTransaction`: a transaction that writes to a study; and `GroupedWrites`, which carries out the
writes of many requests in one transaction.

Two things take time: a commit waits for the disk, and handing out a trial reads how often each trial
was given out. When many judges ask at once, each of the two is done only once for all requests that
wait at that moment. `GroupTransaction` also reads the judges of all these requests in one statement,
and writes all their answers in one statement. A request is answered only after the commit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args
from weakref import WeakKeyDictionary

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection, Row, event

from wellput.core.errors import WellputError
from wellput.core.judgment import is_machine
from wellput.core.metric import Integers
from wellput.studies import schema
from wellput.studies.database import Database, StoreUnavailable
from wellput.studies.invitations import token_hash

T = TypeVar("T")

StudyState: TypeAlias = Literal["open", "paused", "closed"]
STUDY_STATES: tuple[StudyState, ...] = get_args(StudyState)

assignments = schema.assignments.c
answers = schema.answers.c
judges = schema.judges.c
trials = schema.trials.c

MAX_READ_AHEAD = 500
"""At most this many judges of a group are read in one statement, since databases limit the number of
values of a statement."""

# Statements that every request needs, so they are built only once.
# PostgreSQL locks the row of the study until the transaction ends, so other writers wait.
LOCKED_STATE = sa.select(schema.study.c.state).with_for_update()
MISSING_JUDGMENTS = sa.select(trials.number, trials.planned - trials.given).where(
    trials.given < trials.planned
)
CHANGE_GIVEN = (
    sa.update(schema.trials)
    .where(trials.number == sa.bindparam("of_trial"))
    .values(given=trials.given + sa.bindparam("by"))
)
OPEN_LINK = sa.select(schema.open_link.c.settings)
JUDGE_BY_TOKEN = sa.select(schema.judges).where(judges.token_hash == sa.bindparam("of_hash"))
JUDGES_BY_TOKEN = sa.select(schema.judges).where(
    judges.token_hash.in_(sa.bindparam("of_hashes", expanding=True))
)
OWN_ASSIGNMENTS = (
    sa.select(schema.assignments)
    .where(assignments.judge == sa.bindparam("own_judge"))
    .order_by(assignments.id)
)
ASSIGNMENTS_OF_JUDGES = (
    sa.select(schema.assignments)
    .where(assignments.judge.in_(sa.bindparam("own_judges", expanding=True)))
    .order_by(assignments.id)
)
NEW_ASSIGNMENT = schema.assignments.insert()
GIVEN_ASSIGNMENT = NEW_ASSIGNMENT.returning(schema.assignments)  # returns the row with its new id
NEW_ANSWER = schema.answers.insert()
# If the trial was withdrawn from the judge, the answer counts nevertheless. If the judge took an answer
# back (`is_reopened`), the time of the answer is `moment`, even if it is the same answer as before;
# otherwise the time of the first answer stays.
MARK_ANSWERED = (
    sa.update(schema.assignments)
    .where(assignments.id == sa.bindparam("of_assignment"))
    .values(
        is_reopened=False,
        is_withdrawn=False,
        answered_at=sa.case(
            (assignments.is_reopened, sa.bindparam("moment", type_=sa.Double)),
            else_=sa.func.coalesce(
                assignments.answered_at, sa.bindparam("moment", type_=sa.Double)
            ),
        ),
    )
)
LATEST_ANSWER_ID = sa.select(sa.func.coalesce(sa.func.max(answers.id), 0)).scalar_subquery()
# `n_later` is the number of answers in the same transaction that came after the judge was seen.
NOTE_SEEN = (
    sa.update(schema.judges)
    .where(judges.id == sa.bindparam("of_judge"))
    .values(
        seen_at=sa.bindparam("now", type_=sa.Double),
        seen_answer=LATEST_ANSWER_ID - sa.bindparam("n_later", type_=sa.BigInteger),
        started_at=sa.func.coalesce(judges.started_at, sa.bindparam("now", type_=sa.Double)),
    )
)


@dataclass(frozen=True, slots=True)
class WaitingAssignment:
    """An assignment that waits to be written. It has no id before it is written, only its key."""

    key: str
    judge: int
    purpose: str
    number: int
    variants: Sequence[tuple[str, str]]
    given_at: float
    answered_at: float | None
    is_reopened: bool
    is_withdrawn: bool

    @property
    def id(self) -> int:
        raise AssertionError("this assignment is not written yet")


Assignment: TypeAlias = Row[Any] | WaitingAssignment


class StudyClosed(WellputError):
    """The study is paused or closed; `state` says which."""

    def __init__(self, state: StudyState) -> None:
        super().__init__(f"The study is {state}.")
        self.state = state


class StudyReading:
    """A transaction that reads a study with `n_trials` trials."""

    def __init__(self, connection: Connection, n_trials: int) -> None:
        self.connection = connection
        self._n_trials = n_trials

    def judge_with(self, token_hash: str) -> Row[Any] | None:
        """The judge whose token has this hash."""
        return self.connection.execute(JUDGE_BY_TOKEN, {"of_hash": token_hash}).one_or_none()

    def own_assignments(self, judge: int) -> list[Row[Any]]:
        """All assignments of a judge, in the order in which the judge got them."""
        return list(self.connection.execute(OWN_ASSIGNMENTS, {"own_judge": judge}).all())

    @cached_property
    def open_link(self) -> Mapping[str, Any] | None:
        """The settings of the open link; None where the study has none."""
        settings: Mapping[str, Any] | None = self.connection.scalar(OPEN_LINK)
        return settings

    @cached_property
    def missing(self) -> Integers:
        """For each trial, the number of planned judgments that no judge has given or been asked for."""
        missing = np.zeros(self._n_trials, np.int64)
        rows = self.connection.execute(MISSING_JUDGMENTS).all()
        if rows:
            numbers, lacking = zip(*rows, strict=True)
            missing[list(numbers)] = lacking
        return missing


class StudyTransaction(StudyReading):
    """A transaction that writes. Until it ends, no other transaction can hand out trials, take answers
    or change the state of the study or its open link, so whatever this transaction has read stays
    valid."""

    def __init__(self, connection: Connection, n_trials: int) -> None:
        super().__init__(connection, n_trials)
        self.state: StudyState = connection.scalars(LOCKED_STATE).one()

    def require_state(self, allowed: Sequence[StudyState]) -> None:
        """Raises StudyClosed while the study is in any other state."""
        if self.state not in allowed:
            raise StudyClosed(self.state)

    def change_given(self, number: int, by: int) -> None:
        """Adds `by` to the number of judges who have a trial."""
        self._write(CHANGE_GIVEN, {"of_trial": number, "by": by})
        if "missing" in self.__dict__:  # it was computed already
            if by < 0:  # `missing` does not say how many were planned, so it must be read again
                del self.missing
            else:
                self.missing[number] = max(0, self.missing[number] - by)

    def new_assignment(self, values: Mapping[str, Any]) -> Assignment:
        """Writes an assignment, and returns it."""
        return self.connection.execute(GIVEN_ASSIGNMENT, dict(values)).one()

    def new_answer(self, values: Mapping[str, Any]) -> None:
        self._write(NEW_ANSWER, values)

    def mark_answered(self, assignment: int, moment: float) -> None:
        """Marks an assignment as answered at this moment, if it had no answer or the judge took it
        back."""
        self._write(MARK_ANSWERED, {"of_assignment": assignment, "moment": moment})

    def note_seen(self, judge: int, now: float) -> None:
        """Notes that a judge is here now, and the id of the study's latest answer, from which
        `assignment_rules.is_away` gets the number of answers since."""
        self._write(NOTE_SEEN, {"of_judge": judge, "now": now, "n_later": 0})

    def _write(self, statement: sa.UpdateBase, values: Mapping[str, Any]) -> None:
        """Carries out a statement that writes, now or (in a `GroupTransaction`) later."""
        self.connection.execute(statement, dict(values))


class GroupTransaction(StudyTransaction):
    """A transaction of many requests. It reads the judges of all requests at once, ahead of the
    requests, and lets their writes wait until `write_waiting`, which must be called before the commit.

    The rows of a judge that were read ahead serve one request; a second request of the same judge reads
    the tables. Before any statement of another kind, all waiting writes are written, so that every
    statement finds what earlier requests wrote. If such a statement writes, all rows that were read
    ahead are thrown away.
    """

    def __init__(self, connection: Connection, n_trials: int, token_hashes: Iterable[str]) -> None:
        super().__init__(connection, n_trials)
        self._judges: dict[str, Row[Any]] = {}
        self._own: dict[int, list[Row[Any]]] = {}
        kinds = (NEW_ASSIGNMENT, NEW_ANSWER, MARK_ANSWERED, CHANGE_GIVEN, NOTE_SEEN)
        self._waiting: dict[sa.UpdateBase, list[dict[str, Any]]] = {kind: [] for kind in kinds}
        self._is_writing_waiting = False
        hashes = sorted(set(token_hashes))[:MAX_READ_AHEAD]
        if len(hashes) > 1:
            self._read_ahead(hashes)
        event.listen(connection, "before_execute", self._before_statement)

    def own_assignments(self, judge: int) -> list[Row[Any]]:
        read_ahead = self._own.pop(judge, None)
        return super().own_assignments(judge) if read_ahead is None else read_ahead

    def judge_with(self, token_hash: str) -> Row[Any] | None:
        read_ahead = self._judges.pop(token_hash, None)
        return super().judge_with(token_hash) if read_ahead is None else read_ahead

    def new_assignment(self, values: Mapping[str, Any]) -> Assignment:
        # A later request of this judge must read the new assignment from the table.
        self._own.pop(values["judge"], None)
        self._write(NEW_ASSIGNMENT, values)
        return WaitingAssignment(**values)

    def write_waiting(self) -> None:
        """Carries out the waiting writes: one statement for each kind, in the order of the requests."""
        n_answers = len(self._waiting[NEW_ANSWER])
        for seen in self._waiting[NOTE_SEEN]:
            # Until here, n_later is the number of the group's answers before the judge was seen; now it
            # becomes the number after. The group's answers get successive ids, since nobody else adds
            # answers meanwhile.
            seen["n_later"] = n_answers - seen["n_later"]
        with self._writing_waiting():
            for statement, rows in self._waiting.items():
                if rows:
                    self.connection.execute(statement, rows)
                    rows.clear()

    def note_seen(self, judge: int, now: float) -> None:
        n_before = len(self._waiting[NEW_ANSWER])
        self._write(NOTE_SEEN, {"of_judge": judge, "now": now, "n_later": n_before})

    def _write(self, statement: sa.UpdateBase, values: Mapping[str, Any]) -> None:
        self._waiting[statement].append(dict(values))

    def _read_ahead(self, hashes: Sequence[str]) -> None:
        rows = self.connection.execute(JUDGES_BY_TOKEN, {"of_hashes": hashes}).all()
        self._judges = {row.token_hash: row for row in rows}
        # The queue of a machine (`MachineQueue`) does not ask for all its assignments.
        self._own = {row.id: [] for row in rows if not is_machine(row.name)}
        if self._own:
            ids = {"own_judges": list(self._own)}
            for row in self.connection.execute(ASSIGNMENTS_OF_JUDGES, ids):
                self._own[row.judge].append(row)

    @contextmanager
    def _writing_waiting(self) -> Iterator[None]:
        """Lets statements inside the block pass `_before_statement` unchanged."""
        self._is_writing_waiting = True
        try:
            yield
        finally:
            self._is_writing_waiting = False

    def _before_statement(self, _connection: Connection, statement: object, *_: object) -> None:
        # Of the waiting writes, MISSING_JUDGMENTS depends on CHANGE_GIVEN only, OPEN_LINK on none.
        reads_missing = statement is MISSING_JUDGMENTS
        depends_on_none = statement is OPEN_LINK or (
            reads_missing and not self._waiting[CHANGE_GIVEN]
        )
        if self._is_writing_waiting or depends_on_none:
            return
        self.write_waiting()
        if not isinstance(statement, sa.Select):
            self._judges.clear()
            self._own.clear()


@dataclass(frozen=True)
class WaitingWrite(Generic[T]):
    """The function `work`, which does the writes of one request, and the future for its result.
    `token_hash` is that of the judge who asks, if known."""

    work: Callable[[StudyTransaction], T]
    result: asyncio.Future[T]
    token_hash: str | None


class GroupedWrites:
    """Carries out writes in groups: the writes that are asked for while one group is committed make
    the next group.

    A write is a function of the transaction. If one write of a group raises, the whole group is
    undone, and each write is done again in a transaction of its own. If the database cannot be used,
    all writes of the group fail.
    """

    def __init__(self, database: Database, n_trials: int) -> None:
        self._database = database
        self._n_trials = n_trials
        self._waiting: WeakKeyDictionary[asyncio.AbstractEventLoop, list[WaitingWrite[Any]]] = (
            WeakKeyDictionary()
        )
        self._tasks: set[asyncio.Task[None]] = set()

    def do(
        self, work: Callable[[StudyTransaction], T], *, token: str | None = None
    ) -> Awaitable[T]:
        """The result of `work`, once its writes are on the disk. `token` is that of the judge who
        asks."""
        loop = asyncio.get_running_loop()
        hashed = None if token is None else token_hash(token)
        waiting = WaitingWrite(work, loop.create_future(), hashed)
        if (group := self._waiting.get(loop)) is not None:
            group.append(waiting)
        else:
            self._waiting[loop] = [waiting]
            task = loop.create_task(self._write_groups(loop))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return waiting.result

    async def _write_groups(self, loop: asyncio.AbstractEventLoop) -> None:
        """Writes group after group, until no write waits."""
        while group := self._waiting[loop]:
            self._waiting[loop] = []
            if not await self._try_to_write(group):
                for waiting in group:
                    await self._try_to_write([waiting])
        del self._waiting[loop]

    async def _try_to_write(self, group: Sequence[WaitingWrite[Any]]) -> bool:
        """Tries to write the group in one transaction. Returns false if its writes must be tried one
        by one; true if they were written, or have failed for good."""
        results: list[Any] = []
        writing = self._database.write()

        def begin() -> GroupTransaction:
            connection = writing.__enter__()
            try:
                hashes = [waiting.token_hash for waiting in group if waiting.token_hash is not None]
                return GroupTransaction(connection, self._n_trials, hashes)
            except BaseException as error:
                writing.__exit__(type(error), error, None)
                raise

        def end(transaction: GroupTransaction) -> None:
            try:
                transaction.write_waiting()
            except BaseException as error:
                writing.__exit__(type(error), error, None)
                raise
            writing.__exit__(None, None, None)

        try:
            # To begin and to end a transaction means to wait for other programs and for the disk, so
            # both are done in a thread, outside the event loop.
            transaction = await asyncio.to_thread(begin)
            try:
                results = [waiting.work(transaction) for waiting in group]
            except BaseException as error:
                await asyncio.to_thread(writing.__exit__, type(error), error, None)
                raise
            await asyncio.to_thread(end, transaction)
        except Exception as error:
            # If the database cannot be used, it would only refuse each write again, after a while.
            if len(group) > 1 and not isinstance(error, StoreUnavailable):
                return False
            for waiting in group:
                if not waiting.result.done():
                    waiting.result.set_exception(error)
            return True
        for waiting, result in zip(group, results, strict=True):
            if not waiting.result.done():
                waiting.result.set_result(result)
        return True
