"""The page of a report in a browser: first screen, charts, tables, theme, width."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.programs import needs
from tests.reporting.html.evaluations import (
    ladder_evalset,
    ladder_judgments,
    small_evaluation,
    write_page,
)
from tests.reporting.html.opened_report import Opened
from wellput.core.judgment import Preference

pytestmark = needs("chromium")


def test_the_first_screen_has_the_winner_in_words_and_as_a_picture(report: Opened) -> None:
    page = report.page
    page.evaluate("scrollTo(0, 0)")
    first = page.locator("main section").first
    assert first.locator("h2").inner_text().startswith("People prefer A")
    assert first.locator(".standing tbody th").all_inner_texts() == ["A", "B", "C"]
    picture = first.locator(".picture").bounding_box()
    assert picture is not None and picture["y"] + picture["height"] <= 900


def test_every_chart_is_drawn(report: Opened) -> None:
    assert report.page.locator(".chart svg.marks").count() == 6
    assert report.page.locator("#chart-pairs table").count() == 1
    assert "ceiling" in (report.page.locator("#chart-agreement svg").text_content() or "")


def test_figures_stand_in_the_cells_of_tables(report: Opened) -> None:
    cells = report.page.locator("details.figures :is(th, td)").all_text_contents()
    assert cells and not [text for text in cells if "[object" in text]
    scores = report.page.locator("#scores details.figures tbody tr").first
    # A is the reference each time: gsa 1, no error under ter, and no spread to make an interval of.
    first, gsa, gta, ter, _ = scores.locator("th, td").all_text_contents()
    assert first == "A"
    assert (gsa, gta) == ("1.000", "1.000")
    assert ter == "0.00"


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


@pytest.fixture(scope="module")
def many(
    browser: Browser, library: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Opened]:
    """Eighteen systems, two questions, and one system that fools the metrics."""
    judgments = ladder_judgments(18) + ladder_judgments(18, "clarity")
    evaluation = small_evaluation(ladder_evalset(18), judgments, metrics="ssa,ter,random")
    opened = Opened(browser, write_page(evaluation, tmp_path_factory.mktemp("many"), library))
    yield opened
    opened.close()


def test_the_rank_of_a_system_that_fools_a_metric_is_marked(many: Opened) -> None:
    answer = many.page.locator("#answer .answer").first
    assert answer.locator(".ranks tbody tr").last.locator("th").text_content() == "s18"
    tile = answer.locator(".ranks tbody tr").last.locator("button").first
    assert tile.inner_text().split() == ["2", "▲"]
    assert "above s01" in (tile.get_attribute("aria-label") or "")
    tile.click()
    assert many.page.locator("#sort option:checked").inner_text() == "A against B: ssa"
    assert many.page.locator("#side-a option:checked").inner_text() == "s18"


def test_each_question_has_its_answer(many: Opened) -> None:
    page = many.page
    assert page.locator("#answer h2:visible").all_inner_texts()[0].startswith("quality: people")
    page.locator("#answer select").select_option(label="clarity")
    (shown,) = page.locator("#answer h2:visible").all_inner_texts()
    assert shown.startswith("clarity: people prefer s01")
    page.emulate_media(media="print")
    assert page.locator("#answer h2:visible").count() == 2
    page.emulate_media(media="screen")
    page.locator("#answer select").select_option(label="quality")


def test_systems_too_many_for_shapes_have_a_panel_each(many: Opened) -> None:
    panels = many.page.locator("#chart-scatter .role-column-title, #chart-scatter .role-scope")
    titles = many.page.locator("#chart-scatter svg.marks").text_content() or ""
    assert panels.count() and all(f"s{n:02d}" in titles for n in range(1, 19))
    assert many.page.locator("#chart-scatter .role-legend").count() == 0


def test_names_of_a_large_matrix_stay_in_sight(many: Opened) -> None:
    page = many.page
    matrix = page.locator("#chart-pairs .matrix")
    matrix.scroll_into_view_if_needed()
    page.set_viewport_size({"width": 800, "height": 500})
    matrix.evaluate("(e) => { e.scrollLeft = 400; e.scrollTop = 200; }")
    frame, column, row = (
        locator.bounding_box()
        for locator in (
            matrix,
            matrix.locator("thead th").nth(10),
            matrix.locator("tbody th").nth(10),
        )
    )
    assert frame and column and row
    assert matrix.evaluate("(e) => [e.scrollLeft, e.scrollTop]") == [400, 200]
    assert column["y"] == pytest.approx(frame["y"], abs=2)
    assert row["x"] == pytest.approx(frame["x"], abs=2)
    page.set_viewport_size({"width": 1280, "height": 900})


def test_of_many_systems_nothing_is_wider_than_a_phone(many: Opened) -> None:
    page = many.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("document.documentElement.scrollWidth <= 390")
    for inside in ("#chart-pairs .matrix", "#answer .sideways >> nth=0"):
        place = page.locator(inside)
        box = place.bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390
    assert page.locator("#chart-pairs .matrix").evaluate("(e) => e.scrollWidth > e.clientWidth")
    page.set_viewport_size({"width": 1280, "height": 900})


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


def test_without_judgments_the_first_screen_says_who_leads(
    browser: Browser, library: str, tmp_path: Path
) -> None:
    evaluation = small_evaluation(answers=[], metrics="gsa,ter")
    opened = Opened(browser, write_page(evaluation, tmp_path, library))
    answer = opened.page.locator("#answer")
    assert answer.locator("h2").inner_text().startswith("A scores best under both metrics")
    assert "There are no judgments" in answer.inner_text()
    assert answer.locator("tbody th").all_inner_texts() == ["A", "B", "C"]
    assert answer.locator("td.ahead b").all_inner_texts() == ["★ 1.00", "★ 0.000"]
    opened.close()


def test_captions_speak_only_of_what_is_drawn(
    browser: Browser, library: str, tmp_path: Path, report: Opened
) -> None:
    caption = "#chart-scatter .note"
    drawn = report.page.locator(caption).inner_text()
    assert "dashed line" in drawn and "Crossed rings" in drawn
    assert "not left out: rating = " in drawn and "R² = " in drawn
    choices = [
        Preference(judge, f"i{n}", "A", "C", "better", "a" if n % 3 else "b")
        for judge in ("J1", "J2")
        for n in range(1, 7)
    ]
    evaluation = small_evaluation(answers=choices, metrics="gsa")
    opened = Opened(browser, write_page(evaluation, tmp_path, library))
    assert opened.page.locator("#chart-scatter .mark-line.role-mark path").count() == 0
    assert opened.page.locator(caption).inner_text() == (
        "Choose a point to open its item. Choose a name above to see one system alone."
    )
    assert opened.page.locator("#answer .standing .value").nth(1).inner_text().startswith("67%")
    opened.close()
