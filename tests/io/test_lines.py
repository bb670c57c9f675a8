from __future__ import annotations

from pathlib import Path

import pytest

from wellput.core.errors import InputError
from wellput.core.evalset import BLOCK_ITEMS, Item
from wellput.core.source import EvalSource
from wellput.core.tree import Tree, Word
from wellput.io import format_tree, open_lines


def write(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content)
    return path


def items_of(source: EvalSource) -> list[Item]:
    return [item for block in source.blocks() for item in block]


def test_items_are_lines(tmp_path: Path) -> None:
    source = open_lines(
        references=[write(tmp_path, "r1", "a\nb\n"), write(tmp_path, "r2", "c\nd\n")],
        outputs={"A": write(tmp_path, "h1", "e\nf\n"), "B": write(tmp_path, "h2", "g\n\n")},
        source=write(tmp_path, "s", "x\ny\n"),
    )
    assert isinstance(source, EvalSource)
    expected = [
        Item("1", {"A": "e", "B": "g"}, ("a", "c"), source="x"),
        Item("2", {"A": "f", "B": ""}, ("b", "d"), source="y"),
    ]
    assert items_of(source) == expected
    assert items_of(source) == expected, "a second pass gives the same"


def test_one_file_for_two_systems(tmp_path: Path) -> None:
    path = write(tmp_path, "h", "a\n")
    assert items_of(open_lines(references=[path], outputs={"A": path, "B": path})) == [
        Item("1", {"A": "a", "B": "a"}, ("a",))
    ]


def test_blocks(tmp_path: Path) -> None:
    n = BLOCK_ITEMS + 5
    path = write(tmp_path, "h", "".join(f"{i}\n" for i in range(n)))
    blocks = list(open_lines(references=[], outputs={"A": path}).blocks())
    assert [len(block) for block in blocks] == [BLOCK_ITEMS, 5]
    assert blocks[1][0] == Item(str(BLOCK_ITEMS + 1), {"A": str(BLOCK_ITEMS)})


def test_files_of_different_length_are_counted_to_their_ends(tmp_path: Path) -> None:
    long = write(tmp_path, "long", "a\n" * (2 * BLOCK_ITEMS + 7))
    short = write(tmp_path, "short", "a\n" * (BLOCK_ITEMS + 1) + "no line end")
    with pytest.raises(InputError) as caught:
        items_of(open_lines(references=[long], outputs={"A": short}))
    assert f"long: {2 * BLOCK_ITEMS + 7:,} lines" in str(caught.value)
    assert f"short: {BLOCK_ITEMS + 2:,} lines" in str(caught.value)


def test_missing_empty_and_doubled_files(tmp_path: Path) -> None:
    good = write(tmp_path, "good", "a\n")
    with pytest.raises(InputError, match="No such file"):
        open_lines(references=[good], outputs={"A": tmp_path / "nothing"})
    with pytest.raises(InputError, match="empty"):
        items_of(open_lines(references=[good], outputs={"A": write(tmp_path, "empty", "")}))
    with pytest.raises(InputError, match="given twice"):
        open_lines(references=["-"], outputs={"A": "-"})
    with pytest.raises(InputError, match="Nothing to score"):
        open_lines(references=[good], outputs={})


def sentence(*words: str) -> Tree:
    return Tree(tuple(Word(form, 0 if i == 0 else 1) for i, form in enumerate(words)))


def test_trees_belong_to_the_first_reference(tmp_path: Path) -> None:
    trees = [sentence("do", "n't"), sentence("go", ".")]
    path = write(tmp_path, "t", "".join(map(format_tree, trees)))
    outputs = {"A": write(tmp_path, "h", "x\ny\n")}
    reference = write(tmp_path, "r", "don't\ngo .\n")
    other = write(tmp_path, "r2", "never\nleave\n")
    items = items_of(open_lines(references=[reference, other], outputs=outputs, trees=path))
    assert [item.trees for item in items] == [(trees[0], None), (trees[1], None)]
    items = items_of(open_lines(references=[], outputs=outputs, trees=path))
    assert [item.references for item in items] == [("do n't",), ("go .",)]


def test_trees_that_do_not_fit(tmp_path: Path) -> None:
    trees = write(tmp_path, "t", "".join(map(format_tree, [sentence("a", "b"), sentence("c")])))
    outputs = {"A": write(tmp_path, "h", "x\ny\n")}
    with pytest.raises(InputError) as caught:
        items_of(
            open_lines(references=[write(tmp_path, "r", "a b\nd\n")], outputs=outputs, trees=trees)
        )
    assert "tree 2: is the tree of “c”, the reference is “d”" in str(caught.value)
    outputs = {"A": write(tmp_path, "h", "x\n")}
    with pytest.raises(InputError, match="t: 2 trees"):
        items_of(open_lines(references=[], outputs=outputs, trees=trees))
