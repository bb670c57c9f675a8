"""The small report, opened in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.reporting.html.evaluations import (
    small_evaluation,
    write_page,
)
from tests.reporting.html.opened_report import Opened
from wellput.agreement.analysis import AgreementOptions
from wellput.agreement.correlations import Uncertainty
from wellput.agreement.panel import Exclusion
from wellput.reporting.html.page import chart_library


@pytest.fixture(scope="session")
def library() -> str:
    return chart_library()


@pytest.fixture(scope="module")
def report(
    browser: Browser, library: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Opened]:
    """The small evaluation, with one output that correlations and lines leave out."""
    options = AgreementOptions(
        exclusions=[Exclusion("", "a typing error", item="i2", system="B")],
        uncertainty=Uncertainty(n_resamples=50),
    )
    evaluation = small_evaluation(options=options)
    opened = Opened(browser, write_page(evaluation, tmp_path_factory.mktemp("report"), library))
    yield opened
    opened.close()
