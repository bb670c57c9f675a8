"""Errors are marked in a real browser: by mouse, by keys alone and by touch; the connection and the
server may go away meanwhile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.programs import needs
from tests.studies.served_study import new_store
from tests.studies.serving import ServedStudy
from tests.studies.test_browser import PHONE, Watch, exported, run_through, served
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.store import Store
from wellput.studies.study_setup import StudyItem, StudyPlan

pytestmark = needs("chromium")

# The astronaut is 3 code points, but 5 UTF-16 units, in which JavaScript counts.
TEXT = "The 👩‍🚀 ate fairies at nine o’clock."
ITEMS = (
    StudyItem("1", {"A": "Once upon a time."}, source="Es war einmal.", document="d"),
    StudyItem("2", {"A": TEXT}, source="Die Astronautin aß Fähren.", document="d"),
)
ONE = StudyPlan(judges=1, per_item=1)
SECONDS_BETWEEN_ATTEMPTS = 6  # 5, and a moment before the answer is sent
A_MINUTE_OF_ATTEMPTS = 60 // SECONDS_BETWEEN_ATTEMPTS


def store_of(folder: Path, design: str = "spans", items: Any = ITEMS[1:], **options: Any) -> Store:
    return new_store(folder, default_questionnaire(design, **options), items=items, plan=ONE)


def open_link(watch: Watch, address: str, store: Store) -> Page:
    (invitation,) = store.invite(1)
    watch.page.goto(f"{address}/judge/{invitation.token}")
    return watch.page


def word(page: Page, text: str, card: int = 0) -> Any:
    return page.locator(".marked").nth(card).get_by_text(text, exact=True)


def spans_of(store: Store, folder: Path) -> list[dict[str, Any]]:
    (one,) = exported(store, folder)
    found: list[dict[str, Any]] = json.loads(one.extra["spans"])
    return found


def of(start: object, end: object, severity: str, category: str = "", text: str = "") -> Any:
    return {"start": start, "end": end, "severity": severity, "category": category, "text": text}


FAIRIES = of(12, 19, "major", "", "fairies")
NINE = of(23, 35, "minor", "", "nine o’clock")
NOTHING = of("missing", "missing", "minor", "", "where")


def test_by_mouse(browser: Browser, tmp_path: Path) -> None:
    """Drags, clicks the first and the last word, nests, changes, undoes and removes."""
    store = store_of(tmp_path)
    with served(store) as address:
        watch = Watch(browser)
        page = open_link(watch, address, store)
        word(page, "nine").drag_to(word(page, "o’clock"))
        page.get_by_role("button", name="Minor", exact=True).click()
        word(page, "fairies").click()
        page.locator(".mark-hint", has_text="Now choose the last word").wait_for()
        word(page, "fairies").click()
        page.get_by_role("button", name="Major", exact=True).click()
        word(page, "The").click()
        word(page, "at").click()  # over the astronaut and the fairies
        page.get_by_role("button", name="Remove", exact=True).click()
        page.get_by_role("button", name="Undo").click()
        assert page.locator(".marks li").count() == 3
        page.get_by_role("button", name="Next").click()  # the slider is not set: the page stays
        page.get_by_role("spinbutton").fill("61")
        page.get_by_role("button", name="Next").click()
        page.get_by_text("Please say of every marked error how bad it is").wait_for()
        page.get_by_role("button", name="Remove “The 👩‍🚀 ate fairies at”").click()
        page.get_by_role("button", name="Something is missing").click()
        page.get_by_role("button", name="Minor", exact=True).click()
        page.get_by_label("What is missing?").fill("where")
        page.get_by_role("button", name="Next").click()
        page.get_by_role("heading", name="Thank you").wait_for()
        watch.close()
    assert spans_of(store, tmp_path) == [FAIRIES, NINE, NOTHING]


def test_by_keys_alone(browser: Browser, tmp_path: Path) -> None:
    store = store_of(tmp_path)
    with served(store) as address:
        watch = Watch(browser)
        page = open_link(watch, address, store)
        press = page.keyboard.press
        for key in ("ArrowRight", "ArrowRight", "ArrowRight", "2"):  # astronaut, ate, fairies
            press(key)
        for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight", "1"):  # at, nine, o’clock
            press(key)
        for key in ("Home", "Space", "End", "Space", "1", "Delete", "m", "1", "z", "z"):
            press(key)
        for key in ("Home", "Space", "ArrowDown", "End", "Escape"):  # begun, and not finished
            press(key)
        press("m")
        press("1")
        page.get_by_label("What is missing?").focus()
        page.keyboard.type("where")
        page.get_by_role("slider").focus()
        press("ArrowRight")
        press("Enter")
        page.get_by_role("heading", name="Thank you").wait_for()
        watch.close()
    assert spans_of(store, tmp_path) == [FAIRIES, NINE, NOTHING]


def test_by_touch_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    store = store_of(tmp_path, items=ITEMS)
    with served(store) as address:
        watch = Watch(browser, **PHONE)
        open_link(watch, address, store)

        def answer(page: Page) -> None:
            first, last = ("fairies", "fairies") if word(page, "fairies").count() else ("a", "time")
            word(page, first).tap()
            word(page, last).tap()
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            for control in page.locator("#answer button:visible").all():
                box = control.bounding_box()
                assert box is not None and box["width"] >= 40 and box["height"] >= 40
            page.get_by_role("button", name="Major", exact=True).tap()
            page.get_by_role("spinbutton").fill("61")
            page.get_by_role("button", name="Next").tap()

        run_through(watch, answer)
        watch.close()
    found = {each.item: json.loads(each.extra["spans"]) for each in exported(store, tmp_path)}
    assert found == {"1": [of(10, 16, "major", "", "a time")], "2": [FAIRIES]}


def test_mqm_by_keys_with_a_page_of_two_texts(browser: Browser, tmp_path: Path) -> None:
    items = [StudyItem("2", {"A": TEXT, "B": TEXT}, source="Die Astronautin aß Fähren.")]
    store = store_of(tmp_path, "mqm", items, layout="page")
    with served(store) as address:
        watch = Watch(browser)
        page = open_link(watch, address, store)
        page.get_by_role("button", name="No errors: next").wait_for()
        press = page.keyboard.press
        # Major, accuracy, mistranslation; then what is missing, whose category is known already.
        for key in ("ArrowRight", "ArrowRight", "ArrowRight", "2", "1", "1", "m", "2"):
            press(key)
        page.locator(".marked").nth(1).focus()
        # Minor, fluency, punctuation; and another kind instead of mistranslation.
        for key in ("End", "1", "2", "3", "Home", "1", "1", "1", "c", "2", "2"):
            press(key)
        press("Enter")
        page.get_by_role("heading", name="Thank you").wait_for()
        watch.close()
    values = sorted(float(each.value) for each in exported(store, tmp_path))  # type: ignore[union-attr]
    assert values == [-10, -1.1]
    kinds = [
        [span["category"] for span in json.loads(each.extra["spans"])]
        for each in exported(store, tmp_path)
    ]
    assert sorted(kinds) == [
        ["accuracy/mistranslation", "accuracy/omission"],
        ["fluency/spelling", "fluency/punctuation"],
    ]


def test_what_was_marked_beforehand_is_kept_changed_or_removed(
    browser: Browser, tmp_path: Path
) -> None:
    prefilled = ({**FAIRIES}, {**NINE, "severity": "major"}, of(0, 3, "minor", "", "The"))
    store = store_of(tmp_path, items=[StudyItem("2", {"A": TEXT}, prefilled={"A": prefilled})])
    with served(store) as address:
        watch = Watch(browser)
        page = open_link(watch, address, store)
        assert page.locator(".marks li", has_text="marked beforehand").count() == 3
        page.get_by_role("button", name="Remove “The”, minor").click()
        word(page, "nine").click()
        page.get_by_role("button", name="Minor", exact=True).click()
        page.get_by_role("spinbutton").fill("61")
        page.get_by_role("button", name="Next").click()
        page.get_by_role("heading", name="Thank you").wait_for()
        # The answer is there again when it is taken back, and what was removed stays removed.
        page.get_by_role("button", name="Change my last answer").click()
        page.get_by_text("change it, or go on").wait_for()
        assert page.locator(".marks li").count() == 2
        watch.close()
    assert spans_of(store, tmp_path) == [FAIRIES, NINE]
    (one,) = exported(store, tmp_path)
    assert json.loads(one.extra["prefilled"]) == list(prefilled)


def test_ends_move_by_letters_and_right_to_left_arrows(browser: Browser, tmp_path: Path) -> None:
    text = "הרכבת יוצאת בתשע."
    store = store_of(tmp_path, items=[StudyItem("1", {"A": text})])
    with served(store) as address:
        watch = Watch(browser)
        page = open_link(watch, address, store)
        for key in ("ArrowLeft", "2"):  # the second word lies left of the first
            page.keyboard.press(key)
        page.get_by_role("button", name="Begins one character later").click()
        page.get_by_role("button", name="Ends one character earlier").click()
        page.get_by_role("spinbutton").fill("61")
        page.get_by_role("button", name="Next").click()
        page.get_by_role("heading", name="Thank you").wait_for()
        watch.close()
    assert spans_of(store, tmp_path) == [of(7, 10, "major", "", text[7:10])]


def test_offline_an_answer_is_kept_and_sent_later_once(browser: Browser, tmp_path: Path) -> None:
    store = store_of(tmp_path, items=ITEMS)
    with served(store) as address:
        watch = Watch(browser)
        page = open_link(watch, address, store)
        link = page.url
        first = page.locator(".marked").inner_text()
        watch.context.set_offline(True)
        page.keyboard.press("2")
        page.get_by_role("spinbutton").fill("61")
        page.keyboard.press("Enter")
        page.get_by_text("The server cannot be reached").wait_for()
        # The page is closed and opened again; then the answer is sent without any further act.
        watch.context.set_offline(False)
        again = watch.context.new_page()
        page.close()
        again.goto(link)
        again.get_by_text("1 of 2 done").wait_for()
        assert again.locator(".marked").inner_text() != first
        # The closed page may have sent it in its last moment: then it is sent again, and taken once.
        again.wait_for_function("() => Object.keys(localStorage).length === 0")
        watch.context.close()
    (one,) = exported(store, tmp_path)
    assert one.value == 61  # type: ignore[union-attr]
    with store.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM answers").scalar() == 1


def test_offline_for_a_minute_the_open_page_tries_again_and_sends_once(
    browser: Browser, tmp_path: Path
) -> None:
    store = store_of(tmp_path, items=ITEMS)
    with served(store) as address:
        watch = Watch(browser)
        watch.page.clock.install()
        page = open_link(watch, address, store)
        lost: list[str] = []
        sent: list[str] = []
        page.on("requestfailed", lambda request: lost.append(request.method))
        page.on(
            "response", lambda one: sent.append(one.url) if one.request.method == "POST" else None
        )
        watch.context.set_offline(True)
        page.keyboard.press("2")
        page.get_by_role("spinbutton").fill("61")
        page.keyboard.press("Enter")
        page.get_by_text("The server cannot be reached").wait_for()
        while len(lost) < A_MINUTE_OF_ATTEMPTS:
            page.clock.run_for(SECONDS_BETWEEN_ATTEMPTS * 1000)
        assert page.evaluate("Object.keys(localStorage).length") == 1
        watch.context.set_offline(False)  # the browser says so, and the page sends the answer
        page.clock.run_for(1000)
        page.get_by_text("1 of 2 done").wait_for()
        assert not page.evaluate("localStorage.length")
        page.clock.run_for(SECONDS_BETWEEN_ATTEMPTS * 1000)
        assert len(sent) == 1
        watch.context.close()
    (one,) = exported(store, tmp_path)
    assert one.value == 61  # type: ignore[union-attr]
    with store.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM answers").scalar() == 1


@pytest.mark.heavy
def test_a_killed_server_loses_no_mark(browser: Browser, tmp_path: Path) -> None:
    store = store_of(tmp_path, items=ITEMS)
    (invitation,) = store.invite(1)
    store.close()
    with ServedStudy(str(tmp_path / "study.db")) as server:
        context = browser.new_context()
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{server.port}/judge/{invitation.token}")
        page.keyboard.press("1")
        page.get_by_role("spinbutton").fill("50")
        page.keyboard.press("Enter")
        page.get_by_text("1 of 2 done").wait_for()  # acknowledged
        page.keyboard.press("2")
        # Begun, left to look at the last answer again, and still there afterwards.
        page.get_by_role("button", name="Change my last answer").click()
        page.get_by_text("change it, or go on").wait_for()
        page.keyboard.press("Enter")
        page.get_by_text("change it, or go on").wait_for(state="detached")
        assert page.locator(".marks li").count() == 1
        server.kill()
        page.get_by_role("spinbutton").fill("60")
        page.keyboard.press("Enter")
        page.get_by_text("The server cannot be reached").wait_for()
        server.start()
        page.get_by_role("heading", name="Thank you").wait_for()  # sent again by the page itself
        context.close()
    answers = exported(Store.open(tmp_path / "study.db"), tmp_path)
    assert sorted(each.value for each in answers) == [50, 60]  # type: ignore[union-attr]
    assert all(len(json.loads(each.extra["spans"])) == 1 for each in answers)
