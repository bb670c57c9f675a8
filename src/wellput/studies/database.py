"""`Database`: an SQLite file or a PostgreSQL server. Transactions are durable when they end,
and errors say what to do.

SQLite runs in WAL mode with synchronous=FULL: a commit is on the disk when it returns. All writes of
a process wait at one lock: SQLite takes one write at a time, and without the lock, waiting writers
would only try again from time to time.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import URL, Connection, Engine, exc
from sqlalchemy.engine import make_url

from wellput.core.errors import InputError
from wellput.io.output import temporary_path
from wellput.studies.connection_pool import (
    NO_FREE_CONNECTION,
    connection_of,
    file_engine,
    server_engine,
)

BUSY_SECONDS = 10.0
"""How long a program waits for another program that uses the same database."""
WAITING_STEP_SECONDS = 0.05
HOW_TO_MAKE_ONE = "`wellput study create`, in Python `wellput.Study.create(…)`, makes one."

FILE_SUFFIXES = ("", "-wal", "-shm")
"""The endings of the files of an SQLite database: the database itself, its log of recent writes, and
the memory that its processes share."""
LOG_SUFFIXES = ("-wal", "-journal")
"""The endings of the files from which SQLite completes a database when it opens it."""
TABLES_OF_JUDGES = "answers, assignments, judges, enrolments"
"""The tables with rows about judges, which can be erased."""
CREATED_AT = sa.text("SELECT created_at FROM study")
UNDEFINED_TABLE = "42P01"
"""PostgreSQL's code of the error that there is no such table."""
# Both statements are for PostgreSQL.
NEXT_TRANSACTION = sa.text("SELECT txid_snapshot_xmax(txid_current_snapshot())")
READERS_SINCE = sa.text("""
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND coalesce(backend_type, 'client backend') = 'client backend'
    AND greatest(age(backend_xmin), age(backend_xid))
        > age(CAST(CAST(:transaction % 4294967296 AS text) AS xid))
""")
"""How many other sessions may still see the database as it was before `transaction`."""
"""How many sessions of this database may still need rows that were deleted before `transaction`.
PostgreSQL does not show when the transactions of other users began, but it shows the oldest transaction
whose rows they may need. These transaction numbers have 32 bits, hence the remainder."""


NOT_A_URL = (
    "This is not a database URL: write postgresql://USER@HOST:PORT/DATABASE, with a number as PORT. In "
    "the name and password of a user, write %3A for a colon, %2F for a slash and %40 for @."
)


class StoreUnavailable(InputError):
    """The database cannot be used now: it is locked, read-only, full or unreachable."""


class Database:
    """Connections to one database. `name` stands in messages; by default it is the file's path or the
    server's address without passwords. `created_at` is the time when the study was made: a study
    that was made at another time is refused. If it is None, every study is accepted. `is_backup` says
    that an SQLite file had no log before it was opened, as backups have none; `close` then leaves it
    without one."""

    def __init__(
        self, url: URL, *, name: str | None = None, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self.url = url
        self.name = name or (str(file_of(url)) if self.is_sqlite else _without_secrets(url))
        self.busy_seconds = busy_seconds
        self.created_at: float | None = None
        self.is_backup = False
        self._lock = threading.Lock()
        self._file = file_of(url).absolute()
        self._file_number: int | None = None
        self.engine = (
            file_engine(f"file:{_escaped(self._file)}", busy_seconds)
            if self.is_sqlite
            else server_engine(url, busy_seconds)
        )
        weakref.finalize(self, self.engine.dispose)
        OPEN_DATABASES.add(self)
        self._writer = self.engine.execution_options(is_write=True)

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads, and sees one state of the database."""
        self._check_file()
        with explaining_errors(self.name), self._connection(self.engine) as connection:
            self._find_study(connection)
            yield connection

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that is on the disk when the block ends, and undone if it raises."""
        self._check_file()
        with (
            explaining_errors(self.name),
            self._lock if self.is_sqlite else contextlib.nullcontext(),
            self._connection(self._writer) as connection,
            connection.begin(),
        ):
            self._find_study(connection)
            yield connection

    def _connection(self, engine: Engine) -> contextlib.AbstractContextManager[Connection]:
        return connection_of(engine, self.busy_seconds)

    def _check_file(self) -> None:
        """Raises StoreUnavailable if an SQLite file was removed or replaced. Connections that are open
        would go on with the removed file, new connections with the file that replaced it."""
        if not self.is_sqlite:
            return
        try:
            number = self._file.stat().st_ino
        except OSError:
            if self._file_number is None:
                return  # the file was never there: SQLite says so when it connects
            raise self._replaced() from None
        if self._file_number is None:
            self._file_number = number
        elif number != self._file_number:
            raise self._replaced()

    def _find_study(self, connection: Connection) -> None:
        """Raises StoreUnavailable if the study is gone, or was made at another time. The setup that was
        read from the old study does not fit the judges, links and answers of the new one."""
        if self.created_at is None:
            return
        try:
            created_at = connection.scalar(CREATED_AT)
        except exc.ProgrammingError:  # there is no such table
            raise self._replaced() from None
        if created_at != self.created_at:
            raise self._replaced()

    def _replaced(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"{self.name} was removed, or replaced by another study, after it was opened. Nothing was "
            "stored. Open it again; if `wellput study serve` shows it, stop and start that."
        )

    def erase_traces(self) -> bool:
        """Removes deleted rows from the files too: SQLite keeps them in its log, PostgreSQL in its
        tables until they are vacuumed. Returns False if traces remain, because another program has been
        reading an older state of the database for longer than `busy_seconds`."""
        with explaining_errors(self.name), self._connection(self.engine) as connection:
            return self._empty_log(connection) if self.is_sqlite else self._vacuum(connection)

    def _empty_log(self, connection: Connection) -> bool:
        """Moves all that is in SQLite's log to the database, and empties the log. Returns False if a
        reader still needs the log."""
        raw = connection.connection.driver_connection
        assert raw is not None
        with self._lock:
            # If a reader needs the log, this waits for `busy_seconds`; it then says so in its result.
            [is_busy, _, _] = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not is_busy

    def _vacuum(self, connection: Connection) -> bool:
        """Vacuums the tables. Rows that an older transaction may still see are not removed, so this
        first waits for the end of such transactions. Returns False if they did not end in time."""
        connection.execution_options(isolation_level="AUTOCOMMIT")
        after_erasure = {"transaction": connection.scalar(NEXT_TRANSACTION)}
        deadline = time.monotonic() + self.busy_seconds
        while has_readers := bool(connection.scalar(READERS_SINCE, after_erasure)):
            if time.monotonic() > deadline:
                break
            time.sleep(WAITING_STEP_SECONDS)
        connection.execute(sa.text(f"VACUUM {TABLES_OF_JUDGES}"))
        return not has_readers

    @property
    def files(self) -> list[str]:
        """The files of an SQLite database; none for a server."""
        return [f"{self.name}{suffix}" for suffix in FILE_SUFFIXES] if self.is_sqlite else []

    def close(self) -> None:
        self.engine.dispose()
        OPEN_DATABASES.discard(self)
        if self.is_backup:
            self.is_backup = False
            # This fails while another program uses the study, and nothing is lost then.
            with contextlib.suppress(sqlite3.Error, StoreUnavailable):
                self._check_file()
                address = f"file:{_escaped(self._file)}?mode=rw"
                with contextlib.closing(
                    sqlite3.connect(address, timeout=0, uri=True)
                ) as connection:
                    connection.execute("PRAGMA journal_mode=DELETE")

    def is_open_at(self, file_number: int) -> bool:
        """Whether connections to the SQLite file with this number may be open."""
        return self._file_number == file_number


OPEN_DATABASES: weakref.WeakSet[Database] = weakref.WeakSet()
"""The databases that are open in this process."""


def parse_url(text: str | Path) -> URL:
    """A database URL. A text without `://` is the path of an SQLite file. A password that is given as a
    parameter (`?password=…`) becomes the password of the user."""
    text = str(text)
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        url = make_url(text)
    except (exc.ArgumentError, ValueError):
        raise InputError(NOT_A_URL) from None
    backend = url.drivername.partition("+")[0]
    if backend == "sqlite" and url.database:
        return URL.create("sqlite", database=url.database)
    if backend in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
        if passwords := url.normalized_query.get("password"):
            url = url.set(password=passwords[-1]).difference_update_query(["password"])
        _check_server(url)
        return url
    raise InputError(
        f"A study cannot be kept in a {backend} database: give the path of a file (SQLite), or "
        "postgresql://USER@HOST/DATABASE."
    )


def _check_server(url: URL) -> None:
    """Raises InputError for a host or port that cannot be one. It may be the rest of a password with an
    unescaped @ or colon, so the message does not show it."""
    try:
        url.get_dialect()().create_connect_args(url)
    except (exc.ArgumentError, ValueError):
        raise InputError(NOT_A_URL) from None
    if "@" in (url.host or ""):
        raise InputError(NOT_A_URL)


@contextlib.contextmanager
def new_database(url: URL) -> Iterator[Database]:
    """An empty database to write a study to. An SQLite file appears under its name only if the block
    ends without an error. Until then it is a hidden file in the same folder; on an error that file is
    removed.

    Raises InputError where the file exists or cannot be made.
    """
    if url.get_backend_name() != "sqlite":
        with contextlib.closing(Database(url)) as database:
            yield database
        return
    path = file_of(url)
    _refuse_existing(path)
    temporary = temporary_path(path)
    try:
        _touch(temporary, name=path)
        with contextlib.closing(Database(url.set(database=str(temporary)), name=str(path))) as made:
            yield made
            # This moves the content of the log into the file: the log is not renamed with it.
            if not made.erase_traces():
                raise StoreUnavailable(f"{path} could not be written: another program reads it.")
        _refuse_existing(path)
        _rename_to_new(temporary, path)
    finally:
        with contextlib.suppress(OSError):  # an earlier error is the one to raise
            for suffix in FILE_SUFFIXES:
                Path(f"{temporary}{suffix}").unlink(missing_ok=True)


def create_file(url: URL) -> None:
    """Makes an empty SQLite file. Raises InputError where it exists or cannot be made."""
    _refuse_existing(file_of(url))
    _touch(file_of(url), name=file_of(url))


def _touch(path: Path, *, name: Path) -> None:
    """Makes an empty file; `name` stands in messages."""
    try:
        # A study holds what judges said in confidence: other users of the machine cannot read it.
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        raise _already_exists(name) from None
    except FileNotFoundError:
        raise InputError(f"Cannot make {name}: the folder does not exist.") from None
    except OSError as error:
        raise InputError(f"Cannot make {name}: {error.strerror}.") from None


def _refuse_existing(path: Path) -> None:
    """Raises InputError where a database exists. A log without a database is refused, too: SQLite would
    write its content into the new database."""
    if os.path.lexists(path):
        raise _already_exists(path)
    for suffix in LOG_SUFFIXES:
        if os.path.lexists(log := f"{path}{suffix}"):
            raise InputError(
                f"Cannot make {path}: {log} remains of another database and may hold answers. Choose "
                f"another name, or remove {log}."
            )


def _already_exists(path: Path) -> InputError:
    return InputError(
        f"{path} already exists. A study is never overwritten: choose another name, or remove it."
    )


def _rename_to_new(temporary: Path, path: Path) -> None:
    """Renames a file, but never replaces another one: of several programs that make the same study at
    the same time, one succeeds."""
    try:
        os.link(temporary, path)  # unlike a renaming, a link fails if the name is taken
    except FileExistsError:
        raise _already_exists(path) from None
    except OSError:  # a file system without links
        _touch(path, name=path)
        try:
            temporary.replace(path)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise InputError(f"Cannot make {path}: {error.strerror}.") from None
    with contextlib.suppress(OSError):  # so that the name outlasts a power loss
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextlib.contextmanager
def explaining_errors(name: str) -> Iterator[None]:
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
    if getattr(original, "sqlstate", None) == UNDEFINED_TABLE:
        return "lacks a table: it was removed after the study was opened, or the study is not complete."
    is_connection_error = error.statement is None  # e.g. a parameter of the URL that does not exist
    if is_connection_error or isinstance(error, exc.OperationalError | exc.InternalError):
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
    **dict.fromkeys(
        NO_FREE_CONNECTION,
        "has no free connection: other programs use all that the server allows (max_connections). End "
        "some of them, or try again later; what was saved before is safe.",
    ),
    "no space left on device": "cannot be written: the disk is full. What was saved before is safe; "
    "free some space and try again.",
    "file is not a database": "is not a study: it is not an SQLite database.",
    "disk image is malformed": "is damaged. Move it and its -wal and -shm files to another folder, and "
    "then put a backup in its place.",
}  # fmt: skip


def secret_parameters(url: URL) -> list[str]:
    """The parameters of a server's address that may be secret: those that the PostgreSQL library does
    not display, and those that it does not know."""
    from psycopg.pq import Conninfo

    options = Conninfo.get_defaults()
    displayed = {option.keyword.decode() for option in options if not option.dispchar}
    return [name for name in url.query if name not in displayed]


def _without_secrets(url: URL) -> str:
    """A server's address as the user gave it, without passwords."""
    shown = url.difference_update_query(secret_parameters(url)).set(drivername="postgresql")
    return shown.render_as_string(hide_password=True)


def file_of(url: URL) -> Path:
    """The file of an SQLite database."""
    return Path(url.database or "")


def _escaped(path: Path) -> str:
    """A path as part of an SQLite URI, which is itself part of a URL."""
    text = str(path.absolute())
    for character, escape in (("%", "%25"), ("?", "%3f"), ("#", "%23")):
        text = text.replace(character, escape)
    return text
