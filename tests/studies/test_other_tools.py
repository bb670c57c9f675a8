"""Exports that other tools read: Label Studio, Appraise, mt-metrics-eval. They are read back by
wellput's own readers; label-studio-sdk and mt-metrics-eval read the same files, where they are at
hand."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.studies.served_study import new_store
from tests.studies.studies import answer_all, judges_of
from wellput.core.errors import InputError
from wellput.core.judgment import Judgment, Preference
from wellput.io import read_evalset, read_judgments
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.exports import check_target, export
from wellput.studies.store import Store
from wellput.studies.study_setup import StudyItem, StudyPlan

ITEMS = (
    StudyItem("1", {"A": "The 👩‍🚀 ate fairies.", "B": "She ate."}, source="Un.", document="d"),
    StudyItem("2", {"A": "Second, of A.", "B": "Second, of B."}, source="Deux.", document="d"),
    StudyItem("3", {"A": "Third.", "B": "Third, of B."}, source="Trois."),
)
MARK: dict[str, Any] = {"start": 4, "end": 7, "severity": "major", "category": "", "text": "👩‍🚀"}
LACK: dict[str, Any] = {
    "start": "missing", "end": "missing", "severity": "minor", "category": "", "text": "when · where",
}  # fmt: skip


def marked_store(folder: Path, design: str, category: str = "") -> Store:
    """Two judges; the first marks two errors in the first output, the others mark nothing."""
    store = new_store(
        folder,
        default_questionnaire(design),
        items=ITEMS,
        plan=StudyPlan(judges=2, per_item=2),
        comments=True,
    )
    for number, judge in enumerate(judges_of(store, 2)):
        while (trial := store.next_trial(judge)) is not None:
            is_first = number == 0 and trial.variants[0].text.startswith("The 👩")
            marks = [{**span, "category": category} for span in (MARK, LACK)] if is_first else []
            answers: dict[str, Any] = {"errors": marks}
            if design == "spans":
                answers["quality"] = 40 if is_first else 90
            store.record(judge, trial.id, answers, ms=2500, comment="odd" if is_first else "")
    return store


def by_key(answers: list[Judgment] | list[Preference]) -> dict[tuple[str, str, str], Any]:
    found = {}
    for one in answers:
        assert isinstance(one, Judgment)
        spans = json.loads(one.extra["spans"])
        found[one.judge, one.item, one.system] = (one.value, spans, one.extra.get("comment", ""))
    return found


@pytest.mark.parametrize(
    ("design", "category"), [("spans", ""), ("mqm", "accuracy/omission"), ("mqm", "other")]
)
def test_label_studio_gives_back_what_was_written(
    tmp_path: Path, design: str, category: str
) -> None:
    store = marked_store(tmp_path, design, category)
    file = tmp_path / "tasks.json"
    done = export(store, str(file), target="label-studio")
    assert done.answers == 12 and done.design == str(tmp_path / "tasks.config.xml")
    assert by_key(list(read_judgments(file))) == by_key(store.judgments())  # type: ignore[arg-type]
    view = ET.fromstring((tmp_path / "tasks.config.xml").read_text(encoding="utf-8"))
    controls = {one.get("name") for one in view.iter() if one.get("toName")}
    tasks = json.loads(file.read_text(encoding="utf-8"))
    used = {r["from_name"] for t in tasks for a in t["annotations"] for r in a["result"]}
    assert used <= controls
    assert tasks[0]["data"]["text"] == ITEMS[0].outputs["A"]


def test_label_studio_has_pairs(tmp_path: Path) -> None:
    questionnaire = default_questionnaire("pairwise", ties=True)
    store = new_store(tmp_path, questionnaire, items=ITEMS, plan=StudyPlan(judges=3, per_item=3))
    for judge in judges_of(store, 3):
        answer_all(store, judge)
    file = tmp_path / "tasks.json"
    export(store, str(file), target="label-studio")

    def keys(answers: Any) -> set[tuple[str, ...]]:
        return {(a.judge, a.item, a.system_a, a.system_b, a.question, a.choice) for a in answers}

    assert keys(read_judgments(file)) == keys(store.judgments())
    assert {choice for *_, choice in keys(store.judgments())} == {"a", "b", "tie"}


@pytest.mark.parametrize("design", ["spans", "mqm"])
def test_appraise_gives_back_what_was_written(tmp_path: Path, design: str) -> None:
    category = "accuracy/mistranslation" if design == "mqm" else ""
    store = marked_store(tmp_path, design, category)
    file = tmp_path / "scores.csv"
    export(store, str(file), target="appraise")
    export(store, str(tmp_path / "batches.json"), target="appraise")
    names = {"1": "d:1", "2": "d:2", "3": "3:1"}
    own = {
        (judge, names[item], system): (value, [{k: s[k] for k in s if k != "text"} for s in spans])
        for (judge, item, system), (value, spans, _) in by_key(store.judgments()).items()
    }
    read = {}
    for one in read_judgments(file):
        assert isinstance(one, Judgment) and one.question == ("esa" if design == "spans" else "mqm")
        spans = [{"category": "", **span} for span in json.loads(one.extra["spans"])]
        read[one.judge, one.item, one.system] = (one.value, spans)
        assert float(one.extra["ended"]) - float(one.extra["started"]) == pytest.approx(2.5)
    assert read == own
    evalset = {item.id: item for item in read_evalset(tmp_path / "batches.json")}
    assert {id: dict(item.outputs) for id, item in evalset.items()} == {
        names[item.id]: dict(item.outputs) for item in ITEMS
    }
    assert evalset["d:1"].source == "Un."


def test_mt_metrics_eval_has_a_file_of_ratings_for_each_round(tmp_path: Path) -> None:
    store = marked_store(tmp_path, "mqm", "accuracy/omission")
    done = export(store, str(tmp_path / "en-de.mqm.seg.rating"), target="mt-metrics-eval")
    files = [tmp_path / f"en-de.mqm.rater{number}.seg.rating" for number in (1, 2)]
    assert done.output == ", ".join(map(str, files))
    rounds = [
        [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]
        for file in files
    ]
    assert [[cells[0] for cells in lines] for lines in rounds] == [list("AAABBB")] * 2
    found = [e for lines in rounds for cells in lines for e in json.loads(cells[1])["errors"]]
    # An omission has no place: it stands at the end of the text, which has 20 characters.
    n = len(ITEMS[0].outputs["A"])
    assert [(e["start"], e["end"], e["severity"], e["category"]) for e in found] == [
        (4, 7, "major", "accuracy/omission"),
        (n, n, "minor", "accuracy/omission"),
    ]
    assert {cells[2] for lines in rounds for cells in lines} == {"J1", "J2"}


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in \.csv or \.json"):
        check_target(str(tmp_path / "x.tsv"), "appraise")
    with pytest.raises(InputError, match=r"ends in \.json"):
        check_target(str(tmp_path / "x.csv"), "label-studio")
    store = new_store(tmp_path, default_questionnaire("rating"), items=ITEMS)
    (judge, _) = judges_of(store, 2)
    answer_all(store, judge)
    with pytest.raises(InputError, match="none were marked"):
        export(store, str(tmp_path / "x.seg.rating"), target="mt-metrics-eval")
    with pytest.raises(InputError, match="Choose one with question="):
        export(store, str(tmp_path / "x.csv"), target="appraise")
    export(store, str(tmp_path / "x.csv"), target="appraise", question="quality")
    assert len(list(read_judgments(tmp_path / "x.csv"))) == 6
