"""The report in a real browser (Debian's chromium), opened from a file as people do.

Every page is watched: no error in the console, no request but for the file itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.programs import needs
from tests.reporting.html.evaluations import HOSTILE, small_evalset, small_evaluation, write_page
from wellput.agreement.analysis import AgreementOptions
from wellput.agreement.correlate import Uncertainty
from wellput.agreement.panel import Exclusion
from wellput.core.evalset import EvalSet, Item
from wellput.reporting.html.page import chart_library

PATIENCE = 20_000  # milliseconds: a loaded machine is no failure

pytestmark = needs("chromium")


@pytest.fixture(scope="module")
def library() -> str:
    return chart_library()


class Opened:
    """A report in a browser whose every request and message is looked at."""

    def __init__(self, browser: Browser, file: Path) -> None:
        self.page: Page = browser.new_page(
            viewport={"width": 1280, "height": 900}, color_scheme="light"
        )
        self.page.set_default_timeout(PATIENCE)
        self.problems: list[str] = []
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self._look(request.url, file.as_uri()))
        self.page.goto(file.as_uri())
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


@pytest.fixture(scope="module")
def report(
    browser: Browser, library: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Opened]:
    """The small evaluation, with one output left out of the figures."""
    options = AgreementOptions(
        exclusions=[Exclusion("", "a typing error", item="i2", system="B")],
        uncertainty=Uncertainty(n_resamples=50),
    )
    evaluation = small_evaluation(options=options)
    opened = Opened(browser, write_page(evaluation, tmp_path_factory.mktemp("report"), library))
    yield opened
    opened.close()


def test_the_verdict_comes_first_and_every_chart_is_drawn(report: Opened) -> None:
    first = report.page.locator("main section").first
    assert "A scores best under all 3 metrics" in first.inner_text()
    charts = report.page.locator(".chart svg.marks")
    assert charts.count() == 7
    assert "ceiling" in (report.page.locator("#chart-agreement svg").text_content() or "")


def test_search_and_filters(report: Opened) -> None:
    page = report.page
    page.locator("#search").fill("source 4")
    assert report.ids() == ["i4"]
    assert page.locator("#found").inner_text() == "1 item"
    page.locator("#search").fill("nothing like it")
    assert page.locator("#item").inner_text() == "No item is like that."
    page.locator("#search").fill("")
    page.locator("#show").select_option("left_out")
    assert report.ids() == ["i2"]
    assert "a typing error" in page.locator("#item").inner_text()
    page.locator("#show").select_option("same")
    page.locator("#system").select_option(label="B")
    assert report.ids() == []
    page.locator("#system").select_option(label="all")
    page.locator("#show").select_option("all")
    assert len(report.ids()) == 6


def test_sorting_by_a_metric_and_by_disagreement(report: Opened) -> None:
    page = report.page
    page.locator("#system").select_option(label="C")
    page.locator("#sort").select_option(label="ter")
    # C's output has n + 3 words for item n, all of them wrong: TER grows with n.
    page.locator("#direction").click()
    assert page.locator("#direction").inner_text() == "highest first"
    assert report.ids() == ["i6", "i5", "i4", "i3", "i2", "i1"]
    page.locator("#sort").select_option(label="random and people apart on quality")
    apart = [int(text.split()[0]) for text in page.locator("#list .row i").all_inner_texts()]
    assert apart == sorted(apart, reverse=True) and apart[0] > apart[-1]
    page.locator("#system").select_option(label="all")
    page.locator("#sort").select_option("order")
    assert report.ids() == ["i1", "i2", "i3", "i4", "i5", "i6"]


def test_an_item_shows_moves_and_trees(report: Opened) -> None:
    page = report.page
    page.locator("#list .row").nth(2).click()
    assert "source 3" in page.locator("#item").inner_text()
    output = page.locator(".output[data-system=B]")
    assert output.locator(".step.moved").count() == 2
    assert output.locator(".step.moved").first.get_attribute("title") == (
        "moved from place 4 of the reference"
    )
    output.locator(".aligned path").first.wait_for(state="attached")
    output.locator("summary").click()
    output.locator(".tree svg").wait_for()
    assert output.locator(".tree svg text.wrong").all_text_contents() == ["sat"]
    assert "cat sat down → down cat sat (1 moved)" in output.locator(".treelets").inner_text()
    same = page.locator(".output[data-system=A]")
    assert same.locator(".step").count() == same.locator(".step.unchanged").count() == 4


def test_fluency_is_explained_and_paraphrased_words_are_marked(
    browser: Browser, library: str, tmp_path: Path
) -> None:
    said = "late is ferry the The because fog of ."
    items = [
        Item(
            "1",
            {"A": said},
            ("The ferry is late.",),
            references_by_system={"A": ("The boat is late.",)},
        ),
        Item("2", {"A": "The ferry is late."}, ("The ferry is late.",)),
    ]
    evaluation = small_evaluation(EvalSet(items), [], metrics="gsa,fluency")
    opened = Opened(browser, write_page(evaluation, tmp_path, library))
    page = opened.page
    page.locator("#show").select_option("paraphrased")
    assert opened.ids() == ["1"]
    assert page.locator("#item mark").all_inner_texts() == ["boat"]
    page.get_by_text("fluency explained").click()
    explained = page.locator("#item details pre").inner_text()
    assert explained.startswith("loses ") and said not in explained
    opened.close()


def test_the_keyboard_goes_from_item_to_item(report: Opened) -> None:
    report.page.locator("#list .row").first.click()
    report.page.locator("#list").press("ArrowDown")
    assert "Item i2" in report.page.locator("#item").inner_text()
    assert report.page.locator("#list .row[aria-current=true]").count() == 1


def test_the_theme_switches_with_the_charts(report: Opened) -> None:
    page = report.page
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.locator("#theme").click()
    page.wait_for_selector("#chart-length[data-drawn=dark]")
    assert page.evaluate(ground) != light
    page.locator("#theme").click()
    page.wait_for_selector("#chart-length[data-drawn=light]")
    assert page.evaluate(ground) == light


def test_a_dark_page_is_printed_dark_on_light(
    browser: Browser, library: str, tmp_path: Path
) -> None:
    opened = Opened(browser, write_page(small_evaluation(), tmp_path, library))
    page = opened.page
    page.locator("#theme").click()
    page.wait_for_selector("#chart-scores[data-drawn=dark]")
    label = page.locator("#chart-scores .role-axis-label text").first
    svg = page.locator("#chart-scores svg.marks")
    assert label.evaluate("(e) => getComputedStyle(e).fill") == "rgb(233, 236, 233)"
    page.emulate_media(media="print")
    assert label.evaluate("(e) => getComputedStyle(e).fill") == "rgb(0, 0, 0)"
    assert svg.evaluate("(e) => getComputedStyle(e).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("#list").is_visible() and not page.locator("#theme").is_visible()
    opened.close()


def test_another_metric_is_drawn_when_it_is_chosen(report: Opened) -> None:
    card = report.page.locator("#chart-scatter")
    assert "gsa" in (card.locator("svg.marks").text_content() or "")
    card.locator("select").first.select_option("ter")
    report.page.wait_for_function(
        "document.querySelector('#chart-scatter svg.marks').textContent.includes('ter')"
    )


@pytest.mark.parametrize(("kind", "start"), [("SVG", b"<svg"), ("PNG", b"\x89PNG")])
def test_charts_are_exported(report: Opened, kind: str, start: bytes) -> None:
    with report.page.expect_download() as download:
        report.page.locator("#chart-scores").get_by_text(kind, exact=True).click()
    assert download.value.suggested_filename == f"wellput-scores.{kind.lower()}"
    assert Path(download.value.path()).read_bytes().startswith(start)


def test_the_rows_of_a_chart_are_exported(report: Opened) -> None:
    with report.page.expect_download() as download:
        report.page.locator("#chart-scatter").get_by_text("CSV", exact=True).click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[0] == "item,system,score,rating,reason"
    assert len(lines) == 19
    assert next(line for line in lines if line.endswith("a typing error")).startswith("i2,B,")


def test_nothing_is_wider_than_a_phone(browser: Browser, library: str, tmp_path: Path) -> None:
    opened = Opened(browser, write_page(small_evaluation(), tmp_path, library))
    opened.page.set_viewport_size({"width": 390, "height": 844})
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    for chart in ("scores", "agreement", "scatter", "judges", "length"):
        place = opened.page.locator(f"#chart-{chart} .chart")
        opened.page.wait_for_function(
            "(e) => e.scrollWidth <= e.clientWidth", arg=place.element_handle()
        )
    opened.close()


def test_hostile_text_is_shown_as_text(browser: Browser, library: str, tmp_path: Path) -> None:
    item = Item(HOSTILE, {HOSTILE: HOSTILE, "B": "b"}, (HOSTILE,), source=HOSTILE, context=HOSTILE)
    evaluation = small_evaluation(
        EvalSet([item, item._replace(id="2")]), [], metrics="gsa", title=HOSTILE
    )
    opened = Opened(browser, write_page(evaluation, tmp_path, library))
    assert opened.page.title() != "owned"
    assert opened.page.locator("img").count() == 0
    assert "<script>" in opened.page.locator("#item").inner_text()
    # A title without end leaves room for the page below it.
    assert opened.page.evaluate("document.querySelector('.top').offsetHeight") < 200
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 1280
    opened.close()


def test_a_sample_says_that_it_is_one(browser: Browser, library: str, tmp_path: Path) -> None:
    opened = Opened(browser, write_page(small_evaluation(shown=2), tmp_path, library))
    assert opened.page.locator("#sampled").inner_text().startswith("2 of 6 items are shown")
    opened.close()


def test_thousands_of_items_keep_few_elements(
    browser: Browser, library: str, tmp_path: Path
) -> None:
    items = [
        item._replace(id=f"{n}-{item.id}") for n in range(300) for item in small_evalset().items
    ]
    evaluation = small_evaluation(EvalSet(items), [], metrics="gsa", shown=2000)
    opened = Opened(browser, write_page(evaluation, tmp_path, library))
    assert opened.page.locator("#found").inner_text() == "1,800 items"
    opened.page.evaluate("document.querySelector('#list').scrollTop = 62 * 1000")
    opened.page.locator("#list .row", has_text="166-i5").first.wait_for()
    assert opened.page.locator("#list .row").count() < 40
    opened.close()
