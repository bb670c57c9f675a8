"""Several servers of one study, as behind a proxy that sends each request to any of them. All follow a
change of the open link. Of two server processes on one PostgreSQL database one is killed: no
acknowledged answer is lost, and every trial is judged as often as the plan says."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter

import pytest
import sqlalchemy as sa

from tests.programs import needs
from tests.studies.postgresql import Server
from tests.studies.served_study import client_of, submit
from tests.studies.serving import Client, ServedStudy
from tests.studies.studies import answer_all, new_setup
from wellput.studies import schema
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.enrolment import new_enrolment
from wellput.studies.store import Store

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


@pytest.mark.heavy  # two servers
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


class CrowdServer:
    """A server of an open study in this process, with its own connections and client."""

    def __init__(self, url: str) -> None:
        self.store = Store.open(url)
        self.client = client_of(self.store)

    def enter(self, path: str, name: str) -> str:
        """The address of the place that this person gets; the text of the page if all are taken."""
        page = self.client.get(f"{path}?PROLIFIC_PID={name}")
        taken = page if page.status_code == 303 else submit(self.client, page.text, {})
        return str(taken.headers.get("location", taken.text))


def test_all_servers_follow_a_change_of_the_open_link(url: str) -> None:
    Store.create(url, new_setup(n_items=1, judges=2, per_item=2)).close()
    one, two = CrowdServer(url), CrowdServer(url)
    assert one.client.get("/open/whatever").status_code == 404
    one.store.open_enrolment(new_enrolment(quota=1, completion="OLD"))
    # A server that was started before keeps the link that there is now.
    two.store.open_enrolment(new_enrolment(quota=1, completion="OLD"))
    assert one.store.enrolment is not None and one.store.enrolment == two.store.enrolment
    path = one.store.enrolment.path
    home = one.enter(path, "ann")
    token = home.removeprefix("/judge/")
    assert "All places are taken" in one.enter(path, "bob")

    # More places, and another code at the end.
    two.store.open_enrolment(new_enrolment(quota=2, completion="https://example.org/{judge}"))
    assert one.enter(path, "bob").startswith("/judge/")
    assert "All places are taken" in one.enter(path, "eve")
    judge = one.store.judge_of(token)
    assert judge is not None
    answer_all(one.store, judge)
    for server in (one, two):
        assert 'href="https://example.org/J1"' in server.client.get(home).text

    # Fewer places: nobody gets one that is given back.
    two.store.open_enrolment(new_enrolment(quota=1))
    bob = one.store.judge_of(one.enter(path, "bob").removeprefix("/judge/"))
    assert bob is not None
    one.store.give_place_back(bob)
    for server in (one, two):
        assert "All places are taken" in server.enter(path, "eve")
        assert "OLD" not in (text := server.client.get(home).text) and "Thank you" in text


def test_all_servers_follow_a_change_of_the_time_that_a_place_is_kept(url: str) -> None:
    Store.create(url, new_setup(judges=2, per_item=2)).close()
    one, two = CrowdServer(url), CrowdServer(url)
    one.store.open_enrolment(new_enrolment(quota=1))
    assert one.store.enrolment is not None
    path = one.store.enrolment.path
    home = one.enter(path, "ann")
    one.store.clock = lambda: time.time() + 11 * 60
    assert "All places are taken" in one.enter(path, "bob")
    two.store.open_enrolment(new_enrolment(quota=1, place_minutes=10))
    assert one.enter(path, "bob").startswith("/judge/")
    assert one.client.get(f"/api{home}/next").status_code == 409
