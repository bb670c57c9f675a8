"""The server is killed at random moments while judges answer. They repeat what was not acknowledged.
In the end every acknowledged answer must be there with its value, and none twice."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field

import pytest
import sqlalchemy as sa

from tests.programs import needs
from tests.studies.postgresql import Server
from tests.studies.serving import Client, ServedStudy
from tests.studies.studies import new_setup
from wellput.studies import schema
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.store import Store

pytestmark = pytest.mark.heavy  # servers that are killed

JUDGES = 6


@dataclass
class Judge:
    """Answers trial by trial, then changes earlier answers, each time with a new value."""

    port: int
    token: str
    number: int
    stop: threading.Event
    acknowledged: dict[str, list[float]] = field(default_factory=dict)
    unacknowledged: tuple[str, float] | None = None
    errors: list[object] = field(default_factory=list)

    used: int = 0

    def run(self) -> None:
        client = Client(self.port, self.token, timeout=10)
        rng = random.Random(self.number)
        while not self.stop.is_set():
            response = client.next()
            if response is None:
                time.sleep(0.02)
                continue
            status, body = response
            if status != 200:
                self.errors.append(response)
                return
            if body["trial"] is not None:
                trial = body["trial"]["id"]
            else:
                trial = rng.choice(list(self.acknowledged))
            self._answer(client, trial)
        client.close()

    def _answer(self, client: Client, trial: str) -> None:
        self.used += 1
        value = self.used / 1000
        self.unacknowledged = (trial, value)
        while not self.stop.is_set():
            response = client.answer(trial, {"quality": value}, ms=100)
            if response is None:
                time.sleep(0.02)
                continue
            if response[0] not in (200, 201):
                self.errors.append(response)
                self.stop.set()
                return
            self.acknowledged.setdefault(trial, []).append(value)
            self.unacknowledged = None
            return


def run(url: str, *, kills: int, seed: int) -> int:
    """Kills the server repeatedly, checks what it stored, and counts the acknowledged answers."""
    store = Store.create(url, new_setup(default_questionnaire("slider"), n_items=20, judges=JUDGES))
    tokens = [invitation.token for invitation in store.invite(JUDGES)]
    store.close()
    rng = random.Random(seed)
    stop = threading.Event()
    served = ServedStudy(url)
    judges = [Judge(served.port, token, n, stop) for n, token in enumerate(tokens)]
    try:
        served.start()
        threads = [threading.Thread(target=judge.run, daemon=True) for judge in judges]
        for thread in threads:
            thread.start()
        for _ in range(kills):
            # After some more answers, however long they take, in the middle of something.
            wait_for(acknowledged(judges) + rng.randint(1, 20), judges)
            time.sleep(rng.uniform(0, 0.1))
            served.kill()
            served.start()
        time.sleep(0.3)
        stop.set()
        for thread in threads:
            thread.join(timeout=60)
            assert not thread.is_alive()
    finally:
        stop.set()
        served.kill()
    assert [error for judge in judges for error in judge.errors] == []
    check(url, judges)
    return acknowledged(judges)


def acknowledged(judges: list[Judge]) -> int:
    return sum(len(values) for judge in judges for values in list(judge.acknowledged.values()))


def wait_for(answers: int, judges: list[Judge], *, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while acknowledged(judges) < answers and time.monotonic() < deadline:
        time.sleep(0.005)
    assert acknowledged(judges) >= answers or any(judge.errors for judge in judges)


def check(url: str, judges: list[Judge]) -> None:
    stored: dict[str, list[float]] = {}
    store = Store.open(url)
    with store.database.read() as connection:
        for key, answers in connection.execute(
            sa.select(schema.assignments.c.key, schema.answers.c.answers)
            .join_from(schema.answers, schema.assignments)
            .order_by(schema.answers.c.revision)
        ):
            stored.setdefault(key, []).append(answers[0]["quality"])
    store.close()
    for judge in judges:
        for trial, values in judge.acknowledged.items():
            pending = judge.unacknowledged
            allowed = [values]
            if pending is not None and pending[0] == trial:
                allowed.append([*values, pending[1]])
            assert stored.pop(trial) in allowed
        if judge.unacknowledged is not None:
            stored.pop(judge.unacknowledged[0], None)
    assert stored == {}


def test_killed_five_times(url: str) -> None:
    assert run(url, kills=5, seed=1) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_killed_fifty_times_four_times_over(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    assert run(str(tmp_path_factory.mktemp("study") / "s.db"), kills=50, seed=seed) >= 50


@needs("PostgreSQL")
@pytest.mark.slow
def test_killed_fifty_times_on_postgresql(postgresql: Server) -> None:
    assert run(postgresql.new_database(), kills=50, seed=9) >= 50
