"""Several server processes on one PostgreSQL database, as behind a proxy that sends each request to any
of them. One of them is killed. No acknowledged answer is lost, and every trial is judged as often as
the plan says."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter

import pytest
import sqlalchemy as sa

from tests.programs import needs
from tests.studies.postgresql import Server
from tests.studies.serving import Client, ServedStudy
from tests.studies.studies import new_setup
from wellput.studies import schema
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.store import Store

pytestmark = pytest.mark.heavy  # two servers

JUDGES, ITEMS, PER_ITEM, SYSTEMS = 6, 6, 2, "ABC"
EXPECTED = ITEMS * len(SYSTEMS) * PER_ITEM


class ProxiedJudge:
    """Sends each request to a server drawn at random; to another if that one is gone."""

    def __init__(self, ports: list[int], token: str, number: int, deadline: float) -> None:
        self._clients = [Client(port, token, timeout=20) for port in ports]
        self._rng = random.Random(number)
        self._deadline = deadline
        self.answered: dict[str, float] = {}
        self.errors: list[object] = []

    def run(self, is_done: threading.Event) -> None:
        try:
            self._judge(is_done)
        finally:
            for client in self._clients:
                client.close()

    def _judge(self, is_done: threading.Event) -> None:
        value = 0.0
        while not is_done.is_set() and time.monotonic() < self._deadline:
            response = self._rng.choice(self._clients).next()
            if response is None or response[1].get("trial") is None:
                time.sleep(0.02)
                continue
            trial = response[1]["trial"]["id"]
            value += 0.01
            while (ended := self._answered(trial, value)) is None:
                time.sleep(0.02)
            if ended[0] not in (200, 201):
                self.errors.append(ended)
                return
            self.answered[trial] = value

    def _answered(self, trial: str, value: float) -> tuple[int, object] | None:
        if time.monotonic() > self._deadline:
            return 0, "the deadline passed"
        return self._rng.choice(self._clients).answer(trial, {"quality": value}, ms=100)


@needs("PostgreSQL")
def test_two_servers_share_a_study_and_one_is_killed(postgresql: Server) -> None:
    url = postgresql.new_database()
    setup = new_setup(
        default_questionnaire("slider"),
        n_items=ITEMS,
        systems=SYSTEMS,
        judges=JUDGES,
        per_item=PER_ITEM,
    )
    store = Store.create(url, setup)
    tokens = [invitation.token for invitation in store.invite(JUDGES)]
    is_done = threading.Event()
    with ServedStudy(url) as one, ServedStudy(url) as two:
        deadline = time.monotonic() + 120
        ports = [one.port, two.port]
        judges = [ProxiedJudge(ports, token, n, deadline) for n, token in enumerate(tokens)]
        threads = [threading.Thread(target=judge.run, args=(is_done,)) for judge in judges]
        for thread in threads:
            thread.start()
        is_killed = False
        while (n := sum(len(judge.answered) for judge in judges)) < EXPECTED:
            if time.monotonic() > deadline or any(judge.errors for judge in judges):
                break
            if n >= EXPECTED // 3 and not is_killed:
                two.kill()
                is_killed = True
            time.sleep(0.01)
        is_done.set()
        for thread in threads:
            thread.join(timeout=60)
    assert [error for judge in judges for error in judge.errors] == []
    assert is_killed
    with store.database.read() as connection:
        stored = connection.execute(
            sa.select(
                schema.assignments.c.key, schema.assignments.c.number, schema.answers.c.answers
            )
            .join_from(schema.answers, schema.assignments)
            .order_by(schema.answers.c.revision)
        ).all()
    store.close()
    last = {key: answers[0]["quality"] for key, _, answers in stored}
    assert last == {key: value for judge in judges for key, value in judge.answered.items()}
    times = Counter(trial for trial in {key: trial for key, trial, _ in stored}.values())
    assert set(times.values()) == {PER_ITEM} and len(times) == ITEMS * len(SYSTEMS)
