from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.studies.studies import answer_all, judges_of, new_setup
from wellput.core.errors import InputError
from wellput.studies import schema
from wellput.studies.database import Database, create_file, parse_url
from wellput.studies.migrations import MIGRATIONS, migrate
from wellput.studies.store import Store


def new_database(url: str) -> Database:
    parsed = parse_url(url)
    if parsed.get_backend_name() == "sqlite":
        create_file(parsed)
    return Database(parsed)


def description(database: Database) -> dict[str, object]:
    """Tables, columns, keys and indexes as the database itself describes them."""
    found: dict[str, object] = {}
    with database.read() as connection:
        inspector = sa.inspect(connection)
        for table in sorted(inspector.get_table_names()):
            columns = {
                column["name"]: (str(column["type"]), column["nullable"])
                for column in inspector.get_columns(table)
            }
            unique = sorted(
                tuple(sorted(key["column_names"]))
                for key in inspector.get_unique_constraints(table)
            )
            indexes = sorted(
                tuple(str(name) for name in index["column_names"])
                for index in inspector.get_indexes(table)
            )
            primary = inspector.get_pk_constraint(table)["constrained_columns"]
            foreign = sorted(
                (tuple(key["constrained_columns"]), key["referred_table"])
                for key in inspector.get_foreign_keys(table)
            )
            found[table] = (columns, unique, indexes, primary, foreign)
    return found


def test_the_migrations_lead_to_the_schema(new_url: object, request: pytest.FixtureRequest) -> None:
    make = request.getfixturevalue("new_url")
    migrated, made = new_database(make()), new_database(make())
    with migrated.write() as connection:
        migrate(connection, where="here")
    with made.write() as connection:
        schema.metadata.create_all(connection)
    assert description(migrated) == description(made)


@pytest.mark.parametrize("version", range(len(MIGRATIONS) + 1))
def test_every_version_before_can_be_migrated(url: str, version: int) -> None:
    database = new_database(url)
    with database.write() as connection:
        assert len(migrate(connection, where="here", only=version)) == version
    with database.write() as connection:
        rest = migrate(connection, where="here")
    assert rest == [migration.__name__ for migration in MIGRATIONS[version:]]
    with database.write() as connection:
        assert migrate(connection, where="here") == []
        names = list(connection.scalars(sa.select(schema.migrations.c.name)))
    assert names == [migration.__name__ for migration in MIGRATIONS]


def test_names_say_the_order() -> None:
    names = [migration.__name__ for migration in MIGRATIONS]
    assert [name[:4] for name in names] == [f"m{n:03}" for n in range(1, len(names) + 1)]


def test_a_newer_study_is_refused_and_left_alone(url: str) -> None:
    store = Store.create(url, new_setup())
    answer_all(store, judges_of(store, 1)[0], at_most=2)
    with store.database.write() as connection:
        connection.execute(
            schema.migrations.insert().values(name="m999_the_future", applied_at=0.0)
        )
    store.close()
    with pytest.raises(InputError, match=r"newer wellput .* m999_the_future.* Upgrade"):
        Store.open(url)
    database = Database(parse_url(url))
    with database.write() as connection:
        connection.execute(
            sa.delete(schema.migrations).where(schema.migrations.c.name == "m999_the_future")
        )
    database.close()
    assert len(Store.open(url).judgments()) == 4


def test_a_failing_migration_changes_nothing(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = Store.create(url, new_setup())
    before = description(store.database)
    store.close()

    def m900_broken(connection: sa.Connection) -> None:
        connection.execute(sa.text("ALTER TABLE judges ADD COLUMN mood TEXT"))
        raise RuntimeError("half way")

    monkeypatch.setattr("wellput.studies.migrations.MIGRATIONS", (*MIGRATIONS, m900_broken))
    with pytest.raises(RuntimeError, match="half way"):
        Store.open(url)
    monkeypatch.undo()
    assert description(Store.open(url).database) == before
