"""References that get their trees from a parser."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from wellput.core.evalset import EvalSet, Item
from wellput.core.tree import Tree, Word
from wellput.engine import parsed_references
from wellput.engine.parsed_references import NamedParser, ParsedReferences


class Counting:
    """Gives each text a tree of one word, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str], *, threads: int) -> list[Tree]:
        self.asked += texts
        return [Tree((Word(text, 0),)) for text in texts]


GOLD = Tree((Word("a", 0, relation="gold"),))


def test_a_text_is_parsed_once_and_gold_trees_stay() -> None:
    items = [
        Item("1", {"A": "x"}, ("a", "b"), (GOLD, None)),
        Item("2", {"A": "x"}, ("b",), references_by_system={"A": ("c", "b")}),
    ]
    parse = Counting()
    source = ParsedReferences(EvalSet(items), parse, "test")
    for _ in range(2):
        ((first, second),) = source.blocks()
        assert first.trees[0] is GOLD
        assert [tree.text for tree in first.trees if tree] == ["a", "b"]
        assert [tree.text for tree in second.trees if tree] == ["b"]
        assert [tree.text for tree in second.trees_for("A") if tree] == ["c", "b"]
    assert parse.asked == ["b", "c"]


def test_what_is_kept_is_bounded() -> None:
    items = [Item(str(i), {"A": "x"}, (f"r{i}",)) for i in range(10)]
    parse = Counting()
    source = ParsedReferences(EvalSet(items), parse, "test")
    list(source.blocks())
    assert len(source._tree_adder._tree_of) == 10
    source._tree_adder._tree_of.update(
        {f"old{i}": GOLD for i in range(parsed_references.MAX_KEPT_TREES)}
    )
    list(source.blocks())
    assert len(source._tree_adder._tree_of) == 10


GERMAN = "Das Schiff fährt heute um zwölf Uhr vom alten Hafen ab."
ENGLISH = "The ferry leaves the old harbor at noon today."


def test_references_that_are_not_english_are_counted() -> None:
    items = [
        Item("1", {"A": "x"}, (GERMAN, ENGLISH)),
        Item("2", {"A": "x"}, (ENGLISH, "")),
        Item("3", {"A": "x"}, (GERMAN,), (GOLD,)),  # it has a tree of its own
    ]
    own = ParsedReferences(EvalSet(items), NamedParser("english"), "test")
    assert own.notes == (
        "1 of 3 parsed references is not English prose, and its tree means little: not English 1.",
    )
    assert ParsedReferences(EvalSet(items), NamedParser("spacy:de"), "test").notes == ()
    assert ParsedReferences(EvalSet(items[1:]), NamedParser("english"), "test").notes == ()


def test_only_the_first_references_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed_references, "MAX_CHECKED_REFERENCES", 2)
    items = [Item(str(number), {"A": "x"}, (GERMAN,)) for number in range(3)]
    (note,) = ParsedReferences(EvalSet(items), NamedParser("english"), "test").notes
    assert note.startswith("2 of the first 2 parsed references are not English prose")
