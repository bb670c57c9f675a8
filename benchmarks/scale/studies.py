"""Many judges at once against one server process: `python -m benchmarks studies`.

200 judges ask for a trial and answer it, 20 times each, first without a pause, then with a pause in which somebody
could read a sentence. SQLite and PostgreSQL (a server that the benchmark starts) are measured in the same run, both
with every commit on the disk. Checks that no answer is missing; writes docs/results/studies.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pages import write_page
from tests.programs import postgresql_folder
from tests.studies.postgresql import running_server
from tests.studies.serving import HOST, ServedStudy
from wellput.core.judgment import Judgment
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.store import Store
from wellput.studies.study_setup import StudyItem, StudyPlan, all_trials, make_setup

PER_ITEM = 4
"""Judgments planned for each output of an item."""
PAUSE = 3.0
"""Seconds before each trial, on average, in the second part."""


@dataclass
class Load:
    """The seconds of every request, the responses that were no success, and the seconds of the whole (`wall`)."""

    next_seconds: list[float] = field(default_factory=list)
    answer_seconds: list[float] = field(default_factory=list)
    errors: list[object] = field(default_factory=list)
    wall: float = 0.0


def measure(url: str, *, n_judges: int, n_answers: int, pause: float) -> Load:
    """Lets all judges answer in a new study, and checks that all answers are there."""
    questionnaire = default_questionnaire("rating")
    n_items = n_judges * n_answers // (2 * PER_ITEM)
    items = [StudyItem(f"i{n}", {"A": f"a text {n}", "B": f"text {n} a"}) for n in range(n_items)]
    plan = StudyPlan(judges=n_judges, per_item=PER_ITEM)
    store = Store.create(
        url, make_setup(questionnaire, plan, items, all_trials(questionnaire, items), seed=1)
    )
    tokens = [invitation.token for invitation in store.invite(n_judges)]
    store.close()
    with ServedStudy(url) as served:
        load = asyncio.run(_answers_of_all(served.port, tokens, n_answers, pause))
    _check(url, n_judges * n_answers)
    return load


async def _answers_of_all(port: int, tokens: list[str], n_answers: int, pause: float) -> Load:
    """All judges at work at the same time."""
    load = Load()
    began = time.perf_counter()
    await asyncio.gather(*(_judge(Judge(port, token), n_answers, pause, load) for token in tokens))
    load.wall = time.perf_counter() - began
    return load


async def _judge(judge: Judge, n_answers: int, pause: float, load: Load) -> None:
    rng = random.Random(judge.token)
    for number in range(n_answers):
        if pause:
            judge.close()  # like browsers: the server closes idle connections
            await asyncio.sleep(rng.uniform(0, 2 * pause))
        began = time.perf_counter()
        status, found = await judge.ask("GET", "/next")
        load.next_seconds.append(time.perf_counter() - began)
        if status != 200 or found["trial"] is None:
            load.errors.append(found)
            return
        answers = {"understandability": 1 + number % 7, "quality": 4}
        body = {"trial": found["trial"]["id"], "answers": answers, "ms": 1000}
        began = time.perf_counter()
        status, found = await judge.ask("POST", "/answers", body)
        load.answer_seconds.append(time.perf_counter() - began)
        if status != 201:
            load.errors.append(found)
            return
    judge.close()


class Judge:
    """One judge's connection, without an HTTP library: 200 judges in one process must not slow each other."""

    def __init__(self, port: int, token: str) -> None:
        self.token = token
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """The status and the JSON of the response."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(HOST, self._port)
        reader, writer = self._streams
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} /api/judge/{self.token}{path} HTTP/1.1\r\nHost: {HOST}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        writer.write(head.encode() + content)
        answered = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = answered.split("content-length:")[1].split("\r\n")[0]
        return int(answered.split(maxsplit=2)[1]), json.loads(await reader.readexactly(int(length)))

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def _check(url: str, expected: int) -> None:
    """Checks that every answer is there, and that every trial has exactly `PER_ITEM` judgments."""
    found = [one for one in Store.open(url).judgments() if one.question == "quality"]
    assert len(found) == expected, f"{len(found)} answers of {expected}"
    counts = Counter((one.item, one.system) for one in found if isinstance(one, Judgment))
    assert set(counts.values()) == {PER_ITEM}, Counter(counts.values())


def _row(name: str, load: Load) -> str:
    n = len(load.answer_seconds)
    cells = [name, f"{n:,}", str(len(load.errors)), f"{n / load.wall:,.0f}"]
    for seconds in (load.answer_seconds, load.next_seconds):
        cells += [f"{1000 * np.quantile(seconds, q):.0f}" for q in (0.5, 0.95, 1.0)]
    return "| " + " | ".join(cells) + " |"


def page(rows: list[str], *, n_judges: int, n_answers: int) -> str:
    return f"""# Studies: load and durability

How many judges can work at the same time, and is any answer lost? One server process takes more than 1,000 answers a second, so {n_judges} judges hardly wait. No answer was lost, also when the server was killed.

## {n_judges} judges at once

{n_judges} judges give {n_answers} answers each to one server process. In the rows with a pause of 0 s, each judge sends the next request as soon as the response has come, which shows how much the server can do. In the rows with a pause of {PAUSE:g} s (on average, before each trial), the judges are like very quick people. Judges, server and database share the machine ({os.cpu_count()} cores, {platform.system()}). Every answer is on
disk before it is acknowledged (PostgreSQL runs with `fsync=on`).

The last six columns are waiting times in milliseconds, for an answer to be acknowledged and for the next trial: the median (p50), the 95% quantile (p95) and the longest.

| database, pause | answers | errors | answers/s | answer, p50 | answer, p95 | answer, longest | next trial, p50 | next trial, p95 | next trial, longest |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{chr(10).join(rows)}

No answer was lost, and every trial had exactly its planned number of judgments.

## Killed in the middle

`make slow` kills the server (SIGKILL) at random moments while six judges answer and change their answers: 200 times on SQLite and 50 times on PostgreSQL. The judges send each answer again that was not acknowledged. The test fails unless every acknowledged answer is stored exactly once, with its value.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judges", type=int, default=200)
    parser.add_argument("--answers", type=int, default=20)
    given = parser.parse_args()
    n_judges, n_answers = given.judges, given.answers
    binaries = postgresql_folder()
    if binaries is None:
        raise SystemExit("PostgreSQL is not installed (Debian: apt-get install postgresql).")
    rows = []
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(binaries, is_durable=True) as server,
    ):
        for pause in (0.0, PAUSE):
            urls = {
                "SQLite": str(Path(folder) / f"{pause}.db"),
                "PostgreSQL": server.new_database(),
            }
            for name, url in urls.items():
                load = measure(url, n_judges=n_judges, n_answers=n_answers, pause=pause)
                rows.append(_row(f"{name}, {pause:g} s", load))
                print(rows[-1])
    write_page("studies", page(rows, n_judges=n_judges, n_answers=n_answers))
