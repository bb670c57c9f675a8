"""Files of Label Studio, Potato and evalica, in the form of their documentation and example
projects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wellput.core.errors import InputError
from wellput.core.judgment import Judgment, Preference
from wellput.io import read_judgments


def label_studio(tmp_path: Path, *tasks: dict[str, Any]) -> Path:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    return path


def task(data: dict[str, Any], *results: dict[str, Any], **annotation: Any) -> dict[str, Any]:
    made = {"completed_by": 10, "was_cancelled": False, "lead_time": 4.288, "result": list(results)}
    return {"id": 1, "data": data, "annotations": [{**made, **annotation}], "predictions": []}


def result(name: str, type: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": type, "id": "x", "value": value}


def test_label_studio_ratings(tmp_path: Path) -> None:
    data = {"item": 7, "system": "A", "text": "…"}
    path = label_studio(
        tmp_path,
        task(
            data,
            result("quality", "rating", {"rating": 4}),
            result("fluency", "choices", {"choices": ["3 – so-so"]}),
            result("why", "textarea", {"text": ["because"]}),
        ),
        task(
            {"id": "7::B"},
            result("quality", "number", {"number": 2.5}),
            completed_by={"id": 3, "email": "ann@example.org"},
        ),
        task(data, result("quality", "rating", {"rating": 1}), was_cancelled=True),
    )
    extra = {"ms": "4288"}
    assert read_judgments(path) == [
        Judgment("10", "7", "A", "quality", 4.0, extra),
        Judgment("10", "7", "A", "fluency", 3.0, extra),
        Judgment("ann@example.org", "7", "B", "quality", 2.5, extra),
    ]


def test_label_studio_pairs(tmp_path: Path) -> None:
    data = {"item": "7", "system_a": "A", "system_b": "B"}
    path = label_studio(
        tmp_path,
        task(data, result("better", "pairwise", {"selected": "left"}), lead_time=None),
        task(data, result("better", "choices", {"choices": ["Tie"]}), lead_time=None),
    )
    assert read_judgments(path) == [
        Preference("10", "7", "A", "B", "better", "a"),
        Preference("10", "7", "A", "B", "better", "tie"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ('{"a": 1}', "not a Label Studio export"),
        ('[{"text": "…", "quality": 4}]', "JSON-MIN"),
        (json.dumps([task({"text": "…"})]), "names no item and system"),
        (json.dumps([task({"id": "7::A"})]), "holds no ratings"),
    ],
)
def test_label_studio_problems(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "export.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_judgments(path)


def potato_line(name: str, labels: dict[str, Any]) -> str:
    record = {
        "id": name, "displayed_text": "…", "label_annotations": labels, "span_annotations": {},
        "behavioral_data": {"time_string": "Time spent: 0d 0h 0m 5s "},
    }  # fmt: skip
    return json.dumps(record) + "\n"


def test_potato_folders(tmp_path: Path) -> None:
    for judge, value in (("ann", "4"), ("bob", "2")):
        (tmp_path / judge).mkdir()
        (tmp_path / judge / "annotated_instances.jsonl").write_text(
            potato_line("7::A", {"quality": {"scale_" + value: value}})
            + potato_line("7::B", {"quality": {f"{value} points": "true"}, "tags": {"odd": "true"}})
        )
    expected = [
        Judgment("ann", "7", "A", "quality", 4.0), Judgment("ann", "7", "B", "quality", 4.0),
        Judgment("bob", "7", "A", "quality", 2.0), Judgment("bob", "7", "B", "quality", 2.0),
    ]  # fmt: skip
    assert read_judgments(tmp_path) == expected
    assert read_judgments(tmp_path / "bob") == expected[2:]
    assert read_judgments(tmp_path / "bob" / "annotated_instances.jsonl") == expected[2:]


def test_potato_states_of_newer_versions(tmp_path: Path) -> None:
    (tmp_path / "u1").mkdir()
    (tmp_path / "u1" / "user_state.json").write_text(
        json.dumps(
            {
                "user_id": "ann",
                "instance_id_to_label_to_value": {
                    "7::A": {"quality": {"labels": {"5": True}}},
                    "7::B": {"quality": {"slider": 40}},
                },
            }
        )
    )
    assert read_judgments(tmp_path) == [
        Judgment("ann", "7", "A", "quality", 5.0), Judgment("ann", "7", "B", "quality", 40.0),
    ]  # fmt: skip


def test_potato_table(tmp_path: Path) -> None:
    path = tmp_path / "annotated_instances.tsv"
    path.write_text(
        "user\tinstance_id\tdisplayed_text\tquality:::scale_1\tquality:::scale_5\n"
        "ann\t7::A\t…\t\t5\nbob\t7::A\t…\t1\t\n"
    )
    assert read_judgments(path) == [
        Judgment("ann", "7", "A", "quality", 5.0), Judgment("bob", "7", "A", "quality", 1.0),
    ]  # fmt: skip


def test_potato_pairs(tmp_path: Path) -> None:
    path = tmp_path / "ann" / "annotated_instances.jsonl"
    path.parent.mkdir()
    path.write_text(potato_line("7::A::B", {"better": {"B": "true"}}))
    assert read_judgments(path) == [Preference("ann", "7", "A", "B", "better", "b")]


def test_potato_problems(tmp_path: Path) -> None:
    path = tmp_path / "ann" / "annotated_instances.jsonl"
    path.parent.mkdir()
    path.write_text(potato_line("item_1", {"quality": {"4": "true"}}))
    with pytest.raises(InputError, match=r"'item_1' names no item and system(.|\n)*ITEM::SYSTEM"):
        read_judgments(path)
    path.write_text(potato_line("1::A", {"quality": {"good": "true"}}))
    with pytest.raises(InputError, match="holds no ratings"):
        read_judgments(path)


def test_evalica(tmp_path: Path) -> None:
    path = tmp_path / "food.csv"
    path.write_text("left,right,winner\nPizza,Sushi,left\nBurger,Pasta,RIGHT\nA,B,tie\nA,B,skip\n")
    assert read_judgments(path) == [
        Preference("evalica", "1", "Pizza", "Sushi", "preference", "a"),
        Preference("evalica", "2", "Burger", "Pasta", "preference", "b"),
        Preference("evalica", "3", "A", "B", "preference", "tie"),
    ]
    path.write_text("left,right,winner\nPizza,Pizza,left\n")
    with pytest.raises(InputError, match="two different names"):
        read_judgments(path)


def test_a_score_file_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "en-de.mqm.seg.score"
    path.write_text("A\t-1.5\nA\tNone\nB\t0\nB 2\n")
    assert read_judgments(path) == [
        Judgment("mqm", "1", "A", "mqm", -1.5), Judgment("mqm", "1", "B", "mqm", 0.0),
        Judgment("mqm", "2", "B", "mqm", 2.0),
    ]  # fmt: skip
    path.write_text("A\tgood\nA\n")
    with pytest.raises(InputError, match="2 problems"):
        read_judgments(path)
