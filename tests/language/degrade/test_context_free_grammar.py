"""Grammars read off trees."""

from __future__ import annotations

from hypothesis import given

from tests.language.trees.trees_drawn import constituents
from wellput.core.tree import Constituent, Tree, Word
from wellput.io.trees import parse_constituent
from wellput.language.degrade.corpus import (
    PhraseRule,
    grammar_of_constituents,
    grammar_of_dependencies,
)
from wellput.language.trees.constituents import with_plain_labels

SENTENCE = "( (S (NP-SBJ (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog)) (NP (-NONE- *)))))"


def test_rules_and_lexicon() -> None:
    grammar = grammar_of_constituents([parse_constituent(SENTENCE)])
    assert grammar.starts == {"S": 1}
    assert grammar.rules == {
        PhraseRule("S", ("NP", "VP")): 1,
        PhraseRule("NP", ("DT", "NN")): 2,
        PhraseRule("VP", ("VBD", "NP")): 1,
    }
    assert grammar.lexicon["NN", "cat"] == 1
    assert grammar.lexicon.total() == 5


def test_heads() -> None:
    rules = grammar_of_constituents([parse_constituent(SENTENCE)], with_heads=True).rules
    assert sorted(map(str, rules)) == ["NP → DT NN*", "S → NP VP*", "VP → VBD* NP"]


def test_heads_of_predicates_are_those_of_the_tree_with_its_tags() -> None:
    trees = [parse_constituent("(SQ (VBZ Is) (NP-SBJ (PRP he)) (NP-PRD (NN king)))")]
    with_nouns = grammar_of_constituents(trees, with_heads=True, predicative_nouns=True)
    assert PhraseRule("SQ", ("VBZ", "NP", "NP"), 2) in with_nouns.rules
    assert (
        PhraseRule("SQ", ("VBZ", "NP", "NP"), 0)
        in grammar_of_constituents(trees, with_heads=True).rules
    )


def test_dependencies() -> None:
    words = (("the", 2, "DET"), ("cat", 3, "NOUN"), ("saw", 0, "VERB"), ("me", 3, "PRON"))
    tree = Tree(tuple(Word(form, head, upos=upos) for form, head, upos in words))
    grammar = grammar_of_dependencies([tree])
    assert grammar.starts == {"[VERB]": 1}
    assert sorted(map(str, grammar.rules)) == [
        "[DET] → DET*",
        "[NOUN] → [DET] NOUN*",
        "[PRON] → PRON*",
        "[VERB] → [NOUN] VERB* [PRON]",
    ]
    assert grammar.lexicon["PRON", "me"] == 1


@given(constituents)
def test_the_rules_of_one_tree_add_up(constituent: Constituent) -> None:
    bare = with_plain_labels(constituent)
    grammar = grammar_of_constituents([constituent], with_heads=True)
    if bare is None:
        assert not grammar.rules
        return
    assert grammar.lexicon.total() == len(bare.words)
    for rule in grammar.rules:
        assert rule.head is not None
        assert 0 <= rule.head < len(rule.parts)
