"""What all tests share."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.order import ordered
from tests.programs import require, skipped_line

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Before NumPy is imported: as on the command line.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A loaded machine is no failure: examples may take as long as they like. CI tries the same examples
# every time; elsewhere each run looks at new ones.
settings.register_profile("wellput", deadline=None, derandomize=os.environ.get("WELLPUT_CI") == "1")
settings.register_profile("quick", deadline=None, max_examples=10)
settings.load_profile("wellput")

BROWSER_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--order",
        default="written",
        metavar="written|reversed|shuffled:SEED",
        help="order of the tests; shuffled: the modules at random, and the tests in each",
    )


def pytest_report_header(config: pytest.Config) -> str:
    return f"order of the tests (repeat it with): --order {config.getoption('order')}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """First, so that pytest then brings together tests that share a parameter of a fixture."""
    items[:] = ordered(items, config.getoption("order"), module_of=lambda item: item.path)


def pytest_collection_finish() -> None:
    """The garbage collector looks no more at what was imported, and seldom at the rest."""
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        require(*mark.args)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Under WELLPUT_CI=1 nothing may be skipped: what a test needs must be there."""
    report = yield
    if os.environ.get("WELLPUT_CI") == "1" and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped under WELLPUT_CI=1: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Says behind everything else what was skipped."""
    yield
    reports = terminalreporter.stats.get("skipped", [])
    if line := skipped_line([str(report.longrepr) for report in reports]):
        terminalreporter.write_line(line, yellow=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        program = shutil.which("chromium")
        assert program is not None, "tests that use it are marked needs('chromium')"
        browser = playwright.chromium.launch(executable_path=program, args=list(BROWSER_FLAGS))
        yield browser
        browser.close()
