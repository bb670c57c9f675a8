"""What judges see, in a real browser: hostile markdown, long texts, a page from right to left."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.programs import needs
from tests.studies.served_study import SYSTEMS, new_store
from tests.studies.test_browser import PHONE, Watch, exported, served, values_of
from tests.studies.test_markdown import GIF, HOSTILE
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.settings import make_settings
from wellput.studies.study_setup import StudyItem

pytestmark = [needs("chromium"), pytest.mark.heavy]

LISTEN = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => window.violations.push(event.blockedURI));
"""


def test_nothing_in_hostile_markdown_runs_or_is_fetched(browser: Browser, tmp_path: Path) -> None:
    """The sanitizer leaves nothing for the content security policy to refuse."""
    texts = {f"{SYSTEMS[0]}-{number}": text for number, text in enumerate(HOSTILE.values())}
    everything = "\n\n".join(text for name, text in HOSTILE.items() if name != "nesting")
    item = StudyItem("ITEM-ONE", texts, context=everything, source=everything)
    store = new_store(
        tmp_path,
        default_questionnaire("slider", layout="page"),
        items=[item],
        medium="markdown",
    )
    (invitation, _) = store.invite(2)
    with served(store) as address:
        watch = Watch(browser)
        requests: list[str] = []
        watch.page.on("request", lambda request: requests.append(request.url))
        watch.page.add_init_script(LISTEN)
        watch.page.goto(f"{address}/judge/{invitation.token}")
        watch.page.wait_for_load_state("networkidle")
        links = watch.page.locator(".rendered a").count()
        for place in range(links):  # a click opens nothing but the web, in another window
            href = watch.page.locator(".rendered a").nth(place).get_attribute("href")
            assert href is None or href.startswith("http")
        assert watch.page.evaluate("window.hit === undefined")
        assert watch.page.evaluate("window.violations") == []
        assert watch.page.url == f"{address}/judge/{invitation.token}"
        assert watch.page.locator(".rendered").count() == len(texts) + 2
        foreign = "script, style, iframe, object, embed, form, input, svg, link, meta, base"
        assert watch.page.locator(f".rendered :is({foreign})").count() == 0
        assert all(url.startswith((f"{address}/", "data:")) for url in requests)
        watch.close()


FAR_FORMULAS = [
    r"Low $\smash{\lower{10em}{\text{WRONG}}}$ words.",
    r"High $\smash{\raise{9em}{\text{WRONG}}}$ words.",
    r"Left $\hspace{-9em}\hspace{-9em}\hspace{-9em}\text{WRONG}$",
    r"Wide $\hspace{99999999em}x$",
]
SHOWN_OUTSIDE = """() => [...document.querySelectorAll("math mtext")].filter((text) => {
  const box = text.getBoundingClientRect();
  const shown = text.closest(".rendered").getBoundingClientRect();
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const isInside = shown.left < x && x < shown.right && shown.top < y && y < shown.bottom;
  return !isInside && document.elementsFromPoint(x, y).includes(text);
}).length"""


def test_a_formula_stays_inside_its_output(browser: Browser, tmp_path: Path) -> None:
    texts = {f"{SYSTEMS[0]}-{number}": text for number, text in enumerate(FAR_FORMULAS)}
    store = new_store(
        tmp_path,
        default_questionnaire("rating", layout="page"),
        items=[StudyItem("ITEM-ONE", texts)],
        medium="markdown",
    )
    (invitation, _) = store.invite(2)
    with served(store) as address:
        watch = Watch(browser)
        watch.page.set_viewport_size({"width": 1000, "height": 4000})
        watch.page.goto(f"{address}/judge/{invitation.token}")
        assert watch.page.locator("math mtext").count() == 3
        assert watch.page.evaluate(SHOWN_OUTSIDE) == 0
        assert watch.page.evaluate("document.documentElement.scrollWidth") == 1000
        watch.close()


def test_the_policy_alone_stops_what_a_text_would_do(browser: Browser, tmp_path: Path) -> None:
    """The second wall: with the sanitizer taken out, the browser refuses scripts and requests."""
    store = new_store(tmp_path)
    (invitation, _) = store.invite(2)
    with served(store) as address:
        page = browser.new_context().new_page()
        requests: list[str] = []
        page.on("requestfinished", lambda request: requests.append(request.url))
        page.add_init_script(LISTEN)
        page.goto(f"{address}/judge/{invitation.token}")
        # No policy stops <meta refresh>, which leaves the page.
        texts = "".join(text for name, text in HOSTILE.items() if name != "page")
        page.evaluate("html => { document.querySelector('.text').innerHTML = html; }", texts)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("window.hit === undefined")
        assert page.evaluate("window.violations.length") > 5
        assert not [url for url in requests if "evil" in url]
        page.context.close()


def test_a_long_answer_scrolls_by_itself_and_the_questions_stay_in_sight(
    browser: Browser, tmp_path: Path
) -> None:
    text = "\n\n".join(
        f"Paragraph {number} has **some** words of its own." for number in range(200)
    )
    picture = (
        f"![a dot](data:image/gif;base64,{GIF}) $x^2$\n\n| a | b |\n|---|---|\n| 1 | {'w' * 90} |"
    )
    item = StudyItem("ITEM-ONE", {SYSTEMS[0]: text, SYSTEMS[1]: f"{picture}\n\n{text}"})
    for options in ({"viewport": {"width": 1280, "height": 800}}, PHONE):
        folder = tmp_path / str(len(options))
        folder.mkdir()
        store = new_store(folder, default_questionnaire("rating"), items=[item], medium="markdown")
        (invitation, _) = store.invite(2)
        with served(store) as address:
            watch = Watch(browser, **options)
            page = watch.page
            page.goto(f"{address}/judge/{invitation.token}")
            if page.locator("details[open]").count():
                page.locator("summary").click()
            long = page.locator(".text.long")
            assert long.evaluate("box => box.scrollHeight > 3 * box.clientHeight")
            long.focus()
            page.keyboard.press("End")
            page.wait_for_function("() => document.querySelector('.text.long').scrollTop > 100")
            width = options["viewport"]["width"]  # type: ignore[index]
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            question = page.locator(".question").first.bounding_box()
            height = options["viewport"]["height"]  # type: ignore[index]
            assert question is not None and question["y"] < height
            watch.close()


def test_from_right_to_left_the_keys_follow_the_eye(browser: Browser, tmp_path: Path) -> None:
    made = make_settings("pairwise", {"language": "ar"}).questionnaire
    store = new_store(tmp_path, made)
    (invitation, _) = store.invite(2)
    with served(store) as address:
        watch = Watch(browser)
        page = watch.page
        page.goto(f"{address}/judge/{invitation.token}")
        first, second = (one.bounding_box() for one in page.locator(".pick").all())
        assert first is not None and second is not None and first["x"] > second["x"]
        while page.locator("#answer").count():
            before = page.locator("#count").inner_text()
            page.keyboard.press("ArrowRight")
            page.keyboard.press("Enter")
            page.wait_for_function(
                "before => document.querySelector('#count').innerText !== before", arg=before
            )
        watch.close()
    assert values_of(exported(store, tmp_path), "preference") == {"a"}
