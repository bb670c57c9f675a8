"""Tables whose columns have other names."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import wellput
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.io.column_guesses import guessed_columns

TABLE = """\
prompt_id,prompt,gold,gpt,llama3:8b,topic,doc,latency
p1,What did it do?,it sat down,it sat,down sat,pets,d1,0.5
p2,How was it?,it rained all day,it rained,sunny,weather,d1,0.7
p3,And now?,it rained,it rained today,no,weather,d2,0.7
p4,And then?,it rained at night,rain,it was dark,weather,d2,0.6
"""
COLUMNS = [
    "id=prompt_id",
    "source=prompt",
    "references=gold",
    "outputs=gpt",
    "outputs=llama3:8b",
    "tags=topic",
    "document=doc",
]
GUESSED = (
    "--column id=prompt_id --column document=doc --column source=prompt --column references=gold "
    "--column tags=topic --column outputs=gpt --column outputs=llama3:8b"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text(TABLE)
    return path


def test_every_format_and_a_frame_give_the_same_items(table: Path) -> None:
    evalset = wellput.read_evalset(table, column=COLUMNS)
    assert evalset.items[0] == Item(
        "p1",
        {"gpt": "it sat", "llama3:8b": "down sat"},
        ("it sat down",),
        source="What did it do?",
        document="d1",
        tags={"topic": "pets"},
    )
    frame = pd.read_csv(table)
    lines = table.with_suffix(".jsonl")
    frame.to_json(lines, orient="records", lines=True)
    parquet = table.with_suffix(".parquet")
    frame.to_parquet(parquet)
    for path in (lines, parquet):
        assert wellput.read_evalset(path, column=COLUMNS).items == evalset.items
    as_frame = EvalSet.from_frame(
        frame,
        id="prompt_id",
        source="prompt",
        references="gold",
        outputs=["gpt", "llama3:8b"],
        tags=["topic"],
        document="doc",
    )
    assert as_frame.items == evalset.items
    named = wellput.read_evalset(
        table, column={"id": "prompt_id", "references": "gold", "outputs": {"A": "gpt"}}
    )
    assert named.items[0].outputs == {"A": "it sat"}


def test_items_without_an_id_are_numbered(table: Path) -> None:
    ids = [item.id for item in wellput.read_evalset(table, column=["outputs=gpt"])]
    assert ids == ["1", "2", "3", "4"]


def test_usual_names_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("id,references.0,gpt,prediction\n7,a,b,c\n")
    [item] = wellput.read_evalset(path, column=["outputs.A=gpt"])
    assert item == Item("7", {"A": "b"}, ("a",))


def test_references_and_samples_in_lists(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text(json.dumps({"gold": ["a", "b"], "more": "c", "gpt": ["x", "y"]}))
    [item] = wellput.read_evalset(
        path, column=["references=gold", "references=more", "outputs=gpt"]
    )
    assert item == Item("1", {"gpt": ("x", "y")}, ("a", "b", "c"))


def test_partitions_use_the_same_columns(table: Path, tmp_path: Path) -> None:
    plain = wellput.score(table, "chrf", column=COLUMNS)
    again = wellput.score(table, "chrf", column=COLUMNS, resume=tmp_path / "finished")
    assert again.scores == plain.scores


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("gpt", r"column='gpt': write FIELD=NAME, such as column='outputs=gpt'"),
        ("output=gpt", r"output is not a field of an item\. Did you mean outputs\?"),
        ("outputs=gtp", r"no column 'gtp' for outputs\. Did you mean gpt\?"),
        (["id=gpt", "id=gold"], r"column='id=gold': id is given twice"),
        (["outputs=gpt", "tags=gpt"], r"the column gpt is used twice"),
    ],
)
def test_wrong_mappings_are_refused(table: Path, column: str | list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        wellput.read_evalset(table, column=column)


def test_columns_are_for_files() -> None:
    with pytest.raises(InputError, match=r"give them to EvalSet\.from_frame"):
        wellput.score(EvalSet.of({"A": ["a"]}), "length", column=["outputs=gpt"])


def test_a_header_without_known_names_gets_the_likeliest_mapping(table: Path) -> None:
    with pytest.raises(InputError) as caught:
        wellput.score(table, "chrf")
    found = str(caught.value)
    assert "The columns are prompt_id, prompt, gold, gpt, llama3:8b, topic, doc, latency." in found
    assert "column=['id=prompt_id', 'document=doc', 'source=prompt', 'references=gold'" in found


def test_nothing_to_score_names_the_columns(table: Path) -> None:
    table.write_text(TABLE.replace("prompt_id", "id"))
    with pytest.raises(
        InputError, match=r"no item has an output\. The columns are id, prompt, gold"
    ):
        wellput.score(table, "chrf")


def test_the_result_of_columns(table: Path) -> None:
    result = wellput.columns(table)
    assert result.options == GUESSED
    assert [view.read_as for view in result.columns] == [None] * 8
    half = wellput.columns(table, column=["id=prompt_id", "outputs=gpt"])
    assert [view.read_as for view in half.columns][:4] == ["id", None, None, "outputs.gpt"]
    assert "Ignored: prompt, gold, llama3:8b, topic, doc, latency." in str(half)
    assert half.options.startswith(
        "--column id=prompt_id --column outputs=gpt --column document=doc"
    )
    given = [text for text in half.options.split() if text != "--column"]
    assert (
        wellput.score(table, "chrf", column=given).systems
        == wellput.score(
            table, "chrf", column=[text for text in GUESSED.split() if text != "--column"]
        ).systems
    )


def test_guesses_from_names_and_cells() -> None:
    rows = [
        {"Question": f"q {i}", "Gold Answer": "g", "n": str(i), "x": f"x {i}"} for i in range(9)
    ]
    assert guessed_columns(list(rows[0]), rows) == {
        "Question": "source",
        "Gold Answer": "references",
        "x": "outputs",
    }
