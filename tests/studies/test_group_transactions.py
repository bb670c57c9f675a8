"""Many requests in one transaction: they read and write at once, and leave what they would leave one by
one."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from tests.studies.studies import Clock, answer_to, new_setup
from wellput.core.errors import InputError, WellputError
from wellput.studies import schema
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.judge_turns import answer_turn, find_judge, undo_turn, visit
from wellput.studies.questionnaire import ShownTrial
from wellput.studies.store import Store
from wellput.studies.study_transactions import StudyTransaction

LONG = 3600.0 * 48


class Judges:
    """Judges of a study, who remember the trial that they see."""

    def __init__(self, url: str, n: int, **setup: Any) -> None:
        self.clock = Clock()
        self.store = Store.create(url, new_setup(**setup), clock=self.clock)
        self.tokens = [invitation.token for invitation in self.store.invite(n)]
        self.seen: dict[int, ShownTrial] = {}

    def asks(self, judge: int, transaction: StudyTransaction) -> object:
        found = visit(self.store.setup, transaction, self.tokens[judge], self.clock())
        assert found.turn is not None
        if found.turn.trial is None:
            return found.turn.progress
        self.seen[judge] = found.turn.trial
        texts = [variant.text for variant in found.turn.trial.variants]
        return found.turn.progress, texts

    def answers(self, judge: int, number: int, transaction: StudyTransaction) -> object:
        known = find_judge(transaction, self.tokens[judge])
        assert known is not None
        if judge not in self.seen:
            return None
        trial = self.seen[judge]
        given = answer_to(trial, number)
        try:
            turn = answer_turn(
                self.store.setup, transaction, known, trial.id, given, ms=9, now=self.clock()
            )
        except WellputError as error:
            return str(error)
        return turn.outcome, turn.progress

    def takes_back(self, judge: int, transaction: StudyTransaction) -> object:
        known = find_judge(transaction, self.tokens[judge])
        assert known is not None
        undone = undo_turn(self.store.setup, transaction, known)
        return None if undone is None else [variant.text for variant in undone.variants]

    def together(self, requests: Sequence[tuple[int, Callable[[StudyTransaction], Any]]]) -> Any:
        async def main() -> list[object]:
            writes = self.store.grouped_writes
            waiting = [writes.do(work, token=self.tokens[judge]) for judge, work in requests]
            return list(await asyncio.gather(*waiting, return_exceptions=True))

        return asyncio.run(main())

    def one_by_one(self, requests: Sequence[tuple[int, Callable[[StudyTransaction], Any]]]) -> Any:
        found = []
        for _, work in requests:
            with self.store.database.write() as connection:
                found.append(work(StudyTransaction(connection, len(self.store.setup.trials))))
        return found

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """What the study holds, without what is drawn by chance: tokens and opaque ids."""
        with self.store.database.read() as connection:
            return {
                table.name: [
                    {
                        name: [system for _, system in value] if name == "variants" else value
                        for name, value in row._mapping.items()
                        if name not in ("key", "token_hash", "invited_at")
                    }
                    for row in connection.execute(
                        sa.select(table).order_by(*table.primary_key.columns)
                    )
                ]
                for table in (schema.trials, schema.judges, schema.assignments, schema.answers)
            }


@pytest.mark.parametrize("design", ["rating", "pairwise"])
def test_a_group_leaves_what_its_requests_leave_one_by_one(
    new_url: Callable[[], str], design: str
) -> None:
    n = 6
    plan = {"judges": n, "per_item": 2, "n_items": 3}
    worlds = [
        Judges(new_url(), n, questionnaire=default_questionnaire(design), **plan) for _ in range(2)
    ]
    rng = random.Random(5)
    for turn in range(18):
        # All ask; then most judges are away, and two get their trials; then the others are back.
        present = range(2) if 2 <= turn < 14 else range(n)
        drawn = [(rng.choice(present), rng.random(), rng.randrange(4)) for _ in range(9)]
        if turn == 0:
            drawn = [(judge, 0.0, 0) for judge in present]
        results = []
        for world in worlds:
            world.clock.now += LONG if turn == 2 else 5.0
            requests: list[tuple[int, Callable[[StudyTransaction], Any]]] = []
            for judge, kind, number in drawn:
                if kind < 0.45:
                    requests.append((judge, partial(world.asks, judge)))
                elif kind < 0.9:
                    requests.append((judge, partial(world.answers, judge, number)))
                else:
                    requests.append((judge, partial(world.takes_back, judge)))
            way = world.together if world is worlds[0] else world.one_by_one
            results.append(way(requests))
        assert results[0] == results[1]
        assert worlds[0].tables() == worlds[1].tables()
    held = worlds[0].tables()
    assert len(held["answers"]) > 10
    assert any(row["is_withdrawn"] for row in held["assignments"])


def test_two_requests_of_one_judge_in_a_group_follow_each_other(url: str) -> None:
    world = Judges(url, 2)
    requests: list[tuple[int, Callable[[StudyTransaction], Any]]] = [
        (0, partial(world.asks, 0)),
        (1, partial(world.asks, 1)),
        (0, partial(world.asks, 0)),
        (0, partial(world.answers, 0, 1)),
        (0, partial(world.answers, 0, 1)),
        (0, partial(world.answers, 0, 2)),
        (0, partial(world.asks, 0)),
    ]
    first, _, again, created, repeated, changed, following = world.together(requests)
    assert first == again
    assert [created[0], repeated[0], changed[0]] == ["created", "repeated", "superseded"]
    assert following[0].done == changed[1].done == 1
    assert following[1] != first[1]
    assert len(world.tables()["answers"]) == 2


def test_one_that_fails_neither_loses_nor_doubles_what_waits(url: str) -> None:
    world = Judges(url, 3)
    world.together([(judge, partial(world.asks, judge)) for judge in range(3)])

    def fails(judge: int, transaction: StudyTransaction) -> None:
        world.answers(judge, 1, transaction)
        raise InputError("refused")

    results = world.together(
        [
            (0, partial(world.answers, 0, 1)),
            (1, partial(fails, 1)),
            (2, partial(world.answers, 2, 1)),
        ]
    )
    assert [results[0][0], results[2][0]] == ["created", "created"]
    assert isinstance(results[1], InputError)
    held = world.tables()
    assert len(held["answers"]) == 2
    assert [row["answered_at"] is None for row in held["assignments"]] == [False, True, False]


def test_a_group_reads_and_writes_in_a_few_statements(url: str) -> None:
    n = 12
    world = Judges(url, n, judges=n, n_items=12)
    statements: list[str] = []
    event.listen(
        world.store.database.engine,
        "before_cursor_execute",
        lambda _connection, _cursor, statement, *_: statements.append(statement),
    )
    world.together([(judge, partial(world.asks, judge)) for judge in range(n)])
    asked = [text for text in statements if not text.startswith("BEGIN")]
    # Whether the study is the same, the state, the judges, the open link, their trials, what is
    # missing; the new trials, how often each was given, who was there.
    assert len(asked) == 9, asked
    statements.clear()
    world.together([(judge, partial(world.answers, judge, 1)) for judge in range(n)])
    answered = [text for text in statements if not text.startswith("BEGIN")]
    # Whether the study is the same, the state, the judges, their trials, what is missing; the answers,
    # their trials, who was there.
    assert len(answered) == 8, answered
    assert len(world.tables()["answers"]) == n


def test_what_was_read_ahead_does_not_count_after_another_write(url: str) -> None:
    """One request withdraws the open trial of a judge whose request comes later in the group."""
    world = Judges(url, 2)
    world.together([(judge, partial(world.asks, judge)) for judge in range(2)])

    def withdraws(judge: int, transaction: StudyTransaction) -> None:
        transaction.connection.execute(
            sa.update(schema.assignments)
            .where(schema.assignments.c.judge == judge + 1)
            .values(is_withdrawn=True)
        )

    before = world.seen[1].id
    _, found = world.together([(0, partial(withdraws, 1)), (1, partial(world.asks, 1))])
    assert not isinstance(found, Exception)
    assert world.seen[1].id != before
