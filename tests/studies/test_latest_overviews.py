"""Dashboards that ask every few seconds do not sum up a large study all the time, nor twice at once."""

from __future__ import annotations

import threading
from concurrent.futures import wait
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from tests.studies.served_study import client_of, new_store
from tests.studies.test_dashboard import judge_all
from wellput.studies.latest_overviews import LatestOverviews, StudyVersion, version_of
from wellput.studies.overview import LatestRankings, Overview
from wellput.studies.store import Store

VERSION = StudyVersion("open", 0, 1)
ANSWERED = replace(VERSION, progress=2)


class Study:
    """A study whose overview takes `seconds`, and its ranking `ranking_seconds` of these."""

    def __init__(self, seconds: float, ranking_seconds: float = 0.0) -> None:
        self.now = 0.0
        self.n_made = 0
        self.seconds, self.ranking_seconds = seconds, ranking_seconds
        self.rankings = LatestRankings()
        self.latest = LatestOverviews(self.make, self.rankings, clock=lambda: self.now)

    def make(self) -> Overview:
        self.n_made += 1
        self.now += self.seconds
        if self.ranking_seconds:
            self.rankings.made_at, self.rankings.took = self.now, self.ranking_seconds
        return cast("Overview", f"overview {self.n_made}")

    def shown(self, version: StudyVersion = ANSWERED) -> str:
        made = self.latest.get(version)
        assert made is not None
        return str(made.overview)


def test_an_overview_that_takes_long_is_made_seldom() -> None:
    study = Study(seconds=3.0)
    assert study.shown(VERSION) == "overview 1" and study.now == 3
    study.now = 62  # 59 seconds later: less than 20 × 3 seconds
    assert study.shown() == "overview 1"
    study.now = 63
    assert study.shown() == "overview 2"


def test_without_a_change_the_last_one_is_used_for_ten_minutes() -> None:
    study = Study(seconds=3.0)
    study.shown()
    study.now += 599
    assert study.shown() == "overview 1"
    study.now += 1
    assert study.shown() == "overview 2"


@pytest.mark.parametrize(
    "changed", [replace(VERSION, state="closed"), replace(VERSION, n_forgotten=1)]
)
def test_what_the_owner_changes_and_who_withdraws_is_seen_at_once(changed: StudyVersion) -> None:
    study = Study(seconds=3.0)
    study.shown(VERSION)
    assert study.shown(changed) == "overview 2"
    assert study.shown(changed) == "overview 2"


def test_a_quick_overview_is_always_new() -> None:
    study = Study(seconds=0.1)
    assert [study.shown(), study.shown()] == ["overview 1", "overview 2"]


def test_a_long_ranking_does_not_make_the_progress_old() -> None:
    study = Study(seconds=9.2, ranking_seconds=9.0)
    assert [study.shown(), study.shown()] == ["overview 1", "overview 2"]


class Held:
    """An overview that is made only when the test lets it go."""

    def __init__(self) -> None:
        self.n_made = 0
        self.may_go = threading.Semaphore(0)
        self.rankings = LatestRankings()
        self.latest = LatestOverviews(self.make, self.rankings)

    def make(self) -> Overview:
        self.n_made += 1
        self.may_go.acquire()
        return cast("Overview", f"overview {self.n_made}")


def test_requests_at_the_same_time_get_one_overview() -> None:
    held, seconds = Held(), count(step=10)
    held.latest.clock = lambda: next(seconds)  # so the overview takes long, and is not made anew
    for _ in range(5):
        assert held.latest.get(VERSION, wait_seconds=0) is None
    held.may_go.release(10)
    made = held.latest.get(VERSION, wait_seconds=60)
    assert made is not None and str(made.overview) == "overview 1"
    assert held.n_made == 1


def test_while_a_new_one_is_made_the_old_one_is_shown() -> None:
    held = Held()
    held.may_go.release()
    first = held.latest.get(VERSION, wait_seconds=60)
    assert first is not None
    assert held.latest.get(ANSWERED, wait_seconds=0) is first
    assert held.latest.get(ANSWERED, wait_seconds=0) is first
    held.may_go.release(2)
    assert held.latest.get(ANSWERED, wait_seconds=60) is not first


def test_after_an_error_the_next_request_tries_again() -> None:
    results: list[Any] = [OSError("away"), "overview"]

    def make() -> Overview:
        result = results.pop(0)
        if isinstance(result, OSError):
            raise result
        return cast("Overview", result)

    latest = LatestOverviews(make, LatestRankings())
    with pytest.raises(OSError, match="away"):
        latest.get(VERSION)
    made = latest.get(VERSION)
    assert made is not None and str(made.overview) == "overview"


def version(store: Store) -> StudyVersion:
    with store.database.read() as connection:
        return version_of(connection)


def test_the_version_changes_with_the_study(tmp_path: Path) -> None:
    now = [1000.0]
    store = new_store(tmp_path)
    store.clock = lambda: now[0]
    versions = [version(store)]
    (judge, _) = store.invite(2)
    versions.append(version(store))
    now[0] += 100
    judge_all(store, judge.token, "4")
    versions.append(version(store))
    assert version(store) == versions[-1]
    store.set_state("paused")
    versions.append(version(store))
    assert len(set(versions)) == len(versions)


def test_the_page_says_that_the_first_overview_is_being_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store(tmp_path)
    may_go, make = threading.Event(), store.overview

    def make_later(**options: Any) -> Overview:
        may_go.wait()
        return make(**options)

    monkeypatch.setattr(store, "overview", make_later)
    owner = client_of(store)
    owner.get(f"/dashboard/{store.owner_token}")
    waits_in = "wellput.studies.latest_overviews.wait"
    monkeypatch.setattr(waits_in, lambda those, timeout: wait(those, timeout=0))
    response = owner.get("/dashboard")
    assert response.status_code == 200 and "are being summed up" in response.text
    monkeypatch.setattr(waits_in, wait)
    may_go.set()
    assert "Trials answered" in owner.get("/dashboard").text
