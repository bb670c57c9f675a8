"""Several answers of a system to one test of a log are one item: the first answer, and the mean of the
scores. Otherwise a few questions, asked many times, would count as many questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.io.test_eval_logs import promptfoo_row, write
from tests.io.test_model_logs import RAGAS_ROWS, deepeval_run, generated, write_samples
from wellput.io import read_evalset


def promptfoo_tests(tests: list[dict[str, Any]], *, repeats: int = 1) -> list[dict[str, Any]]:
    """The rows of two providers for these tests. As promptfoo does, each repeat of a test has a number
    of its own. p:a is right in its first repeat only, p:b always."""
    rows = []
    for place, test in enumerate(tests):
        for repeat in range(repeats):
            for provider, score in (("p:a", float(repeat == 0)), ("p:b", 1.0)):
                row = promptfoo_row(place * repeats + repeat, provider, f"said {repeat}", score)
                earlier = {
                    "_conversation": [f"{provider} {repeat}"],
                    "stored": f"{provider} {repeat}",
                }
                row |= {"testCase": test, "vars": {**test["vars"], **earlier}}
                rows.append(row)
    return rows


def equals(value: str) -> list[dict[str, Any]]:
    return [{"type": "equals", "value": value}]


def test_repeats_of_a_promptfoo_test_are_one_item(tmp_path: Path) -> None:
    tests = [{"vars": {"word": word}, "assert": equals(word)} for word in ("w0", "w1")]
    rows = promptfoo_tests(tests, repeats=4)
    path = write(tmp_path / "results.json", {"results": {"results": rows}})
    evalset = read_evalset(path)
    # Tests 1 to 4 are repeats of the first test, 5 to 8 of the second.
    assert [item.id for item in evalset] == ["1", "5"]
    for item, word in zip(evalset, ("w0", "w1"), strict=True):
        assert item.references == (word,)
        assert item.outputs == {"p:a": "said 0", "p:b": "said 0"}
        # p:a: (1 + 0 + 0 + 0) / 4; the tone is half the score.
        assert item.logged["p:a"] == {"score": 0.25, "pass": 0.25, "tone": 0.125}
        assert item.logged["p:b"] == {"score": 1.0, "pass": 1.0, "tone": 0.5}
    # Repeats may end in another order; the id does not depend on it.
    write(path, {"results": {"results": rows[::-1]}})
    turned = read_evalset(path)
    assert [(item.id, item.outputs["p:a"]) for item in turned] == [("5", "said 3"), ("1", "said 3")]
    assert turned.items[1].logged == evalset.items[0].logged


def test_a_failed_repeat_of_promptfoo_is_left_out_of_the_mean(tmp_path: Path) -> None:
    rows = promptfoo_tests([{"vars": {"word": "w0"}}], repeats=3)
    rows[0]["response"] = None
    (item,) = read_evalset(write(tmp_path / "results.json", {"results": {"results": rows}}))
    assert item.id == "1" and item.outputs["p:a"] == "said 1"
    assert item.logged["p:a"]["score"] == 0 and item.logged["p:b"]["score"] == 1


@pytest.mark.parametrize(
    "other",
    [
        {"vars": {"word": "w1"}},
        {"vars": {"word": "w0", "tone": "kind"}},
        {"assert": equals("w1")},
        {"assert": [{"type": "icontains", "value": "w0"}]},
        {"description": "in a letter"},
    ],
    ids=json.dumps,
)
def test_other_variables_assertions_or_descriptions_are_other_promptfoo_tests(
    tmp_path: Path, other: dict[str, Any]
) -> None:
    test = {"vars": {"word": "w0"}, "assert": equals("w0"), "description": "in a talk"}
    path = tmp_path / "results.json"
    write(path, {"results": {"results": promptfoo_tests([test, {**test, **other}], repeats=2)}})
    assert [item.id for item in read_evalset(path)] == ["1", "3"]
    write(path, {"results": {"results": promptfoo_tests([test, {**test, **other}, test])}})
    assert [item.id for item in read_evalset(path)] == ["1", "2"]


def test_promptfoo_tests_without_variables(tmp_path: Path) -> None:
    """A test may have no variables; rows whose variables are not known are not repeats."""
    path = tmp_path / "results.json"
    rows = promptfoo_tests([{"vars": {}}, {"vars": {}, "assert": equals("w")}], repeats=2)
    write(path, {"results": {"results": rows}})
    assert [item.id for item in read_evalset(path)] == ["1", "3"]
    rows = [promptfoo_row(test, "p:a", "x", 1.0) for test in (0, 1)]
    for row in rows:
        del row["vars"]
        row["testCase"] = {"assert": equals("w")}
    write(path, {"results": {"results": rows}})
    assert [item.id for item in read_evalset(path)] == ["1", "2"]


def test_older_promptfoo_tests_are_named_by_their_variables(tmp_path: Path) -> None:
    rows = [promptfoo_row(test, "p:a", "x", score) for test in (0, 1) for score in (0.0, 1.0)]
    for row in rows:
        del row["testIdx"]
    found = read_evalset(write(tmp_path / "results.json", {"results": {"results": rows}}))
    assert [item.id for item in found] == ['{"word": "w0"}', '{"word": "w1"}']
    assert [item.logged["p:a"]["score"] for item in found] == [0.5, 0.5]


def test_repeats_of_the_harness_are_one_item(tmp_path: Path) -> None:
    row = generated(0, "Paris", "none", 0.5)
    row["resps"] = [["Rome", "Paris"]]
    (item,) = read_evalset(write_samples(tmp_path / "m" / "samples_t.jsonl", [row]))
    assert item.outputs == {"m": "Rome"} and item.logged == {"m": {"exact_match": 0.5}}


def test_repeated_cases_of_deepeval_are_one_item(tmp_path: Path) -> None:
    run = deepeval_run(["Paris", "Rome", "Rome"])
    for case in run["testCases"]:
        case["input"] = "Capital?"
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run), encoding="utf-8")
    (item,) = read_evalset(path)
    assert item.outputs == {"run": "Paris"}
    assert item.logged["run"]["pass"] == pytest.approx(1 / 3)
    # (0.25 + 0.75 + 1.25) / 3
    assert item.logged["run"]["Correctness [GEval]"] == pytest.approx(0.75)


@pytest.mark.parametrize("has_ids", [False, True])
def test_repeated_rows_of_ragas_are_one_item(tmp_path: Path, has_ids: bool) -> None:
    scores = [1.0, 0.0, 0.5]
    rows = [{**RAGAS_ROWS[0], "response": f"r{s}", "exact_match": s} for s in scores]
    if has_ids:
        rows = [{**row, "id": f"row {place}"} for place, row in enumerate(rows)]
    path = tmp_path / "r.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    (item,) = read_evalset(path)
    assert (item.id, item.outputs) == ("row 0" if has_ids else "1", {"r": "r1.0"})
    assert item.logged["r"]["exact_match"] == 0.5
