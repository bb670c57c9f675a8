"""References that get their trees from a parser."""

from __future__ import annotations

from collections.abc import Sequence

from wellput.core.evalset import EvalSet, Item
from wellput.core.tree import Tree, Word
from wellput.engine import parsed_references
from wellput.engine.parsed_references import ParsedReferences


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
    assert len(source._trees._trees) == 10
    source._trees._trees.update({f"old{i}": GOLD for i in range(parsed_references.MAX_KEPT_TREES)})
    list(source.blocks())
    assert len(source._trees._trees) == 10
