"""Whole campaigns in a real browser, from the open link to the address at the end: errors are marked by
mouse, by keys alone, and by touch. `make slow` runs them at their real size."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.programs import needs
from tests.studies.served_study import new_store
from tests.studies.test_browser import PHONE, Watch, exported, served
from wellput.core.judgment import Judgment
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.enrolment import new_enrolment
from wellput.studies.store import Store
from wellput.studies.study_setup import StudyItem, StudyPlan

pytestmark = [needs("chromium"), pytest.mark.heavy]

COMPLETION = "http://127.0.0.1:{port}/?cc=C1&person={{PROLIFIC_PID}}"
"""Where judges are sent at the end: a page of the server itself, as no other host can be reached."""
SEVERITY_OF_PLACE = ("minor", "major")
SCORE_STEP = 7


def segment(number: int) -> StudyItem:
    """A segment of a document of ten, whose third word is wrong; every third one lacks something."""
    text = f"Ferry {number} leaves the harbour at nine."
    source = f"Fähre {number} verlässt den Hafen um neun Uhr."
    return StudyItem(f"s{number}", {"A": text}, source=source, document=f"d{number // 10}")


def open_store(folder: Path, design: str, n: int) -> Store:
    store = new_store(
        folder,
        default_questionnaire(design),
        items=[segment(number) for number in range(n)],
        plan=StudyPlan(judges=1, per_item=1),
    )
    store.open_enrolment(new_enrolment(quota=1, completion=None, place_minutes=120))
    return store


def number_of(page: Page) -> int:
    return int(page.locator(".marked").inner_text().split()[1])


def wanted(number: int, design: str) -> list[dict[str, Any]]:
    """The marks of a segment."""
    start = len(f"Ferry {number} ")
    severity = SEVERITY_OF_PLACE[number % 2]
    category = "accuracy/mistranslation" if design == "mqm" else ""
    found: list[dict[str, Any]] = [
        {
            "start": start,
            "end": start + len("leaves"),
            "severity": severity,
            "category": category,
            "text": "leaves",
        }
    ]
    if number % 3 == 0:
        category = "accuracy/omission" if design == "mqm" else ""
        about = {"severity": "minor", "category": category, "text": ""}
        found.append({"start": "missing", "end": "missing", **about})
    return found


def score_of(number: int) -> int:
    return number * SCORE_STEP % 101


def by_pointer(page: Page, design: str, act: Callable[[Any], None]) -> None:
    """Marks and scores with a mouse or a finger; `act` clicks or taps."""
    number = number_of(page)
    word = page.locator(".marked").get_by_text("leaves", exact=True)
    act(word)
    act(word)
    act(page.get_by_role("button", name=SEVERITY_OF_PLACE[number % 2].capitalize(), exact=True))
    if design == "mqm":
        act(page.get_by_role("button", name="Accuracy", exact=True))
        act(page.get_by_role("button", name="Mistranslation", exact=True))
    if number % 3 == 0:
        act(page.get_by_role("button", name="Something is missing"))
        act(page.get_by_role("button", name="Minor", exact=True))
    if design == "spans":
        page.get_by_role("spinbutton").fill(str(score_of(number)))
    act(page.get_by_role("button", name="Next"))


def by_keys(page: Page, design: str) -> None:
    number = number_of(page)
    press = page.keyboard.press
    press("ArrowRight")
    press("ArrowRight")
    press(str(1 + number % 2))
    if design == "mqm":
        press("1")
        press("1")
    if number % 3 == 0:
        press("m")
        press("1")
    if design == "spans":
        page.get_by_role("slider").focus()
        page.keyboard.type(str(score_of(number)))
    press("Enter")


ANSWERS: Mapping[str, Callable[[Page, str], None]] = {
    "mouse": lambda page, design: by_pointer(page, design, lambda one: one.click()),
    "keys": by_keys,
    "touch": lambda page, design: by_pointer(page, design, lambda one: one.tap()),
}


def run_campaign(browser: Browser, folder: Path, design: str, n: int, how: str) -> None:
    store = open_store(folder, design, n)
    with served(store, to_judges=False) as address:
        port = address.rsplit(":", 1)[1]
        completion = COMPLETION.format(port=port)
        store.open_enrolment(new_enrolment(quota=1, completion=completion, place_minutes=120))
        watch = Watch(browser, **(PHONE if how == "touch" else {}))
        page = watch.page
        link = store.enrolment.path if store.enrolment else ""
        page.goto(f"{address}{link}?PROLIFIC_PID=p7&STUDY_ID=s&SESSION_ID=t")
        begin = page.get_by_role("button", name="Begin")
        if how == "keys":
            begin.focus()
            page.keyboard.press("Enter")
        else:
            begin.click()
        for done in range(n):
            page.locator("#count", has_text=f"{done} of {n} done").wait_for()
            ANSWERS[how](page, design)
        finish = page.get_by_role("link", name="Finish")
        finish.wait_for()
        finish.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/?cc=C1&person=p7")
        watch.close()
    answers = exported(store, folder)
    assert len(answers) == n
    for one in answers:
        assert isinstance(one, Judgment)
        number = int(one.item[1:])
        spans = json.loads(one.extra["spans"])
        assert spans == wanted(number, design)
        if design == "spans":
            assert one.value == score_of(number)
    with store.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM answers").scalar() == n


every_way = pytest.mark.parametrize("how", ANSWERS)


@every_way
@pytest.mark.parametrize("design", ["spans", "mqm"])
def test_a_judge_who_came_by_the_open_link_marks_errors_at_once(
    browser: Browser, tmp_path: Path, design: str, how: str
) -> None:
    """The page of the open link loads the scripts of the trials, which only a reload did once."""
    run_campaign(browser, tmp_path, design, 4, how)


@pytest.mark.slow
@every_way
def test_a_hundred_segments_of_esa(browser: Browser, tmp_path: Path, how: str) -> None:
    run_campaign(browser, tmp_path, "spans", 100, how)


@pytest.mark.slow
@every_way
def test_thirty_segments_of_mqm(browser: Browser, tmp_path: Path, how: str) -> None:
    run_campaign(browser, tmp_path, "mqm", 30, how)
