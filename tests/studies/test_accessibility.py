"""axe-core finds nothing on any page of a study: every design, English and Arabic, a phone and a
screen.

axe-core is a package of npm (`npm install axe-core`). The variable AXE_CORE names its file
`axe.min.js`; without it these tests are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.programs import needs
from tests.studies.served_study import ITEMS, TASKS
from tests.studies.test_browser import PHONE, served
from wellput.studies.designs.registry import BUILT_IN
from wellput.studies.enrolment import new_enrolment
from wellput.studies.screening import ScreeningQuestion
from wellput.studies.settings import make_settings
from wellput.studies.store import Store
from wellput.studies.study_setup import StudyPlan, all_trials, make_setup

AXE_CORE = os.environ.get("AXE_CORE", "")

pytestmark = [
    needs("chromium"),
    pytest.mark.slow,
    pytest.mark.skipif(not AXE_CORE, reason="needs axe-core: npm install axe-core, set AXE_CORE"),
]

SCREEN = {"viewport": {"width": 1280, "height": 800}}
RUN = """axe.run({resultTypes: ["violations"]}).then((found) =>
  found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(" | ")}`))"""


def check(page: Page, seen: list[str]) -> None:
    page.evaluate(Path(AXE_CORE).read_text(encoding="utf-8"))
    state = f"{page.title()} {page.url.split('/')[3]} {len(seen)}"
    assert page.evaluate(RUN) == [], state
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{state} is wide"
    seen.append(state)


def open_store(folder: Path, design: str, language: str) -> Store:
    record = {
        "language": language, "practice": True, "comments": True, "consent": True,
        "demographics": True, "break_every": 2,
    }  # fmt: skip
    made = make_settings(design, record).questionnaire
    items = [
        replace(item, source="Es gab keinen Kostenvoranschlag.", document="d") for item in ITEMS
    ]
    store = Store.create(
        folder / "study.db",
        make_setup(
            made,
            StudyPlan(judges=2, per_item=2),
            items,
            all_trials(made, items),
            seed=1,
            tasks=TASKS if design == "task" else (),
        ),
    )
    screening = (ScreeningQuestion("Can you read?", ("yes", "no"), ("yes",)),)
    store.open_enrolment(
        new_enrolment(quota=1, completion="C1", place_minutes=9, screening=screening)
    )
    return store


def answer(page: Page, design: str, *, checked: list[str]) -> None:
    """Fills the form of the trial on the page, with every state that it has on the way."""
    if design in ("spans", "mqm"):
        word = page.locator(".marked .piece").first
        word.click()
        check(page, checked)
        word.click()
        page.locator(".choices .choice").first.click()
        check(page, checked)
        for row in (1, 2) if design == "mqm" else ():
            page.locator(".choices").nth(row).locator(".choice").first.click()
        page.locator("[data-act=missing]").click()
        page.locator(".choices .choice").first.click()
        check(page, checked)
    for question in page.locator("#answer .question:not(.marking)").all():
        if question.locator("input[type=radio]").count():
            question.locator("input[type=radio]").first.check(force=True)
        else:
            question.locator("input[type=number], input[type=text]").fill("9")


def walk(page: Page, store: Store, address: str, design: str, seen: list[str]) -> Iterator[str]:
    """Goes through a whole study; gives the name of each page that it comes to."""
    link = store.enrolment.path if store.enrolment else ""
    page.goto(f"{address}{link}")
    yield "open"
    page.locator("input[value=yes]").check(force=True)
    page.locator(".actions .primary").click()
    page.locator("input[name=agree]").wait_for()
    yield "consent"
    page.locator("input[name=agree]").check()
    page.locator(".actions .primary").click()
    page.locator("select, input[type=text]").first.wait_for()
    yield "demographics"
    page.locator(".actions .primary").click()
    while True:
        page.locator("#answer, .done-mark").first.wait_for()
        if page.locator(".done-mark").count():
            break
        yield "trial"
        answer(page, design, checked=seen)
        before = page.locator("#count").inner_text()
        page.locator(".actions .primary").click()
        page.wait_for_function(
            "before => document.querySelector('#count')?.innerText !== before", arg=before
        )
        if page.locator("[data-continue]").count():
            yield "feedback"
            page.locator("[data-continue]").click()
    yield "thanks"
    page.context.clear_cookies()
    page.goto(f"{address}{link}?PROLIFIC_PID=late")
    page.locator("input[value=yes]").check(force=True)
    page.locator(".actions .primary").click()
    page.locator(".message").wait_for()
    yield "full"
    page.goto(f"{address}/judge/unknown")
    yield "unknown link"
    page.goto(f"{address}/dashboard")
    yield "sign in"
    page.goto(f"{address}/dashboard/{store.owner_token}")
    page.locator("#live").wait_for()
    yield "dashboard"


@pytest.mark.parametrize("design", BUILT_IN)
@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("device", [SCREEN, PHONE], ids=["screen", "phone"])
def test_no_page_has_a_barrier(
    browser: Browser, tmp_path: Path, design: str, language: str, device: Any
) -> None:
    store = open_store(tmp_path, design, language)
    seen: list[str] = []
    with served(store, to_judges=False) as address:
        context = browser.new_context(**device)
        context.set_default_timeout(60_000)
        page = context.new_page()
        for _ in walk(page, store, address, design, seen):
            check(page, seen)
        context.close()
    print(f"{len(seen)} states")
    assert len(seen) > 10
