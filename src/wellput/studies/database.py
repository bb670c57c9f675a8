"""`Database`: an SQLite file or a PostgreSQL server. Transactions are durable when they end,
and errors say what to do.

SQLite runs in WAL mode with synchronous=FULL: a commit is on the disk when it returns. All writes of
a process wait at one lock: SQLite takes one write at a time, and without the lock, waiting writers
would only try again from time to time.
"""

from __future__ import annotations

import contextlib
import sqlite3
import stat
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import URL, Connection, event, exc
from sqlalchemy.engine import make_url

from wellput.core.errors import InputError

BUSY_SECONDS = 10.0
MAX_POOLED_CONNECTIONS = 20
HOW_TO_MAKE_ONE = "`wellput study create`, in Python `wellput.Study.create(…)`, makes one."

FILE_SUFFIXES = ("", "-wal", "-shm")
"""The endings of the files of an SQLite database: the database itself, its log of recent writes, and
the memory that its processes share."""


class StoreUnavailable(InputError):
    """The database cannot be used now: it is locked, read-only, full or unreachable."""


class Database:
    """Connections to one database."""

    def __init__(self, url: URL, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self.url = url
        self.name = str(file_of(url)) if self.is_sqlite else _without_password(url)
        self._lock = threading.Lock()
        if self.is_sqlite:
            self.engine = sa.create_engine(
                URL.create(
                    "sqlite",
                    database=f"file:{_escaped(file_of(url))}",
                    query={"mode": "rw", "uri": "true"},  # rw: a missing file is not made
                ),
                connect_args={"check_same_thread": False, "timeout": busy_seconds},
                poolclass=sa.QueuePool,
                pool_size=MAX_POOLED_CONNECTIONS,
                max_overflow=MAX_POOLED_CONNECTIONS,
            )
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)
        else:
            self.engine = sa.create_engine(
                url,
                pool_size=MAX_POOLED_CONNECTIONS,
                max_overflow=MAX_POOLED_CONNECTIONS,
                pool_pre_ping=True,
            )
            event.listen(self.engine, "connect", _prepare_postgresql)
        weakref.finalize(self, self.engine.dispose)
        self._writer = self.engine.execution_options(is_write=True)

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads, and sees one state of the database."""
        with explained(self.name), self.engine.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that is on the disk when the block ends, and undone if it raises."""
        with (
            explained(self.name),
            self._lock if self.is_sqlite else contextlib.nullcontext(),
            self._writer.begin() as connection,
        ):
            yield connection

    def erase_traces(self) -> None:
        """Removes deleted rows from the files too: SQLite keeps them in its log, PostgreSQL in its
        tables until they are vacuumed."""
        with explained(self.name), self.engine.connect() as connection:
            if self.is_sqlite:
                raw = connection.connection.driver_connection
                assert raw is not None
                with self._lock:
                    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            else:
                connection.execution_options(isolation_level="AUTOCOMMIT")
                connection.execute(sa.text("VACUUM answers, assignments, judges, enrolments"))

    @property
    def files(self) -> list[str]:
        """The files of an SQLite database; none for a server."""
        return [f"{self.name}{suffix}" for suffix in FILE_SUFFIXES] if self.is_sqlite else []

    def close(self) -> None:
        self.engine.dispose()


def parse_url(text: str | Path) -> URL:
    """A database URL. A text without `://` is the path of an SQLite file."""
    text = str(text)
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        url = make_url(text)
    except exc.ArgumentError:
        raise InputError("This is not a database URL: postgresql://USER@HOST/DATABASE.") from None
    backend = url.drivername.partition("+")[0]
    if backend == "sqlite" and url.database:
        return URL.create("sqlite", database=url.database)
    if backend in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise InputError(
        f"A study cannot be kept in a {backend} database: give the path of a file (SQLite), or "
        "postgresql://USER@HOST/DATABASE."
    )


def create_file(url: URL) -> None:
    """Makes an empty SQLite file. Raises InputError where it exists or cannot be made."""
    path = file_of(url)
    try:
        # A study holds what judges said in confidence: other users of the machine cannot read it.
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        raise InputError(
            f"{path} already exists. A study is never overwritten: choose another name, or remove it."
        ) from None
    except FileNotFoundError:
        raise InputError(f"Cannot make {path}: the folder does not exist.") from None
    except OSError as error:
        raise InputError(f"Cannot make {path}: {error.strerror}.") from None


def is_empty_file(url: URL) -> bool:
    """Whether there is an SQLite file without any table, and other users of the machine may not read
    it."""
    path = file_of(url)
    if not path.is_file() or stat.S_IMODE(path.stat().st_mode) & 0o077:
        return False
    try:
        with contextlib.closing(
            sqlite3.connect(f"file:{_escaped(path)}?mode=ro", uri=True)
        ) as connection:
            [n_tables] = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        return False
    return bool(n_tables == 0)


def remove_files(url: URL) -> None:
    """Removes the SQLite file of a study that could not be made, with the files beside it."""
    for suffix in FILE_SUFFIXES:
        Path(f"{file_of(url)}{suffix}").unlink(missing_ok=True)


def check_file(url: URL) -> None:
    """Raises InputError where there is no file to open."""
    path = file_of(url)
    if not path.is_file():
        raise InputError(f"There is no study {path}. {HOW_TO_MAKE_ONE}")


@contextlib.contextmanager
def explained(name: str) -> Iterator[None]:
    """Turns database errors inside the block into messages for people. `name` is the database's."""
    try:
        yield
    except exc.TimeoutError:
        raise StoreUnavailable(f"{name} has too many requests at once. Try again.") from None
    except exc.DatabaseError as error:
        reason = _reason(error)
        if reason is None:
            raise
        raise StoreUnavailable(f"{name} {reason}") from None


def _reason(error: exc.DatabaseError) -> str | None:
    """The end of the message for people (after the database's name); None where the error is a bug in
    wellput."""
    original = error.orig
    text = str(original).strip()
    for words, reason in _REASONS.items():
        if words in text.lower():
            return reason
    if isinstance(error, exc.OperationalError | exc.InternalError):
        return f"cannot be used: {text.splitlines()[0] if text else type(original).__name__}"
    return None


_REASONS = {
    "database is locked": "is locked by another program. Close that program, or wait, and try "
    "again; what was saved before is safe.",
    "readonly database": "cannot be written: the file or its folder is read-only. Nothing was lost; "
    "give write permission and try again.",
    "read-only transaction": "cannot be written: the server is read-only. Nothing was lost.",
    "unable to open database file": "cannot be opened: check that you may read and write the file "
    "and its folder.",
    "database or disk is full": "cannot be written: the disk is full. What was saved before is "
    "safe; free some space and try again.",
    "no space left on device": "cannot be written: the disk is full. What was saved before is safe; "
    "free some space and try again.",
    "file is not a database": "is not a study: it is not an SQLite database.",
    "disk image is malformed": "is damaged. Restore it from a copy.",
}  # fmt: skip


def _without_password(url: URL) -> str:
    """A server's address as the user gave it, without the password."""
    return url.set(drivername="postgresql").render_as_string(hide_password=True)


def file_of(url: URL) -> Path:
    """The file of an SQLite database."""
    return Path(url.database or "")


def _escaped(path: Path) -> str:
    """A path as part of an SQLite URI, which is itself part of a URL."""
    text = str(path.absolute())
    for character, escape in (("%", "%25"), ("?", "%3f"), ("#", "%23")):
        text = text.replace(character, escape)
    return text


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # SQLAlchemy begins and ends transactions, not the driver
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    is_write = connection.get_execution_options().get("is_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_write else "BEGIN")


def _prepare_postgresql(connection: Any, _: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit TO on")
    connection.commit()
