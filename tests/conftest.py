"""What all tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# A loaded machine is no failure: examples may take as long as they like. CI tries the same examples
# every time; elsewhere each run looks at new ones.
settings.register_profile("wellput", deadline=None, derandomize=os.environ.get("WELLPUT_CI") == "1")
settings.load_profile("wellput")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    """Under WELLPUT_CI=1 nothing may be skipped: what a test needs must be there."""
    outcome = yield
    report = outcome.get_result()
    if os.environ.get("WELLPUT_CI") == "1" and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped under WELLPUT_CI=1: {report.longrepr}"
