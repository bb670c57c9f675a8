"""`wellput.rerank` with candidates in memory, and its result."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import wellput
from wellput.io import read_evalset
from wellput.io.nbest import Candidates

ITEMS: list[dict[str, Any]] = [
    {"id": "a", "candidates": ["one two", "one two three"], "references": ["one two three"]},
    {"id": 7, "candidates": ("four", "four"), "references": ("four",), "source": "vier"},
]


def test_lists_dictionaries_and_files_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "n.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in ITEMS))
    by_file = wellput.rerank(path, "wer")
    assert by_file.texts == ["one two three", "four"]
    objects = [choice.candidates for choice in by_file.choices]
    assert objects[1] == Candidates("7", ("four", "four"), ("four",), "vier")
    for given in (ITEMS, objects, iter(ITEMS)):
        assert wellput.rerank(given, wellput.metric("wer")).to_dict() == by_file.to_dict()


def test_lists_of_texts_have_their_places_as_ids() -> None:
    result = wellput.rerank([["a a", "a b"], ["", ""]], "ttr")
    assert [record["id"] for record in result.records()] == ["1", "2"]
    assert math.isnan(result.records()[1]["score"])
    assert result.to_dict()["items"][1]["score"] is None
    assert str(result) == "a b"  # the second is empty


def test_an_evalset_without_a_file(tmp_path: Path) -> None:
    result = wellput.rerank(ITEMS, "wer", path=tmp_path / "best.jsonl")
    written = read_evalset(tmp_path / "best.jsonl")
    assert list(written) == list(result.evalset)
    assert written.items[0].outputs == {"first": "one two", "reranked": "one two three"}
    assert "mean wer of the chosen" in str(result)
    result.save(tmp_path / "best.txt")
    assert (tmp_path / "best.txt").read_text() == "one two three\nfour\n"


@pytest.mark.parametrize(
    ("nbest", "metric", "message"),
    [
        (["one", "two"], "ttr", "2 problems:\n  place 1: not an object"),
        ([["a"], [7]], "ttr", 'place 2: "candidates" is no list of texts'),
        ([[]], "ttr", 'place 1: no "candidates"'),
        ([ITEMS[0], ITEMS[0]], "wer", "the id 'a' is given twice"),
        ([["a"]], "wer", "wer needs references"),
        ([["a"]], "ttr,wer", "takes one metric, not 2"),
    ],
)
def test_errors(nbest: Any, metric: str, message: str) -> None:
    with pytest.raises(wellput.InputError, match=message):
        wellput.rerank(nbest, metric)
