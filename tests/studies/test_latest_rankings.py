"""A dashboard that asks every few seconds does not rank a large study all the time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from wellput.core.judgment import Judgment
from wellput.studies.overview import LatestRankings
from wellput.studies.study_setup import StudySetup


class Setup:
    """A study whose ranking takes `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.now = 0.0
        self.seconds = seconds
        self.items: tuple[Any, ...] = ()
        self.systems = ("A", "B")
        self.design = SimpleNamespace(rankings=self.rank)

    def rank(self, answers: object, *_: object, **__: object) -> list[str]:
        self.now += self.seconds
        return [f"ranking of {len(cast('list[object]', answers))}"]


def answers_of(n: int) -> list[Judgment]:
    return [Judgment("J1", str(item), "A", "quality", 1.0) for item in range(n)]


def shown(setup: Setup, latest: LatestRankings, n: int, **options: Any) -> str:
    options = {"sequential": True, "may_be_old": True, **options}
    [ranking] = latest.of(cast("StudySetup", setup), answers_of(n), **options)
    return str(ranking)


def test_a_ranking_that_takes_long_is_made_seldom() -> None:
    setup = Setup(seconds=3.0)
    latest = LatestRankings(clock=lambda: setup.now)
    assert shown(setup, latest, 1) == "ranking of 1" and setup.now == 3
    setup.now = 60  # 57 seconds later: less than 20 × 3 seconds
    assert shown(setup, latest, 2) == "ranking of 1" and latest.is_old
    # A status by command or in Python is never old, nor is the final ranking.
    assert shown(setup, latest, 2, may_be_old=False) == "ranking of 2"
    assert shown(setup, latest, 3) == "ranking of 2"
    assert shown(setup, latest, 3, sequential=False) == "ranking of 3"
    setup.now += 60
    assert shown(setup, latest, 4, sequential=False) == "ranking of 4"


def test_a_quick_ranking_is_always_new() -> None:
    setup = Setup(seconds=0.1)
    latest = LatestRankings(clock=lambda: setup.now)
    assert [shown(setup, latest, n) for n in (1, 2)] == ["ranking of 1", "ranking of 2"]
    before = setup.now
    assert shown(setup, latest, 2) == "ranking of 2" and setup.now == before
