"""Studies in a real browser (Debian's chromium), from invitation to export.

Every page is watched: no error in the console, no request to another host, nothing in any response
that a judge must not know.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.programs import needs
from tests.studies.served_study import ITEMS, SYSTEMS, new_store
from wellput.core.judgment import Judgment, Preference
from wellput.io import read_judgments
from wellput.studies import judge_pages
from wellput.studies.app import create_app
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.exports import export
from wellput.studies.questionnaire import DemographicField, Questionnaire
from wellput.studies.store import Store
from wellput.studies.study_setup import StudyItem

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DESIGNS = {
    "rating": default_questionnaire("rating"),
    "page": default_questionnaire("rating", layout="page"),
    "magnitude": default_questionnaire("magnitude"),
    "slider": default_questionnaire("slider"),
    "pairwise": default_questionnaire("pairwise"),
    "ties": default_questionnaire("pairwise", questions=["fluency", "adequacy"], ties=True),
    "task": default_questionnaire("task"),
}
every_design = pytest.mark.parametrize("questionnaire", DESIGNS.values(), ids=DESIGNS)

pytestmark = needs("chromium")


class Overheard:
    """An application that keeps every response with its headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.said = bytearray()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def overhear(message: Message) -> None:
            self.said += message.get("body", b"")
            self.said += b"".join(value for _, value in message.get("headers", ()))
            await send(message)

        await self.app(scope, receive, overhear)


@contextmanager
def served(
    store: Store, *, to_judges: bool = True, behind: Callable[[ASGIApp], ASGIApp] = lambda app: app
) -> Iterator[str]:
    """The study on a port of its own, `behind` another application; gives the address.

    Fails in the end where something was said that must not be said `to_judges`.
    """
    app = Overheard(behind(create_app(store)))
    config = uvicorn.Config(
        app, port=0, log_config=None, log_level="error", access_log=False, lifespan="off"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join()
    if to_judges:
        secrets = (*SYSTEMS, *(item.id for item in ITEMS))
        assert app.said and not [name for name in secrets if name.encode() in app.said]


class Watch:
    """A browser that records every request and message."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.context: BrowserContext = browser.new_context(**options)
        self.context.set_default_timeout(20_000)
        self.page: Page = self.context.new_page()
        self.problems: list[str] = []
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self._look(request.url))

    def _look(self, url: str) -> None:
        if not url.startswith("http://127.0.0.1:"):
            self.problems.append(f"a request to {url}")

    def progress(self) -> str:
        return self.page.locator("#count").inner_text()

    def close(self) -> None:
        self.context.close()
        assert not self.problems


def run_through(watch: Watch, answer: Callable[[Page], None]) -> None:
    """Answers trial after trial until the page of thanks. The progress must grow at every step."""
    done = 0
    while watch.page.locator("#answer").count():
        assert watch.progress().startswith(f"{done} of ")
        answer(watch.page)
        done += 1
        watch.page.locator("#count", has_text=re.compile(rf"^{done} of ")).wait_for()
    assert watch.progress() == f"{done} of {done} done"
    assert watch.page.get_by_role("heading", name="Thank you").count() == 1


def exported(store: Store, folder: Path) -> list[Judgment | Preference]:
    file = folder / "judgments.csv"
    export(store, str(file))
    return list(read_judgments(file))


def values_of(answers: list[Judgment | Preference], question: str) -> set[object]:
    return {
        each.value if isinstance(each, Judgment) else each.choice
        for each in answers
        if each.question == question
    }


def by_keyboard(page: Page) -> None:
    """Answers the trial on the page without a mouse."""
    press = page.keyboard.press
    kinds = page.locator("#answer .question").evaluate_all("all => all.map(q => q.dataset.kind)")
    if kinds[0] == "points":
        for place in range(len(kinds)):
            press("5" if place % 2 == 0 else "3")
    elif kinds[0] == "number":
        page.keyboard.type("42.5")
    elif kinds[0] == "slider":
        press("ArrowRight")
        press("ArrowRight")
    elif len(kinds) == 2:
        press("ArrowLeft")
        press("Tab")
        press("t")
    elif kinds[0] == "pair":
        press("ArrowRight")
    elif kinds[0] == "options":
        press("2")
    else:
        page.keyboard.type("Tuesday")
    press("Enter")


def by_touch(page: Page) -> None:
    """Answers the trial on the page with a finger."""
    for question in page.locator("#answer .question").all():
        kind = question.get_attribute("data-kind")
        if kind in ("points", "options", "pair"):
            wanted = {"points": "5", "options": "the second", "pair": "b"}[kind]
            question.locator(f"label:has(input[value='{wanted}'])").tap()
        elif kind == "text":
            question.locator("input").fill("Tuesday")
        else:
            question.locator("input[type=number]").fill("42.5")
    page.get_by_role("button", name="Next").tap()


@every_design
def test_by_keyboard_only(browser: Browser, tmp_path: Path, questionnaire: Questionnaire) -> None:
    store = new_store(tmp_path, questionnaire)
    (invitation, _) = store.invite(2)
    with served(store) as address:
        watch = Watch(browser)
        watch.page.goto(f"{address}/judge/{invitation.token}")
        run_through(watch, by_keyboard)
        watch.close()
    answers = exported(store, tmp_path)
    expected: dict[str, object] = {
        "understandability": {5},
        "quality": {3},
        "preference": {"b"},
        "adequacy": {"tie"},
        "success": {1},
    }
    if questionnaire.kind == "magnitude":
        expected["fluency"] = {42.5}
    if questionnaire.kind == "slider":
        expected["quality"] = {52}
    if questionnaire.kind == "pairwise":
        expected["fluency"] = {"a"}
    for question in questionnaire.questions:
        assert values_of(answers, question.name) == expected[question.name]
    assert all(0 < int(answer.extra["ms"]) < 60_000 for answer in answers)


@every_design
def test_on_a_phone(browser: Browser, tmp_path: Path, questionnaire: Questionnaire) -> None:
    store = new_store(tmp_path, questionnaire)
    (invitation, _) = store.invite(2)
    with served(store) as address:
        watch = Watch(browser, **PHONE)
        page = watch.page
        page.goto(f"{address}/judge/{invitation.token}")
        # Nothing is cut off, and everything to touch is as large as a finger.
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        for control in page.locator("#answer label:has(input[type=radio]), button").all():
            box = control.bounding_box()
            assert box is not None and box["width"] >= 40 and box["height"] >= 40
        run_through(watch, by_touch)
        watch.close()
    assert len(exported(store, tmp_path)) >= len(ITEMS)


def test_without_javascript(browser: Browser, tmp_path: Path) -> None:
    store = new_store(tmp_path, DESIGNS["slider"])
    (invitation, _) = store.invite(2)
    with served(store) as address:
        watch = Watch(browser, java_script_enabled=False)
        watch.page.goto(f"{address}/judge/{invitation.token}")

        def answer(page: Page) -> None:
            page.get_by_role("spinbutton").fill("73")
            page.get_by_role("button", name="Next").click()

        run_through(watch, answer)
        watch.close()
    assert values_of(exported(store, tmp_path), "quality") == {73}


def test_consent_and_questions_by_keyboard_then_undo_and_another_device(
    browser: Browser, tmp_path: Path
) -> None:
    native = DemographicField("native", "Is English your first language?", "choice", ("Yes", "No"))
    store = new_store(tmp_path, consent="We keep your answers.", demographics=(native,))
    (invitation, _) = store.invite(2)
    with served(store) as address:
        desk = Watch(browser)
        page, press = desk.page, desk.page.keyboard.press
        page.goto(f"{address}/judge/{invitation.token}")
        page.get_by_role("checkbox").focus()
        press("Space")
        press("Enter")
        page.get_by_text("Is English your first language?").wait_for()
        page.get_by_role("radio", name="Yes").focus()
        press("ArrowDown")
        press("Enter")
        page.get_by_role("radio", name="4, Just barely possible").wait_for()
        # An arrow starts at the end it comes from and stays on the scale.
        press("ArrowLeft")
        assert page.get_by_role("radio", name="7, Extremely easy").is_checked()
        press("ArrowRight")
        assert page.get_by_role("radio", name="7, Extremely easy").is_checked()
        press("Enter")  # one question is open: the page stays
        press("Tab")
        press("2")
        press("Enter")
        page.get_by_text("1 of 4 done").wait_for()

        phone = Watch(browser, **PHONE)
        phone.page.goto(f"{address}/judge/{invitation.token}")
        text = page.locator(".text").last.inner_text()
        assert phone.page.locator(".text").last.inner_text() == text
        phone.close()

        press("u")
        page.get_by_text("change it, or go on").wait_for()
        assert page.get_by_role("radio", name="7, Extremely easy").is_checked()
        press("1")
        press("Enter")
        page.get_by_text("1 of 4 done").wait_for()
        desk.close()
    assert values_of(exported(store, tmp_path), "understandability") == {1}


def test_a_lost_connection_loses_no_answer(browser: Browser, tmp_path: Path) -> None:
    store = new_store(tmp_path, DESIGNS["magnitude"])
    (invitation, _) = store.invite(2)
    with served(store) as address:
        watch = Watch(browser)
        watch.page.goto(f"{address}/judge/{invitation.token}")
        watch.context.set_offline(True)
        by_keyboard(watch.page)
        watch.page.get_by_text("The server cannot be reached").wait_for()
        watch.context.set_offline(False)
        watch.page.keyboard.press("Enter")
        watch.page.get_by_text("1 of 4 done").wait_for()
        watch.context.close()  # whose console notes the failed request
    assert values_of(exported(store, tmp_path), "fluency") == {42.5}


GIVEN_A_MINUTE_AGO = """() => {
  for (const key of Object.keys(localStorage)) {
    const kept = JSON.parse(localStorage.getItem(key));
    localStorage.setItem(key, JSON.stringify({ ...kept, at: kept.at - 60_000 }));
  }
}"""


@pytest.mark.parametrize("is_opened_again", [False, True])
def test_an_answer_that_was_kept_does_not_replace_a_newer_one_of_another_device(
    browser: Browser, tmp_path: Path, is_opened_again: bool
) -> None:
    store = new_store(tmp_path, DESIGNS["magnitude"])
    (invitation, _) = store.invite(2)
    home = f"/judge/{invitation.token}"
    with served(store) as address:
        desk = Watch(browser)
        desk.page.goto(f"{address}{home}")
        desk.context.set_offline(True)
        by_keyboard(desk.page)
        desk.page.get_by_text("The server cannot be reached").wait_for()
        # The time on the way of a request is not known, and a busy machine may need a second for it.
        desk.page.evaluate(GIVEN_A_MINUTE_AGO)

        judge = store.judge_of(invitation.token)
        assert judge is not None
        for done in (1, 2):
            shown = store.next_trial(judge)
            assert shown is not None
            store.record(judge, shown.id, {"fluency": done}, ms=900)

        again = desk.context.new_page() if is_opened_again else desk.page
        if is_opened_again:
            desk.page.close()
        desk.context.set_offline(False)
        if is_opened_again:
            again.goto(f"{address}{home}")
        again.get_by_text("2 of 4 done").wait_for()
        again.wait_for_function("() => Object.keys(localStorage).length === 0")
        desk.context.close()  # whose console notes the failed request
    assert values_of(exported(store, tmp_path), "fluency") == {1, 2}


@pytest.mark.parametrize("is_opened_again", [False, True])
def test_a_changed_answer_that_could_not_be_sent_is_not_lost(
    browser: Browser, tmp_path: Path, is_opened_again: bool
) -> None:
    store = new_store(tmp_path, DESIGNS["rating"])
    (invitation, _) = store.invite(2)
    home = f"/judge/{invitation.token}"
    # The first answer is a minute old when it is changed: a slow page must not make it newer.
    as_now = store.clock
    store.clock = lambda: as_now() - 60
    with served(store) as address:
        desk = Watch(browser)
        page, press = desk.page, desk.page.keyboard.press
        page.goto(f"{address}{home}")
        by_keyboard(page)
        page.get_by_text("1 of 4 done").wait_for()
        store.clock = as_now
        press("u")
        page.get_by_text("change it, or go on").wait_for()
        desk.context.set_offline(True)
        press("7")
        press("Enter")
        page.get_by_text("The server cannot be reached").wait_for()
        desk.context.set_offline(False)
        if is_opened_again:
            page.close()
            page = desk.context.new_page()
            page.goto(f"{address}{home}")
        page.locator("#answer:not([data-ms-since-answer])").wait_for()  # the next trial
        page.wait_for_function("() => Object.keys(localStorage).length === 0")
        desk.context.close()  # whose console notes the failed request
    assert values_of(exported(store, tmp_path), "understandability") == {7}


def test_the_time_of_a_trial_does_not_count_for_the_next(browser: Browser, tmp_path: Path) -> None:
    """The field with the cursor goes away with its page, and the browser says that it has changed."""
    store = new_store(tmp_path, DESIGNS["magnitude"])
    (invitation, _) = store.invite(2)
    minutes = 10
    with served(store) as address:
        watch = Watch(browser)
        watch.page.clock.install()
        watch.page.goto(f"{address}/judge/{invitation.token}")
        for done in (1, 2):
            watch.page.get_by_role("spinbutton").fill("42.5")
            if done == 1:
                watch.page.clock.run_for(60_000 * minutes)
            watch.page.keyboard.press("Enter")
            watch.page.get_by_text(f"{done} of 4 done").wait_for()
        watch.close()
    first, second = (int(one.extra["ms"]) for one in exported(store, tmp_path))
    assert first >= 60_000 * minutes > second


def test_keys_typed_ahead_do_not_change_an_answer_on_its_way(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store(tmp_path)
    (invitation, _) = store.invite(2)
    send_form, all_keys_are_typed = judge_pages.send_form, threading.Event()

    def send_after_the_last_key(*arguments: Any, now: float) -> Any:
        assert all_keys_are_typed.wait(timeout=60)
        return send_form(*arguments, now=now)

    monkeypatch.setattr(judge_pages, "send_form", send_after_the_last_key)
    with served(store) as address:
        watch = Watch(browser)
        watch.page.goto(f"{address}/judge/{invitation.token}")
        for key in ("5", "3", "Enter", "1", "1", "Enter"):
            watch.page.keyboard.press(key)
        all_keys_are_typed.set()
        watch.page.get_by_text("1 of 4 done").wait_for()
        watch.close()
    answers = exported(store, tmp_path)
    assert len(answers) == 2 and values_of(answers, "understandability") == {5}


def test_hostile_texts_do_nothing(browser: Browser, tmp_path: Path) -> None:
    text = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>{{7*7}}"
    items = [StudyItem(text, {text: text}, context=text)]
    store = new_store(tmp_path, items=items, title=text)
    (invitation, _) = store.invite(2, [text, "other"])
    with served(store, to_judges=False) as address:
        watch = Watch(browser)
        watch.page.goto(f"{address}/judge/{invitation.token}")
        assert watch.page.locator(".card .text").inner_text() == text
        run_through(watch, by_keyboard)
        watch.page.goto(f"{address}/dashboard/{store.owner_token}")
        # The system in the ranking of each question, and the judge.
        assert watch.page.get_by_role("rowheader", name=text).count() == 2 + 1
        assert watch.page.evaluate("window.pwned") is None
        watch.close()


def test_the_owner_pauses_and_downloads(browser: Browser, tmp_path: Path) -> None:
    store = new_store(tmp_path)
    (invitation, _) = store.invite(2)
    with served(store, to_judges=False) as address:
        judge = Watch(browser)
        judge.page.goto(f"{address}/judge/{invitation.token}")
        run_through(judge, by_keyboard)
        judge.close()

        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{address}/dashboard")
        page.get_by_label("Owner’s token").fill(str(store.owner_token))
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Resume").wait_for()
        assert store.state == "paused"
        with page.expect_download() as download:
            page.get_by_role("link", name="Download CSV").click()
        download.value.save_as(tmp_path / "downloaded.csv")
        context.close()
    assert values_of(list(read_judgments(tmp_path / "downloaded.csv")), "quality") == {3}
