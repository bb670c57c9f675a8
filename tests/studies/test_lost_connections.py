"""The connection to the server is lost in a real browser: a proxy says that the server is away, no
answer comes, or the server itself cannot answer. The page stays, and what the judge has answered
arrives later, once and with the time that it took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.programs import needs
from tests.studies.served_study import new_store
from tests.studies.test_browser import DESIGNS, Watch, by_keyboard, exported, served, values_of
from wellput.studies import judge_pages, judge_turns
from wellput.studies.rendering import ANSWER_SECONDS
from wellput.studies.store import Store, StoreUnavailable

pytestmark = needs("chromium")

TRIALS = "**/trials/*"
LOST = "The server cannot be reached"
IS_SENT = "Object.values(localStorage).map((kept) => JSON.parse(kept).isSent)"
RETRY_MS = 6000  # 5 seconds, and a moment before the answer is sent
OF_NGINX = "<html><head><title>Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>"
NOT_A_PAGE = {
    "away": (502, OF_NGINX),
    "busy": (503, OF_NGINX),
    "late": (504, OF_NGINX),
    "too many": (429, OF_NGINX),
    "too large": (413, "The request is larger than 256 KiB."),
    "not found": (404, OF_NGINX),
    "sign in": (200, '<html><body><div id="page">Sign in to the network</div></body></html>'),
}


class Proxy:
    """What stands between the browser and the server. While it `fails`, forms get an answer of its own,
    of this status and text; no answer if the status is None."""

    def __init__(self, watch: Watch, status: int | None = 502, text: str = OF_NGINX) -> None:
        self.fails = True
        self._status, self._text = status, text
        watch.context.route(TRIALS, self._answer)

    def _answer(self, route: Route) -> None:
        if not self.fails or route.request.method != "POST":
            route.continue_()
        elif self._status is not None:
            route.fulfill(status=self._status, body=self._text, content_type="text/html")


def open_study(browser: Browser, address: str, store: Store) -> tuple[Watch, str]:
    """A browser with a clock that tests move, on the page of the first trial; and the judge's link."""
    invitation, _ = store.invite(2)
    watch = Watch(browser)
    watch.page.clock.install()
    link = f"{address}/judge/{invitation.token}"
    watch.page.goto(link)
    return watch, link


def open_again(watch: Watch, link: str) -> Page:
    watch.page.close()
    page = watch.context.new_page()
    page.goto(link)
    return page


def wait_until_nothing_is_kept(page: Page) -> None:
    page.wait_for_function("() => localStorage.length === 0")


def wait_in_vain(page: Page, notice: str) -> int:
    """Moves the clock until the page gives up waiting and shows the notice. Gives the seconds. What was
    sent or received before may still be reported to the page, which then begins to wait anew."""
    for n_waits in range(1, 10):
        page.clock.run_for(1000 * ANSWER_SECONDS)
        if page.get_by_text(notice).count():
            return n_waits * ANSWER_SECONDS
    raise AssertionError("the page goes on waiting")


def stored_answers(store: Store) -> list[Any]:
    with store.database.read() as connection:
        return list(connection.exec_driver_sql("SELECT revision, ms FROM answers").all())


@pytest.mark.parametrize(("status", "text"), NOT_A_PAGE.values(), ids=NOT_A_PAGE)
def test_what_is_no_page_leaves_the_page_and_the_answer_is_sent_again(
    browser: Browser, tmp_path: Path, status: int, text: str
) -> None:
    store = new_store(tmp_path, DESIGNS["magnitude"])
    with served(store) as address:
        watch, _ = open_study(browser, address, store)
        page, proxy = watch.page, Proxy(watch, status, text)
        by_keyboard(page)
        page.get_by_text(LOST).wait_for()
        assert page.get_by_role("spinbutton").input_value() == "42.5"
        assert page.locator(".card .text").count() == 1 and not stored_answers(store)
        proxy.fails = False
        page.clock.run_for(RETRY_MS)
        page.get_by_text("1 of 4 done").wait_for()
        assert page.get_by_text(LOST).count() == 0
        wait_until_nothing_is_kept(page)
        watch.context.close()  # whose console notes the failed request
    assert values_of(exported(store, tmp_path), "fluency") == {42.5}


def test_a_server_that_cannot_answer_gets_the_answer_later(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store(tmp_path, DESIGNS["magnitude"])
    send_form, is_locked = judge_pages.send_form, True

    def send_unless_locked(*arguments: Any, now: float) -> Any:
        if is_locked:
            raise StoreUnavailable("the database is locked")
        return send_form(*arguments, now=now)

    monkeypatch.setattr(judge_pages, "send_form", send_unless_locked)
    with served(store) as address:
        watch, _ = open_study(browser, address, store)
        by_keyboard(watch.page)
        watch.page.get_by_text(LOST).wait_for()
        is_locked = False
        watch.page.clock.run_for(RETRY_MS)
        watch.page.get_by_text("1 of 4 done").wait_for()
        watch.context.close()
    assert values_of(exported(store, tmp_path), "fluency") == {42.5}


def test_a_page_that_cannot_be_shown_can_be_tried_again(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store(tmp_path)
    visit, is_locked = judge_turns.visit, True

    def visit_unless_locked(*arguments: Any, **options: Any) -> Any:
        if is_locked:
            raise StoreUnavailable("the database is locked")
        return visit(*arguments, **options)

    monkeypatch.setattr(judge_pages, "visit", visit_unless_locked)
    with served(store) as address:
        watch, _ = open_study(browser, address, store)
        watch.page.get_by_text("Nothing is lost").wait_for()
        with watch.page.expect_navigation():
            watch.page.get_by_role("link", name="Try again").click()
        watch.page.get_by_text("Nothing is lost").wait_for()
        is_locked = False
        watch.page.keyboard.press("Enter")
        watch.page.locator("#answer").wait_for()
        watch.context.close()


def test_an_answer_is_sent_when_the_link_is_opened_again(browser: Browser, tmp_path: Path) -> None:
    store = new_store(tmp_path, DESIGNS["magnitude"])
    with served(store) as address:
        watch, link = open_study(browser, address, store)
        proxy = Proxy(watch)
        by_keyboard(watch.page)
        watch.page.get_by_text(LOST).wait_for()
        proxy.fails = False
        page = open_again(watch, link)
        page.clock.run_for(RETRY_MS)
        page.get_by_text("1 of 4 done").wait_for()
        wait_until_nothing_is_kept(page)
        watch.context.close()
    assert values_of(exported(store, tmp_path), "fluency") == {42.5}


def test_an_answer_is_sent_from_a_page_without_a_trial_until_it_arrives(
    browser: Browser, tmp_path: Path
) -> None:
    """The study is paused, so the link shows no trial; a sign-in page of the network is no success."""
    store = new_store(tmp_path, DESIGNS["magnitude"])
    with served(store) as address:
        watch, link = open_study(browser, address, store)
        proxy = Proxy(watch, *NOT_A_PAGE["sign in"])
        by_keyboard(watch.page)
        watch.page.get_by_text(LOST).wait_for()
        store.set_state("paused")
        with watch.context.expect_event("response", lambda one: one.request.method == "POST"):
            page = open_again(watch, link)
        page.get_by_text("The study is paused").wait_for()
        assert page.evaluate("localStorage.length") == 1 and not stored_answers(store)
        proxy.fails = False
        page.clock.run_for(RETRY_MS)
        wait_until_nothing_is_kept(page)
        watch.context.close()
    assert values_of(exported(store, tmp_path), "fluency") == {42.5}


NO_STORAGE = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("Access is denied", "SecurityError"); },
});"""


@pytest.mark.parametrize("is_sent_by_judge", [False, True])
@pytest.mark.parametrize("has_storage", [False, True])
def test_the_time_of_an_answer_ends_when_the_judge_gives_it(
    browser: Browser, tmp_path: Path, is_sent_by_judge: bool, has_storage: bool
) -> None:
    store = new_store(tmp_path, DESIGNS["task"])
    thinking, away = 30_000, 600_000
    with served(store) as address:
        watch, link = open_study(browser, address, store)
        page, proxy = watch.page, Proxy(watch)
        if not has_storage:
            page.add_init_script(NO_STORAGE)
            page.goto(link)
        page.clock.run_for(thinking)
        by_keyboard(page)
        page.get_by_text(LOST).wait_for()
        page.clock.fast_forward(away)
        proxy.fails = False
        if is_sent_by_judge:
            page.keyboard.press("Enter")
        page.clock.run_for(RETRY_MS)
        page.get_by_text("1 of 2 done").wait_for()
        watch.context.close()
    ((_, ms),) = stored_answers(store)
    assert thinking <= ms < away
    seconds = {one.value for one in exported(store, tmp_path) if one.question == "seconds"}  # type: ignore[union-attr]
    assert seconds == {ms / 1000}


def test_a_request_without_an_answer_is_given_up_and_the_answer_is_taken_once(
    browser: Browser, tmp_path: Path
) -> None:
    """The server gets the answer, but what it says does not come back."""
    store = new_store(tmp_path, DESIGNS["rating"])
    with served(store) as address:
        watch, _ = open_study(browser, address, store)
        page = watch.page
        page.route(TRIALS, lambda route: route.fetch(max_redirects=0), times=1)
        with page.expect_request(TRIALS):
            by_keyboard(page)
        wait_in_vain(page, LOST)
        assert page.evaluate(IS_SENT) == [True]
        page.clock.run_for(RETRY_MS)
        page.get_by_text("1 of 4 done").wait_for()
        wait_until_nothing_is_kept(page)
        watch.context.close()
    assert [revision for revision, _ in stored_answers(store)] == [0]


def test_after_a_lost_request_the_answer_can_be_changed(browser: Browser, tmp_path: Path) -> None:
    store = new_store(tmp_path, DESIGNS["rating"])
    with served(store) as address:
        watch, _ = open_study(browser, address, store)
        page, proxy = watch.page, Proxy(watch)
        by_keyboard(page)
        page.get_by_text(LOST).wait_for()
        page.get_by_role("radio", name="4, Just barely possible").focus()
        page.keyboard.press("7")
        proxy.fails = False
        page.keyboard.press("Enter")
        page.get_by_text("1 of 4 done").wait_for()
        watch.context.close()
    assert values_of(exported(store, tmp_path), "understandability") == {7}


def test_a_page_that_is_closed_while_it_waits_has_kept_the_answer(
    browser: Browser, tmp_path: Path
) -> None:
    store = new_store(tmp_path, DESIGNS["magnitude"])
    with served(store) as address:
        watch, link = open_study(browser, address, store)
        proxy = Proxy(watch, status=None)
        with watch.page.expect_request(TRIALS):
            by_keyboard(watch.page)
        assert watch.page.evaluate(IS_SENT) == [True]
        proxy.fails = False
        page = open_again(watch, link)
        page.clock.run_for(RETRY_MS)
        page.get_by_text("1 of 4 done").wait_for()
        watch.context.close()
    assert values_of(exported(store, tmp_path), "fluency") == {42.5}


def test_a_step_other_than_an_answer_is_tried_again_by_the_judge(
    browser: Browser, tmp_path: Path
) -> None:
    store = new_store(tmp_path, consent="We keep your answers.")
    with served(store) as address:
        watch, _ = open_study(browser, address, store)
        page = watch.page
        page.route("**/consent", lambda route: route.fulfill(status=502, body=OF_NGINX))
        page.get_by_role("checkbox").check()
        page.get_by_role("button", name="Continue").click()
        page.get_by_text("please try again").wait_for()
        page.unroute_all()
        page.get_by_role("button", name="Continue").click()
        page.locator("#answer").wait_for()
        watch.context.close()


def test_the_dashboard_refreshes_its_head_and_survives_a_proxy_without_a_server(
    browser: Browser, tmp_path: Path
) -> None:
    store = new_store(tmp_path)
    refresh_ms = 10_000
    with served(store, to_judges=False) as address:
        watch = Watch(browser)
        page = watch.page
        page.clock.install()
        page.goto(f"{address}/dashboard/{store.owner_token}")
        page.get_by_role("button", name="Sign out").focus()
        store.set_state("closed")
        page.clock.run_for(refresh_ms)
        page.locator(".state.closed").wait_for()
        assert page.get_by_role("button", name="Open again").count() == 1
        assert page.get_by_role("button", name="Pause").count() == 0
        # The button has the cursor, although it is another button now.
        assert page.evaluate("document.activeElement.textContent") == "Sign out"

        page.route("**/dashboard", lambda route: route.fulfill(status=502, body=OF_NGINX))
        page.clock.run_for(refresh_ms)
        page.get_by_text("may be out of date").wait_for()
        assert page.get_by_text("Trials answered").count() == 1
        page.unroute_all()
        store.set_state("paused")
        page.clock.run_for(refresh_ms)
        page.locator(".state.paused").wait_for()
        page.get_by_text("may be out of date").wait_for(state="detached")
        watch.context.close()
