"""Which form of a word stands among its neighbors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wellput.core.tree import Tree, Word
from wellput.language.realize.inflector import Inflector, WordForm
from wellput.language.realize.inputs import Node
from wellput.language.realize.wording import WordingChooser, possible_forms, train_wording

ARTICLES = (WordForm("a", math.log(0.8)), WordForm("an", math.log(0.2)))
INFLECTOR = Inflector({("a", "DT", ""): ARTICLES})


def tree_of(text: str) -> Tree:
    """The first word is an article, the second the root."""
    article, noun = text.split()
    return Tree(
        (
            Word(article, 2, lemma="a", upos="DET", xpos="DT", relation="det"),
            Word(noun, 0, lemma=noun, upos="NOUN", xpos="NN", relation="root"),
        )
    )


NOUNS = ("a dog", "a cat", "a door", "a car", "an owl", "an oar", "an ear", "an eel")
TREES = [tree_of(text) for text in NOUNS * 20]
CHOOSER = train_wording(TREES, INFLECTOR)


def best_of(noun: str) -> str:
    scored = CHOOSER.scored([ARTICLES, (WordForm(noun),)], [True, True])
    return max(scored[0], key=lambda form: form.log_share).form


def test_an_unseen_word_is_known_by_its_letters() -> None:
    assert [best_of(noun) for noun in ("cow", "egg", "owner", "desk")] == ["a", "an", "an", "a"]


def test_the_scores_are_log_probabilities() -> None:
    scored = CHOOSER.scored([ARTICLES, (WordForm("egg"),)], [True, True])
    assert sum(math.exp(form.log_share) for form in scored[0]) == pytest.approx(1)
    assert scored[1] == (WordForm("egg"),)


def test_words_that_are_not_open_or_not_known_keep_their_shares() -> None:
    sentence = [ARTICLES, (WordForm("egg"),)]
    assert CHOOSER.scored(sentence, [False, False]) == sentence
    other = [(WordForm("blick", -0.1), WordForm("blicks", -2.0)), (WordForm("egg"),)]
    assert CHOOSER.scored(other, [True, True]) == other


def test_training_is_deterministic() -> None:
    assert train_wording(TREES, INFLECTOR).weights == CHOOSER.weights


def test_a_chooser_comes_back_from_its_arrays() -> None:
    again = WordingChooser.of_arrays(CHOOSER.arrays("x"), "x")
    assert again.weights.keys() == CHOOSER.weights.keys()
    assert all(
        math.isclose(again.weights[k], CHOOSER.weights[k], abs_tol=1e-6) for k in again.weights
    )
    broken = {**CHOOSER.arrays("x"), "x.weights": np.full(len(CHOOSER.weights), np.nan, np.float32)}
    with pytest.raises(ValueError, match="are not numbers"):
        WordingChooser.of_arrays(broken, "x")


@pytest.mark.parametrize(
    ("number", "forms"),
    [
        ("5000", ["5000", "5,000"]),
        ("1234567", ["1234567", "1,234,567"]),
        ("999", ["999"]),
        ("0044", ["0044"]),
        ("9" * 500, ["9" * 500]),
        ("٣٣٣٣٣", ["٣٣٣٣٣"]),
    ],
)
def test_long_numbers_may_have_commas(number: str, forms: list[str]) -> None:
    node = Node((number,), xpos="CD", lemma=number)
    assert [form.form for form in possible_forms(node, (WordForm(number),))] == forms
