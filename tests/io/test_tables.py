"""Evaluation sets as CSV, TSV and Parquet, and from every format to every other."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.core.errors import InputError, MissingExtra, OutputError
from wellput.core.evalset import BLOCK_ITEMS, EvalSet, Item
from wellput.core.source import EvalSource
from wellput.io import parse_tree, read_evalset, write_evalset

GO = parse_tree(
    "# text = go!\n1\tgo\t_\t_\t_\t_\t0\troot\t_\tSpaceAfter=No\n2\t!\t_\t_\t_\t_\t1\t_\t_\t_"
)
DERIVATION = {"id": "n0", "label": "S", "children": [{"id": "n1", "word": "tiles"}]}
SUFFIXES = [".jsonl", ".csv", ".tsv", ".parquet"]

FULL = EvalSet(
    [
        Item("1", {"A": 'say "x",\ty', "gpt-3.5": ""}, ("r",), source="s", context="c"),
        Item("2", {"A": "\r\n", "gpt-3.5": " ü "}, ("go!", "stay"), (GO, None)),
        Item(
            "3",
            {"A": "a", "gpt-3.5": "b"},
            ("go!",),
            references_by_system={"A": ("go!", "x"), "gpt-3.5": ("y",)},
            trees_by_system={"A": (GO, None)},
        ),
        Item("4", {"A": {"n1": ["nd=d", "bw=u"]}, "gpt-3.5": "{not JSON"}, derivation=DERIVATION),
        Item("5", {"A": "a", "gpt-3.5": "b"}, document="d 1", tags={"domain": "news", "x.y": "ü"}),
        Item("6", {"A": "a", "gpt-3.5": "b"}, document="d 1"),
    ]
)


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".csv.gz", ".tsv.xz", ".jsonl.xz", ".parquet.gz"])
def test_round_trip(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"e{suffix}"
    write_evalset(FULL, path)
    assert read_evalset(path).items == FULL.items


SAMPLED = EvalSet(
    [
        Item("1", {"A": ("one", "two", "three"), "B.c": "b"}, ("r",), document="d"),
        Item("2", {"A": "alone", "B.c": "b"}, tags={"prompt": "short"}),
        Item("3", {"A": ("one", " two"), "B.c": ""}),
    ]
)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_samples_survive(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"e{suffix}"
    write_evalset(SAMPLED, path)
    assert read_evalset(path).items == SAMPLED.items


def test_samples_have_numbered_columns_in_tables(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    write_evalset(SAMPLED, path)
    header = "id,document,tags.prompt,references.0,outputs.B.c,samples.A.0,samples.A.1,samples.A.2"
    assert path.read_text().splitlines()[0] == header


def test_one_column_of_references_needs_no_number(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    rows = {"id": ["1", "2"], "references": ["a b", "c"], "outputs.A": ["a", "c"]}
    csv, tsv, packed = (tmp_path / f"e{suffix}" for suffix in (".csv", ".tsv", ".parquet"))
    csv.write_text("id,references,outputs.A\n1,a b,a\n2,c,c\n")
    tsv.write_text("id\treferences\toutputs.A\n1\ta b\ta\n2\tc\tc\n")
    parquet.write_table(pyarrow.table(rows), packed)
    for path in (csv, tsv, packed):
        assert [item.references for item in read_evalset(path).items] == [("a b",), ("c",)]


def test_a_numbered_column_of_references_goes_before_one_without(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("id,references,references.0,outputs.A\n1,notes,a b,a\n")
    assert read_evalset(path).items[0].references == ("a b",)


def test_an_empty_sample_is_not_written_as_csv(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"item 1 has an empty sample\. Write JSONL or Parquet"):
        write_evalset(EvalSet([Item("1", {"A": ("", "x")})]), tmp_path / "e.csv")


def test_a_system_has_outputs_or_samples(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("id,outputs.A,samples.A.0\n1,x,y\n")
    with pytest.raises(InputError, match=r"A has a column outputs\.A and columns samples\.A\.0"):
        read_evalset(path)


TEXT = st.text(st.characters(blacklist_categories=["Cs"]))
FILLED = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1)


@given(
    st.lists(st.tuples(TEXT, st.lists(FILLED, max_size=3)), min_size=1), st.sampled_from(SUFFIXES)
)
def test_any_text_survives(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, list[str]]], suffix: str
) -> None:
    evalset = EvalSet(
        Item(str(i), {"A.b": output}, tuple(references))
        for i, (output, references) in enumerate(rows)
    )
    path = tmp_path_factory.mktemp("tables") / f"e{suffix}"
    write_evalset(evalset, path)
    assert read_evalset(path).items == evalset.items


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_missing_outputs_and_empty_references_survive(tmp_path: Path, suffix: str) -> None:
    evalset = EvalSet([Item("1", {"A": ""}, ("",)), Item("2", {"B": "x"})])
    write_evalset(evalset, tmp_path / f"e{suffix}")
    assert read_evalset(tmp_path / f"e{suffix}").items == evalset.items


@pytest.mark.parametrize(
    ("item", "suffix", "message"),
    [
        (Item("7", {"A": "x"}), ".csv", "item 7 has no output of B"),
        (Item("7", {"A": "x", "B": "y"}, ("",)), ".tsv", "item 7 has an empty reference"),
        (
            Item("7", {"A": "x", "B": "y"}, references_by_system={"A": ()}),
            ".parquet",
            "item 7 has an empty list of references for one system",
        ),
        (Item("7", {"A": "\ud800", "B": "y"}), ".csv", "half a character"),
        (Item("7", {"A": "\ud800", "B": "y"}), ".parquet", "half a character"),
    ],
)
def test_what_a_table_cannot_hold_is_refused(
    tmp_path: Path, item: Item, suffix: str, message: str
) -> None:
    path = tmp_path / f"e{suffix}"
    with pytest.raises(OutputError, match=message):
        write_evalset(EvalSet([Item("1", {"A": "a", "B": "b"}), item]), path)
    assert list(tmp_path.iterdir()) == []


def test_half_a_character_in_jsonl(tmp_path: Path) -> None:
    evalset = EvalSet([Item("1", {"A": "\ud800ü"})])
    write_evalset(evalset, tmp_path / "e.jsonl")
    assert read_evalset(tmp_path / "e.jsonl").items == evalset.items


def test_standard_output_is_jsonl(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_evalset(EvalSet([Item("1", {"A": "ü"}, ("r",))]), "-")
    assert capfdbinary.readouterr().out.decode() == (
        '{"id": "1", "references": ["r"], "outputs": {"A": "ü"}}\n'
    )


def csv_of(folder: Path, text: str, name: str = "e.csv") -> EvalSet:
    (folder / name).write_text(text)
    return read_evalset(folder / name)


def test_empty_cells(tmp_path: Path) -> None:
    evalset = csv_of(
        tmp_path,
        "id,source,references.0,references.1,outputs.A,outputs.B,note\n1,,r,,,b,n\n\n2,s,,t,a,,\r\n",
    )
    assert evalset.items == (
        Item("1", {"A": "", "B": "b"}, ("r",)),
        Item("2", {"A": "a", "B": ""}, ("t",), source="s"),
    )


def test_trees_stay_with_their_references(tmp_path: Path) -> None:
    tree = '"1\tgo\t_\t_\t_\t_\t0\t_\t_\t_\n"'
    evalset = csv_of(
        tmp_path,
        f"id,references.0,references.1,trees.1\n1,,go,{tree}\n2,stay,go,{tree}\n3,stay,,\n",
    )
    assert [[tree is not None for tree in item.trees] for item in evalset] == [
        [True],
        [False, True],
        [],
    ]
    with pytest.raises(InputError, match="trees has 2 entries for 1 reference"):
        csv_of(tmp_path, f"id,references.0,trees.1\n1,stay,{tree}\n")
    assert csv_of(tmp_path, f"id,tree\n1,{tree}\n").items[0].references == ("go",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,outputs.A\n", "no column id"),
        ("id,output.A\n1,x\n", "column output.A: did you mean outputs.A?"),
        ("id,hyp\n1,x\n", "column hyp: did you mean outputs.A?"),
        ("id,trees\n1,x\n", "column trees: did you mean trees.0?"),
        ("id,reference.1\n1,x\n", "column reference.1: did you mean references.1?"),
        ("id,references_by_system.A\n1,x\n", "did you mean references_by_system.A.0?"),
        ("id,src\n1,x\n", "column src: did you mean source?"),
        ("id,outputs.A,outputs.A\n", "the header names outputs.A twice"),
        ("id,outputs.A\n1,x,y\n2\n3,z\n", "line 2: 3 cells; the header has 2"),
        ("id,outputs.A\n1,x,y\n2\n3,z\n", "line 3: 1 cell; the header has 2"),
        ('id,outputs.A\n1,"x"y\n', "line 2: "),
        ('id,outputs.A\n1,"x\ny\n', "line 2: unexpected end of data"),
        ('id,outputs.A\n1,"x\ny"\n,z\n1,z\n', 'line 4: no "id"'),
        ('id,outputs.A\n1,"x\ny"\n2,z\n1,z\n', "lines 2, 5: the id 1 is used 2 times"),
        ("id,outputs.A\n", "holds no items"),
        ("id,derivation\n1,{\n", "every node of the derivation must be an object"),
        ('"id\n', "the header cannot be read"),
    ],
)
def test_wrong_tables(tmp_path: Path, text: str, message: str) -> None:
    for name in ("e.csv", "e.tsv"):
        with pytest.raises(InputError) as caught:
            csv_of(tmp_path, text if name == "e.csv" else text.replace(",", "\t"), name)
        assert message in str(caught.value)


def parquet_of(folder: Path, rows: list[dict[str, Any]], schema: Any = None) -> EvalSet:
    path = folder / "e.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema), path, row_group_size=1000)
    return read_evalset(path)


def test_nested_parquet(tmp_path: Path) -> None:
    evalset = parquet_of(
        tmp_path,
        [
            {
                "id": 1,
                "references": ["a", "b"],
                "outputs": {"A": "x", "B": None},
                "references_by_system": None,
            },
            {
                "id": 2,
                "references": None,
                "outputs": {"A": None, "B": ""},
                "references_by_system": {"B": ["c"]},
            },
        ],
    )
    assert evalset.items == (
        Item("1", {"A": "x"}, ("a", "b")),
        Item("2", {"B": ""}, references_by_system={"B": ("c",)}),
    )
    mapping = pyarrow.map_(pyarrow.string(), pyarrow.string())
    schema = pyarrow.schema([("id", pyarrow.string()), ("outputs", mapping)])
    assert parquet_of(tmp_path, [{"id": "1", "outputs": [("A", "x")]}], schema).items == (
        Item("1", {"A": "x"}),
    )


def test_parquet_blocks_and_rows(tmp_path: Path) -> None:
    rows = [{"id": i, "outputs.A": "x"} for i in range(BLOCK_ITEMS + 10)]
    assert len(parquet_of(tmp_path, rows)) == BLOCK_ITEMS + 10
    with pytest.raises(InputError, match="rows 6, 4107: the id 5 is used 2 times"):
        parquet_of(tmp_path, [*rows, {"id": 5}])
    with pytest.raises(InputError, match=r"row 1 \(item 1\): the output of A must be a text"):
        parquet_of(tmp_path, [{"id": 1, "outputs.A": 3}])


def test_what_is_not_parquet(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    path.write_text("id,outputs.A\n")
    with pytest.raises(InputError, match=r"e\.parquet is damaged, or not a Parquet file"):
        read_evalset(path)
    write_evalset(FULL, path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"e\.parquet is damaged, or not a Parquet file"):
        read_evalset(path)


def test_parquet_that_is_not_utf8(tmp_path: Path) -> None:
    text = pyarrow.array([b"\xff"], pyarrow.binary()).view(pyarrow.string())
    path = tmp_path / "e.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"id": ["1"], "outputs.A": text}), path)
    with pytest.raises(InputError, match="codec can't decode"):
        read_evalset(path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"e{suffix}").symlink_to("/dev/full")
    large = EvalSet(Item(str(i), {"A": f"{i * 7919}" * 50}) for i in range(10_000))
    for evalset in (FULL, large):  # seen at the end, seen while writing
        with pytest.raises(OutputError, match="the disk is full"):
            write_evalset(evalset, tmp_path / f"e{suffix}")


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def no_pyarrow(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_pyarrow)
    (tmp_path / "e.parquet").write_text("x")
    with pytest.raises(MissingExtra, match=r"pip install 'wellput\[parquet\]'"):
        read_evalset(tmp_path / "e.parquet")


def test_a_source_that_fails_leaves_nothing(tmp_path: Path) -> None:
    class Failing(EvalSource):
        def blocks(self) -> Any:
            yield [FULL.items[0]]
            raise InputError("bad line")

    for suffix in SUFFIXES:
        with pytest.raises(InputError, match="bad line"):
            write_evalset(Failing(), tmp_path / f"e{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "mark"), [("e.csv", ";"), ("e.csv", "\t"), ("e.tsv", ",")])
@pytest.mark.parametrize("quote", ["", '"'])
def test_the_header_tells_the_delimiter(tmp_path: Path, name: str, mark: str, quote: str) -> None:
    path = tmp_path / name
    header = mark.join(f"{quote}{one}{quote}" for one in ("id", "references.0", "outputs.A"))
    row = mark.join(("1", f'"so{mark} it rained"', "3.5"))
    path.write_bytes(f"\ufeff{header}\r\n{row}\r\n".encode())
    (item,) = read_evalset(path)
    assert item == Item("1", {"A": "3.5"}, (f"so{mark} it rained",))


def test_texts_keep_their_commas(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("id;references.0;outputs.A\n1,5;2,5;3,5\n")
    assert read_evalset(path).items == (Item("1,5", {"A": "3,5"}, ("2,5",)),)


def test_columns_between_bars_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("id|references.0|outputs.A\n")
    with pytest.raises(InputError, match="with commas, semicolons or tabs between the columns"):
        read_evalset(path)
