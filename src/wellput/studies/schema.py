"""The tables of a study, as they are after the newest migration (`studies.migrations`).

Times are seconds since 1970, UTC. Rows of `answers` are never changed: a changed answer is a new row
that names the row that it supersedes. Answers are deleted only for a judge who withdraws
(`Store.forget`).
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

# For ids that the database gives to new rows. SQLite does so only in a column of the type INTEGER.
Id = BigInteger().with_variant(Integer, "sqlite")

migrations = Table(
    "wellput_migrations",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("applied_at", Double, nullable=False),
)

study = Table(
    "study",
    metadata,
    Column("id", Integer, primary_key=True),  # always 1
    Column("settings", JSON, nullable=False),
    Column("state", String(10), nullable=False),
    Column("owner_hash", String(64), nullable=False),
    Column("created_at", Double, nullable=False),
)

items = Table(
    "items",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False, unique=True),
    Column("context", Text),
    Column("source", Text),
    Column("outputs", JSON, nullable=False),
    Column("document", Text),
)

speech = Table(
    "speech",
    metadata,
    Column("item", Integer, ForeignKey("items.number"), primary_key=True, autoincrement=False),
    Column("wav", LargeBinary, nullable=False),
)

trials = Table(
    "trials",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("item", Integer, ForeignKey("items.number"), nullable=False),
    Column("systems", JSON, nullable=False),
    # The number of judgments that are planned, and of judges who have the trial. (Withdrawn assignments
    # do not count.)
    Column("planned", Integer, nullable=False),
    Column("given", Integer, nullable=False),
)

owner_sessions = Table(
    "owner_sessions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("begun_at", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
)

judges = Table(
    "judges",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("token_hash", String(64), unique=True),
    Column("invited_at", Double, nullable=False),
    Column("started_at", Double),
    Column("seen_at", Double, nullable=False),
    # The id of the study's newest answer at `seen_at`: it shows how many answers have come since.
    Column("seen_answer", BigInteger, nullable=False),
    Column("consented_at", Double),
    Column("demographics", JSON),
    Column("forgotten_at", Double),
    Column("forgotten_answers", Integer),
)

assignments = Table(
    "assignments",
    metadata,
    Column("id", Id, primary_key=True),
    Column("key", String(32), nullable=False, unique=True),
    Column("judge", Integer, ForeignKey("judges.id"), nullable=False, index=True),
    Column("purpose", String(10), nullable=False),  # trial, repeat, practice, check
    Column("number", Integer, nullable=False, index=True),  # of the trial, practice or check
    Column("variants", JSON, nullable=False),  # [[opaque id, system], …] as shown
    Column("given_at", Double, nullable=False),
    Column("answered_at", Double),
    Column("is_reopened", Boolean, nullable=False),  # the judge takes the answer back
    Column("is_withdrawn", Boolean, nullable=False),  # the trial went to another judge
)

answers = Table(
    "answers",
    metadata,
    Column("id", Id, primary_key=True),
    Column("assignment", Id, ForeignKey("assignments.id"), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("supersedes", Id, ForeignKey("answers.id"), unique=True),
    Column("answers", JSON, nullable=False),  # [{question: value}, …], one per variant
    Column("ms", BigInteger, nullable=False),  # -1: not known (imported)
    Column("recorded_at", Double, nullable=False),  # 0: not known (imported)
    Column("comment", Text),
    # {question: {column: text}}: columns of an imported judgment that cannot be made from the answer,
    # or have another text than the answer gives
    Column("imported", JSON),
    # If two requests answer the same trial at the same time, only one of them is its first answer.
    UniqueConstraint("assignment", "revision", name="one_answer_a_revision"),
)

open_link = Table(
    "open_link",
    metadata,
    Column("id", Integer, primary_key=True),  # always 1
    Column("settings", JSON, nullable=False),
)

enrolments = Table(
    "enrolments",
    metadata,
    Column("id", Integer, primary_key=True),
    # None for a person whom the screening questions refused.
    Column("judge", Integer, ForeignKey("judges.id"), unique=True),
    Column("platform", String(20), nullable=False),
    Column("person", Text, nullable=False),  # the name on the platform, or a hash
    Column("fields", JSON, nullable=False),  # the platform's parameters in the address
    Column("enrolled_at", Double, nullable=False),
    Column("returned_at", Double),  # when the place was given back, or lost by being away
    Column("finished_at", Double),
    # If the same person sends two requests at the same time, only one of them takes a place.
    UniqueConstraint("platform", "person", name="one_place_a_person"),
)
