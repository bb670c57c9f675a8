"""Evaluation sets from data frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest

import wellput
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item

COLUMNS: dict[str, list[Any]] = {
    "prompt_id": ["p", "q", "r"],
    "prompt": ["Say a.", "Say b.", None],
    "gold": ["a", "b", None],
    "more": [["aa", "aaa"], [], None],
    "note": ["here", None, "there"],
    "gpt": ["a", None, ""],
    "llama3:8b": ["x", "b", "c"],
}

EXPECTED = (
    Item("p", {"gpt": "a", "llama3:8b": "x"}, ("a", "aa", "aaa"), (), "Say a.", "here"),
    Item("q", {"llama3:8b": "b"}, ("b",), (), "Say b.", None),
    Item("r", {"gpt": "", "llama3:8b": "c"}, (), (), None, "there"),
)

FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas with NA": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas from Arrow": lambda columns: pl.DataFrame(columns).to_pandas(),
    "polars": pl.DataFrame,
    "lists": dict,
    "arrays": lambda columns: (
        {name: np.array(cells, dtype=object) for name, cells in columns.items() if name != "more"}
        | {"more": columns["more"]}
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_by_name(kind: str) -> None:
    evalset = EvalSet.from_frame(
        FRAMES[kind](COLUMNS),
        id="prompt_id",
        source="prompt",
        context="note",
        references=["gold", "more"],
        outputs=["gpt", "llama3:8b"],
    )
    assert evalset.items == EXPECTED
    assert evalset.systems == ("gpt", "llama3:8b")
    texts = [text for item in evalset for text in (*item.references, *item.outputs.values())]
    assert {type(text) for text in texts} == {str}


@pytest.mark.parametrize("frame", [pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), COLUMNS])
def test_systems_may_have_other_names_than_their_columns(frame: Any) -> None:
    evalset = EvalSet.from_frame(frame, references="gold", outputs={"A": "llama3:8b", "B": "gpt"})
    assert evalset.systems == ("A", "B")
    assert evalset.items[0] == Item("1", {"A": "x", "B": "a"}, ("a",))
    assert [item.id for item in evalset] == ["1", "2", "3"]
    assert wellput.score(evalset, "exact")["A", "exact"].n == 2


def test_one_column_of_outputs_and_no_references() -> None:
    evalset = EvalSet.from_frame(pd.DataFrame(COLUMNS), outputs="gpt")
    assert evalset.systems == ("gpt",)
    assert evalset.items[1] == Item("2", {}, ())


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_numbers_are_ids(frame: Callable[[Any], Any]) -> None:
    columns = {"number": [7, 8], "A": ["x", "y"]}
    evalset = EvalSet.from_frame(frame(columns), id="number", outputs="A")
    assert [item.id for item in evalset] == ["7", "8"]


def test_a_row_label_of_pandas_means_nothing() -> None:
    frame = pd.DataFrame(COLUMNS).iloc[::-1]
    evalset = EvalSet.from_frame(frame, id="prompt_id", outputs="gpt")
    assert [item.id for item in evalset] == ["r", "q", "p"]


def test_columns_that_are_not_there_are_all_named_with_their_neighbors() -> None:
    with pytest.raises(InputError) as caught:
        EvalSet.from_frame(
            pd.DataFrame(COLUMNS), id="prompt-id", references=["Gold"], outputs=["gpt", "lama3:8b"]
        )
    assert str(caught.value).split("\n") == [
        "Some columns cannot be found:",
        "  id: no column 'prompt-id'. Did you mean prompt_id or prompt?",
        "  references: no column 'Gold'. Did you mean gold?",
        "  outputs: no column 'lama3:8b'. Did you mean llama3:8b?",
        "The frame has prompt_id, prompt, gold, more, note, gpt, llama3:8b.",
    ]


def test_cells_that_are_not_text_are_all_named() -> None:
    columns = {
        "id": ["p", "q"],
        "gold": [["a", 3], 2.5],
        "gpt": [True, ["a", 4]],
        "source": [b"bytes", "s"],
    }
    with pytest.raises(InputError) as caught:
        EvalSet.from_frame(columns, id="id", references="gold", outputs="gpt", source="source")
    assert str(caught.value).split("\n") == [
        "These cells of the frame cannot be used:",
        "  column gpt, item p: True is not a text",
        "  column gpt, item q: 4 is not a text",
        "  column gold, item p: 3 is not a text",
        "  column gold, item q: 2.5 is not a text",
        "  column source, item p: b'bytes' is not a text",
        "Outputs, references, sources and contexts are texts; documents and tags may be whole "
        "numbers, too. None and NaN are missing.",
    ]


def test_a_long_cell_is_shown_shortened() -> None:
    with pytest.raises(InputError) as caught:
        EvalSet.from_frame({"A": [{"word": "x" * 1000}]}, outputs="A")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("identifier", [None, float("nan"), 1.0, True, ""])
def test_bad_ids(identifier: object) -> None:
    with pytest.raises(
        InputError, match="column id, row 2: an id is a text or a whole number, not"
    ):
        EvalSet.from_frame({"id": ["p", identifier], "A": ["x", "y"]}, id="id", outputs="A")


def test_repeated_ids() -> None:
    with pytest.raises(InputError, match="unique"):
        EvalSet.from_frame({"id": ["p", "p"], "A": ["x", "y"]}, id="id", outputs="A")


@pytest.mark.parametrize(
    ("frame", "outputs", "message"),
    [
        ([1, 2], "A", "Give a pandas or Polars data frame, .* not list"),
        ({}, "A", "names to columns, not dict"),
        ({"A": "text"}, "A", "The column A must be a list"),
        ({"A": ["x"]}, [], "outputs must name at least one column"),
        ({"A": ["x"]}, {}, "outputs must name at least one column"),
        ({"A": ["x"]}, ["A", "A"], "names a column twice: A, A"),
        ({"A": ["x"], "B": ["x", "y"]}, ["A", "B"], "equally long:\n  A: 1\n  B: 2"),
        (pd.DataFrame([["x", "y"]], columns=["A", "A"]), "A", "2 columns are named 'A'"),
    ],
)
def test_what_is_not_a_frame(frame: Any, outputs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        EvalSet.from_frame(frame, outputs=outputs)


def test_a_lazy_frame_is_refused() -> None:
    with pytest.raises(InputError, match=r"Collect the lazy frame first: frame.collect\(\)"):
        EvalSet.from_frame(pl.LazyFrame(COLUMNS), outputs="gpt")


STRUCTURED: dict[str, list[Any]] = {
    "doc": [1, 1, None],
    "domain": ["news", None, "chat"],
    "is_long": [True, False, None],
    "A": [["a", "b"], ["c"], None],
}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pyarrow.table, dict])
def test_documents_tags_and_samples(frame: Callable[[Any], Any]) -> None:
    evalset = EvalSet.from_frame(
        frame(STRUCTURED),
        outputs="A",
        document="doc",
        tags={"domain": "domain", "long": "is_long"},
    )
    assert evalset.items == (
        Item("1", {"A": ("a", "b")}, document="1", tags={"domain": "news", "long": "true"}),
        Item("2", {"A": "c"}, document="1", tags={"long": "false"}),
        Item("3", {}, tags={"domain": "chat"}),
    )


def test_a_fraction_names_no_document() -> None:
    with pytest.raises(InputError, match=r"column doc, item 1: 1\.5 is not a text"):
        EvalSet.from_frame({"doc": [1.5], "A": ["a"]}, outputs="A", document="doc")
