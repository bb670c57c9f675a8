"""Judgments that were collected elsewhere become a finished study: the same answers, the times, the
attention checks of a campaign."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

import wellput
from tests.studies.served_study import client_of
from tests.studies.studies import judges_of
from tests.studies.test_other_tools import by_key, marked_store
from wellput.cli import cli
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment, Preference
from wellput.studies import imports, schema
from wellput.studies.exports import export, items_of_study
from wellput.studies.imported_answers import stored_marks, times_of
from wellput.studies.imports import plan_import, write_import
from wellput.studies.store import Store

TEXTS = {
    ("doc1#A", 1): "Das ist gut.",
    ("doc1#A", 2): "Der Hund schläft.",
    ("doc1#B", 3): "Das ist fein.",
    ("doc1#B", 4): "Ein Hund schläft.",
    ("doc2#A", 5): "Es regnet.",
    ("doc2#B", 6): "Regen fällt.",
}
SPOILED = {("doc1#A#bad1", 7): "Der Hund lag mehr einzurichten.", ("doc1#B#bad2", 8): "Das ist."}
SOURCES = {1: "It is good.", 2: "The dog sleeps.", 3: "It is good.", 4: "The dog sleeps.",
           5: "It rains.", 6: "It rains.", 7: "The dog sleeps.", 8: "It is good."}  # fmt: skip


def segment(document: str, number: int, text: str, kind: str) -> dict[str, Any]:
    return {
        "itemID": number,
        "documentID": document,
        "itemType": kind,
        "sourceText": SOURCES[number],
        "targetID": document.split("#")[1],
        "targetText": text,
    }


def batches(path: Path) -> str:
    items = [segment(*place, text, "TGT") for place, text in TEXTS.items()]
    items += [segment(*place, text, "BAD") for place, text in SPOILED.items()]
    path.write_text(json.dumps([{"task": {"batchNo": 1}, "items": items}]), encoding="utf-8")
    return str(path)


def mark(start: int | str, end: int | str, severity: str = "major", **more: Any) -> dict[str, Any]:
    return {"start_i": start, "end_i": end, "severity": severity, "error_type": None, **more}


def row(login: str, place: tuple[str, int], score: int, spans: Sequence[Any], start: float) -> str:
    document, number = place
    cells = [
        login, document.split("#")[1], number, "BAD" if "#bad" in document else "TGT", "eng", "deu",
        score, document, False, json.dumps(spans), start, start,
    ]  # fmt: skip
    return ",".join('"' + str(cell).replace('"', '""') + '"' for cell in cells)


def scores(path: Path, rows: Sequence[str]) -> str:
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def campaign(folder: Path) -> tuple[str, str]:
    """Two logins judge every output and a check. The first marks the check where it was changed
    (characters 9 to 30), the second somewhere else. Each segment takes ten seconds."""
    places = [*TEXTS, next(iter(SPOILED))]
    rows = []
    for login, marked in (("eng1", mark(9, 11)), ("eng2", mark(0, 2))):
        for turn, place in enumerate(places):
            spans = [marked] if "#bad" in place[0] else [mark(0, 2, "minor")] * (turn == 1)
            score = 20 if spans else 80 + turn + (login == "eng2")
            rows.append(row(login, place, score, spans, 1000 + 10 * turn))
    return batches(folder / "batches.json"), scores(folder / "scores.csv", rows)


def value_of(answer: Judgment | Preference) -> float | str:
    assert isinstance(answer, Judgment)
    return answer.value


def test_a_campaign_is_a_finished_study(tmp_path: Path, url: str) -> None:
    outputs, answers = campaign(tmp_path)
    with wellput.Study.from_judgments(outputs, answers, path=url) as study:
        status = study.status()
        own = by_key(study.judgments())
        read = by_key([one for one in wellput.read_judgments(answers) if isinstance(one, Judgment)])
        columns = {one.extra["document"] for one in study.judgments()}
    assert (status.state, status.design, status.done, status.planned) == ("closed", "spans", 12, 12)
    assert status.is_final
    assert columns == {"doc1", "doc2"}
    assert own.keys() == read.keys()
    for key, (value, spans, _) in own.items():
        assert value == read[key][0]
        assert [(s["start"], s["end"], s["severity"]) for s in spans] == [
            (s["start"], s["end"], s["severity"]) for s in read[key][1]
        ]
    first = own["eng1", "doc1:2", "A"][1]
    assert first[0]["text"] == "Der"
    assert [(judge.name, judge.state, judge.done) for judge in status.judges] == [
        ("eng1", "done", 7),
        ("eng2", "done", 7),
    ]
    assert [(judge.checks, judge.checks_failed) for judge in status.judges] == [(1, 0), (1, 1)]
    # A segment ends where the next one begins; the last one of a login is the check.
    assert status.seconds == 10.0
    assert [ranking.question for ranking in status.ranking] == ["esa"]


def test_the_ranking_is_that_of_the_file(tmp_path: Path) -> None:
    outputs, answers = campaign(tmp_path)
    with wellput.Study.from_judgments(outputs, answers, path=tmp_path / "s.db") as study:
        from_study = wellput.rank(study.judgments()).to_dict()
    assert from_study["questions"] == wellput.rank(answers).to_dict()["questions"]


def test_the_command_says_what_the_function_returns(tmp_path: Path) -> None:
    outputs, answers = campaign(tmp_path)
    made = str(tmp_path / "s.db")
    options = ["study", "import", str(outputs), str(answers), "-o", made, "--format", "json"]
    done = CliRunner().invoke(cli, options, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    other = tmp_path / "other.db"
    with wellput.Study.from_judgments(outputs, answers, path=other) as study:
        expected = study.summary().to_dict()
    shown = json.loads(done.stdout.replace(made, str(other)))
    assert {**shown, "owner_token": ""} == {**expected, "owner_token": ""}  # the tokens are random


def test_owners_look_at_it_and_make_it_again(tmp_path: Path) -> None:
    outputs, answers = campaign(tmp_path)
    study = wellput.Study.from_judgments(outputs, answers, path=tmp_path / "s.db")
    known = {one.question: one.answer for one in study.datasheet().answers}
    assert known["What are judges told?"] is None
    assert "imported" in (known["How were answers collected?"] or "")
    assert known["When did the study begin?"] == "1970-01-01"
    client = client_of(Store.open(tmp_path / "s.db"))
    client.get(f"/dashboard/{study.owner_token}")
    page = client.get("/dashboard").text
    assert "eng2" in page and "failed 1 of 1 attention checks" in page
    study.replicate(tmp_path / "again.db")
    copy = Store.open(tmp_path / "again.db")
    assert not copy.setup.is_imported
    (judge,) = judges_of(copy, 1)
    trial = copy.next_trial(judge)
    assert trial is not None and trial.source in SOURCES.values()


def test_a_round_of_some_segments_has_the_right_items(tmp_path: Path) -> None:
    """The number of a segment in the batches decides, not its place among the judged ones."""
    outputs = batches(tmp_path / "b.json")
    again = scores(tmp_path / "s.csv", [row("eng3", ("doc1#A", 2), 50, [], 5.0)])
    with wellput.Study.from_judgments(outputs, again, path=tmp_path / "s.db") as study:
        assert [(one.item, value_of(one)) for one in study.judgments()] == [("doc1:2", 50.0)]


def test_categories_make_mqm_with_the_weights_of_the_campaign(tmp_path: Path) -> None:
    spans = [
        mark(0, 2, "major", error_type=["Accuracy", "Mistranslation"]),
        mark(4, 6, "minor", error_type=["Linguistic conventions", "Punctuation"]),
        mark("missing", "missing", "minor", error_type=["Accuracy", "Omission"]),
    ]
    outputs = batches(tmp_path / "b.json")
    rows = [row("e1", ("doc1#A", 1), 0, spans, 1.0), row("e1", ("doc1#A", 2), 0, [], 2.0)]
    marked = scores(tmp_path / "s.csv", rows)
    with wellput.Study.from_judgments(outputs, marked, path=tmp_path / "s.db") as study:
        values = {one.item: value_of(one) for one in study.judgments()}
        assert study.status().design == "mqm"
    # 5 for a major error, 0.1 for punctuation, 1 for the omission.
    assert values == {"doc1:1": -6.1, "doc1:2": 0.0}
    with pytest.raises(InputError, match=r"the marks cost -4.0, and the value is -6\.1"):
        wellput.Study.from_judgments(
            outputs, marked, path=tmp_path / "t.db", weights="minor=1,major=2"
        )
    assert not (tmp_path / "t.db").exists()


@pytest.mark.parametrize("design", ["spans", "mqm"])
def test_an_exported_study_comes_back(tmp_path: Path, design: str) -> None:
    store = marked_store(tmp_path, design, "accuracy/omission" if design == "mqm" else "")
    file = tmp_path / "judgments.csv"
    export(store, str(file))
    evalset = EvalSet(items_of_study(store))
    with wellput.Study.from_judgments(evalset, file, path=tmp_path / "again.db") as study:
        found, before = by_key(study.judgments()), by_key(store.judgments())
        times = {one.extra["ms"] for one in study.judgments()}
    assert {key: value[:2] for key, value in found.items()} == {
        key: value[:2] for key, value in before.items()
    }
    assert times == {"2500"}


def test_appraise_gets_the_attention_checks_back(tmp_path: Path) -> None:
    outputs, answers = campaign(tmp_path)
    with wellput.Study.from_judgments(outputs, answers, path=tmp_path / "s.db") as study:
        before = study.status()
        study.export(tmp_path / "again.csv", as_="appraise")
        study.export(tmp_path / "again.json", as_="appraise")
    with wellput.Study.from_judgments(
        tmp_path / "again.json", tmp_path / "again.csv", path=tmp_path / "t.db"
    ) as study:
        after = study.status()
    assert [(judge.name, judge.checks, judge.checks_failed) for judge in after.judges] == [
        (judge.name, judge.checks, judge.checks_failed) for judge in before.judges
    ]
    assert after.done == before.done


EVALSET = EvalSet([Item("1", {"A": "one", "B": "two"}), Item("2", {"A": "three"})])


def test_plain_ratings_need_no_spans(tmp_path: Path) -> None:
    ratings = [
        Judgment(judge, item, system, question, value)
        for judge in ("Ann", "Bob")
        for item, system in (("1", "A"), ("1", "B"), ("2", "A"))
        for question, value in (("fluency", 4.0), ("adequacy", 2.0))
    ]
    planned = plan_import(EVALSET, ratings, design="rating:points=5", seed=1)
    store = write_import(planned, tmp_path / "s.db")
    found = {(one.judge, one.item, one.question, str(one)) for one in store.judgments()}
    assert len(found) == len(ratings)
    assert {(one.question, value_of(one)) for one in store.judgments()} == {
        ("fluency", 4.0),
        ("adequacy", 2.0),
    }
    assert store.setup.plan.per_item == 2
    with pytest.raises(InputError, match="is not between 1 and 5"):
        plan_import(
            EVALSET, [Judgment("Ann", "1", "A", "f", 9.0)], design="rating:points=5", seed=1
        )


@pytest.mark.parametrize(
    ("judgments", "reason"),
    [
        (
            [Judgment("Ann", "9", "A", "q", 1.0)],
            "judge Ann, item 9, system A: the evalset does not",
        ),
        ([Judgment("Ann", "1", "A", "q", 1.0)] * 2, "there are two answers to q"),
        ([Judgment("Ann", "1", "A", "q", "good")], "is a label, not a number"),
        (
            [Judgment("Ann", "1", "A", "q", 1.0), Judgment("Ann", "1", "B", "r", 1.0)],
            "there is no answer to r",
        ),
        ([Judgment("Ann", "1", "A", "q", 1.0, {"spans": "[{]"})], "its spans are not JSON"),
        (
            [Judgment("Ann", "1", "A", "q", 1.0, {"spans": '[{"start": 0, "end": 1}]'})],
            "every span needs a severity",
        ),
        ([], "no judgments"),
    ],
)
def test_what_does_not_fit_is_said(judgments: list[Judgment], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        plan_import(EVALSET, judgments, seed=1)


@pytest.mark.parametrize(
    "times",
    [
        {"ms": "abc"},
        {"ms": "inf"},
        {"recorded_at": "yesterday"},
        {"ended": "nan"},
        {"started": "5", "ended": "noon"},
    ],
)
def test_times_that_cannot_be_read_are_said(times: dict[str, str]) -> None:
    rated = Judgment("Ann", "1", "A", "fluency", 4, extra=times)
    with pytest.raises(InputError, match="judge Ann, item 1, system A: its times cannot be read"):
        plan_import(EVALSET, [rated], seed=1)


def test_times_have_the_zone_that_they_name() -> None:
    def times(**extra: str) -> tuple[float, float, int]:
        return times_of(Judgment("Ann", "1", "A", "fluency", 4, extra=extra))

    noon = 1_769_860_800.0  # date --date=2026-01-31T12:00:00Z +%s
    assert times(recorded_at="2026-01-31T12:00:00", ms="500") == (noon - 0.5, noon, 500)
    assert times(recorded_at="2026-01-31T14:00:00+02:00") == (noon, noon, -1)  # not known
    assert times(started="5", ended="3") == (5.0, 3.0, 0)  # no answer takes less than no time


def test_choices_between_two_are_refused(tmp_path: Path) -> None:
    choices = [Preference("Ann", "1", "A", "B", "better", "a")]
    with pytest.raises(InputError, match="imported; these are pairwise choices"):
        wellput.Study.from_judgments(EVALSET, choices, path=tmp_path / "s.db")


@pytest.mark.parametrize(
    ("span", "stored"),
    [
        ({"start": 2, "end": 4}, (2, 4, "ca")),
        ({"start": 2, "end": 9}, (2, 5, "cat")),
        ({"start": 5, "end": 13}, ("missing", "missing", "")),
        ({"start": "missing", "end": "missing", "text": "sat"}, ("missing", "missing", "sat")),
    ],
)
def test_marks_stay_within_the_text(span: dict[str, Any], stored: tuple[Any, ...]) -> None:
    (found,) = stored_marks([{**span, "severity": "minor"}], "a cat")
    assert (found["start"], found["end"], found["text"]) == stored


@pytest.mark.parametrize(("place", "passes"), [((4, 6), True), ((0, 2), False)])
def test_a_check_that_leaves_words_out_is_passed_by_a_mark_at_the_gap(
    tmp_path: Path, place: tuple[int, int], passes: bool
) -> None:
    """“Das ist fein.” lost its last word: “Das ist.”"""
    outputs = batches(tmp_path / "b.json")
    rows = [row("e1", ("doc1#B", 3), 90, [], 1.0)]
    rows.append(row("e1", ("doc1#B#bad2", 8), 10, [mark(*place)], 2.0))
    with wellput.Study.from_judgments(
        outputs, scores(tmp_path / "s.csv", rows), path=tmp_path / "s.db"
    ) as study:
        (judge,) = study.status().judges
    assert (judge.checks, judge.checks_failed == 0) == (1, passes)


def test_segments_that_the_batches_lack_are_named(tmp_path: Path) -> None:
    outputs = batches(tmp_path / "b.json")
    unknown = scores(tmp_path / "s.csv", [row("e1", ("doc9#A", 1), 50, [], 5.0)])
    with pytest.raises(InputError, match="segment 1 of doc9#A is not in"):
        wellput.Study.from_judgments(outputs, unknown, path=tmp_path / "s.db")


def test_the_command_makes_the_study(tmp_path: Path) -> None:
    outputs, answers = campaign(tmp_path)
    file = tmp_path / "s.db"
    done = CliRunner().invoke(
        cli, ["study", "import", outputs, answers, "-o", str(file), "--format", "json"]
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["trials"] == 6
    with wellput.Study.open(file) as study:
        assert study.status().done == 12


def rows_of(store: Store, *, repeats: bool = False) -> list[tuple[Any, ...]]:
    """All that an export writes, in an order of its own."""
    return sorted(
        (one.judge, one.item, one.question, str(one), tuple(sorted(one.extra.items())))
        for one in store.judgments(repeats=repeats)
    )


def imported(path: Path, judgments: Sequence[Judgment], design: str | None = None) -> Store:
    return write_import(plan_import(EVALSET, judgments, design=design, seed=1), path)


MAJOR = '[{"start": 0, "end": 3, "severity": "major", "category": "", "text": "one"}]'
MINOR = '[{"start": 1, "end": 2, "severity": "minor", "category": "", "text": "n"}]'
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"


def rated(question: str, **extra: str) -> Judgment:
    return Judgment("Ann", "1", "A", question, 60.0, extra)


def columns_of(store: Store, name: str) -> dict[str, str]:
    return {one.question: one.extra[name] for one in store.judgments()}


def test_each_question_keeps_its_own_marks_and_times(tmp_path: Path, url: str) -> None:
    given = [
        rated("fluency", spans="", ms="1000", recorded_at=EARLY, comment=""),
        rated("esa", spans=MAJOR, ms="9000", recorded_at=LATE, comment="bad"),
        rated("style", spans=MINOR, ms="", recorded_at="", comment="odd"),
        rated("tone", spans="[]", ms="500", recorded_at="", comment=""),
    ]
    planned = plan_import(EVALSET, given, seed=1)
    store = write_import(planned, url)
    for name in ("spans", "ms", "recorded_at", "comment"):
        assert columns_of(store, name) == {one.question: one.extra[name] for one in given}
    seen = store.overview()
    assert seen.seconds == 10.5  # answered one after the other: 1 s, 9 s, 0.5 s
    assert [one.comment for one in seen.comments] == ["bad\nodd"]


def test_questions_that_were_answered_together_share_their_time(tmp_path: Path) -> None:
    given = [rated(name, ms="1000", recorded_at=EARLY) for name in ("fluency", "style")]
    assert imported(tmp_path / "s.db", given).overview().seconds == 1.0


def test_where_nobody_was_asked_to_mark_there_are_no_marks(tmp_path: Path) -> None:
    asked, unasked = rated("esa", spans="[]"), rated("esa", spans="")
    other = Judgment("Bob", *(unasked.item, unasked.system, unasked.question, 50.0), {"spans": ""})
    store = imported(tmp_path / "s.db", [asked, other])
    assert {one.judge: one.extra["spans"] for one in store.judgments()} == {"Ann": "[]", "Bob": ""}
    assert plan_import(EVALSET, [unasked], seed=1).setup.questionnaire.kind == "slider"


def test_further_columns_and_repeats_are_kept(tmp_path: Path) -> None:
    given = [
        rated("esa", spans="[]", prefilled=MINOR, country="DE", repeat="0"),
        rated("esa", spans=MAJOR, prefilled=MINOR, country="FR", repeat="1"),
    ]
    store = imported(tmp_path / "s.db", given)
    (first,) = store.judgments()
    assert (first.extra["prefilled"], first.extra["country"]) == (MINOR, "DE")
    again = {one.extra["repeat"]: one.extra for one in store.judgments(repeats=True)}
    assert (again["1"]["spans"], again["1"]["country"]) == (MAJOR, "FR")
    assert store.overview().done == 1


@pytest.mark.parametrize(
    ("judgments", "reason"),
    [
        ([rated("esa", repeat="often")], "its repeat is neither 0 nor 1"),
        ([rated("esa", repeat="1")], "All judgments are repeats"),
        ([rated("esa", comment="\0")], "cannot be stored: remove them"),
        ([rated("esa", ended="1769860800000")], "looks like milliseconds: divide it by 1000"),
        ([rated("esa", ended="1e15")], "looks like microseconds"),
        ([rated("esa", ended="-1e15")], "outside the years 1 to 9999: correct it"),
        ([rated("esa", recorded_at="0001-01-01T00:00:00", ms="5000")], "outside the years 1 to"),
        ([rated("esa", recorded_at="9999-12-31T23:59:59-14:00")], "years 1 to 9999: correct it"),
    ],
)
def test_columns_that_cannot_be_kept_are_refused(judgments: list[Judgment], reason: str) -> None:
    with pytest.raises(InputError, match=f"(?s)({reason})"):
        plan_import(EVALSET, judgments, seed=1)


def test_times_that_nobody_knows_stay_unknown(tmp_path: Path) -> None:
    store = imported(tmp_path / "s.db", [rated("esa", comment="short")])
    assert columns_of(store, "ms") == {"esa": ""}
    assert columns_of(store, "recorded_at") == {"esa": ""}
    seen = store.overview()
    assert (seen.seconds, seen.judges[0].seconds, seen.judges[0].last_seen) == (None, None, None)
    assert (seen.judges[0].state, seen.comments[0].recorded_at) == ("done", None)
    with wellput.Study.open(tmp_path / "s.db") as study:
        known = {one.question: one.answer for one in study.datasheet().answers}
        study.export(tmp_path / "tasks.json", as_="label-studio")
    assert known["When did the study begin?"] is None
    assert "lead_time" not in (tmp_path / "tasks.json").read_text(encoding="utf-8")
    client = client_of(store)
    client.get(f"/dashboard/{store.owner_token}")
    assert "d ago" not in client.get("/dashboard").text


def test_a_study_with_a_time_that_has_no_date_can_be_read(tmp_path: Path) -> None:
    store = imported(tmp_path / "s.db", [rated("esa", recorded_at=EARLY)])
    with store.database.write() as connection:
        connection.execute(sa.update(schema.answers).values(recorded_at=1e15))
        connection.execute(sa.update(schema.assignments).values(given_at=-1e15))
        connection.execute(sa.update(schema.judges).values(seen_at=1e15))
    assert columns_of(store, "recorded_at") == {"esa": ""}
    assert store.overview().judges[0].last_seen is None
    with wellput.Study.open(tmp_path / "s.db") as study:
        study.datasheet()


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_an_import_of_an_export_has_the_same_rows(tmp_path: Path, suffix: str) -> None:
    given = [
        rated("fluency", spans="", ms="1000", recorded_at=EARLY, comment="=1", position="3"),
        rated("esa", spans=MAJOR, ms="", recorded_at="", comment="", position="3"),
        Judgment("Bob", "2", "A", "fluency", 5.0, {"spans": "[]", "comment": "a", "position": "1"}),
        Judgment("Bob", "2", "A", "esa", 6.0, {"spans": "[]", "comment": "a", "position": "1"}),
    ]
    store = imported(tmp_path / "s.db", given)
    found = {(one.judge, one.question): one.extra for one in store.judgments()}
    for one in given:
        own = found[one.judge, one.question]
        assert {name: own[name] for name in one.extra} == one.extra
    file = tmp_path / f"judgments.{suffix}"
    export(store, str(file))
    evalset = EvalSet(items_of_study(store))
    wellput.Study.from_judgments(evalset, file, path=tmp_path / "again.db").close()
    assert rows_of(Store.open(tmp_path / "again.db")) == rows_of(store)


def test_a_failed_import_leaves_nothing_behind(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = plan_import(EVALSET, [rated("esa")], seed=1)
    with monkeypatch.context() as patched, pytest.raises(OSError, match="disk"):
        patched.setattr(imports, "CHANGE_GIVEN", FailingStatement())
        write_import(planned, url)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("study")] == []
    assert len(write_import(planned, url).judgments()) == 1


class FailingStatement:
    """A statement at which the disk is full."""

    def __getattr__(self, name: str) -> Any:
        raise OSError("the disk is full")


KILLED = """
import os, signal, sys
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment
from wellput.studies import imports

class Kill:
    def __getattr__(self, name):
        os.kill(os.getpid(), signal.SIGKILL)

imports.CHANGE_GIVEN = Kill()
evalset = EvalSet([Item("1", {"A": "one"})])
planned = imports.plan_import(evalset, [Judgment("Ann", "1", "A", "esa", 60.0)], seed=1)
imports.write_import(planned, sys.argv[1])
"""


@pytest.mark.heavy
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_an_import_that_was_killed_can_be_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(imported(path, [rated("esa")]).judgments()) == 1
    with pytest.raises(InputError, match="already exists"):
        imported(path, [rated("esa")])
