"""Folders, patterns and URLs of evaluation sets, and their partitions."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from wellput.core.errors import InputError
from wellput.core.evalset import BLOCK_ITEMS, EvalSet, Item
from wellput.core.source import BLOCKS_PER_PARTITION
from wellput.io import open_evalset, read_evalset, read_judgments, write_evalset
from wellput.io.duplicates import SeenIds
from wellput.io.evalsets import RecordSource
from wellput.io.record_files import MIN_BYTES_TO_CUT


def lines(numbers: Sequence[int], *, filling: str = "") -> str:
    rows = ({"id": i, "references": ["a b" + filling], "outputs": {"A": f"a {i}"}} for i in numbers)
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    folder = tmp_path / "shards"
    folder.mkdir()
    (folder / "a.jsonl").write_text(lines(range(5)))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(lines(range(5, 9)).encode()))
    (folder / "sub").mkdir()
    (folder / "d.csv").write_text("id,references.0,outputs.A\n9,a b,a 9\n")
    write_evalset(EvalSet([Item("10", {"A": "a 10"}, ("a b",))]), folder / "sub" / "z.parquet")
    (folder / "_SUCCESS").write_text("")
    (folder / "empty.jsonl").write_text("")
    (folder / "notes.md").write_text("not an evaluation set")
    return folder


def ids(path: str | Path) -> list[str]:
    return [item.id for item in read_evalset(path)]


def test_a_folder_is_read_in_the_order_of_names(shards: Path) -> None:
    assert ids(shards) == [str(i) for i in range(11)]


def test_patterns_and_urls(shards: Path) -> None:
    assert ids(f"{shards}/*.jsonl*") == [str(i) for i in range(9)]
    assert ids(shards.as_uri()) == [str(i) for i in range(11)]
    assert ids(f"{shards.as_uri()}/a.jsonl") == [str(i) for i in range(5)]
    assert ids(f"{shards.as_uri()}/**/*.parquet") == ["10"]
    assert ids(f"{shards.as_uri()}/*/*.parquet") == ids(f"{shards}/*/*.parquet") == ["10"]
    with pytest.raises(InputError, match="No file matches"):
        ids(f"{shards.as_uri()}/*.parquet")


@pytest.fixture
def kept_by_others(shards: Path) -> Path:
    """The shards with the folders and files that Jupyter, Spark and editors keep in a folder."""
    for name in (
        ".ipynb_checkpoints/a-checkpoint.jsonl", "_temporary/0/a.jsonl", "sub/.trash/a.jsonl",
        "sub/.a.jsonl", "sub/_a.jsonl",
    ):  # fmt: skip
        (shards / name).parent.mkdir(parents=True, exist_ok=True)
        (shards / name).write_text(lines([3]))
    return shards


def test_what_other_programs_keep_in_a_folder_is_left_out(kept_by_others: Path) -> None:
    whole = [str(i) for i in range(11)]
    for root in (str(kept_by_others), kept_by_others.as_uri()):
        assert ids(root) == whole
        assert ids(f"{root}/**/*.jsonl") == whole[:5]
        assert ids(f"{root}/*/*") == ["10"]
        # A pattern that has the name reads it.
        for pattern in ("_temporary/**/*.jsonl", "_t*/*/a.jsonl", "**/.trash/*", "sub/.a*"):
            assert ids(f"{root}/{pattern}") == ["3"], pattern
    assert ids(kept_by_others / "_temporary") == ["3"]


def test_judgments_of_a_notebooks_checkpoint_do_not_count_again(tmp_path: Path) -> None:
    rows = "judge,item,system,question,value\nKim,1,A,quality,6\nKim,1,B,quality,5\n"
    (tmp_path / ".ipynb_checkpoints").mkdir()
    for name in ("a.csv", ".ipynb_checkpoints/a-checkpoint.csv"):
        (tmp_path / name).write_text(rows)
    assert len(read_judgments(tmp_path)) == 2


def test_a_file_may_be_named_like_a_pattern(tmp_path: Path) -> None:
    path = tmp_path / "run[1].jsonl"
    path.write_text(lines([1]))
    assert ids(path) == ["1"]


@pytest.mark.parametrize("where", ["*.tsv", "nothing/*", "empty"])
def test_nothing_there(shards: Path, where: str) -> None:
    (shards / "empty").mkdir()
    with pytest.raises(InputError, match=r"No file matches|There is no evaluation set in"):
        open_evalset(f"{shards}/{where}")
    with pytest.raises(InputError, match="No such file or folder: file:"):
        read_evalset(f"{shards.as_uri()}/absent/x.jsonl")
    with pytest.raises(InputError, match=r"gone://x.*cannot be read"):
        open_evalset("gone://x/y.jsonl")


def test_an_id_in_two_files(shards: Path) -> None:
    (shards / "c.jsonl").write_text(lines([3]))
    with pytest.raises(
        InputError, match=r"lines 4 of .*a\.jsonl, 1 of .*c\.jsonl: the id 3 is used 2"
    ):
        read_evalset(shards)


@pytest.mark.heavy
def test_partitions_are_the_file(tmp_path: Path) -> None:
    n = (BLOCKS_PER_PARTITION + 1) * BLOCK_ITEMS + 7
    path = tmp_path / "e.jsonl"
    path.write_text(lines(range(n), filling="." * (MIN_BYTES_TO_CUT // n)))
    write_evalset(read_evalset(path), tmp_path / "e.parquet")
    for name in ("e.jsonl", "e.parquet"):
        source = open_evalset(tmp_path / name)
        assert isinstance(source, RecordSource)
        found = source.partitions()
        assert found is not None
        parts = list(found)
        # Sixteen whole blocks, and the rest.
        sizes = [[len(block) for block in part.blocks()] for part in parts]
        assert sizes == [[BLOCK_ITEMS] * BLOCKS_PER_PARTITION, [BLOCK_ITEMS, 7]]
        assert [item.id for part in parts for block in part.blocks() for item in block] == [
            item.id for block in source.blocks() for item in block
        ]
        assert parts[1].name == f"{tmp_path / name}, items 65,537 to 69,639"


def test_a_fingerprint_is_that_of_the_data(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    prints = []
    for text in (lines([1]), lines([2]), lines([1])):
        path.write_text(text)
        source = open_evalset(path)
        assert isinstance(source, RecordSource)
        prints += [part.fingerprint() for part in source.partitions() or ()]
    assert prints[0] == prints[2] != prints[1]


def test_a_file_that_shrinks(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text(lines(range(10), filling="." * (MIN_BYTES_TO_CUT // 9)))
    source = open_evalset(path)
    assert isinstance(source, RecordSource)
    parts = list(source.partitions() or ())
    path.write_text(lines(range(3)))
    with pytest.raises(InputError, match="became shorter"):
        list(parts[0].blocks())


def test_repeated_ids_among_many(tmp_path: Path) -> None:
    few, many = SeenIds(), SeenIds(in_memory=100)
    for seen in (few, many):
        for start in range(0, 1000, 10):
            seen.add([str(i) for i in range(start, start + 10)])
        assert not seen.repeated_hashes()
        seen.add(["7", "x", "993"])
    assert few.repeated_hashes() == many.repeated_hashes()
    assert len(few.repeated_hashes()) == 2
    assert many.total == 1003
