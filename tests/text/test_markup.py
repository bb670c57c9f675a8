"""The prose inside markdown, HTML and LaTeX."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.text.markup import has_markup, prose_in

PLAIN = (
    "The ferry leaves at noon.",
    "I paid $5 and she paid $6, but he (who had none) did not.",
    "He said: x < y, and y > z.",
    "The <unk> sat on 3 * 4 mats; a snake_case name stays.",
    "First line\nsecond line\n\nNew paragraph — with a dash.",
    'They don\'t "know" 50% of it & more...',
)


@pytest.mark.parametrize("text", PLAIN)
def test_text_without_markup_stays_as_it_is(text: str) -> None:
    assert prose_in(text).paragraphs == (text,)
    assert not prose_in(text).has_code


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        (
            "**Two** ferries *leave* __today__ and _tomorrow_.",
            ["Two ferries leave today and tomorrow."],
        ),
        (
            'See [the page](https://x.org/a_b?c=d "t") or ![a cat](c.png) it.',
            ["See the page or  it."],
        ),
        ("- One.\n- Two\n  lines.\n* [x] Three.", ["One.", "Two\n  lines.", "Three."]),
        ("1. One.\n2) Two.", ["One.", "Two."]),
        ("> He left.\n> She stayed.", ["He left.\nShe stayed."]),
        ("Run `make test` and `f(x)`.", ["Run make test and x."]),
        ("Before.\n\n```python\nx = 1\n\n# a comment\n```\n\nAfter.", ["Before.", "After."]),
        ("Before.\n~~~\nnever closed", ["Before."]),
        ("Title\n=====\nText.", ["Text."]),
        ("---\ntitle: A\n---\nText.", ["Text."]),
        ("One.[^1]\n\n[^1]: a note\n\n[x]: http://y.org", ["One.", "a note"]),
        ("<p>One &amp; two.</p><ul><li>Three.</li></ul>", ["One & two.", "Three."]),
        ("<style>p {}</style><p>One<br>two.</p><!-- no -->", ["One", "two."]),
        ("We \\emph{show} that $x^2 = 3$ \\cite{a}.", ["We show that x."]),
        ("\\begin{itemize}\\item One.\\item Two.\\end{itemize}", ["One.", "Two."]),
        ("So\n$$ a = b $$\nit is.", ["So", "it is."]),
    ],
)
def test_prose(text: str, paragraphs: list[str]) -> None:
    assert [one.strip() for one in prose_in(text).paragraphs] == paragraphs


def test_headings_and_cells_are_asides() -> None:
    text = "# Ferries #\n\n| pier | time |\n|:--|--:|\n| two | noon |\n\nThey leave."
    found = prose_in(text)
    assert found.paragraphs == ("They leave.",)
    assert found.asides == ("Ferries", "pier", "time", "two", "noon")


@pytest.mark.parametrize("text", ["```\n```", "```x = 1```", "<script>a()</script>", "$$x$$"])
def test_code_alone_leaves_nothing(text: str) -> None:
    assert prose_in(text).paragraphs == ()
    assert prose_in(text).has_code


@given(st.text(alphabet="ab *_`#|<>[]()\\$~-\n1.", max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    found = prose_in(text)
    assert has_markup(text) or found.paragraphs == (text,)
    assert sum(map(len, found.paragraphs)) <= len(text) + text.count("$") + text.count("`")
