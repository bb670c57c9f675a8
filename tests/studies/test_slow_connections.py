"""The connection to the server is slow in a real browser: pages come in pieces, or a proxy holds an
answer. A page that keeps coming is waited for, and a late answer does not replace a newer one."""

from __future__ import annotations

import asyncio
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.programs import needs
from tests.studies.served_study import new_store
from tests.studies.test_browser import DESIGNS, by_keyboard, exported, served, values_of
from tests.studies.test_lost_connections import (
    LOST,
    RETRY_MS,
    TRIALS,
    Proxy,
    open_study,
    stored_answers,
    wait_in_vain,
    wait_until_nothing_is_kept,
)
from wellput.studies import forms, judge_pages
from wellput.studies.rendering import ANSWER_SECONDS

pytestmark = needs("chromium")


class SlowLine:
    """Brings the pages of an application in pieces while it `is_slow`. Each piece waits until the test
    lets it go."""

    PIECES = 4

    def __init__(self) -> None:
        self.is_slow = False
        self._may_go = threading.Semaphore(0)

    def before(self, app: ASGIApp) -> ASGIApp:
        async def in_pieces(scope: Scope, receive: Receive, send: Send) -> None:
            async def send_slowly(message: Message) -> None:
                body = message.get("body", b"")
                if not self.is_slow or len(body) < self.PIECES:
                    await send(message)
                    return
                size = -(-len(body) // self.PIECES)
                for begin in range(0, len(body), size):
                    while not self._may_go.acquire(blocking=False):
                        await asyncio.sleep(0.01)
                    await send({**message, "body": body[begin : begin + size], "more_body": True})
                await send({"type": "http.response.body"})

            await app(scope, receive, send_slowly)

        return in_pieces

    def bring(self, page: Page, *, all_but: int = 0) -> None:
        """Brings a page, but not its last pieces. Each comes after half of the time for which the page
        waits."""
        for _ in range(self.PIECES - all_but):
            page.clock.run_for(500 * ANSWER_SECONDS)
            before = page.evaluate("globalThis.nEvents")
            self._may_go.release()
            deadline = time.monotonic() + 20
            # `wait_for_function` looks again by a clock that stands still here.
            while page.evaluate("globalThis.nEvents") == before:
                assert time.monotonic() < deadline, "the page has not noticed a piece"
                time.sleep(0.01)

    def let_go(self) -> None:
        self.is_slow = False
        self._may_go.release(10 * self.PIECES)


# At the request itself: events of an element that was replaced meanwhile do not reach the document.
COUNT_EVENTS = """() => {
globalThis.nEvents = 0;
const send = XMLHttpRequest.prototype.send;
XMLHttpRequest.prototype.send = function (...body) {
  for (const name of ["progress", "loadend"]) this.addEventListener(name, () => { nEvents += 1; });
  send.apply(this, body);
};
}"""


def stop_clock(page: Page) -> None:
    """From here on only the test moves the time of the page."""
    page.clock.pause_at(datetime.now() + timedelta(minutes=1))


def test_a_page_that_comes_slowly_is_waited_for_as_long_as_it_moves(
    browser: Browser, tmp_path: Path
) -> None:
    """The whole page takes twice as long as the limit for an answer."""
    store, line = new_store(tmp_path, DESIGNS["rating"]), SlowLine()
    with served(store, behind=line.before) as address:
        watch, _ = open_study(browser, address, store)
        page = watch.page
        page.evaluate(COUNT_EVENTS)
        assert page.evaluate("htmx.config.timeout") == 0  # it would be a limit for the whole page
        stop_clock(page)
        line.is_slow = True
        with page.expect_response(lambda one: one.status == 200):  # the redirect has come, too
            by_keyboard(page)
        line.bring(page)
        page.get_by_text("1 of 4 done").wait_for()
        assert page.get_by_text(LOST).count() == 0

        with page.expect_response(lambda one: one.status == 200):
            by_keyboard(page)
        line.bring(page, all_but=2)
        assert page.get_by_text(LOST).count() == 0
        wait_in_vain(page, LOST)
        line.let_go()
        page.clock.run_for(RETRY_MS)
        page.get_by_text("2 of 4 done").wait_for()
        watch.context.close()  # whose console notes the request that was given up
    assert [revision for revision, _ in stored_answers(store)] == [0, 0]


@pytest.mark.parametrize("is_sent_again", [False, True])
def test_an_answer_that_a_proxy_held_does_not_replace_a_newer_one(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_sent_again: bool
) -> None:
    """The proxy brings the first answer to the server when the judge has changed it. It may have been
    sent again and stored before."""
    store = new_store(tmp_path, DESIGNS["rating"])
    server_is_ahead = 0.0
    for module in (forms, judge_pages):
        monkeypatch.setattr(module, "now_ms", lambda: round(1000 * store.clock()))
    store.clock = lambda: time.time() + server_is_ahead
    with served(store) as address:
        watch, _ = open_study(browser, address, store)
        page, proxy = watch.page, Proxy(watch, status=None)
        with page.expect_request(TRIALS) as sent:
            by_keyboard(page)
        held = sent.value.post_data
        server_is_ahead += wait_in_vain(page, LOST)
        proxy.fails = False
        if is_sent_again:
            page.clock.run_for(RETRY_MS)
            server_is_ahead += RETRY_MS / 1000
            page.get_by_text("1 of 4 done").wait_for()
            page.keyboard.press("u")
            page.get_by_text("This is your last answer").wait_for()
        page.get_by_role("radio", name="4, Just barely possible").focus()
        page.keyboard.press("7")
        page.keyboard.press("Enter")
        page.get_by_text("1 of 4 done").wait_for()
        page.locator("#undo").wait_for(state="attached")
        wait_until_nothing_is_kept(page)
        server_is_ahead += 10
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        watch.context.request.post(sent.value.url, data=held, headers=headers)
        watch.context.close()
    assert values_of(exported(store, tmp_path), "understandability") == {7}
