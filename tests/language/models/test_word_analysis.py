"""Lemmas and categories learned from trees."""

from __future__ import annotations

from wellput.core.tree import Tree, Word
from wellput.language.models.word_analysis import UsualValues, WordAnalysis


def word(form: str, xpos: str, lemma: str, upos: str = "X", relation: str = "dep") -> Word:
    return Word(form, 0, lemma=lemma, upos=upos, xpos=xpos, relation=relation)


def test_a_key_is_kept_only_where_it_says_something_new() -> None:
    examples = [(("a",), "1"), (("a", "ab"), "1"), (("a", "ab"), "1"), *[(("a", "ac"), "2")] * 2]
    # a: 1 three times, 2 twice; ab says what a says; ac says 2 instead.
    assert UsualValues.learn(examples).values == {"a": "1", "ac": "2"}


def test_what_was_seen_once_counts_for_the_general_key_only() -> None:
    table = UsualValues.learn([(("a", "ab"), "1"), (("a", "ac"), "2"), (("a", "ad"), "1")])
    assert table.values == {"a": "1"}
    assert table.get(("a", "ac")) == "1"
    assert table.get(("b",), "none") == "none"


def test_lemmas_of_words_seen_and_new() -> None:
    words = [
        *[word("dogs", "NNS", "dog"), word("cats", "NNS", "cat")] * 2,
        *[word("ponies", "NNS", "pony"), word("parties", "NNS", "party")] * 2,
        *[word("mice", "NNS", "mouse"), word("Paris", "NNP", "Paris")] * 2,
        *[word("The", "DT", "the"), word("is", "VBZ", "be")] * 2,
    ]
    analysis = WordAnalysis.learn([Tree(tuple(words))])
    found = {form: analysis.lemma(form, "NNS") for form in ("rats", "cities", "mice", "s", "")}
    assert found == {"rats": "rat", "cities": "city", "mice": "mouse", "s": "s", "": ""}
    assert analysis.lemma("London", "NNP") == "London"
    assert analysis.lemma("THE", "DT") == "the"
    assert analysis.lemma("Is", "VBZ") == "be"
    assert analysis.lemma("whatever", "ZZ") == "whatever"


def test_categories_follow_tag_relation_and_word() -> None:
    words = [
        *[word("have", "VBP", "have", "VERB", "root")] * 3,
        *[word("have", "VBP", "have", "AUX", "aux")] * 2,
        *[word("that", "IN", "that", "SCONJ", "mark"), word("in", "IN", "in", "ADP", "case")] * 2,
    ]
    analysis = WordAnalysis.learn([Tree(tuple(words))])
    assert analysis.category("do", "VBP", "aux") == "AUX"
    assert analysis.category("do", "VBP", "conj") == "VERB"
    assert analysis.category("if", "IN", "mark") == "SCONJ"
    assert analysis.category("x", "ZZ", "dep") == "X"
