"""`LatestOverviews`: the state of a study for dashboards that ask for it every few seconds.

In a large study an overview takes seconds of processor time, which the judges' pages need. So a server
makes only one at a time, in a thread of its own, and rests before the next one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy import Connection

from wellput.studies import schema
from wellput.studies.overview import LatestRankings, Overview
from wellput.studies.queries import state_of
from wellput.studies.store import StudyState

QUICK_OVERVIEW_SECONDS = 0.5
REST_PER_OVERVIEW = 20
"""If an overview took longer than `QUICK_OVERVIEW_SECONDS`, the next one is made after this many times
as long. The time of its ranking does not count: the rankings have rests of their own."""
LONGEST_SECONDS_UNCHANGED = 600.0
"""If nothing was changed, the overview is made anew after this time, because it also says which judges
have been away for long."""
WAIT_SECONDS = 5.0
"""A request waits at most this long for an overview. This is less than a page waits
(`rendering.ANSWER_SECONDS`)."""


@dataclass(frozen=True)
class StudyVersion:
    """Facts that differ if the study was changed. An overview is made at once if the owner changed the
    `state` or if judges withdrew; `progress` is what changes when judges come and answer."""

    state: StudyState
    n_forgotten: int
    progress: Hashable


def version_of(connection: Connection) -> StudyVersion:
    """The version of the study now, by queries that stay quick in a large study."""
    judges = schema.judges.c
    columns = (sa.func.count(judges.forgotten_at), sa.func.count(), sa.func.max(judges.seen_at))
    n_forgotten, *seen = connection.execute(sa.select(*columns)).one()
    newest = connection.scalar(sa.select(sa.func.max(schema.answers.c.id)))
    return StudyVersion(state_of(connection), n_forgotten, (newest, *seen))


@dataclass(frozen=True)
class MadeOverview:
    """An overview and its version. It was made between two times of the clock, in seconds. `took` is
    the time without that of the ranking."""

    overview: Overview
    version: StudyVersion
    made_at: float
    took: float


@dataclass
class LatestOverviews:
    """Keeps the last overview. `make` makes a new one, with these `rankings`."""

    make: Callable[[], Overview]
    rankings: LatestRankings
    clock: Callable[[], float] = time.monotonic
    _last: MadeOverview | None = None
    _being_made: Future[MadeOverview] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(
        self, version: StudyVersion, *, wait_seconds: float = WAIT_SECONDS
    ) -> MadeOverview | None:
        """The overview of the study, which has this `version` now. It may be an old one while a new one
        is being made. None if the first one is still being made."""
        with self._lock:
            if self._last is not None and self._may_stay(self._last, version):
                return self._last
            if self._being_made is None:
                self._being_made = Future()
                # A daemon: a server that is stopped does not wait for it.
                threading.Thread(
                    target=self._run, args=(self._being_made, version), daemon=True
                ).start()
            being_made = self._being_made
        wait([being_made], timeout=wait_seconds)
        return being_made.result() if being_made.done() else self._last

    def seconds_old(self, made: MadeOverview) -> float:
        return self.clock() - made.made_at

    def _may_stay(self, last: MadeOverview, version: StudyVersion) -> bool:
        elapsed = self.seconds_old(last)
        if last.took <= QUICK_OVERVIEW_SECONDS:
            return False
        before = last.version
        if (version.state, version.n_forgotten) != (before.state, before.n_forgotten):
            return False
        if version == before:
            return elapsed < max(LONGEST_SECONDS_UNCHANGED, REST_PER_OVERVIEW * last.took)
        return elapsed < REST_PER_OVERVIEW * last.took

    def _run(self, being_made: Future[MadeOverview], version: StudyVersion) -> None:
        """Makes an overview. The study may change meanwhile: then the next one is made for the new
        version."""
        began, ranked_before = self.clock(), self.rankings.made_at
        try:
            overview = self.make()
        except BaseException as error:
            with self._lock:
                self._being_made = None
            being_made.set_exception(error)
            return
        took = self.clock() - began
        if self.rankings.made_at != ranked_before:
            took -= self.rankings.took
        made = MadeOverview(overview, version, self.clock(), took)
        with self._lock:
            self._last, self._being_made = made, None
        being_made.set_result(made)
