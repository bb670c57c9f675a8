"""Logs of inspect_ai with multiple-choice questions whose choices are shuffled in each evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wellput
from wellput.core.errors import InputError
from wellput.io import read_evalset


def choosing(
    choices: list[str], right: str, answer: str, *, by_letter: bool = True
) -> dict[str, Any]:
    """A multiple-choice sample as inspect_ai shuffles it: the target is the letter that the right
    choice has in this order, or its text."""
    target = "ABCD"[choices.index(right)] if by_letter else right
    return {
        "id": 1,
        "epoch": 1,
        "input": "Which is the capital of France?",
        "choices": choices,
        "target": target,
        "output": {"completion": answer},
        "scores": {"choice": {"value": "C" if answer == target else "I"}},
    }


def write_log(path: Path, model: str, one: dict[str, Any], **arguments: object) -> None:
    run = {"task": "capitals", "model": model, "task_args": arguments}
    log = {"version": 2, "status": "success", "eval": run, "samples": [one]}
    path.write_text(json.dumps(log), encoding="utf-8")


def write_logs(folder: Path, **samples: dict[str, Any]) -> None:
    """Writes a log with one sample for each model."""
    for model, one in samples.items():
        write_log(folder / f"{model}.json", model, one)


def test_shuffled_choices_are_the_same_question_and_each_system_has_its_own_target(
    tmp_path: Path,
) -> None:
    write_logs(
        tmp_path,
        a=choosing(["Rome", "Paris", "Oslo"], "Paris", "B"),
        b=choosing(["Paris", "Oslo", "Rome"], "Paris", "B"),
        c=choosing(["Oslo", "Rome", "Paris"], "Paris", "C"),
    )
    evalset = read_evalset(tmp_path)
    (item,) = evalset
    assert item.outputs == {"a": "B", "b": "B", "c": "C"}
    assert item.references == ()
    assert item.references_by_system == {"a": ("B",), "b": ("A",), "c": ("C",)}
    result = wellput.score(evalset, "exact,chrf,logged")
    # The letter B is right in a's order and wrong in b's, as in the scores of the logs.
    for system, expected in (("a", 1.0), ("b", 0.0), ("c", 1.0)):
        assert result[system, "exact"].score == expected == result[system, "logged"].score
        assert result[system, "chrf"].score == 100 * expected


def test_a_letter_is_not_shared_between_orders_of_choices(tmp_path: Path) -> None:
    """b's log has no target, so nothing says which letter of its order is right."""
    without_target = {**choosing(["Paris", "Rome"], "Paris", "A"), "target": ""}
    write_logs(tmp_path, a=choosing(["Rome", "Paris"], "Paris", "B"), b=without_target)
    (item,) = read_evalset(tmp_path)
    assert (item.references_for("a"), item.references_for("b")) == (("B",), ())


def test_choices_in_one_order_have_shared_references(tmp_path: Path) -> None:
    capitals = ["Rome", "Paris"]
    write_logs(
        tmp_path,
        a=choosing(capitals, "Paris", "B"),
        b={**choosing(capitals, "Paris", "A"), "target": ["B"]},
    )
    (item,) = read_evalset(tmp_path)
    assert item.references == ("B",) and not item.references_by_system


def test_targets_may_be_the_texts_of_shuffled_choices(tmp_path: Path) -> None:
    write_logs(
        tmp_path,
        a=choosing(["Rome", "Paris"], "Paris", "Paris", by_letter=False),
        b=choosing(["Paris", "Rome"], "Paris", "Rome", by_letter=False),
    )
    evalset = read_evalset(tmp_path)
    result = wellput.score(evalset, "exact")
    assert (result["a", "exact"].score, result["b", "exact"].score) == (1.0, 0.0)


def test_several_right_choices_are_compared_as_texts(tmp_path: Path) -> None:
    first = choosing(["Rome", "Paris", "Oslo"], "Rome", "A") | {"target": ["A", "c"]}
    second = choosing(["Paris", "Oslo", "Rome"], "Rome", "B") | {"target": ["B", "C"]}
    write_logs(tmp_path, a=first, b=second)
    (item,) = read_evalset(tmp_path)
    assert item.references_by_system == {"a": ("A", "c"), "b": ("B", "C")}


def test_other_choices_or_another_right_choice_are_another_question(tmp_path: Path) -> None:
    first = choosing(["Rome", "Paris"], "Paris", "B")
    write_logs(tmp_path, a=first, b=choosing(["Paris", "Rome"], "Rome", "B"))
    with pytest.raises(InputError, match=r"item 1: the target is 'Paris' in .*'Rome' in"):
        read_evalset(tmp_path)
    write_logs(tmp_path, b=choosing(["Oslo", "Paris"], "Paris", "B"))
    with pytest.raises(InputError, match=r"item 1: the question is .*\"Rome\".*\"Oslo\""):
        read_evalset(tmp_path)
    # A choice that is offered twice counts twice.
    write_logs(tmp_path, b=choosing(["Rome", "Paris", "Paris"], "Paris", "B"))
    with pytest.raises(InputError, match="item 1: the question is"):
        read_evalset(tmp_path)


def test_shuffled_choices_do_not_make_other_data(tmp_path: Path) -> None:
    """The argument `cot` differs, but the questions are the same."""
    write_log(tmp_path / "a.json", "a", choosing(["Rome", "Paris"], "Paris", "B"), cot=True)
    write_log(tmp_path / "b.json", "b", choosing(["Paris", "Rome"], "Paris", "B"), cot=False)
    (item,) = read_evalset(tmp_path)
    assert (item.id, set(item.outputs)) == ("1", {"a", "b"})


def test_an_argument_tells_data_apart_although_choices_are_shuffled(tmp_path: Path) -> None:
    for model, choices in (("a", ["Rome", "Paris"]), ("b", ["Paris", "Rome"])):
        for year, right in ((1, "Rome"), (2, "Paris")):
            path = tmp_path / f"{model}{year}.json"
            write_log(path, model, choosing(choices, right, "B"), cot=model == "a", year=year)
    evalset = read_evalset(tmp_path)
    assert evalset.systems == ("a", "b")
    assert [item.id for item in evalset] == ["year=1/1", "year=2/1"]
    assert all(set(item.outputs) == {"a", "b"} for item in evalset)
