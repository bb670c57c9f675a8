"""The head in a real browser (Debian's chromium): every motion is at its place and time."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.programs import needs
from wellput.core.evalset import Item
from wellput.displays.previewing import preview_page
from wellput.displays.schedules import MOTIONS

pytestmark = needs("chromium")

# Parts of the face, in the drawing's own units: left, top, right, bottom.
REGIONS = {
    "brows": (95, 95, 225, 130),
    "eyes": (105, 132, 215, 162),
    "nose": (140, 160, 185, 195),
    "mouth": (120, 196, 200, 222),
    "crown": (60, 20, 260, 60),
    "shoulders": (30, 300, 290, 338),
}
# Where each motion must be seen, and where nothing may change.
SEEN = {
    "nd": (("eyes", "mouth", "crown"), ("shoulders",)),
    "bw": (("brows",), ("mouth", "nose", "crown", "shoulders")),
    "sq": (("eyes",), ("mouth", "nose", "crown", "shoulders")),
    "ln": (("crown", "eyes", "mouth"), ()),
    "tn": (("nose", "mouth", "eyes"), ("shoulders",)),
}
# The share of a region's pixels that differ, summed over the regions, as the browser draws them.
DIFFERENCES = """async ([before, after, regions]) => {
  const pixels = async (png) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const canvas = new OffscreenCanvas(320, 340);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, 320, 340);
    return context.getImageData(0, 0, 320, 340).data;
  };
  const [a, b] = [await pixels(before), await pixels(after)];
  const share = ([left, top, right, bottom]) => {
    let changed = 0;
    for (let y = top; y < bottom; y += 1) for (let x = left; x < right; x += 1) {
      const at = 4 * (320 * y + x);
      const gap = [0, 1, 2].reduce((sum, c) => sum + Math.abs(a[at + c] - b[at + c]), 0);
      changed += gap > 60;
    }
    return changed / ((right - left) * (bottom - top));
  };
  return Object.fromEntries(Object.entries(regions).map(([name, box]) => [name, share(box)]));
}"""


def open_page(browser: Browser, tmp_path: Path, items: list[Item], system: str = "A") -> Page:
    """The preview of the items; fails on any message in the console and any request elsewhere."""
    file = tmp_path / "preview.html"
    file.write_text(preview_page(items, [system]), encoding="utf-8")
    page = browser.new_page(viewport={"width": 720, "height": 1000})
    page.set_default_timeout(10_000)
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "request",
        lambda r: None if r.url[:5] in ("file:", "data:", "blob:") else problems.append(r.url),
    )
    page.goto(file.as_uri())
    page.locator("wellput-head svg").wait_for()
    page.problems = problems  # type: ignore[attr-defined]
    return page


def sentence(schedule: dict[str, list[str]]) -> Item:
    words = ["This", "fern", "grows", "very", "well", "in", "the", "shade"]
    leaves = [{"id": f"w{i}", "word": word} for i, word in enumerate(words)]
    return Item("1", {"A": schedule}, derivation={"id": "s", "children": leaves})


def picture(page: Page, time: float) -> str:
    page.evaluate("time => document.querySelector('wellput-head').seek(time)", time)
    return base64.b64encode(page.locator("wellput-head svg").screenshot()).decode()


@pytest.fixture(scope="module")
def still(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    page = open_page(browser, tmp_path_factory.mktemp("head"), [sentence({})])
    yield page
    page.close()


def differences(page: Page, motions: list[str]) -> dict[str, float]:
    """What changes from rest to the peak, with the lips still."""
    shown = {
        "words": [["x", 0, 1]],
        "motions": [[m, 0.2, 0.9] for m in motions],
        "mouth": [],
        "duration": 2,
    }
    page.evaluate(
        """show => {
          const head = document.createElement("wellput-head");
          head.dataset.performance = JSON.stringify(show);
          document.getElementById("stage").replaceChildren(head);
        }""",
        shown,
    )
    before, after = picture(page, 0.0), picture(page, 0.39)
    found: dict[str, float] = page.evaluate(DIFFERENCES, [before, after, REGIONS])
    return found


@pytest.mark.parametrize("motion", MOTIONS)
def test_every_motion_is_seen_in_its_part_of_the_face(still: Page, motion: str) -> None:
    changed = differences(still, [motion])
    moving, at_rest = SEEN[motion[:2]]
    assert all(changed[part] > 0.04 for part in moving), changed
    assert all(changed[part] < 0.004 for part in at_rest), changed


def test_opposite_motions_differ_and_combinations_combine(still: Page) -> None:
    both = differences(still, ["tn=r", "bw=u", "sq"])
    assert both["brows"] > 0.04 and both["eyes"] > 0.04 and both["nose"] > 0.04
    place = "() => document.querySelector('[data-part=mouth]').getBoundingClientRect()"
    at = {}
    for motion in MOTIONS:
        differences(still, [motion])
        at[motion] = still.evaluate(place)
    differences(still, [])
    rest = still.evaluate(place)
    assert at["nd=u"]["y"] < rest["y"] < at["nd=d"]["y"]
    # The head's own left is to the right of who looks at it.
    assert at["tn=r"]["x"] < rest["x"] < at["tn=l"]["x"]
    assert at["ln=r"]["x"] < rest["x"] < at["ln=l"]["x"]


# Notes, in every frame: the clock of the performance, the word marked, and the brows.
WATCH = """() => {
  const head = document.querySelector("wellput-head");
  const brow = head.querySelector("[data-part=brow]");
  head.addEventListener("began", () => {
    const seen = window.seen = []; // its own: the last frame of the performance before may come late
    const began = head.began;
    const look = () => {
      if (!head.isPlaying) return; // at the end the sound is set back to its beginning
      const clock = head.isHeard ? head.audio.currentTime : (performance.now() - began) / 1000;
      const word = head.spoken.findIndex((each) => each.classList.contains("now"));
      seen.push([clock, word, brow.getAttribute("d")]);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, { once: true });
}"""


@pytest.mark.parametrize("is_silent", [True, False], ids=["silent", "aloud"])
def test_words_and_motions_start_when_they_should(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_silent: bool
) -> None:
    if is_silent:
        monkeypatch.setenv("PATH", "")
    page = open_page(browser, tmp_path, [sentence({"w3": ["bw=u"]})])
    show = json.loads(page.locator("wellput-head").get_attribute("data-performance") or "")
    start = show["motions"][0][1]
    heard = set()
    for _ in range(12):  # a busy machine drops frames, and words with them
        page.evaluate(WATCH)
        page.get_by_role("button", name="Replay").click()
        page.wait_for_function("() => document.querySelector('wellput-head').isPlaying === false")
        seen = page.evaluate("() => window.seen")
        assert wrong_frames(seen, show["words"], start) == []
        heard |= {word for _, word, _ in seen}
        if heard >= {*range(len(show["words"]))}:
            break
    assert heard >= {*range(len(show["words"]))}
    assert not page.problems  # type: ignore[attr-defined]
    page.close()


SOUND_LAG = 0.04
"""The face may be this many seconds from the sound (0.03 in head.js), and a little more."""


def wrong_frames(seen: list[Any], words: list[Any], motion: float) -> list[tuple[float, int]]:
    """The frames that show a word or a motion out of its time, however late the frame itself comes.

    A frame is noted before it is drawn, so it shows a moment between the frame before and itself.
    """
    rest = seen[0][2]
    wrong = []
    for (before, _, _), (clock, word, brow) in itertools.pairwise(seen):
        first, last = before - SOUND_LAG, clock + SOUND_LAG
        if word >= 0 and not (words[word][1] <= last and first < words[word][2]):
            wrong.append((clock, word))
        if word < 0 and any(start <= first and last < end for _, start, end in words):
            wrong.append((clock, word))
        if brow != rest and last < motion:
            wrong.append((clock, -2))
        if brow == rest and motion + 0.05 < first < motion + 0.1:
            wrong.append((clock, -3))
    return wrong


def test_pause_captions_and_the_timeline(browser: Browser, tmp_path: Path) -> None:
    page = open_page(browser, tmp_path, [sentence({"w3": ["bw=u", "nd=d"], "w1..w4": ["ln=l"]})])
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("button", name="Pause").click()
    time = page.evaluate("() => document.querySelector('wellput-head').time")
    page.wait_for_timeout(80)
    assert page.evaluate("() => document.querySelector('wellput-head').time") == time
    assert page.locator(".timeline .motion").all_inner_texts() == ["lean left", "brows up", "nod"]
    page.get_by_role("button", name="Captions").click()
    assert not page.locator(".caption").is_visible()
    box = page.locator(".timeline").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 5)
    half = page.evaluate(
        "() => { const h = document.querySelector('wellput-head'); return h.time / h.show.duration; }"
    )
    assert half == pytest.approx(0.5, abs=0.02)
    assert not page.problems  # type: ignore[attr-defined]
    page.close()
