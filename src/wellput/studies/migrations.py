"""Migrations: the changes of the database schema, in order. A released migration is never changed. A
table of the database has the names of the migrations that were applied to it.

A migration must not use `studies.schema`, because the schema will change later. A test applies the
later migrations to a database of every version and compares the result with the schema. Comments in
`studies.schema` say what the columns mean.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import sqlalchemy as sa
from sqlalchemy import Connection

from wellput.core.errors import InputError

Migration = Callable[[Connection], None]


def m001_tables(connection: Connection) -> None:
    """The first tables."""
    id_type = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    metadata = sa.MetaData()
    sa.Table(
        "study",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("settings", sa.JSON, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("owner_hash", sa.String(64), nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
    )
    sa.Table(
        "items",
        metadata,
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("context", sa.Text),
        sa.Column("source", sa.Text),
        sa.Column("outputs", sa.JSON, nullable=False),
    )
    sa.Table(
        "trials",
        metadata,
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("item", sa.Integer, sa.ForeignKey("items.number"), nullable=False),
        sa.Column("systems", sa.JSON, nullable=False),
        sa.Column("planned", sa.Integer, nullable=False),
        sa.Column("given", sa.Integer, nullable=False),
    )
    sa.Table(
        "judges",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("token_hash", sa.String(64), unique=True),
        sa.Column("invited_at", sa.Double, nullable=False),
        sa.Column("started_at", sa.Double),
        sa.Column("seen_at", sa.Double, nullable=False),
        sa.Column("seen_answer", sa.BigInteger, nullable=False),
        sa.Column("consented_at", sa.Double),
        sa.Column("demographics", sa.JSON),
        sa.Column("forgotten_at", sa.Double),
        sa.Column("forgotten_answers", sa.Integer),
    )
    sa.Table(
        "assignments",
        metadata,
        sa.Column("id", id_type, primary_key=True),
        sa.Column("key", sa.String(32), nullable=False, unique=True),
        sa.Column("judge", sa.Integer, sa.ForeignKey("judges.id"), nullable=False, index=True),
        sa.Column("purpose", sa.String(10), nullable=False),
        sa.Column("number", sa.Integer, nullable=False, index=True),
        sa.Column("variants", sa.JSON, nullable=False),
        sa.Column("given_at", sa.Double, nullable=False),
        sa.Column("answered_at", sa.Double),
        sa.Column("is_reopened", sa.Boolean, nullable=False),
        sa.Column("is_withdrawn", sa.Boolean, nullable=False),
    )
    sa.Table(
        "answers",
        metadata,
        sa.Column("id", id_type, primary_key=True),
        sa.Column("assignment", id_type, sa.ForeignKey("assignments.id"), nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("supersedes", id_type, sa.ForeignKey("answers.id"), unique=True),
        sa.Column("answers", sa.JSON, nullable=False),
        sa.Column("ms", sa.BigInteger, nullable=False),
        sa.Column("recorded_at", sa.Double, nullable=False),
        sa.UniqueConstraint("assignment", "revision", name="one_answer_a_revision"),
    )
    metadata.create_all(connection, checkfirst=False)


def m002_speech(connection: Connection) -> None:
    """The sound of an item."""
    metadata = sa.MetaData()
    # The table exists already; it is named here because the foreign key refers to it.
    sa.Table("items", metadata, sa.Column("number", sa.Integer, primary_key=True))
    speech = sa.Table(
        "speech",
        metadata,
        sa.Column(
            "item",
            sa.Integer,
            sa.ForeignKey("items.number"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("wav", sa.LargeBinary, nullable=False),
    )
    speech.create(connection)


def m003_documents(connection: Connection) -> None:
    """The document of an item."""
    connection.execute(sa.text("ALTER TABLE items ADD COLUMN document TEXT"))


def m004_owner_sessions(connection: Connection) -> None:
    """The owner's sessions, which can be ended."""
    sessions = sa.Table(
        "owner_sessions",
        sa.MetaData(),
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("begun_at", sa.Double, nullable=False),
        sa.Column("seen_at", sa.Double, nullable=False),
    )
    sessions.create(connection)


def m005_enrolment(connection: Connection) -> None:
    """The open link, and the people who came by it."""
    metadata = sa.MetaData()
    # The table exists already; it is named here because the foreign key refers to it.
    sa.Table("judges", metadata, sa.Column("id", sa.Integer, primary_key=True))
    link = sa.Table(
        "open_link",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("settings", sa.JSON, nullable=False),
    )
    enrolments = sa.Table(
        "enrolments",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("judge", sa.Integer, sa.ForeignKey("judges.id"), unique=True),
        sa.Column("platform", sa.String(20), nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("fields", sa.JSON, nullable=False),
        sa.Column("enrolled_at", sa.Double, nullable=False),
        sa.Column("returned_at", sa.Double),
        sa.Column("finished_at", sa.Double),
        sa.UniqueConstraint("platform", "person", name="one_place_a_person"),
    )
    link.create(connection)
    enrolments.create(connection)


def m006_comments(connection: Connection) -> None:
    """The comment that a judge may add to an answer."""
    connection.execute(sa.text("ALTER TABLE answers ADD COLUMN comment TEXT"))


def m007_imported(connection: Connection) -> None:
    """The further columns of the judgments that an imported answer was made of."""
    connection.execute(sa.text("ALTER TABLE answers ADD COLUMN imported JSON"))


MIGRATIONS: Sequence[Migration] = (
    m001_tables,
    m002_speech,
    m003_documents,
    m004_owner_sessions,
    m005_enrolment,
    m006_comments,
    m007_imported,
)

_applied = sa.Table(
    "wellput_migrations",
    sa.MetaData(),
    sa.Column("name", sa.String(100), primary_key=True),
    sa.Column("applied_at", sa.Double, nullable=False),
)


POSTGRESQL_LOCK = 0x77656C6C
"""The number of the lock that `lock_schema` takes."""


def lock_schema(connection: Connection) -> None:
    """Waits for other programs that make or migrate a study in this database, and keeps them waiting
    until the transaction ends. SQLite lets one program write at a time anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(POSTGRESQL_LOCK)))


def is_study(connection: Connection) -> bool:
    """Whether the database holds a study, of any version."""
    return sa.inspect(connection).has_table(_applied.name)


def migrate(connection: Connection, *, where: str, only: int | None = None) -> list[str]:
    """Applies the migrations that the database lacks and returns their names. Tests give `only` to
    apply the first so many migrations at most. `where` names the database in error messages.

    Raises InputError and changes nothing if a newer wellput has migrated the study.
    """
    _applied.create(connection, checkfirst=True)
    applied = set(connection.scalars(sa.select(_applied.c.name)))
    known = [migration.__name__ for migration in MIGRATIONS]
    if newer := sorted(applied - set(known)):
        raise InputError(
            f"{where} was made or opened by a newer wellput than this one: its schema has "
            f"{', '.join(newer)}, which this version does not know. Upgrade wellput to use it; "
            "nothing was changed."
        )
    new: list[str] = []
    for migration in MIGRATIONS[:only]:
        if migration.__name__ not in applied:
            migration(connection)
            row = {"name": migration.__name__, "applied_at": time.time()}
            connection.execute(_applied.insert().values(row))
            new.append(migration.__name__)
    return new
