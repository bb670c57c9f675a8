from __future__ import annotations

from typing import Any

import pytest

from wellput.core.errors import InputError
from wellput.core.evalset import BLOCK_ITEMS, Batch, EvalSet, Item
from wellput.core.source import EvalSource
from wellput.core.tree import Tree, Word

TREE = Tree((Word("a", 0),))


def test_from_lists() -> None:
    evalset = EvalSet.of(
        {"A": ["x", None], "B": ["", "y"]},
        ["a", ["two", "three"]],
        ids=["p", "q"],
        sources=["s", "t"],
        trees=[TREE, None],
    )
    assert evalset.items == (
        Item("p", {"A": "x", "B": ""}, ("a",), (TREE,), "s"),
        Item("q", {"B": "y"}, ("two", "three"), (), "t"),
    )
    assert evalset.systems == ("A", "B")
    assert repr(evalset) == "EvalSet(2 items, systems: A, B)"
    assert isinstance(evalset, EvalSource)


def test_a_system_without_any_output_is_kept_when_it_was_named() -> None:
    assert EvalSet.of({"A": [None], "B": ["x"]}).systems == ("A", "B")
    assert EvalSet([Item("1", {"B": "x"}), Item("2", {"A": "y"})]).systems == ("B", "A")


@pytest.mark.parametrize("references", [[["a", "b", "c"], ["d", "e", "f"]], [("a", "b", "c")]])
def test_transposed_references_are_noticed(references: list[list[str]]) -> None:
    with pytest.raises(InputError, match="transposed") as caught:
        EvalSet.of({"A": ["x", "y", "z"]}, references)
    assert "list(zip(*references))" in str(caught.value)


def test_unequal_lengths_are_all_named() -> None:
    with pytest.raises(InputError) as caught:
        EvalSet.of({"A": ["x"], "B": ["x", "y"]}, ["r"], sources=["s", "t", "u"])
    lines = str(caught.value).split("\n")
    assert lines[1:] == [
        "  the outputs of A: 1",
        "  the outputs of B: 2",
        "  sources: 3",
        "  references: 1",
    ]


def test_trees_are_parallel_to_references_and_must_match() -> None:
    assert EvalSet.of({"A": ["x"]}, [["a", "b"]], trees=[TREE]).items[0].trees == (TREE, None)
    assert EvalSet.of({"A": ["x"]}, trees=[TREE]).items[0].references == ("a",)
    with pytest.raises(InputError, match=r"trees\[0\] is the tree of “a”, the reference is “b”"):
        EvalSet.of({"A": ["x"]}, ["b"], trees=[TREE])
    with pytest.raises(InputError, match=r"trees\[0\] has no reference"):
        EvalSet.of({"A": ["x"]}, [[]], trees=[TREE])


@pytest.mark.parametrize(
    ("outputs", "references", "message"),
    [
        ("text", ["r"], "outputs of A must be a list"),
        (["x"], "text", "references must be a list"),
        (["x", 3], ["r", "s"], "output 1 of A is int"),
        (["x"], [None], r"references\[0\] is NoneType"),
        (["x"], [["r", 3.5]], r"references\[0\] contains float"),
    ],
)
def test_what_is_not_text(outputs: Any, references: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        EvalSet.of({"A": outputs}, references)


def test_no_system_and_repeated_ids() -> None:
    with pytest.raises(InputError, match="Nothing to score"):
        EvalSet.of({})
    with pytest.raises(InputError, match="unique"):
        EvalSet([Item("1", {}), Item("1", {})])


def test_blocks() -> None:
    evalset = EvalSet(Item(str(i), {}) for i in range(BLOCK_ITEMS + 1))
    assert [len(block) for block in evalset.blocks()] == [BLOCK_ITEMS, 1]


def test_references_and_trees_of_one_system() -> None:
    item = Item(
        "1",
        {"A": "a", "B": "b", "C": "c"},
        ("r",),
        (TREE,),
        references_by_system={"A": ("x", "y"), "B": ("z",)},
        trees_by_system={"B": (TREE,)},
    )
    assert [item.references_for(system) for system in "ABC"] == [("x", "y"), ("z",), ("r",)]
    assert [item.trees_for(system) for system in "ABC"] == [(), (TREE,), (TREE,)]


def test_a_batch_leaves_missing_outputs_out() -> None:
    items = [Item("1", {"A": "a"}, ("r",), source="s"), Item("2", {"B": "b"}), Item("3", {"A": ""})]
    batch = Batch.of("A", items, threads=2)
    assert len(batch) == 2
    assert (batch.ids, batch.texts, batch.references) == (["1", "3"], ["a", ""], [("r",), ()])
    assert (batch.sources, batch.threads) == (["s", None], 2)


def test_shared_work_is_done_once() -> None:
    batch = Batch.from_texts(["a"], [["b"]])
    calls: list[int] = []

    def compute() -> int:
        calls.append(1)
        return len(calls)

    assert [batch.shared("x", compute), batch.shared("x", compute)] == [1, 1]
    assert batch.shared("y", compute) == 2
