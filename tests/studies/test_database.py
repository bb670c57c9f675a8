"""A study is made as a whole or not at all, erased texts are gone from the files, and passwords in the
address of a database are never shown."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from time import sleep
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from tests.programs import needs
from tests.studies.postgresql import Server
from tests.studies.served_study import client_of
from tests.studies.studies import answer_to, judges_of, new_setup
from wellput.api.study import Study
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet
from wellput.studies import backups
from wellput.studies.connection_pool import MAX_SERVER_CONNECTIONS
from wellput.studies.database import FILE_SUFFIXES, Database, StoreUnavailable, parse_url
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.store import Store
from wellput.studies.withdrawal import TracesRemain

EVALSET = EvalSet.of({"A": ["a cat sat", "it rained"], "B": ["cat sat", "rain"]})
COMMENT = "a-private-comment"


def no_links(*_: object) -> None:
    raise OSError(errno.EPERM, "this file system has no links")


@pytest.mark.parametrize("has_links", [True, False])
def test_of_two_programs_that_make_the_same_study_one_succeeds_and_its_study_stays(
    url: str, has_links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Store] = []
    begin_writing = Database.write

    def other_program_first(database: Database) -> Any:
        monkeypatch.setattr(Database, "write", begin_writing)
        made.append(Store.create(url, new_setup()))
        judges_of(made[0], 3)
        return begin_writing(database)

    if not has_links:
        monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(Database, "write", other_program_first)
    with pytest.raises(InputError, match="never overwritten"):
        Store.create(url, new_setup())
    assert len(made[0].overview().judges) == 3
    again = Store.open(url)
    assert len(again.overview().judges) == 3
    assert made[0].owner_token is not None and again.verify_owner(made[0].owner_token)


@needs("PostgreSQL")
def test_two_programs_make_a_study_on_a_server_one_after_the_other(postgresql: Server) -> None:
    url = postgresql.new_database()
    with ThreadPoolExecutor(1) as pool:
        others: list[Future[Store]] = []

        def other_program_waits(connection: Connection, _: float) -> None:
            others.append(pool.submit(Store.create, url, new_setup()))
            n_waiting = 0
            while not n_waiting and not others[0].done():
                n_waiting = connection.scalar(WAITING) or 0

        Store.create(url, new_setup(), fill=other_program_waits)
        with pytest.raises(InputError, match="already holds a study"):
            others[0].result(timeout=30)
    assert Store.open(url).overview().done == 0


WAITING = sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")
"""How many locks of the server somebody waits for."""


def test_a_study_has_its_name_only_when_it_is_complete(tmp_path: Path) -> None:
    def look(*_: object) -> None:
        assert {path.name[:10] for path in tmp_path.iterdir()} == {".study.db."}

    store = Store.create(tmp_path / "study.db", new_setup(), fill=look)
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["study.db"]
    assert (tmp_path / "study.db").stat().st_mode & 0o777 == 0o600


def test_an_open_study_is_not_left_without_its_link(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("in the middle")

    def make(path: str) -> Study:
        return Study.create(EVALSET, path=path, design="rating", judges=2, open=True)

    with monkeypatch.context() as patched, pytest.raises(RuntimeError):
        patched.setattr("wellput.studies.enrolment.write_enrolment", fail)
        make(url)
    with make(url) as study:  # nothing is in the way
        assert study.open_link() is not None
        copy = tmp_path / "copy.db"
        with monkeypatch.context() as patched, pytest.raises(RuntimeError):
            patched.setattr("wellput.studies.replication.write_enrolment", fail)
            study.replicate(copy)
        assert not copy.exists()
        assert study.replicate(copy).open_link is not None


def test_a_study_is_not_written_to_a_backup_that_is_being_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_sqlite = backups._copy_sqlite

    def copy_later(database: Database, path: str) -> tuple[int, int]:
        with pytest.raises(InputError, match="already exists"):
            Store.create(path, new_setup())
        return copy_sqlite(database, path)

    monkeypatch.setattr(backups, "_copy_sqlite", copy_later)
    with Study.create(EVALSET, path=tmp_path / "study.db", design="rating") as study:
        study.backup(tmp_path / "copy.db")
    assert Store.open(tmp_path / "copy.db").setup.systems == ("A", "B")


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_a_log_without_its_study_is_not_read_into_a_new_study(tmp_path: Path, suffix: str) -> None:
    log = tmp_path / f"study.db{suffix}"
    log.write_bytes(b"answers")
    with pytest.raises(InputError, match=f"study.db{suffix} remains of another database"):
        Store.create(tmp_path / "study.db", new_setup())
    assert [path.name for path in tmp_path.iterdir()] == [log.name]
    assert log.read_bytes() == b"answers"


@contextmanager
def reader(url: str) -> Iterator[None]:
    """Another program that reads the database during the block, and sees its state at the beginning."""
    connection: Any
    if "://" in url:
        connection = psycopg.connect(url)
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    else:
        connection = sqlite3.connect(url, isolation_level=None)
        connection.execute("BEGIN")
    with closing(connection):
        connection.execute("SELECT count(*) FROM answers").fetchall()
        yield


def test_forgetting_says_that_a_reader_keeps_copies_and_removes_them_afterwards(url: str) -> None:
    questionnaire = replace(default_questionnaire("rating"), comments=True)
    Store.create(url, new_setup(questionnaire)).close()
    store = Store.open(url, busy_seconds=0.1)
    (leaver,) = store.invite(1, ["Wilhelmina"])
    judge = store.judge_of(leaver.token)
    assert judge is not None
    trial = store.next_trial(judge)
    assert trial is not None
    store.record(judge, trial.id, answer_to(trial), ms=1, comment=COMMENT)

    def has_traces() -> bool:
        content = b"".join(path.read_bytes() for path in Path(url).parent.glob("study*"))
        return any(trace in content for trace in (b"Wilhelmina", COMMENT.encode()))

    with reader(url):
        with pytest.raises(TracesRemain, match="another program") as caught:
            store.forget("Wilhelmina")
        assert not store.database.is_sqlite or has_traces()
        new_name = str(caught.value).partition("forget STUDY ")[2].partition("`")[0]
    assert store.forget(new_name) == 1
    assert not store.database.is_sqlite or not has_traces()
    overview = store.overview()
    assert (overview.forgotten, overview.forgotten_answers, overview.judges) == (1, 1, ())
    with pytest.raises(InputError, match="no judge 'Wilhelmina'"):
        store.forget("Wilhelmina")


@needs("PostgreSQL")
def test_forgetting_waits_for_readers_of_other_users_whose_transactions_it_cannot_see(
    postgresql: Server,
) -> None:
    administrator = postgresql.new_database()
    with psycopg.connect(administrator, autocommit=True) as connection:
        connection.execute("CREATE ROLE owner_of_study LOGIN")
        connection.execute("GRANT CREATE ON SCHEMA public TO owner_of_study")
    owner = administrator.replace("postgres@", "owner_of_study@", 1)
    Store.create(owner, new_setup()).close()
    store = Store.open(owner, busy_seconds=0.1)
    store.invite(1, ["Wilhelmina"])
    with reader(administrator), pytest.raises(TracesRemain, match="another program"):
        store.forget("Wilhelmina")


@needs("PostgreSQL")
def test_a_server_of_a_study_takes_a_quarter_of_postgresqls_connections(postgresql: Server) -> None:
    """PostgreSQL allows 100 by default: three servers leave some to others. A request that finds all of
    them in use waits for one."""
    store = Store.create(postgresql.new_database(), new_setup())
    database = Database(store.database.url, busy_seconds=0.2)
    with ExitStack() as in_use:
        for _ in range(MAX_SERVER_CONNECTIONS):
            in_use.enter_context(database.read())
        with pytest.raises(StoreUnavailable, match="too many requests at once"), database.read():
            pass
        with psycopg.connect(postgresql.new_database()) as connection:
            counted = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
            row = connection.execute(counted, [database.url.database]).fetchone()
    assert row is not None and row[0] <= 25 + 1  # the store has one, too
    with database.read():
        pass


@needs("PostgreSQL")
def test_a_request_waits_until_the_server_has_a_free_connection(
    postgresql: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    administrator = postgresql.new_database()
    with psycopg.connect(administrator, autocommit=True) as connection:
        connection.execute("CREATE ROLE has_one_connection LOGIN CONNECTION LIMIT 1")
        connection.execute("GRANT CREATE ON SCHEMA public TO has_one_connection")
    limited = administrator.replace("postgres@", "has_one_connection@", 1)
    Store.create(limited, new_setup()).close()
    address = limited.replace("postgresql+psycopg", "postgresql")
    with closing(connected(address)), pytest.raises(InputError, match="has no free connection"):
        Store.open(limited, busy_seconds=0.2)
    other = connected(address)
    n_waits = 0

    def wait(seconds: float) -> None:
        nonlocal n_waits
        n_waits += 1
        other.close()
        sleep(seconds)

    monkeypatch.setattr("wellput.studies.connection_pool.time.sleep", wait)
    assert Store.open(limited).state == "open"
    assert n_waits > 0


def connected(address: str) -> psycopg.Connection[Any]:
    """A connection; waits until the server has noticed that an earlier one was closed."""
    while True:
        try:
            return psycopg.connect(address)
        except psycopg.OperationalError as error:
            if "too many connections" not in str(error):
                raise
            sleep(0.05)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://user:secret@host:port/x", "not a database URL"),
        ("postgresql://user:a@b:secret@host/x", "not a database URL"),
        ("postgresql://user:a@secret@host/x", "not a database URL"),
        ("postgresql://user@[::1/x", "not a database URL"),
        ("postgresql://user:secret@127.0.0.1/x?port=y", "not a database URL"),
        ("postgresql://user@127.0.0.1:1/x?passwd=secret", 'connection option "passwd"'),
        ("postgresql://user@127.0.0.1:1/x?connect_timeout=y", "connect_timeout: 'y'"),
        ("postgresql://user:secret@127.0.0.1:1/x", r"user:\*\*\*@127.0.0.1:1/x cannot be used"),
        ("postgresql://user@127.0.0.1:1/x?password=secret", "127.0.0.1:1/x cannot be used"),
        ("postgresql://127.0.0.1:1/x?password=a&password=secret", "127.0.0.1:1/x cannot be used"),
        ("postgresql://user@127.0.0.1:1/x?sslpassword=secret", "127.0.0.1:1/x cannot be used"),
    ],
)
def test_errors_in_addresses_are_explained_without_the_password(url: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Store.open(url)
    assert "secret" not in str(caught.value)


def test_a_password_given_as_a_parameter_is_the_password_of_the_user() -> None:
    url = parse_url("postgresql://user@host/x?password=a%26b&sslmode=require")
    assert (url.password, dict(url.query)) == ("a&b", {"sslmode": "require"})
    assert Database(url).name == "postgresql://user:***@host/x?sslmode=require"


PG_DUMP = """#!/bin/sh
echo "$@" > "$(dirname "$0")/arguments"
echo "$PGPASSWORD" > "$(dirname "$0")/password"
"""


@needs("PostgreSQL")
def test_the_password_of_a_study_is_not_shown(
    postgresql: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{postgresql.new_database()}&password=secret"
    (tmp_path / "pg_dump").write_text(PG_DUMP)
    (tmp_path / "pg_dump").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with Study.create(EVALSET, path=url, design="rating") as study:
        backup = study.backup(tmp_path / "copy")
        shown = [repr(study), str(study.summary()), study.summary(), study.datasheet(), backup]
        assert not any("secret" in str(one) for one in shown)
        with pytest.raises(InputError) as caught:
            study.backup(url)
        assert "secret" not in str(caught.value)
    assert "postgresql" in (arguments := (tmp_path / "arguments").read_text())
    assert "secret" not in arguments
    assert (tmp_path / "password").read_text() == "secret\n"
    with Study.open(f"{url}&sslpassword=hidden") as study:
        with pytest.raises(InputError, match="see sslpassword on the command line") as caught:
            study.backup(tmp_path / "other")
        assert "hidden" not in str(caught.value) and not (tmp_path / "other").exists()


def test_a_backup_leaves_the_log_of_another_database(tmp_path: Path) -> None:
    log = tmp_path / "copy.db-wal"
    log.write_bytes(b"answers")
    store = Store.create(tmp_path / "study.db", new_setup())
    with closing(store), pytest.raises(InputError, match="remains of another database"):
        backups.back_up(store.database, str(tmp_path / "copy.db"))
    assert log.read_bytes() == b"answers"


def test_a_study_may_have_a_long_name_in_any_script(tmp_path: Path) -> None:
    Store.create(tmp_path / f"{'研' * 77}.db", new_setup()).close()
    assert [path.name for path in tmp_path.iterdir()] == [f"{'研' * 77}.db"]


def replace_study(url: str) -> Store:
    """Removes the study in a database, and makes another one under the same name."""
    if url.startswith("postgresql"):
        engine = sa.create_engine(url.replace("postgresql", "postgresql+psycopg", 1))
        with engine.begin() as connection:
            connection.execute(sa.text("DROP SCHEMA public CASCADE"))
            connection.execute(sa.text("CREATE SCHEMA public"))
        engine.dispose()
    else:
        for suffix in FILE_SUFFIXES:
            Path(f"{url}{suffix}").unlink(missing_ok=True)
    return Store.create(url, new_setup(n_items=5))


def test_a_study_that_was_replaced_is_not_mixed_with_the_new_one(url: str) -> None:
    store = Store.create(url, new_setup(n_items=3))
    (judge,) = judges_of(store, 1)
    trial = store.next_trial(judge)
    assert trial is not None
    new = replace_study(url)
    assert judges_of(new, 1)[0].id == judge.id
    begun = new.next_trial(judge)
    assert begun is not None
    uses: list[Callable[[], object]] = [
        lambda: store.next_trial(judge),
        lambda: store.record(judge, begun.id, answer_to(begun), ms=900),
        lambda: store.trial(judge, begun.id),
        lambda: store.verify_owner(new.owner_token or ""),
        lambda: store.demographics(judge, {}),
        lambda: store.set_state("closed"),
        store.owner_sessions.begin,
        store.judgments,
        store.overview,
    ]
    for _ in range(2):
        for use in uses:
            with pytest.raises(StoreUnavailable, match="replaced by another study"):
                use()
        store.database.engine.dispose()  # new connections find the new study
    assert (new.judgments(), new.state) == ([], "open")


@needs("PostgreSQL")
def test_a_study_that_was_removed_from_a_server_is_not_used(postgresql: Server) -> None:
    url = postgresql.new_database()
    store = Store.create(url, new_setup())
    (invitation,) = store.invite(1)
    client = client_of(store)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE enrolments, answers")
        for use in (store.overview, store.payments):
            with pytest.raises(StoreUnavailable, match="lacks a table"):
                use()
        connection.execute("DROP SCHEMA public CASCADE")
    for link in (invitation.token, "unknown"):
        assert client.get(f"/api/judge/{link}/next").status_code == 503
    with pytest.raises(StoreUnavailable, match="was removed"):
        store.overview()
    with pytest.raises(StoreUnavailable, match="was removed"):
        store.set_state("closed")


def test_a_file_that_was_removed_takes_no_answers(tmp_path: Path) -> None:
    url = str(tmp_path / "study.db")
    store = Store.create(url, new_setup())
    (invitation,) = store.invite(1)
    client, api = client_of(store), f"/api/judge/{invitation.token}"
    trial = client.get(f"{api}/next").json()["trial"]
    Path(url).unlink()
    body = {"trial": trial["id"], "answers": {"understandability": 3, "quality": 3}, "ms": 900}
    assert client.post(f"{api}/answers", json=body).status_code == 503
    assert client.get(f"{api}/next").status_code == 503
