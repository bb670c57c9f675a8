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
    with pytest.warns(UserWarning, match=r"left out: 1 answer to why \(such as 'because'\)"):
        judgments = read_judgments(path)
    assert judgments == [
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
    "label",
    [
        "Neither",
        "Equal",
        "Same",
        "Both",
        "Both good",
        "both_bad",
        "No preference",
        "About the same.",
    ],
)
def test_labels_of_ties(tmp_path: Path, label: str) -> None:
    pair = task(
        {"id": "7::A::B"}, result("better", "choices", {"choices": [label]}), lead_time=None
    )
    assert read_judgments(label_studio(tmp_path, pair)) == [
        Preference("10", "7", "A", "B", "better", "tie")
    ]
    path = tmp_path / "ann" / "annotated_instances.jsonl"
    path.parent.mkdir()
    path.write_text(potato_line("7::A::B", {"better": {label: "true"}}))
    assert read_judgments(path) == [Preference("ann", "7", "A", "B", "better", "tie")]


@pytest.mark.parametrize(
    ("name", "type", "value", "message"),
    [
        ("7::A::B", "choices", {"choices": ["Cannot say"]}, "'Cannot say' to q is not a choice"),
        ("7::A::B", "choices", {"choices": ["left", "right"]}, r"\['left', 'right'\] to q is not"),
        (
            "7::A::B",
            "pairwise",
            {"selected": "middle"},
            "'middle' to q is not(?s:.*), neither, both",
        ),
        ("7::A", "choices", {"choices": ["good"]}, "'good' to q is not a rating"),
        ("7::A", "choices", {"choices": ["4,5 – good"]}, "'4,5 – good' to q is not a rating"),
        (
            "7::A",
            "rating",
            {"rating": "good"},
            "'good' to q is not a rating(?s:.*)Ratings are numbers",
        ),
        ("7::A", "rating", {"rating": True}, "True to q is not a rating"),
    ],
)
def test_label_studio_answers_that_are_not_understood(
    tmp_path: Path, name: str, type: str, value: dict[str, Any], message: str
) -> None:
    understood = {"choices": ["left"]} if name.count("::") == 2 else {"choices": ["5"]}
    path = label_studio(
        tmp_path,
        task({"id": name}, result("q", "choices", understood)),
        task({"id": name}, result("q", type, value)),
    )
    with pytest.raises(InputError, match=f"task 1, judge 10: the answer {message}"):
        read_judgments(path)


def test_label_studio_numbers_that_are_texts(tmp_path: Path) -> None:
    results = [
        result("rating", "rating", {"rating": "5"}),
        result("number", "number", {"number": " -2.5"}),
        result("choices", "choices", {"choices": ["−3 – worse"]}),
    ]
    judgments = read_judgments(label_studio(tmp_path, task({"id": "7::A"}, *results)))
    assert [one.value for one in judgments if isinstance(one, Judgment)] == [5.0, -2.5, -3.0]


def test_label_studio_questions_for_something_else_are_left_out(tmp_path: Path) -> None:
    sure = result("sure", "rating", {"rating": 4})
    path = label_studio(
        tmp_path,
        task({"id": "7::A::B"}, result("better", "pairwise", {"selected": "left"}), sure),
        task({"id": "8::A::B"}, sure, result("topic", "choices", {"choices": ["sports"]})),
        task({"id": "8::A::B"}, result("topic", "choices", {"choices": []})),
    )
    with pytest.warns(
        UserWarning,
        match=r"left out: 2 answers to sure \(such as 4\); 1 answer to topic \(such as 'sports'\)",
    ):
        assert len(read_judgments(path)) == 1


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
    for path, found in (
        (tmp_path, expected),
        (tmp_path / "bob", expected[2:]),
        (tmp_path / "bob" / "annotated_instances.jsonl", expected[2:]),
    ):
        with pytest.warns(UserWarning, match=r"left out: . answers? to tags \(such as 'odd'\)"):
            assert read_judgments(path) == found


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


@pytest.mark.parametrize(
    ("label", "value"),
    [("rating-5", 5.0), ("Q-5", 5.0), ("-5", -5.0), ("scale_-2", -2.0), ("worse -1", -1.0),
     ("score=-2", -2.0), ("−2 (worse)", -2.0), ("stars-3.5", 3.5)],
)  # fmt: skip
def test_hyphens_and_signs_in_potato_labels(tmp_path: Path, label: str, value: float) -> None:
    path = tmp_path / "ann" / "annotated_instances.jsonl"
    path.parent.mkdir()
    path.write_text(potato_line("7::A", {"quality": {label: True}}))
    assert read_judgments(path) == [Judgment("ann", "7", "A", "quality", value)]


def test_potato_judges_with_files_of_other_versions(tmp_path: Path) -> None:
    def write_state(judge: str, label: str) -> None:
        # As Potato's `user_state_management.py` writes it.
        answers = {"7::A": [[{"schema": "quality", "name": label}, "true"]]}
        state = {"user_id": judge, "instance_id_to_label_to_value": answers}
        (tmp_path / judge / "user_state.json").write_text(json.dumps(state))

    for judge in ("ann", "bob", "cy"):
        (tmp_path / judge).mkdir()
    for judge in ("ann", "cy"):
        (tmp_path / judge / "annotated_instances.jsonl").write_text(
            potato_line("7::A", {"quality": {"scale_4": "4"}})
        )
    write_state("bob", "2")
    write_state("cy", "1")
    assert read_judgments(tmp_path) == [
        Judgment("ann", "7", "A", "quality", 4.0), Judgment("bob", "7", "A", "quality", 2.0),
        Judgment("cy", "7", "A", "quality", 4.0),
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
    path.write_text(
        potato_line("7::A::B", {"better": {"B": "true"}})
        + potato_line("8::A::B", {"better": {"selection": "A"}, "why": {"text_box": "Same."}})
    )
    with pytest.warns(UserWarning, match=r"1 answer to why \(such as 'text_box=Same\.'\)"):
        assert read_judgments(path) == [
            Preference("ann", "7", "A", "B", "better", "b"),
            Preference("ann", "8", "A", "B", "better", "a"),
        ]


def test_potato_problems(tmp_path: Path) -> None:
    path = tmp_path / "ann" / "annotated_instances.jsonl"
    path.parent.mkdir()
    path.write_text(potato_line("item_1", {"quality": {"4": "true"}}))
    with pytest.raises(InputError, match=r"'item_1' names no item and system(.|\n)*ITEM::SYSTEM"):
        read_judgments(path)
    path.write_text(potato_line("1::A", {}))
    with pytest.raises(InputError, match="holds no ratings"):
        read_judgments(path)


@pytest.mark.parametrize(
    ("name", "labels", "message"),
    [
        ("1::A::B", {"maybe": True}, "'maybe' to q is not a choice(?s:.*), neither, both"),
        ("1::A::B", {"A": True, "B": True, "tie": False}, "'A, B' to q is not a choice"),
        ("1::A", {"good": "true"}, "'good' to q is not a rating(?s:.*)Ratings are numbers"),
        ("1::A", {"text_box": "4,5"}, "'text_box=4,5' to q is not a rating"),
    ],
)
def test_potato_answers_that_are_not_understood(
    tmp_path: Path, name: str, labels: dict[str, Any], message: str
) -> None:
    path = tmp_path / "ann" / "annotated_instances.jsonl"
    path.parent.mkdir()
    understood = potato_line(name, {"q": {"A" if name == "1::A::B" else "5": True}})
    for lines in (understood, ""):
        path.write_text(lines + potato_line(name, {"q": labels}))
        number = 1 + len(lines.splitlines())
        with pytest.raises(InputError, match=f"ann, line {number}, {name}: the answer {message}"):
            read_judgments(path)


def test_a_potato_number_of_zero_is_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "ann" / "annotated_instances.jsonl"
    path.parent.mkdir()
    path.write_text(potato_line("1::A", {"q": {"slider": 0}, "why": {"text_box": ""}}))
    assert read_judgments(path) == [Judgment("ann", "1", "A", "q", 0.0)]


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
