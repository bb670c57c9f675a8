"""Tables with a row for each answer."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import wellput
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item

ROWS = [
    # The rows of an item are not together; A answers the first item twice.
    {"id": "1", "system": "A", "output": "a b", "references": "a b c", "domain": "news"},
    {"id": "2", "system": "A", "output": "x", "references": "x y", "domain": "chat"},
    {"id": "1", "system": "B", "output": "c", "references": "a b c", "domain": "news"},
    {"id": "1", "system": "A", "output": "a", "references": "a b c", "domain": "news"},
]
ITEMS = [
    Item("1", {"A": ("a b", "a"), "B": "c"}, ("a b c",), tags={"domain": "news"}),
    Item("2", {"A": "x"}, ("x y",), tags={"domain": "chat"}),
]
HEADER = "id,system,output,references.0,tags.domain"


def csv_text(header: str = HEADER) -> str:
    lines = (",".join(str(cell) for cell in row.values()) for row in ROWS)
    return "\n".join([header, *lines]) + "\n"


def items_of(path: Path, column: Sequence[str] = ()) -> list[Item]:
    return list(wellput.read_evalset(path, column=column))


def test_rows_of_an_item_are_put_together_and_several_are_samples(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text(csv_text())
    assert items_of(file) == ITEMS
    file.write_text(csv_text("item,model,response,references.0,tags.domain"))
    assert items_of(file) == ITEMS
    scored = wellput.score(file, "length")
    # The mean of (2 words + 1 word) / 2 and of 1 word.
    assert scored["A", "length"].score == pytest.approx(1.25)


def test_jsonl_and_parquet_are_read_alike(tmp_path: Path) -> None:
    lines = tmp_path / "long.jsonl"
    records = [
        {k: row[k] for k in ("id", "system", "output")}
        | {"references": [row["references"]], "tags": {"domain": row["domain"]}}
        for row in ROWS
    ]
    lines.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert items_of(lines) == ITEMS
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = tmp_path / "long.parquet"
    named = [dict(zip(HEADER.split(","), row.values(), strict=True)) for row in ROWS]
    pq.write_table(pa.Table.from_pylist(named), table)
    assert items_of(table) == ITEMS
    own = ["references=references.0", "tags.domain=tags.domain", "system=system", "outputs=output"]
    assert items_of(table, column=own) == ITEMS


def test_own_columns_and_items_told_apart_by_their_source(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text("prompt,bot,said\nHow?,A,so\nWhy?,A,no\nHow?,B,thus\n")
    own = ["source=prompt", "system=bot", "outputs=said"]
    assert items_of(file, column=own) == [
        Item("1", {"A": "so", "B": "thus"}, source="How?"),
        Item("2", {"A": "no"}, source="Why?"),
    ]
    with pytest.raises(InputError, match="name the column of the answers once"):
        items_of(file, column=["source=prompt", "system=bot"])


def test_samples_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text("id,system,output,sample\n1,A,third,2\n1,A,first,0\n1,A,second,1\n")
    assert items_of(file) == [Item("1", {"A": ("first", "second", "third")})]


def test_rows_that_contradict_each_other_are_named(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text(csv_text().replace("1,B,c,a b c,news", "1,B,c,a b c,chat"))
    with pytest.raises(
        InputError, match=r"line 4: item 1: another domain \(chat, not news\) than in"
    ):
        items_of(file)
    file.write_text(csv_text().replace("1,B,c,a b c,news", "1,B,c,other,news"))
    with pytest.raises(InputError, match="line 4: item 1: another references than in line 2"):
        items_of(file)
    file.write_text(csv_text().replace("1,B,c", "1,,c"))
    with pytest.raises(InputError, match="line 4: no system; every answer belongs to a system"):
        items_of(file)
    file.write_text(csv_text().replace("1,B,c,a b c,news", "1,B,c,,"))
    assert items_of(file) == ITEMS  # an empty cell says nothing


def test_an_empty_answer_is_an_output_and_null_is_none(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text("id,system,output\n1,A,\n1,B,x\n")
    assert items_of(file) == [Item("1", {"A": "", "B": "x"})]
    lines = tmp_path / "long.jsonl"
    lines.write_text(
        '{"id": 1, "system": "A", "output": null}\n{"id": 1, "system": "B", "output": "x"}\n'
    )
    assert items_of(lines) == [Item("1", {"B": "x"})]


def test_a_frame_with_a_row_for_each_answer() -> None:
    frame = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    evalset = EvalSet.from_frame(
        frame, id="id", system="system", outputs="output", references="references", tags="domain"
    )
    assert list(evalset) == ITEMS
    told_apart = EvalSet.from_frame(frame, source="references", system="system", outputs="output")
    assert [(item.id, dict(item.outputs)) for item in told_apart] == [
        ("1", {"A": ("a b", "a"), "B": "c"}),
        ("2", {"A": "x"}),
    ]
    with pytest.raises(InputError, match="give id= or source=, too"):
        EvalSet.from_frame(frame, system="system", outputs="output")
    with pytest.raises(InputError, match="outputs must name one column"):
        EvalSet.from_frame(frame, id="id", system="system", outputs=["output", "domain"])
    frame["system"][1] = ""
    with pytest.raises(InputError, match="row 2: no system"):
        EvalSet.from_frame(frame, id="id", system="system", outputs="output")


def test_a_wide_table_with_a_further_column_stays_wide(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text("id,outputs.A,outputs.B,model\n1,x,y,v2\n2,x,y,v3\n")
    assert items_of(file) == [Item("1", {"A": "x", "B": "y"}), Item("2", {"A": "x", "B": "y"})]


def test_columns_shows_and_saves_a_long_table(tmp_path: Path) -> None:
    file, saved = tmp_path / "long.csv", tmp_path / "wide.jsonl"
    file.write_text(csv_text("item,model,answer,gold,domain"))
    found = wellput.columns(file)
    assert [view.read_as for view in found.columns] == [
        "id", "system", "outputs of the system", None, None,
    ]  # fmt: skip
    assert found.options == "--column references=gold --column tags=domain"
    wellput.columns(file, column=["references=gold", "tags=domain"], save=saved)
    assert items_of(saved) == ITEMS


def given_on_standard_input(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_table_on_standard_input(separator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given_on_standard_input("\ufeff" + csv_text().replace(",", separator), monkeypatch)
    source = wellput.open_evalset("-")
    for _ in range(2):
        assert [item for block in source.blocks() for item in block] == ITEMS


def test_answers_in_jsonl_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        {"item": row["id"], "model": row["system"], "response": row["output"]}
        | {"references": [row["references"]], "tags": {"domain": row["domain"]}}
        for row in ROWS
    ]
    given_on_standard_input("\n".join(map(json.dumps, lines)), monkeypatch)
    assert items_of(Path("-")) == ITEMS


@pytest.mark.parametrize("text", ["no header\n", '["a", "b"]\n', '{"id": 1,\n'])
def test_what_is_no_table_is_read_as_jsonl(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given_on_standard_input(text, monkeypatch)
    with pytest.raises(InputError, match="standard input has a problem:\n  line 1"):
        items_of(Path("-"))


def test_columns_of_standard_input_are_named_if_none_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given_on_standard_input("prompt,gpt\nWhy?,Because.\n", monkeypatch)
    with pytest.raises(InputError, match="The columns are prompt, gpt"):
        items_of(Path("-"))
