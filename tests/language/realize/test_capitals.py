"""Capitals that only the first word of a sentence has."""

from __future__ import annotations

from collections import Counter

from wellput.core.tree import Tree, Word
from wellput.language.realize.parameters import learn_capitals, with_first_capital


def test_a_word_is_lowered_if_the_text_has_it_small() -> None:
    first = Tree((Word("The", 2, xpos="DT"), Word("dog", 3), Word("slept", 0)))
    second = Tree((Word("Rome", 2, xpos="NNP"), Word("slept", 0), Word("Turkey", 2, xpos="NNP")))
    third = Tree((Word("I", 2, xpos="PRP"), Word("eat", 0), Word("turkey", 2)))
    small = Tree((Word("rome", 0, xpos="NNP"),))
    capitals = learn_capitals([first, second, third, *[small] * 9])
    forms = ["The", "Dog", "Rome", "Turkey", "turkey", "I", "THE", "Yak"]
    # Turkey is small once and capital once: it stays. THE is no capitalized word.
    assert [capitals.lowered(form) for form in forms] == (
        ["the", "dog", "Rome", "Turkey", "turkey", "I", "THE", "Yak"]
    )
    lowered = capitals.lowered_tree(first)
    assert [word.form for word in lowered.words] == ["the", "dog", "slept"]
    assert lowered.words[0].xpos == "DT"


def capitals_of(words: tuple[str, ...], *taken: str, names: str = "") -> str:
    are_names = [word in names.split() for word in words]
    return " ".join(with_first_capital(words, Counter(taken), are_names))


def test_the_capital_goes_to_the_first_word() -> None:
    assert capitals_of(("ähm", "yes"), "yes") == "Ähm yes"
    assert capitals_of(('"', "no", "!"), "no") == '" No !'
    assert capitals_of(("...",)) == "..."


def test_capitals_come_back_where_they_were_not_the_first_words() -> None:
    # "The" was first and is first: the other capital is the name's own.
    assert capitals_of(("the", "new", "York", "trains"), "the", "new") == "The New York trains"
    # Either may have been first: only what is tagged as a name is known to have its own.
    assert capitals_of(("i", "saw", "the", "new", "York"), "the", "new", names="new") == (
        "I saw the New York"
    )
    # One "the" of two had it; which of them cannot be told.
    assert capitals_of(("he", "saw", "the", "new", "the"), "he", "the") == "He saw the new the"
