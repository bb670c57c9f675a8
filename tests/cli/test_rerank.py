"""`wellput rerank` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

ITEMS = [
    {"id": "a", "candidates": ["one two", "one two three", "x"], "references": ["one two three"]},
    {"id": "b", "candidates": ["four", "four"], "references": ["four"]},
]


@pytest.fixture
def nbest(tmp_path: Path) -> str:
    path = tmp_path / "nbest.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in ITEMS))
    return str(path)


def test_the_best_candidates_are_printed(run: Run, nbest: str) -> None:
    result = run("rerank", nbest, "-m", "wer")  # lower is better
    assert (result.code, result.out) == (0, "one two three\nfour\n")


def test_an_evalset_has_the_first_and_the_best_candidates(
    run: Run, nbest: str, tmp_path: Path
) -> None:
    output = tmp_path / "best.jsonl"
    result = run("rerank", nbest, "-m", "chrf", "-o", str(output))
    assert result.code == 0, result.err
    first, second = map(json.loads, output.read_text().splitlines())
    assert first["outputs"] == {"first": "one two", "reranked": "one two three"}
    assert second["references"] == ["four"]
    assert "items where the first was not chosen" in result.out


def test_json_has_each_choice(run: Run, nbest: str) -> None:
    found = json.loads(run("rerank", nbest, "-m", "exact", "--format", "json").out)
    assert [(item["place"], item["score"]) for item in found["items"]] == [(2, 1.0), (1, 1.0)]
    assert found["items"][0]["first_score"] == 0


def test_a_candidate_without_a_score_is_chosen_last(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "n.jsonl"
    path.write_text('{"id": 1, "candidates": ["", "a a"]}\n{"id": 2, "candidates": ["", ""]}\n')
    assert run("rerank", str(path), "-m", "ttr").out == "a a\n\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "a"}', 'line 1: no "candidates"'),
        ('{"id": "a", "candidates": []}', 'line 1: no "candidates"'),
        ('{"candidates": ["x"]}', 'line 1: no "id"'),
        ('{"id": "a", "candidates": "x"}', 'line 1: "candidates" is not a list of texts'),
        ('{"id": "a", "candidates": ["x"], "source": 3}', 'line 1: "source" is not a text'),
        ("[1]", "line 1: not an object"),
        ("{", "line 1: not JSON"),
    ],
)
def test_bad_lines_are_named(run: Run, tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "n.jsonl"
    path.write_text(line + "\n")
    result = run("rerank", str(path), "-m", "ttr")
    assert result.code == 2
    assert message in result.err


def test_an_id_given_twice_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "n.jsonl"
    path.write_text('{"id": "a", "candidates": ["x"]}\n' * 2)
    result = run("rerank", str(path), "-m", "ttr")
    assert (result.code, "twice" in result.err) == (2, True)


@pytest.mark.parametrize(("metrics", "message"), [("length", "neither good"), ("ttr,wer", "one")])
def test_what_cannot_choose_is_refused(run: Run, nbest: str, metrics: str, message: str) -> None:
    result = run("rerank", nbest, "-m", metrics)
    assert result.code == 2
    assert message in result.err


def test_items_without_references_are_named_by_their_ids(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "n.jsonl"
    path.write_text(
        '{"id": "has", "candidates": ["x", "y"], "references": ["x"]}\n'
        '{"id": "lacks", "candidates": ["x", "y"]}\n'
    )
    result = run("rerank", str(path), "-m", "chrf")
    assert result.code == 2
    assert "1 of 2 items has none:\n  item lacks\n" in result.err
    assert '"references"' in result.err and "--ref" not in result.err
