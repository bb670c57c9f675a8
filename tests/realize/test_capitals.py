"""Capitals that only the first word of a sentence has."""

from __future__ import annotations

from wellput.core.tree import Tree, Word
from wellput.realize.capitals import capitalized, learn_capitals


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


def test_the_capital_goes_to_the_first_word() -> None:
    assert capitalized(("ähm", "yes")) == ("Ähm", "yes")
    assert capitalized(('"', "no", "!")) == ('"', "No", "!")
    assert capitalized(("...",)) == ("...",)
