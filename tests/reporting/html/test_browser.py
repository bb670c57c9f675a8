"""The report in a real browser (Debian's chromium), opened from a file as people do.

On every page, the console must show no error, and nothing but the file itself may be requested.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.programs import needs
from tests.reporting.html.evaluations import (
    HOSTILE,
    ladder_evalset,
    ladder_judgments,
    small_evalset,
    small_evaluation,
    write_page,
)
from wellput.agreement.analysis import AgreementOptions
from wellput.agreement.correlations import Uncertainty
from wellput.agreement.panel import Exclusion
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment, Preference
from wellput.reporting.html.page import chart_library

MAX_WAIT_MS = 20_000  # long, so that a busy machine does not fail the tests

pytestmark = needs("chromium")


@pytest.fixture(scope="module")
def library() -> str:
    return chart_library()


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


def test_search_and_filters(report: Opened) -> None:
    page = report.page
    page.locator("#search").fill("source 4")
    assert report.ids() == ["i4"]
    assert page.locator("#found").inner_text() == "1 item"
    page.locator("#search").fill("nothing like it")
    assert page.locator("#item").inner_text() == "No item matches."
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
    page.locator("#sort").select_option(label="random and people disagree on quality")
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
    assert same.locator(".step").count() == 0
    assert "✓ word for word like reference 1" in same.inner_text()


def test_an_output_is_shown_as_it_was_written(
    browser: Browser, library: str, tmp_path: Path
) -> None:
    said = "Two  spaces,\n  and a new line."
    items = [Item(n, {"A": said, "B": "two"}, ("Two spaces.",)) for n in ("1", "2")]
    evaluation = small_evaluation(EvalSet(items), [], metrics="gsa:lowercase=true")
    opened = Opened(browser, write_page(evaluation, tmp_path, library))
    output = opened.page.locator(".output[data-system=A]")
    assert output.locator(".said").text_content() == said
    # The tokens are those of the metric: lowercased, with punctuation cut off.
    tokens = output.locator(".step > span:last-child").all_inner_texts()
    assert tokens[:3] == ["two", "spaces", ","]
    opened.close()


def test_sorting_by_one_system_against_another(report: Opened) -> None:
    page = report.page
    page.locator("#sort").select_option(label="A against B: ter")
    page.locator("#side-a").select_option(label="A")
    page.locator("#side-b").select_option(label="C")
    # C's TER grows with the item's number and A's is 0; lower is better, so A is ahead by it.
    assert page.locator("#direction").inner_text() == "A ahead first"
    assert report.ids() == ["i6", "i5", "i4", "i3", "i2", "i1"]
    assert page.locator("#list .row i").first.inner_text().startswith("A ahead by ")
    assert page.locator("#item .output h3").all_inner_texts()[:2] == ["A", "C"]
    page.locator("#direction").click()
    assert page.locator("#direction").inner_text() == "C ahead first"
    assert report.ids() == ["i1", "i2", "i3", "i4", "i5", "i6"]
    page.locator("#sort").select_option(label="A against B: people: quality")
    assert page.locator("#list .row i").first.inner_text().startswith("A ahead by ")
    page.locator("#sort").select_option("order")
    assert not page.locator("#side-a").is_visible()


def test_a_point_opens_its_item(report: Opened) -> None:
    page = report.page
    page.locator("#search").fill("source 1")
    page.locator("#chart-scatter").scroll_into_view_if_needed()
    points = page.locator("#chart-scatter .mark-symbol.role-mark path")
    point = points.nth(7)
    item, system = point.evaluate("(e) => [e.__data__.datum.item, e.__data__.datum.system]")
    before = page.evaluate("scrollY")
    point.click(force=True)
    assert page.locator("#item h3").first.inner_text() == f"Item {item}"
    assert page.locator("#list .row[aria-current=true] b > span").inner_text() == item
    card = page.locator(".output.revealed")
    assert card.get_attribute("data-system") == system
    box = card.bounding_box()
    assert box is not None and 0 <= box["y"] < 900
    assert page.url.endswith(f"#item={item}")
    page.go_back()
    page.wait_for_function("(y) => Math.abs(scrollY - y) < 2", arg=before)
    page.locator("#search").fill("")


def test_an_item_can_be_linked_to(browser: Browser, library: str, tmp_path: Path) -> None:
    file = write_page(small_evaluation(), tmp_path, library)
    opened = Opened(browser, file, "#item=i4")
    assert opened.page.locator("#item h3").first.inner_text() == "Item i4"
    opened.close()


def test_a_pair_is_found_in_the_matrix_and_opens_its_items(report: Opened) -> None:
    page = report.page
    matrix = page.locator("#chart-pairs .matrix")
    assert matrix.locator("tbody th").all_inner_texts() == ["A", "B", "C"]
    a_over_b = matrix.locator("tbody tr").first.locator("button").first
    assert a_over_b.inner_text().startswith("▲ +2.00")
    page.locator("#chart-pairs select").first.select_option("ter")
    assert matrix.locator("tbody tr").first.locator("button").nth(1).inner_text()[2] == "−"
    a_over_b = matrix.locator("tbody tr").first.locator("button").first
    a_over_b.focus()
    a_over_b.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator("#side-a option:checked").inner_text() == "A"
    assert page.locator("#side-b option:checked").inner_text() == "C"
    assert report.ids() == ["i6", "i5", "i4", "i3", "i2", "i1"]
    page.locator("#sort").select_option("order")


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
    assert "in the figures: rating = " in drawn and "R² = " in drawn
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


def test_displays_are_shown_as_schedules(browser: Browser, library: str, tmp_path: Path) -> None:
    said = {"id": "n0", "children": [{"id": f"n{n}", "word": str(n)} for n in (1, 2)]}
    items = [
        Item(str(n), {"A": {"n1": ["nd=d"]}, "B": {"n2": ["ln=l"]}}, derivation=said)
        for n in range(3)
    ]
    evaluation = small_evaluation(EvalSet(items), [], metrics="display-entropy")
    opened = Opened(browser, write_page(evaluation, tmp_path, library))
    assert opened.page.locator(".output[data-system=A] .said").inner_text() == "n1: nd=d"
    assert opened.page.locator("#chart-length").count() == 0
    opened.close()


def test_hostile_text_is_shown_as_text(browser: Browser, library: str, tmp_path: Path) -> None:
    item = Item(HOSTILE, {HOSTILE: HOSTILE, "B": "b"}, (HOSTILE,), source=HOSTILE, context=HOSTILE)
    answers = [
        Judgment(judge, id, system, HOSTILE, value)
        for judge, shift in ((HOSTILE, 0), ("J", 1))
        for id in (HOSTILE, "2")
        for system, value in ((HOSTILE, 5 + shift), ("B", 2))
    ]
    evaluation = small_evaluation(
        EvalSet([item, item._replace(id="2")]), answers, metrics="gsa", title=HOSTILE
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
