"""Supertags read off dependency trees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.core.errors import InputError
from wellput.core.tree import Tree, Word
from wellput.language.trees.supertags import (
    ARGUMENT_RELATIONS,
    InducedGrammar,
    Supertag,
    attaching_relation,
    coarse_category,
    induce_supertags,
    parse_supertag,
)

# Figure 2 of Bangalore, Rambow & Whittaker 2000 in UD's terms.
FIGURE_2 = Tree(
    (
        Word("There", 5, xpos="EX", relation="expl"),
        Word("was", 5, xpos="VBD", relation="cop"),
        Word("no", 5, xpos="DT", relation="det"),
        Word("cost", 5, xpos="NN", relation="compound"),
        Word("estimate", 0, xpos="NN", relation="root"),
        Word("for", 9, xpos="IN", relation="case"),
        Word("the", 9, xpos="DT", relation="det"),
        Word("second", 9, xpos="JJ", relation="amod"),
        Word("phase", 5, xpos="NN", relation="nmod"),
    )
)

slots = st.lists(st.sampled_from(sorted(ARGUMENT_RELATIONS)), max_size=4).map(tuple)
relations = st.from_regex(r"[a-z]+(:[a-z]+)?", fullmatch=True).filter(lambda r: r != "root")
attached = st.builds(
    Supertag, st.text(min_size=1), relations, st.sampled_from("<>"), st.just("N"), slots, slots
)
roots = st.builds(Supertag, st.text(min_size=1), left=slots, right=slots)


def test_what_is_read_off_a_tree() -> None:
    assert [str(supertag) for supertag in induce_supertags(FIGURE_2)] == [
        "EX/expl<N[_]",
        "VBD/cop<N[_]",
        "DT/det<N[_]",
        "NN/compound<N[_]",
        "NN/root[expl,cop,det,_]",
        "IN/case<N[_]",
        "DT/det<N[_]",
        "JJ/amod<N[_]",
        "NN/nmod>N[case,det,_]",
    ]


def test_the_places_of_figure_2() -> None:
    grammar = InducedGrammar()
    supertags = induce_supertags(FIGURE_2)
    estimate = supertags[4]
    # 0 There 2 was 4 no 6 estimate 8: "cost" may stand in any gap before the anchor, "phase" after.
    assert grammar.anchor(estimate) == 7
    daughters = [supertags[i] for i in (0, 1, 2, 3, 8)]
    assert [grammar.places(estimate, daughter) for daughter in daughters] == [
        (1,), (3,), (5,), (0, 2, 4, 6), (8,),
    ]  # fmt: skip


def test_two_slots_of_one_kind_and_none() -> None:
    grammar = InducedGrammar()
    mother = parse_supertag("VB/root[nsubj,aux,aux,_,obj]")
    assert grammar.places(mother, parse_supertag("MD/aux<V[_]")) == (3, 5)
    # An object before the verb has no slot here, and falls back on the gaps of its side.
    assert grammar.places(mother, parse_supertag("NN/obj<V[_]")) == (0, 2, 4, 6)
    assert grammar.places(mother, parse_supertag("NN/root[_]")) == (0, 2, 4, 6, 8, 10)


def test_relations_without_what_says_nothing_about_order() -> None:
    def relation(written: str, head: int = 1) -> str:
        return attaching_relation(Word("x", head, relation=written))

    assert relation("nsubj:pass") == "nsubj"
    assert relation("nmod:poss") == "nmod:poss"
    assert relation("_") == relation("root") == relation("Über") == "dep"
    assert relation("obj", head=0) == "root"


def test_categories() -> None:
    tree = Tree((Word("a", 2, upos="DET"), Word("b", 0, upos="NOUN"), Word("c", 2)))
    categories = [str(supertag) for supertag in induce_supertags(tree)]
    assert categories == ["DET/dep<N[_]", "NOUN/root[_]", "X/dep>N[_]"]
    assert coarse_category("VBZ") == coarse_category("AUX") == "V"
    assert coarse_category(",") == "X"


@given(attached | roots)
def test_written_and_read_back(supertag: Supertag) -> None:
    assert parse_supertag(str(supertag)) == supertag


@given(attached | roots, attached | roots)
def test_every_daughter_has_a_place_on_her_side(mother: Supertag, daughter: Supertag) -> None:
    places = InducedGrammar().places(mother, daughter)
    assert places and list(places) == sorted(set(places))
    assert mother.anchor not in places
    assert places[0] >= 0 and places[-1] <= mother.last_place
    if daughter.side == "<":
        assert places[-1] < mother.anchor
    if daughter.side == ">":
        assert places[0] > mother.anchor


@pytest.mark.parametrize(
    "text", ["", "NN", "NN/obj>V", "NN/obj[_]", "NN/root>V[_]", "NN/root[]", "NN/root[_,_]",
             "/root[_]", "NN/root[what,_]"],
)  # fmt: skip
def test_what_is_no_supertag(text: str) -> None:
    with pytest.raises(InputError):
        parse_supertag(text)
