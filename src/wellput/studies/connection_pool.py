"""The connections of a process to one database, of which there are only so many at a time: a request
waits for one. Each new connection gets the options that make transactions durable."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy import URL, Connection, Engine, event, exc

MAX_SERVER_CONNECTIONS = 25
"""Connections of a process to PostgreSQL, which allows 100 by default, for all programs together. So
three servers of a study leave 25 to others."""
MAX_FILE_CONNECTIONS = 40
"""Connections of a process to an SQLite file."""
TRY_AGAIN_SECONDS = 0.1
NO_FREE_CONNECTION = ("too many clients", "too many connections", "remaining connection slots")
"""In the messages of a PostgreSQL server that refuses a connection because it has too many. The library
does not give the code of this error (53300)."""


def server_engine(url: URL, busy_seconds: float) -> Engine:
    """Connections to a PostgreSQL server. A request waits for `busy_seconds` at most until one is
    free."""
    engine = sa.create_engine(
        url,
        pool_size=MAX_SERVER_CONNECTIONS,
        max_overflow=0,
        pool_timeout=busy_seconds,
        pool_pre_ping=True,
    )
    event.listen(engine, "connect", _prepare_postgresql)
    return engine


def file_engine(address: str, busy_seconds: float) -> Engine:
    """Connections to an SQLite file. `address` is its URI without the parameters."""
    engine = sa.create_engine(
        URL.create(
            "sqlite",
            database=address,
            query={"mode": "rw", "uri": "true"},  # rw: a missing file is not made
        ),
        connect_args={"check_same_thread": False, "timeout": busy_seconds},
        poolclass=sa.QueuePool,
        pool_size=MAX_FILE_CONNECTIONS,
        max_overflow=0,
        pool_timeout=busy_seconds,
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


@contextlib.contextmanager
def connection_of(engine: Engine, busy_seconds: float) -> Iterator[Connection]:
    """A connection. If the server has too many, waits up to `busy_seconds` for one that this process or
    another program gives back."""
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            connection = engine.connect()
            break
        except exc.OperationalError as error:
            if not lacks_connections(error) or time.monotonic() > deadline:
                raise
            time.sleep(TRY_AGAIN_SECONDS)
    with connection:
        yield connection


def lacks_connections(error: exc.OperationalError) -> bool:
    """Whether the server refused a connection because it has too many."""
    message = str(error.orig)
    return any(words in message for words in NO_FREE_CONNECTION)


def _prepare_sqlite(connection: Any, _: object) -> None:
    """Sets the options of a new connection."""
    connection.isolation_level = None  # SQLAlchemy begins and ends transactions, not the driver
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    """Begins a transaction. One that writes takes SQLite's lock at once, not at its first write."""
    is_write = connection.get_execution_options().get("is_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_write else "BEGIN")


def _prepare_postgresql(connection: Any, _: object) -> None:
    """Makes the commits of a new connection durable, whatever the server's default is."""
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit TO on")
    connection.commit()
