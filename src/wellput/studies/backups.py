"""Copies a study's database while judges are at work. A plain copy of an SQLite file may lack answers
that are still in the log file beside it. The copies made here have every answer that was confirmed
before the copying began.

SQLite copies with its backup interface. A PostgreSQL database is copied by `pg_dump`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from wellput.core.errors import InputError, OutputError
from wellput.studies import schema
from wellput.studies.database import Database, create_file, file_of, parse_url, secret_parameters
from wellput.studies.summaries import Backup


def back_up(database: Database, path: str) -> Backup:
    """Copies the study to a new file. Raises InputError where the file exists or cannot be made, or
    where `pg_dump` is missing."""
    if "://" in path:
        raise InputError("A backup is a file on this machine: give its path, not a URL.")
    create_file(parse_url(path))  # only its owner can read it; the copy is written into it below
    try:
        if database.is_sqlite:
            answers, judges = _copy_sqlite(database, path)
        else:
            answers, judges = _counts(database)
            _dump_postgresql(database, path)
    except BaseException:
        Path(path).unlink(missing_ok=True)
        raise
    return Backup(database.name, path, answers, judges)


def _copy_sqlite(database: Database, path: str) -> tuple[int, int]:
    """Copies the file, and counts the answers and judges of the copy."""
    source = file_of(database.url)
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as original,
            closing(sqlite3.connect(path)) as copy,
        ):
            # The whole file is copied in one step: if there were several, an answer given between two
            # of them would make SQLite begin the copy again. Judges do not wait meanwhile, since their
            # answers go to the log (SQLite's WAL mode).
            original.backup(copy)
            # The copy is a single file, without a log beside it.
            copy.execute("PRAGMA journal_mode=DELETE")
            [verdict] = copy.execute("PRAGMA quick_check").fetchone()
            if verdict != "ok":
                raise OutputError(f"The copy {path} is damaged: {verdict}. The study may be, too.")
            counts = [
                copy.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in (schema.answers.name, schema.judges.name)
            ]
    except sqlite3.Error as error:
        raise OutputError(f"{database.name} cannot be copied to {path}: {error}.") from None
    with Path(path).open("rb") as written:
        os.fsync(written.fileno())
    return counts[0], counts[1]


def _counts(database: Database) -> tuple[int, int]:
    """The numbers of answers and of judges in the database."""
    with database.read() as connection:
        answers, judges = (
            connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0
            for table in (schema.answers, schema.judges)
        )
    return answers, judges


def _dump_postgresql(database: Database, path: str) -> None:
    """Copies a PostgreSQL database to a file by the program pg_dump."""
    url = database.url.set(drivername="postgresql")
    if secret := secret_parameters(url):
        raise InputError(
            f"{database.name} cannot be copied: every user of this machine could see "
            f"{', '.join(secret)} on the command line of pg_dump. Write it to a connection service "
            "file of PostgreSQL, and give service=NAME in the URL."
        )
    without_password = url.set(password=None).render_as_string()
    command = ["pg_dump", "--format=custom", f"--file={path}", f"--dbname={without_password}"]
    if shutil.which(command[0]) is None:
        raise InputError(
            "pg_dump, which copies a PostgreSQL database, is not installed here. Run this where it is "
            f"installed: {shlex.join(command)}"
        )
    # The password is not passed as an argument, since all users of a machine can see the arguments of
    # its programs.
    password = {"PGPASSWORD": str(url.password)} if url.password else {}
    done = subprocess.run(
        command, env={**os.environ, **password}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise OutputError(f"{database.name} cannot be copied: {done.stderr.strip()}")
