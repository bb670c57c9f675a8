"""Trees drawn as text and as SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language.trees.trees_drawn import trees
from wellput.core.tree import Constituent, Tree, Word
from wellput.io.trees import parse_constituent
from wellput.language.realize.baselines import random_projective_tree
from wellput.language.trees.drawing import (
    arcs,
    draw_constituent,
    draw_dependencies,
    on_one_line,
    terminal_columns,
)
from wellput.language.trees.svg import constituent_svg, dependencies_svg

SVG = "{http://www.w3.org/2000/svg}"
any_text = st.text(st.characters(exclude_categories=()), max_size=8)
any_constituent = st.recursive(
    st.builds(Constituent, any_text, st.just(()), any_text),
    lambda parts: st.builds(Constituent, any_text, st.lists(parts, min_size=1).map(tuple)),
    max_leaves=10,
)


def tree_of(*words: tuple[str, int, str]) -> Tree:
    return Tree(tuple(Word(form, head, relation=relation) for form, head, relation in words))


CAT = tree_of(("The", 2, "det"), ("cat", 3, "nsubj"), ("saw", 0, "root"), ("me", 3, "obj"))
CROSSED = tree_of(("a", 3, "_"), ("b", 4, "_"), ("c", 0, "_"), ("d", 3, "_"))


def test_arcs_above_the_words() -> None:
    # A head's arcs leave beside its middle, the arrow from its own head comes in at the middle.
    assert draw_dependencies(CAT).splitlines() == [
        " ╭───╮╭───╮ ╭───╮",
        " ▼   │▼   │ │   ▼",
        "The  cat  saw  me",
        "det nsubj root obj",
    ]


def test_a_word_on_each_line() -> None:
    assert draw_dependencies(CAT, width=10).splitlines() == [
        "╭▶─ The det",
        "├▶─ cat nsubj",
        "├── saw root",
        "╰▶─ me  obj",
    ]


def test_where_arcs_cross_one_passes_behind() -> None:
    assert draw_dependencies(CROSSED).splitlines() == [
        "     ╭──────╮",
        " ╭───│──╮ ╭─│╮",
        " ▼   ▼  │ │ │▼",
        " a   b   c   d",
    ]
    assert draw_dependencies(CROSSED, width=5).splitlines() == [
        "  ╭▶─ a",
        "╭▶│── b",
        "│ ├── c",
        "╰─┴▶─ d",
    ]


def test_heights() -> None:
    # The longer arc is above the one it spans; neighbors share a height.
    tree = tree_of(("a", 3, "_"), ("b", 3, "_"), ("c", 0, "_"), ("d", 3, "_"))
    assert {(arc.word, arc.height) for arc in arcs(tree)} == {(1, 2), (2, 1), (4, 1)}


def test_wide_and_combining_characters_keep_the_columns() -> None:
    assert (terminal_columns("猫"), terminal_columns("e\u0301"), terminal_columns("")) == (2, 1, 0)
    tree = tree_of(("猫", 2, "x"), ("見る", 0, "root"))
    assert draw_dependencies(tree, width=1).splitlines() == ["╭▶─ 猫   x", "╰── 見る root"]


def test_printable() -> None:
    assert on_one_line("a\nb\x00\ud800\ufffe") == "a b\ufffd\ufffd\ufffd"


def test_an_svg_says_what_it_shows() -> None:
    root = ET.fromstring(dependencies_svg(CAT))
    assert root.attrib["role"] == "img"
    assert root.findtext(f"{SVG}title") == "Dependency tree: The cat saw me"
    description = root.findtext(f"{SVG}desc") or ""
    assert "saw is the root; me depends on saw (obj)" in description
    assert [text.text for text in root.iter(f"{SVG}text")].count("nsubj") == 1
    assert "http" not in dependencies_svg(CAT).replace(SVG[1:-1], "")


def test_an_svg_of_phrases() -> None:
    root = ET.fromstring(constituent_svg(parse_constituent("(S (NP (PRP I)) (VP (VBP see)))")))
    shown = [text.text for text in root.iter(f"{SVG}text")]
    assert sorted(map(str, shown)) == ["I", "NP", "PRP", "S", "VBP", "VP", "see"]
    assert root.findtext(f"{SVG}desc") == "(S (NP (PRP I)) (VP (VBP see)))"


@pytest.mark.parametrize("size", [1, 60, 500])
def test_long_sentences_stay_narrow(size: int) -> None:
    tree = random_projective_tree(["word"] * size, np.random.default_rng(3))
    root = ET.fromstring(dependencies_svg(tree, width=600))
    assert float(root.attrib["width"]) < 600 + 30 * max(
        (arc.height for arc in arcs(tree)), default=0
    )
    flat = Constituent("S", tuple(Constituent("NN", word="word") for _ in range(size)))
    assert float(ET.fromstring(constituent_svg(flat, width=600)).attrib["width"]) < 640
    assert max(map(terminal_columns, draw_dependencies(tree).splitlines())) < 100 + 2 * size


def test_no_words() -> None:
    assert draw_dependencies(Tree(())) == ""
    ET.fromstring(dependencies_svg(Tree(())))
    ET.fromstring(constituent_svg(Constituent("S")))


@given(trees(any_text), st.integers(0, 200))
def test_any_tree_can_be_drawn(tree: Tree, width: int) -> None:
    drawing = draw_dependencies(tree, width=width)
    drawing.encode()
    assert drawing.count("▼") + drawing.count("▶") >= len(tree.words) - 1
    ET.fromstring(dependencies_svg(tree, width=width))


@given(any_constituent, st.integers(0, 200))
def test_any_constituent_can_be_drawn(constituent: Constituent, width: int) -> None:
    draw_constituent(constituent).encode()
    ET.fromstring(constituent_svg(constituent, width=width))
