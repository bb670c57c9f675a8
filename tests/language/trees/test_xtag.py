"""Reading grammars in XTAG's format, and mapping dependencies to their trees."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.language.trees.tiny_tag import TREES, write_grammar
from wellput.core.errors import InputError
from wellput.core.tree import Tree, Word
from wellput.io.trees import parse_constituent
from wellput.language.trees.constituents import to_dependencies
from wellput.language.trees.supertags import parse_supertag
from wellput.language.trees.xtag import XtagGrammar, parse_trees, read_xtag
from wellput.language.trees.xtag_mapping import xtag_supertags, xtag_supertags_of_tree
from wellput.language.trees.xtag_places import Attachment, XtagPlaces, XtagSupertag, line_of

FIGURE_2 = """(S (NP-SBJ (EX There)) (VP (VBD was) (NP-PRD (NP (DT no) (NN cost) (NN estimate))
  (PP (IN for) (NP (DT the) (JJ second) (NN phase))))))"""


@pytest.fixture(scope="module")
def grammar(tmp_path_factory: pytest.TempPathFactory) -> XtagGrammar:
    return read_xtag(write_grammar(tmp_path_factory.mktemp("tag")))


def test_trees_are_read(grammar: XtagGrammar) -> None:
    assert {name: str(tree.root) for name, tree in grammar.trees.items()} == TREES
    assert [node.name for node in grammar.trees["αnx0Vnx1"].frontier] == ["NP_0", "V", "NP_1"]
    assert grammar.families["Tnx0Vnx1"] == ("αnx0Vnx1",)
    assert "rest" not in grammar.families


def test_empty_leaves_and_words() -> None:
    text = """("t") (((("S" . ""))) (((("PRO" . "")))) (((("\x06" . "v")))) (((("by" . "")))))"""
    [tree] = parse_trees(text, "x")
    assert [node.kind for node in tree.root.children] == ["word", "empty", "word"]
    assert str(tree.root) == "S(PRO ε_v by)"
    assert tree.frontier == ()


def test_the_lexicon(grammar: XtagGrammar) -> None:
    assert grammar.trees_of("zorp", "V") == ("αnx0Vnx1",)
    assert grammar.trees_of("zorp", "N") == ("αNXN", "βNn")
    assert grammar.trees_of("unheard", "N") == ("αNXN",)
    assert grammar.trees_of("unheard", "V") == ()
    assert grammar.lexicon["zorp"][2].words == ("zorp", "up")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('("a" ', "never closed"),
        ('("a"))', "a closing bracket too many"),
        ('("a")', "lacks"),
        ('("a") (((("S"))))', "cannot be read"),
        ('("a") "b"', "cannot be read"),
        ("() ()", "begin with its name"),
    ],
)
def test_broken_files(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_trees(text, "x", "x.trees")


def test_folders_that_are_no_grammar(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"english\.gram"):
        read_xtag(tmp_path)
    write_grammar(tmp_path)
    (tmp_path / "syntax" / "syntax-coded.flat").unlink()
    with pytest.raises(InputError, match="lexicon"):
        read_xtag(tmp_path).trees_of("a", "N")


def test_the_line_of_a_tree(grammar: XtagGrammar) -> None:
    # 0 [S 2 [NP_0 4 (5) 6] [VP 8 [V 10 (11) 12] [NP_1 14 (15) 16] 18] 20] 22
    line = line_of(grammar.trees["αnx0Vnx1"])
    assert line.leaves == {"NP_0": 5, "V": 11, "NP_1": 15}
    assert line.anchor == 11
    assert line.edges == {"V": ((10, 12),), "VP": ((8, 18),), "S": ((2, 20),)}
    assert line.last == 22


def test_places_on_that_line(grammar: XtagGrammar) -> None:
    places = XtagPlaces(grammar)
    verb = XtagSupertag("αnx0Vnx1")
    assert places.anchor(verb) == 11
    assert places.places(verb, XtagSupertag("αNXN", ("NP_9", "NP_1"))) == (15,)
    both = (Attachment("βARBvx"), Attachment("βvxARB"))
    assert places.places(verb, XtagSupertag("βARBvx", (), both)) == (8, 18)
    assert places.sides(verb, XtagSupertag("βARBvx", (), both)) == "<>"
    # A preposition goes before the whole noun phrase; a determiner has no noun phrase to adjoin to
    # in a verb's tree, and stands next to the anchor.
    case = Attachment("βnxPnx", "anchor", "substitution")
    assert places.places(XtagSupertag("αNXN"), XtagSupertag("βnxPnx", (), (case,))) == (0,)
    assert places.places(verb, XtagSupertag("βDnx", (), (Attachment("βDnx"),))) == (10,)
    # Nothing is known about where: all gaps.
    assert places.places(XtagSupertag("αNXN"), XtagSupertag("αNXN")) == (0, 2, 4, 6, 8, 10)


def accepts(grammar: XtagGrammar, tree: Tree, supertags: list[XtagSupertag]) -> bool:
    """Whether every treelet's order in the sentence is one that the places allow."""
    places = XtagPlaces(grammar)
    for head in range(len(tree.words)):
        at = 0
        for number, word in enumerate(tree.words):
            if number != head and word.head != head + 1:
                continue
            own = (
                (places.anchor(supertags[head]),)
                if number == head
                else places.places(supertags[head], supertags[number])
            )
            later = [place for place in own if place >= at]
            if not later:
                return False
            at = later[0]
    return True


def test_figure_2_is_headed_by_the_noun(grammar: XtagGrammar) -> None:
    tree = to_dependencies(parse_constituent(FIGURE_2), predicative_nouns=True)
    supertags = xtag_supertags_of_tree(grammar, tree)
    assert [supertag.tree for supertag in supertags] == [
        "αNXN", "βVvx", "βDnx", "βNn", "αnx0N1", "βnxPnx", "βDnx", "βAn", "αNXN",
    ]  # fmt: skip
    assert accepts(grammar, tree, supertags)
    places = XtagPlaces(grammar)
    for word in (1, 5):  # was, for
        assert len(places.places(supertags[4], supertags[word])) > 1


def test_order_is_not_looked_at(grammar: XtagGrammar) -> None:
    tree = to_dependencies(parse_constituent(FIGURE_2), predicative_nouns=True)
    before = xtag_supertags_of_tree(grammar, tree)
    order = list(range(len(tree.words)))
    random.Random(1).shuffle(order)
    place = {0: 0, **{old + 1: new + 1 for new, old in enumerate(order)}}
    words = [tree.words[old] for old in order]
    moved = Tree(
        tuple(Word(w.form, place[w.head], xpos=w.xpos, relation=w.relation) for w in words)
    )
    assert xtag_supertags_of_tree(grammar, moved) == [before[old] for old in order]


def test_induced_supertags_choose_the_side(grammar: XtagGrammar) -> None:
    forms, heads = ["dogs", "often", "bark"], [3, 3, 0]
    for side, tree in (("<", "βARBvx"), (">", "βvxARB")):
        induced = ["NNS/nsubj<V[_]", f"RB/advmod{side}V[_]", "VBP/root[nsubj,_]"]
        found = xtag_supertags(grammar, forms, heads, list(map(parse_supertag, induced)))
        assert [supertag.tree for supertag in found] == ["αNXN", tree, "αnx0V"]
        assert XtagPlaces(grammar).sides(found[2], found[1]) == side


def test_a_grammar_that_lacks_a_tree(tmp_path: Path) -> None:
    poor = read_xtag(write_grammar(tmp_path, {"βDnx": TREES["βDnx"]}))
    tree = Tree((Word("the", 2, xpos="DT", relation="det"), Word("dog", 0, xpos="NN")))
    assert [supertag.tree for supertag in xtag_supertags_of_tree(poor, tree)] == ["βDnx", ""]
