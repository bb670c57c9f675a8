"""Both databases for the tests of the store: SQLite files, and a PostgreSQL server if there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.judge.postgresql import Server, programs, running_server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    binaries = programs()
    if binaries is None:
        pytest.skip("PostgreSQL's programs are not installed (Debian: apt-get install postgresql)")
    with running_server(binaries) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
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
