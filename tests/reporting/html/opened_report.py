"""`Opened`: a report in a real browser, opened from a file as people do.

On every page, the console must show no error, and nothing but the file itself may be requested.
"""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page

MAX_WAIT_MS = 20_000  # long, so that a busy machine does not fail the tests


class Opened:
    """A report in a browser, with all its requests and messages recorded."""

    def __init__(self, browser: Browser, file: Path, fragment: str = "") -> None:
        self.page: Page = browser.new_page(
            viewport={"width": 1280, "height": 900}, color_scheme="light"
        )
        self.page.set_default_timeout(MAX_WAIT_MS)
        self.problems: list[str] = []
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        own = file.as_uri()
        self.page.on("request", lambda request: self._look(request.url.partition("#")[0], own))
        self.page.goto(file.as_uri() + fragment)
        self.page.wait_for_selector("body[data-ready]")

    def _look(self, url: str, own: str) -> None:
        # Pictures and downloads that the page itself makes leave it no more than text does.
        if url != own and not url.startswith(("data:", "blob:")):
            self.problems.append(f"a request to {url}")

    def ids(self) -> list[str]:
        found: list[str] = self.page.locator("#list .row b > span").all_inner_texts()
        return found

    def close(self) -> None:
        self.page.close()
        assert not self.problems
