"""Heads of Penn constituents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language.trees.trees_drawn import constituents, is_tree
from wellput.core.errors import InputError
from wellput.core.tree import Constituent
from wellput.io.trees import parse_constituent
from wellput.language.trees.constituents import (
    head_part,
    head_rules,
    to_dependencies,
    without_empty_elements,
)
from wellput.language.trees.projectivity import is_projective

FIGURE_2 = """(S (NP-SBJ (EX There)) (VP (VBD was) (NP-PRD (NP (DT no) (NN cost) (NN estimate))
  (PP (IN for) (NP (DT the) (JJ second) (NN phase))))))"""


def heads(brackets: str, *, predicative_nouns: bool = False) -> dict[str, str]:
    """Each word's head word, for sentences in which no word comes twice."""
    tree = to_dependencies(parse_constituent(brackets), predicative_nouns=predicative_nouns)
    forms = ["", *(word.form for word in tree.words)]
    return {word.form: forms[word.head] for word in tree.words}


def test_figure_2_with_the_predicative_noun_as_head() -> None:
    # Bangalore, Rambow & Whittaker 2000, Figure 2.
    assert heads(FIGURE_2, predicative_nouns=True) == {
        "There": "estimate", "was": "estimate", "no": "estimate", "cost": "estimate",
        "estimate": "", "for": "estimate", "the": "phase", "second": "phase", "phase": "for",
    }  # fmt: skip


def test_figure_2_with_the_verb_as_head() -> None:
    assert heads(FIGURE_2) == {
        "There": "was", "was": "", "no": "estimate", "cost": "estimate",
        "estimate": "was", "for": "estimate", "the": "phase", "second": "phase", "phase": "for",
    }  # fmt: skip


def test_the_first_sentence_of_the_treebank() -> None:
    brackets = """( (S (NP-SBJ (NP (NNP Pierre) (NNP Vinken)) (, ,) (ADJP (NP (CD 61) (NNS years))
      (JJ old))) (VP (MD will) (VP (VB join) (NP (DT the) (NN board)) (NP-TMP (NNP Nov.) (CD 29))))
      (. .)))"""
    # In ADJP the list is NNS QP NN $ ADVP JJ ...: JJ comes before NP. In NP-TMP the last proper
    # noun is the head, not the number.
    assert heads(brackets) == {
        "Pierre": "Vinken", "Vinken": "will", ",": "Vinken", "61": "years", "years": "old",
        "old": "Vinken", "will": "", "join": "will", "the": "board", "board": "join",
        "Nov.": "join", "29": "Nov.", ".": "will",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("brackets", "head"),
    [
        ("(NP (NP (DT the) (NN dog) (POS 's)) (NN tail))", "tail"),
        ("(NP (NNP Ann) (POS 's))", "'s"),
        ("(NP (NP (NN a)) (CC and) (NP (NN b)))", "a"),
        ("(NP (NN a) (CC and) (NN b))", "a"),  # b by the list, a by the rule of coordination
        ("(NP (NN a) (, ,) (NN b) (, ,) (CC and) (NN c))", "b"),  # two before c, commas aside
        ("(NP (DT the) (JJ rich))", "rich"),
        ("(NP (QP (RB about) (CD 3)) (NNS men))", "men"),
        ("(VP (VP (VBD came)) (CC and) (VP (VBD went)))", "came"),
        ("(VP (CC and) (VB go))", "go"),  # nothing stands before the conjunction
        ("(SBAR (IN that) (S (VP (VBZ is))))", "that"),
        ("(PP (ADVP (RB right)) (IN at) (NP (NN home)))", "at"),
        ("(FRAG (NP (NN x)) (ADVP (RB now)) (. .))", "now"),  # the last, but no punctuation
        ("(PRN (-LRB- -LRB-) (NP (NN x)) (-RRB- -RRB-))", "x"),
        ("(NONSENSE (JJ a) (NN b))", "a"),
        ("(PRN (, ,) (: --))", ","),
    ],
)
def test_head_rules(brackets: str, head: str) -> None:
    tree = to_dependencies(parse_constituent(brackets))
    assert [word.form for word in tree.words if word.head == 0] == [head]


@pytest.mark.parametrize(
    ("brackets", "head"),
    [
        ("(S (NP (PRP He)) (VP (VBZ is) (ADJP-PRD (RB very) (JJ happy))))", "happy"),
        ("(S (NP (PRP He)) (VP (VBZ is) (NP (DT a) (NN judge))))", "judge"),  # no tags at all
        ("(S (NP (PRP It)) (VP (VBZ is) (NP-TMP (NNP Monday))))", "is"),
        ("(S (NP (PRP He)) (VP (VBZ is) (PP-PRD (IN in) (NP (NN bed)))))", "is"),
        ("(S (NP (PRP He)) (VP (MD will) (VP (VB have) (VP (VBN been) (ADJP-PRD (JJ ill))))))", "ill"),
        ("(S (VP (TO to) (VP (VB be) (ADJP-PRD (JJ ill)))))", "ill"),
        ("(SQ (VBZ Is) (NP-SBJ (PRP he)) (ADJP-PRD (JJ ill)))", "ill"),
        ("(SQ (VBZ Is) (NP (PRP he)) (VP (VBG coming)))", "Is"),
        ("(S (NP (PRP He)) (VP (VBZ is) (VP (VBG eating) (NP (NN cake)))))", "is"),
        ("(VP (VBZ wants) (S (VP (TO to) (VP (VB be) (ADJP-PRD (JJ ill))))))", "wants"),
        ("(S (NP (PRP He)) (VP (VBZ is) (NP-PRD (-NONE- *T*-1))))", "is"),
        ("(VP (MD must) (VP (VP (VB be) (ADJP-PRD (JJ a))) (CC or) (VP (VB go))))", "a"),
    ],
)  # fmt: skip
def test_predicates(brackets: str, head: str) -> None:
    tree = to_dependencies(parse_constituent(brackets), predicative_nouns=True)
    assert [word.form for word in tree.words if word.head == 0] == [head]


def test_empty_elements_are_left_out_and_tags_kept() -> None:
    tree = to_dependencies(
        parse_constituent("(S (NP-SBJ-1 (-NONE- *)) (VP (VB Go) (ADVP-DIR=2 (RB home))))")
    )
    assert [(word.form, word.head, word.xpos) for word in tree.words] == [
        ("Go", 0, "VB"),
        ("home", 1, "RB"),
    ]


def test_nothing_but_empty_elements() -> None:
    with pytest.raises(InputError, match="empty elements"):
        to_dependencies(parse_constituent("(NP (-NONE- *))"))


def test_a_tree_deeper_than_the_stack() -> None:
    tree = Constituent("NN", word="x")
    for _ in range(50_000):
        tree = Constituent("NP", (tree,))
    assert len(to_dependencies(tree).words) == 1


def test_the_table_has_the_phrases_of_the_appendix() -> None:
    assert len(head_rules()) == 24 + 3  # 23 of the table and NP; NX, NML, X added
    assert head_part(parse_constituent("(VP (MD will) (VP (VB go)))")) == 0


@given(constituents, st.booleans())
def test_dependencies_are_a_projective_tree_over_the_same_words(
    constituent: Constituent, predicative_nouns: bool
) -> None:
    kept = without_empty_elements(constituent)
    if kept is None:
        return
    tree = to_dependencies(constituent, predicative_nouns=predicative_nouns)
    assert tuple(word.form for word in tree.words) == kept.words
    assert is_tree([word.head for word in tree.words])
    assert is_projective(tree)
