"""Writes of many requests in one transaction: nothing is confirmed before it is on the disk, and one
that fails does not take the others with it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, event

from tests.studies.studies import Clock, answer_to, judges_of, new_setup
from wellput.core.errors import InputError
from wellput.studies import schema
from wellput.studies.judge_turns import answer_turn, next_turn
from wellput.studies.store import Store, StoreUnavailable
from wellput.studies.study_transactions import GroupedWrites, StudyTransaction


def committed(store: Store) -> list[str]:
    """The commits of the study's database from now on."""
    seen: list[str] = []
    event.listen(store.database.engine, "commit", lambda _: seen.append("commit"))
    return seen


def set_title(name: str) -> Callable[[StudyTransaction], str]:
    def work(transaction: StudyTransaction) -> str:
        transaction.connection.execute(
            sa.update(schema.judges).where(schema.judges.c.id == 1).values(name=name)
        )
        if name == "refused":
            raise InputError("refused")
        return name

    return work


def test_writes_that_wait_together_are_one_transaction(url: str) -> None:
    store = Store.create(url, new_setup())
    judges_of(store, 1)
    commits = committed(store)
    writes = GroupedWrites(store.database, 12)

    async def main() -> list[str]:
        return list(await asyncio.gather(*(writes.do(set_title(f"J{n}")) for n in range(50))))

    assert asyncio.run(main()) == [f"J{n}" for n in range(50)]
    # All fifty wait before the first group begins, so there is one group.
    assert commits == ["commit"]
    with store.database.read() as connection:
        assert connection.scalars(sa.select(schema.judges.c.name)).all() == ["J49"]


def test_a_write_that_fails_does_not_undo_the_others(url: str) -> None:
    store = Store.create(url, new_setup())
    judges_of(store, 1)
    writes = GroupedWrites(store.database, 12)

    async def main() -> list[object]:
        names = ["a", "refused", "b"]
        work = (writes.do(set_title(name)) for name in names)
        return list(await asyncio.gather(*work, return_exceptions=True))

    first, refused, last = asyncio.run(main())
    assert (first, last) == ("a", "b")
    assert isinstance(refused, InputError)
    with store.database.read() as connection:
        assert connection.scalars(sa.select(schema.judges.c.name)).all() == ["b"]


def test_a_locked_database_refuses_all_that_wait_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "s.db")
    Store.create(path, new_setup()).close()
    store = Store.open(path, busy_seconds=0.05)
    begun: list[str] = []
    begin = store.database.write

    def noted() -> AbstractContextManager[Connection]:
        begun.append("begin")
        return begin()

    monkeypatch.setattr(store.database, "write", noted)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        async def main() -> list[object]:
            work = (store.grouped_writes.do(set_title(str(n))) for n in range(5))
            return list(await asyncio.gather(*work, return_exceptions=True))

        found = asyncio.run(main())
    assert [type(one) for one in found] == [StoreUnavailable] * 5
    assert begun == ["begin"]  # the database was not asked for each of them


def test_a_result_comes_only_after_the_commit(url: str) -> None:
    store = Store.create(url, new_setup())
    judges_of(store, 1)
    commits = committed(store)
    writes = GroupedWrites(store.database, 12)

    async def main() -> list[str]:
        await writes.do(set_title("a"))
        return list(commits)

    assert asyncio.run(main()) == ["commit"]


def test_an_answer_takes_few_statements(url: str) -> None:
    store = Store.create(url, new_setup(n_items=30), clock=Clock())
    (judge,) = judges_of(store, 1)
    statements: list[str] = []
    event.listen(
        store.database.engine,
        "before_cursor_execute",
        lambda _connection, _cursor, statement, *_: statements.append(statement),
    )
    with store.database.write() as connection:
        transaction = StudyTransaction(connection, len(store.setup.trials))
        _ = transaction.missing
        statements.clear()  # what is read once for all requests that wait
        turn = next_turn(store.setup, transaction, judge, 1.0)
        assert turn.trial is not None
        # Own trials; the new one, how often it was given, and that the judge was there.
        assert len(statements) == 4, statements
        statements.clear()
        given = answer_to(turn.trial)
        answer_turn(store.setup, transaction, judge, turn.trial.id, given, ms=9, now=2.0)
        # Own trials; the answer, its trial, and that the judge was there.
        assert len(statements) == 4, statements


@pytest.mark.parametrize("plan", ["per-item", "within-judge"])
def test_progress_in_the_transaction_is_that_of_the_study(url: str, plan: str) -> None:
    times = None if plan == "per-item" else 1
    store = Store.create(url, new_setup(n_items=6, kind=plan, times=times), clock=Clock())
    (judge,) = judges_of(store, 1)
    for number in range(3):
        with store.database.write() as connection:
            transaction = StudyTransaction(connection, len(store.setup.trials))
            turn = next_turn(store.setup, transaction, judge, 1.0)
        assert turn.trial is not None
        assert turn.progress == store.progress(judge)
        with store.database.write() as connection:
            transaction = StudyTransaction(connection, len(store.setup.trials))
            given = answer_to(turn.trial, number)
            answered = answer_turn(
                store.setup, transaction, judge, turn.trial.id, given, ms=9, now=2.0
            )
        assert answered.progress == store.progress(judge)
        assert answered.progress.done == number + 1
