"""Trees without order."""

from __future__ import annotations

import pytest

from wellput.core.errors import InputError
from wellput.core.tree import Tree, Word
from wellput.language.models.tree_model import UnorderedTree, without_order


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ((0, 0), "2 roots"),
        ((2, 1), "0 roots"),
        ((0, 3, 2), "circle"),
        ((0, 2), "circle"),
        ((0, 5), "head 5"),
        ((0, -1), "head -1"),
        ((0, 1, 1, 1, 1), "one for each word"),
    ],
)
def test_heads_that_make_no_tree(heads: tuple[int, ...], message: str) -> None:
    forms = ("a", "b", "c")[: max(2, min(len(heads), 3))]
    with pytest.raises(InputError, match=message):
        UnorderedTree(forms, heads)


def test_words_that_are_none() -> None:
    with pytest.raises(InputError, match="needs words"):
        UnorderedTree((), ())
    with pytest.raises(InputError, match="string"):
        UnorderedTree((1,), (0,))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "upos", "expected"),
    [("The", "DET", "the"), ("Ann", "PROPN", "Ann"), ("I", "PRON", "I"), ("USA", "X", "USA")],
)
def test_the_first_capital_goes(first: str, upos: str, expected: str) -> None:
    quoted = Tree((Word("“", 2), Word(first, 0, upos=upos), Word("Dog", 2)))
    assert without_order(quoted).forms == ("“", expected, "Dog")


def test_labels_are_given_on_request() -> None:
    tree = Tree((Word("a", 2, xpos="DT", relation="det"), Word("b", 0, upos="NOUN")))
    assert without_order(tree).categories is None
    labeled = without_order(tree, with_labels=True)
    assert labeled.categories == ("DT", "NOUN")
    assert labeled.relations == ("det", "root")
