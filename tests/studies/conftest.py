"""Both databases for the tests of the store: SQLite files, and a PostgreSQL server if there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.programs import parameters, postgresql_folder
from tests.studies.postgresql import Server, running_server
from wellput.studies.database import Database


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    binaries = postgresql_folder()
    assert binaries is not None, "tests that use it are marked needs('PostgreSQL')"
    with running_server(binaries) as server:
        yield server


@pytest.fixture(autouse=True)
def databases_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Closes the databases that a test leaves open: hundreds of files would stay open to the end."""
    opened: list[Database] = []
    open_database = Database.__init__

    def remembered(database: Database, *arguments: Any, **options: Any) -> None:
        open_database(database, *arguments, **options)
        opened.append(database)

    monkeypatch.setattr(Database, "__init__", remembered)
    yield
    for database in opened:
        database.close()


@pytest.fixture(params=parameters(["sqlite", "postgresql"], {"postgresql": "PostgreSQL"}))
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Makes addresses of new databases, of either kind."""
    if request.param == "sqlite":
        numbers = count(1)
        return lambda: str(tmp_path / f"study{next(numbers)}.db")
    server: Server = request.getfixturevalue("postgresql")
    return server.new_database


@pytest.fixture
def url(new_url: Callable[[], str]) -> str:
    return new_url()
