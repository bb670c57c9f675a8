"""`StudyTransaction`: one transaction that writes, with what it has read of the whole study; and
`GroupedWrites`, which carries out the writes of many requests in one transaction.

A commit waits for the disk, and handing out a trial reads how often each trial was given out. With many
judges at once both are done once for all requests that wait at that moment. A request is answered only
after the commit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args
from weakref import WeakKeyDictionary

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from wellput.core.errors import WellputError
from wellput.core.metric import Integers
from wellput.studies import schema
from wellput.studies.database import Database, StoreUnavailable

T = TypeVar("T")

StudyState: TypeAlias = Literal["open", "paused", "closed"]
STUDY_STATES: tuple[StudyState, ...] = get_args(StudyState)

trials = schema.trials.c

# Statements of every request, built once.
LOCKED_STUDY = sa.select(schema.study.c.state).with_for_update()
MISSING_JUDGMENTS = sa.select(trials.number, trials.planned - trials.given).where(
    trials.given < trials.planned
)
CHANGE_GIVEN = (
    sa.update(schema.trials)
    .where(trials.number == sa.bindparam("of_trial"))
    .values(given=trials.given + sa.bindparam("by"))
)


class StudyClosed(WellputError):
    """The study is paused or closed; `state` says which."""

    def __init__(self, state: StudyState) -> None:
        super().__init__(f"The study is {state}.")
        self.state = state


class StudyReading:
    """A transaction, with what it has read of the whole study."""

    def __init__(self, connection: Connection, n_trials: int) -> None:
        self.connection = connection
        self._n_trials = n_trials

    @cached_property
    def missing(self) -> Integers:
        """By trial, the number of judgments that it lacks and that no judge has been asked for."""
        found = np.zeros(self._n_trials, np.int64)
        rows = self.connection.execute(MISSING_JUDGMENTS).all()
        if rows:
            numbers, lacking = zip(*rows, strict=True)
            found[list(numbers)] = lacking
        return found


class StudyTransaction(StudyReading):
    """A transaction that writes. No other transaction hands out trials, takes answers or changes the
    state of the study until it ends, so each of these is read once."""

    def __init__(self, connection: Connection, n_trials: int) -> None:
        super().__init__(connection, n_trials)
        self.state: StudyState = connection.scalars(LOCKED_STUDY).one()

    def require_state(self, allowed: Sequence[StudyState]) -> None:
        """Raises StudyClosed while the study is in any other state."""
        if self.state not in allowed:
            raise StudyClosed(self.state)

    def change_given(self, number: int, by: int) -> None:
        """Changes the number of judges who have a trial."""
        self.connection.execute(CHANGE_GIVEN, {"of_trial": number, "by": by})
        if "missing" in self.__dict__:
            if by < 0:  # how many were planned is not known here: read it again
                del self.missing
            else:
                self.missing[number] = max(0, self.missing[number] - by)


@dataclass(frozen=True)
class WaitingWrite(Generic[T]):
    """What one request writes, and where it waits for the result."""

    work: Callable[[StudyTransaction], T]
    result: asyncio.Future[T]


class GroupedWrites:
    """Carries out writes in groups: those that come while one group is committed are the next group.

    A write is a function of the transaction. If one of a group raises, the whole group is undone, and
    each of its writes is done again in a transaction of its own. If the database cannot be used, all of
    the group fail.
    """

    def __init__(self, database: Database, n_trials: int) -> None:
        self._database = database
        self._n_trials = n_trials
        self._waiting: WeakKeyDictionary[asyncio.AbstractEventLoop, list[WaitingWrite[Any]]] = (
            WeakKeyDictionary()
        )
        self._tasks: set[asyncio.Task[None]] = set()

    def do(self, work: Callable[[StudyTransaction], T]) -> Awaitable[T]:
        """The result of `work`, once it is on the disk."""
        loop = asyncio.get_running_loop()
        waiting = WaitingWrite(work, loop.create_future())
        if (group := self._waiting.get(loop)) is not None:
            group.append(waiting)
        else:
            self._waiting[loop] = [waiting]
            task = loop.create_task(self._write_groups(loop))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return waiting.result

    async def _write_groups(self, loop: asyncio.AbstractEventLoop) -> None:
        while group := self._waiting[loop]:
            self._waiting[loop] = []
            if not await self._is_written(group):
                for one in group:
                    await self._is_written([one])
        del self._waiting[loop]

    async def _is_written(self, group: Sequence[WaitingWrite[Any]]) -> bool:
        """Whether the group was written in one transaction, or its writes have failed for good."""
        results: list[Any] = []
        writing = self._database.write()

        def begin() -> StudyTransaction:
            return StudyTransaction(writing.__enter__(), self._n_trials)

        try:
            # Beginning and ending wait for other programs and for the disk: not in the event loop.
            transaction = await asyncio.to_thread(begin)
            try:
                results = [one.work(transaction) for one in group]
            except BaseException as error:
                await asyncio.to_thread(writing.__exit__, type(error), error, None)
                raise
            await asyncio.to_thread(writing.__exit__, None, None, None)
        except Exception as error:
            # If the database cannot be used, it would only refuse each write again, after a while.
            if len(group) > 1 and not isinstance(error, StoreUnavailable):
                return False
            for one in group:
                if not one.result.done():
                    one.result.set_exception(error)
            return True
        for one, result in zip(group, results, strict=True):
            if not one.result.done():
                one.result.set_result(result)
        return True
