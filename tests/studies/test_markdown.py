"""Outputs as markdown: what it shows, and that nothing in it runs or is fetched."""

from __future__ import annotations

import base64
import errno
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from wellput import EvalSet, Study
from wellput.core.errors import InputError
from wellput.studies import media
from wellput.studies.markdown import ALLOWED_TAGS, MATHML_TAGS, mathml, rendered
from wellput.studies.media import with_media

# One pixel.
GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

HOSTILE: dict[str, str] = {
    **json.loads(Path(__file__).with_name("hostile_markdown.json").read_text(encoding="utf-8")),
    "nesting": "<div>" * 50_000 + ">" * 1000 + "[" * 5000,
    "deep formula": "$" + "{" * 1900 + "$",
}


class Elements(HTMLParser):
    """The tags and attributes of a piece of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


ALLOWED_NAMES = {
    "alt", "alttext", "class", "colspan", "controls", "dir", "display", "href", "preload", "rel",
    "rowspan", "src", "start", "tabindex", "target", "title", "value",
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_of_hostile_markdown_only_harmless_elements_are_left(text: str) -> None:
    shown = rendered(text)
    for tag, attributes in Elements(shown).found:
        assert tag in ALLOWED_TAGS | MATHML_TAGS
        assert set(attributes) <= ALLOWED_NAMES
        assert re.fullmatch(r"(https?://|mailto:).*", attributes.get("href", "http://"))
        assert attributes.get("src", "data:image/gif").startswith(("data:image/", "data:audio/"))
        assert "svg" not in attributes.get("src", "")
        assert attributes.get("class", "end") in ("end", "center", "as-it-is")
        if tag == "a":
            assert attributes["target"] == "_blank" and "noreferrer" in attributes["rel"]


def test_markdown_is_shown() -> None:
    shown = rendered(
        "# Ferries\n\n### Times\n\n**Nine**, *daily*, ~~ten~~, `code`.\nNext line, <sub>x</sub>\n\n"
        "| pier | fare |\n|:-----|-----:|\n| two | 5<br>6 |\n\n- one\n- two\n\n"
        "```python\na < b\n```\n\n"
        "[more](https://harbor.example/a?b=1&c=2)\n"
    )
    assert '<h2 dir="auto">Ferries</h2>' in shown
    assert '<h3 dir="auto">Times</h3>' in shown  # no level is left out
    assert "<strong>Nine</strong>, <em>daily</em>, <s>ten</s>" in shown
    assert "<br>\nNext line, <sub>x</sub>" in shown
    assert '<td class="end" dir="auto">5<br>6</td>' in shown
    assert '<pre dir="ltr"><code dir="ltr">a &lt; b\n</code></pre>' in shown
    assert 'href="https://harbor.example/a?b=1&amp;c=2"' in shown


def test_formulas_are_mathml() -> None:
    square = "<msup><mi>x</mi><mn>2</mn></msup>"
    for text in ("so $x^2$ is", r"so \(x^2\) is"):
        assert f'so <math dir="ltr" display="inline" alttext="x^2"><mrow>{square}' in rendered(text)
    blocks = (
        "$$\nx^2\n$$",
        r"\[ x^2 \]",
        "a\n$$x^2$$\nb",
        "- a\n\n  $$\n  x^2\n  $$",
        "$$\nx^2\n- 1\n$$",
    )
    for text in blocks:
        shown = rendered(text)
        assert 'display="block"' in shown and square in shown and "$" not in shown
    aligned = rendered("\\begin{align*}\na &= 1 \\\\\nb &= 2\n\\end{align*}\n\nafter")
    assert "<mtable" in aligned and '<p dir="auto">after</p>' in aligned
    # Money is not a formula, and what cannot be read is shown as it is.
    assert rendered("from $5 to $10, or $5-$10") == '<p dir="auto">from $5 to $10, or $5-$10</p>\n'
    assert rendered("`$x^2$`") == '<p dir="auto"><code dir="ltr">$x^2$</code></p>\n'
    assert mathml(r"\sqrt{") == '<code dir="ltr">\\sqrt{</code>'


@pytest.mark.parametrize(
    ("latex", "length"),
    [
        (r"a\quad b", 'width="1em"'),
        (r"\rule{2em}{9pt}", 'height="9pt"'),
        (r"\raise{1.5ex}{x}", '"1.5ex"'),
    ],
)
def test_formulas_keep_their_lengths(latex: str, length: str) -> None:
    assert length in mathml(latex)


@pytest.mark.parametrize(
    "latex",
    [r"\hspace{99999999em}x", r"\rule{500em}{900em}", r"\smash{\lower{99em}{x}}", r"\raise{9in}{x}",
     r"\hspace{-900pt}x", r"\hspace{1e9em}x"],
)  # fmt: skip
def test_long_lengths_are_left_out_of_formulas(latex: str) -> None:
    elements = mathml(latex).partition(">")[2]
    assert "<m" in elements and not re.search("[59]", elements)


def test_a_formula_stands_only_where_it_was_written() -> None:
    forged = '<span data-formula="0"></span>'
    shown = rendered(
        f"$x$ ![{forged}](data:image/gif;base64,{GIF}) `{forged}` <abbr title='{forged}'>t</abbr>"
    )
    assert shown.count("<math") == 1


def test_directions_are_those_of_each_paragraph() -> None:
    shown = rendered("שלום עולם\n\nHello\n\n- مرحبا")
    assert shown.count('dir="auto"') == 3


def test_a_text_that_would_take_long_is_shown_as_it_is() -> None:
    assert rendered("a <b>\n" * 20_000).startswith('<p dir="auto" class="as-it-is">a &lt;b&gt;\na')
    picture = f"**a** ![b](data:image/gif;base64,{GIF * 5000})"
    assert "<strong>a</strong> <img" in rendered(picture)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            f"[a]: http://x/{'b' * 5000}\n\n" + "[a] " * 1500, id="one address, many links"
        ),
        pytest.param(
            f"[a]: data:image/gif;base64,{GIF * 100}\n\n" + "![a] " * 1500,
            id="one image, many times",
        ),
        pytest.param("|a" * 3000 + "\n" + "|-" * 3000 + "\n" + "|\n" * 3000, id="empty cells"),
        pytest.param("$a$ " * 12_000, id="formulas"),
        pytest.param("\\(a\\) " * 5000, id="formulas in brackets"),
    ],
)
def test_a_text_that_would_make_a_much_longer_page_is_shown_as_it_is(text: str) -> None:
    shown = rendered(text)
    assert shown.startswith('<p dir="auto" class="as-it-is">')
    assert len(shown) < 3 * len(text)


def test_an_address_may_be_used_several_times() -> None:
    assert rendered("[a]: http://x/y\n\n[a] and [a]").count('href="http://x/y"') == 2
    assert rendered(f"[a]: data:image/gif;base64,{GIF}\n\n![a] ![a]").count("<img") == 2


def test_a_text_cannot_repeat_its_own_formula() -> None:
    matrix = "$\\begin{matrix}" + "&" * 500 + "\\end{matrix}$"
    shown = rendered(matrix + '<span data-formula="0"></span>' * 500)
    assert shown.count("<math") == 1 and len(shown) < 100_000


@pytest.mark.parametrize("mark", ["> ", "- ", "1. ", "> - "])
def test_nothing_of_a_deeply_nested_text_is_left_out(mark: str) -> None:
    for depth in range(10, 90):
        assert "the end" in rendered(mark * depth + "the end")


def test_images_and_sounds_of_a_folder_become_part_of_the_study(tmp_path: Path) -> None:
    folder = tmp_path / "media"
    folder.mkdir()
    (folder / "map one.gif").write_bytes(base64.b64decode(GIF))
    (folder / "bell.wav").write_bytes(b"RIFF")
    (tmp_path / "secret.gif").write_bytes(b"secret")
    text = '![map](map%20one.gif) ![bell](bell.wav "a bell") ![s](../secret.gif) ![x](missing.png)'
    (item,) = with_media(EvalSet.of({"A": [text]}), folder)
    shown = rendered(str(item.outputs["A"]))
    assert f'<img src="data:image/gif;base64,{GIF}" alt="map">' in shown
    assert '<audio src="data:audio/x-wav;base64,UklGRg=="' in shown
    assert "<em>[s]</em> <em>[x]</em>" in shown
    evalset = EvalSet.of({"A": [text]})
    path = tmp_path / "study.db"
    study = Study.create(evalset, path=path, design="rating", show="markdown", media=folder)
    [ann, *_] = study.invite()
    page = TestClient(study.app()).get(f"/judge/{ann.token}").text
    assert f'src="data:image/gif;base64,{GIF}"' in page
    (folder / "page.html").write_text("<script>")
    with pytest.raises(InputError, match=r"page.html: not a PNG"):
        with_media(EvalSet.of({"A": ["![a](page.html)"]}), folder)
    with pytest.raises(InputError, match="no output names a file of this folder"):
        with_media(EvalSet.of({"A": ["plain"]}), folder)
    with pytest.raises(InputError, match="not a folder"):
        with_media(EvalSet.of({"A": ["plain"]}), tmp_path / "nowhere")


def test_a_short_text_cannot_name_gigabytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.gif").write_bytes(bytes(3000))  # 4,022 characters with its kind
    monkeypatch.setattr(media, "MAX_TEXT_CHARACTERS", 10_000)
    twice, thrice = ("![a](a.gif)" * n for n in (2, 3))
    (item,) = with_media(EvalSet.of({"A": [twice], "B": [twice]}), tmp_path)
    assert str(item.outputs["B"]).count("base64") == 2
    with pytest.raises(InputError, match="a text with more than") as refused:
        with_media(EvalSet.of({"A": [twice], "B": [thrice * 100]}), tmp_path)
    assert str(refused.value).count("more than") == 1
    monkeypatch.setattr(media, "MAX_STUDY_CHARACTERS", 10_000)
    with pytest.raises(InputError, match="texts name too many files"):
        with_media(EvalSet.of({"A": [twice], "B": [twice]}), tmp_path)


def test_the_limit_of_a_text_is_that_of_its_files(tmp_path: Path) -> None:
    """Seven files of 2 MB are 14 MB; the page has 4 characters for 3 bytes."""
    (tmp_path / "a.gif").write_bytes(bytes(2_000_000))
    seven, eight = ("![a](a.gif)" * n for n in (7, 8))
    (item,) = with_media(EvalSet.of({"A": [seven]}), tmp_path)
    assert str(item.outputs["A"]).count("base64") == 7
    with pytest.raises(InputError, match="item 1: a text with more than 15 MB of files"):
        with_media(EvalSet.of({"A": [eight]}), tmp_path)


AS_WRITTEN = [
    "`![a](a.gif)`",
    "```\n![a](a.gif)\n```",
    "    ![a](a.gif)",
    "\\![a](a.gif)",
    "<div>\n![a](a.gif)\n</div>",
    "![nul](a%00.gif)",
    f"![long]({'a' * 300}.gif)",
    "![circle](circle.gif)",
    "![surrogate](\ud800.gif)",
]


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_what_is_no_image_or_cannot_be_a_file_stays_as_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.gif").write_bytes(base64.b64decode(GIF))
    (tmp_path / "circle.gif").symlink_to("circle.gif")
    (item,) = with_media(EvalSet.of({"A": [f"{text}\n\n![a](a.gif)"]}), tmp_path)
    assert item.outputs["A"] == f"{text}\n\n![a](data:image/gif;base64,{GIF})"


def test_a_file_that_cannot_be_shown_is_named_with_its_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.gif").write_bytes(base64.b64decode(GIF))
    (tmp_path / "page.html").write_text("<script>")

    def refuse(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    texts = ["![a](a.gif)", "![p](page.html)", "![a](a.gif)"]
    with pytest.raises(InputError) as error:
        with_media(EvalSet.of({"A": texts}), tmp_path)
    assert "item 1: a.gif: cannot be read: Permission denied" in str(error.value)
    assert "item 2: page.html: not a PNG" in str(error.value)
    assert "item 3" not in str(error.value)


def test_a_study_shows_markdown_and_gives_programs_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evalset = EvalSet.of({"A": ["It is **late**.\n\n- a"], "B": ["It is *late*. So."]})
    for design in ("rating", "pairwise"):
        path = tmp_path / f"{design}.db"
        study = Study.create(evalset, path=path, design=design, show="markdown", judges=1)
        [ann] = study.invite(judges=1)
        study.close()
        client = TestClient(Study.open(path).app())
        page = client.get(f"/judge/{ann.token}").text
        assert "<strong>late</strong>" in page or "<em>late</em>" in page
        variants = client.get(f"/api/judge/{ann.token}/next").json()["trial"]["variants"]
        assert {one["text"] for one in variants} <= {"It is **late**.\n\n- a", "It is *late*. So."}
    monkeypatch.setattr("wellput.studies.designs.scales.Rating.shows_plain_text", True)
    with pytest.raises(InputError, match="A rating design shows texts as they are"):
        Study.create(evalset, path=tmp_path / "x.db", design="rating", show="markdown")
    with pytest.raises(InputError, match="media= needs show='markdown'"):
        Study.create(evalset, path=tmp_path / "x.db", design="rating", media=tmp_path)
    with pytest.raises(InputError, match="No show='html'; there are plain, markdown"):
        Study.create(evalset, path=tmp_path / "x.db", design="rating", settings={"show": "html"})
