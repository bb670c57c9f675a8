"""The items of a report in a browser: search, filters, sorting, and what an item shows."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

from tests.programs import needs
from tests.reporting.html.evaluations import (
    HOSTILE,
    small_evalset,
    small_evaluation,
    write_page,
)
from tests.reporting.html.opened_report import Opened
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment

pytestmark = needs("chromium")


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
