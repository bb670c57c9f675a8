"""The owner's sessions: a browser that gave the owner's token has a session until it signs out, or
until the owner ends the session from another browser. The study's database stores for each session a
hash of its token, when it began, and when it was last used. So a session that ends is over for every
process that serves the study.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from wellput.studies import schema
from wellput.studies.database import Database
from wellput.studies.invitations import is_token, new_token, token_hash

MAX_IDLE_SECONDS = 30 * 24 * 3600.0
"""A session that is not used for this long has ended."""
SEEN_EVERY_SECONDS = 60.0
"""The time of the last use of a session is written at most this often."""

sessions = schema.owner_sessions.c


@dataclass(frozen=True, slots=True)
class OwnerSession:
    """A session that is open. `is_own` says that it is the session of the browser that asks."""

    id: int
    begun_at: float
    seen_at: float
    is_own: bool


class OwnerSessions:
    """The open sessions of a study."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    def begin(self) -> str:
        """A new session. Returns its token, which the browser keeps."""
        token = new_token()
        now = self._clock()
        with self._database.write() as connection:
            connection.execute(
                sa.delete(schema.owner_sessions).where(sessions.seen_at < now - MAX_IDLE_SECONDS)
            )
            connection.execute(
                schema.owner_sessions.insert().values(
                    token_hash=token_hash(token), begun_at=now, seen_at=now
                )
            )
        return token

    def is_open(self, token: str) -> bool:
        """Whether an open session has this token. Notes the time of this use."""
        now = self._clock()
        with self._database.read() as connection:
            row = connection.execute(
                sa.select(schema.owner_sessions).where(sessions.token_hash == token_hash(token))
            ).one_or_none()
        if row is None or not is_token(token, row.token_hash):
            return False
        if now - row.seen_at > MAX_IDLE_SECONDS:
            return False
        if now - row.seen_at > SEEN_EVERY_SECONDS:
            with self._database.write() as connection:
                connection.execute(
                    sa.update(schema.owner_sessions)
                    .where(sessions.id == row.id)
                    .values(seen_at=now)
                )
        return True

    def all_open(self, own_token: str) -> list[OwnerSession]:
        """The open sessions, the latest first. `own_token` is that of the browser that asks."""
        since = self._clock() - MAX_IDLE_SECONDS
        own = token_hash(own_token)
        with self._database.read() as connection:
            rows = connection.execute(
                sa.select(schema.owner_sessions)
                .where(sessions.seen_at >= since)
                .order_by(sessions.begun_at.desc(), sessions.id.desc())
            ).all()
        return [
            OwnerSession(row.id, row.begun_at, row.seen_at, row.token_hash == own) for row in rows
        ]

    def end(self, token: str) -> None:
        """Ends the session with this token."""
        self._delete(sessions.token_hash == token_hash(token))

    def end_number(self, number: int) -> None:
        """Ends the session with this id."""
        self._delete(sessions.id == number)

    def _delete(self, which: sa.ColumnElement[bool]) -> None:
        with self._database.write() as connection:
            connection.execute(sa.delete(schema.owner_sessions).where(which))
