"""Campaigns of Appraise: scores with error spans, and the batches they were made from."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from wellput.agreement.marked_outputs import marked_questions
from wellput.core.errors import InputError
from wellput.core.evalset import Item
from wellput.core.judgment import Judgment
from wellput.io import read_judgments
from wellput.io.appraise import knows, mqm_score, open_evalset, read_rows
from wellput.io.appraise_campaign import read_campaign, write_scores
from wellput.io.readers import open_known_evalset
from wellput.studies.imports import plan_import

ROWS = """\
eng1,A,4,TGT,eng,deu,70,doc1#A,False,"[{""start_i"":4,""end_i"":6,""severity"":""minor"",""error_type"":null}]",50.5,52.25
eng1,A,3,TGT,eng,deu,100,doc1#A,False,[],40,41
eng1,A,3,TGT,eng,deu,20,doc1#A,False,[],30,31
eng1,A,2,BAD,eng,deu,10,doc1#A#bad1,False,"[{""start_i"":""missing"",""end_i"":""missing"",""severity"":""major"",""error_type"":null}]",20,21
eng1,A,1,TGT,eng,deu,5,tutorial-doc#A,False,[],10,11
eng2,B,2,TGT,eng,deu,60,doc1#B,False,"[{""start_i"":""missing"",""end_i"":""missing"",""severity"":""major"",""error_type"":null}]",5,6
eng2,B,3,TGT,eng,deu,61,doc2#B#duplicate1,False,[],7,8
"""


def item(
    number: int, document: str, target: str, text: str, kind: str = "TGT"
) -> dict[str, object]:
    return {
        "itemID": number, "documentID": document, "itemType": kind, "sourceText": f"source {number}",
        "targetID": target, "targetText": text,
    }  # fmt: skip


BATCHES = [
    {
        "task": {"batchNo": 1},
        "items": [
            item(1, "tutorial-doc#A", "A", "easy"),
            item(2, "doc1#A#bad1", "A", "Das ist XX.", "BAD"),
            item(3, "doc1#A", "A", "Das ist gut."),
            item(4, "doc1#A", "A", "Der Hund."),
        ],
    },
    {"task": {"batchNo": 2}, "items": [item(2, "doc1#B", "B", "Das ist fein.")]},
]


def written(folder: Path, rows: str = ROWS) -> tuple[str, str]:
    scores, batches = folder / "scores.csv", folder / "batches.json"
    scores.write_text(rows, encoding="utf-8")
    batches.write_text(json.dumps(BATCHES), encoding="utf-8")
    return str(scores), str(batches)


def test_judgments_of_outputs_are_read(tmp_path: Path) -> None:
    """Without the check, the tutorial and the filler; the later answer of two; an item is a place."""
    found = [one for one in read_judgments(written(tmp_path)[0]) if isinstance(one, Judgment)]
    assert [(one.judge, one.item, one.system, one.question, one.value) for one in found] == [
        ("eng1", "doc1:1", "A", "esa", 100.0),
        ("eng1", "doc1:2", "A", "esa", 70.0),
        ("eng2", "doc1:1", "B", "esa", 60.0),
    ]
    assert [json.loads(one.extra["spans"]) for one in found] == [
        [],
        [{"start": 4, "end": 7, "severity": "minor"}],
        [{"start": "missing", "end": "missing", "severity": "major"}],
    ]
    assert found[1].extra["started"] == "50.500" and found[1].extra["ended"] == "52.250"


def test_batches_have_the_outputs_that_were_judged(tmp_path: Path) -> None:
    scores, batches = written(tmp_path)
    evalset = open_known_evalset(batches)
    assert evalset is not None
    items = [one for block in evalset.blocks() for one in block]
    assert [(one.id, dict(one.outputs), one.document) for one in items] == [
        ("doc1:1", {"A": "Das ist gut.", "B": "Das ist fein."}, "doc1"),
        ("doc1:2", {"A": "Der Hund."}, "doc1"),
    ]
    [question] = marked_questions(evalset, read_judgments(scores))  # type: ignore[arg-type]
    texts = {
        one.trial[:2]: [one.text[span.start : span.end] for span in spans if not span.is_missing]
        for one in question.outputs
        for spans in one.spans.values()
    }
    assert texts == {("doc1:1", "A"): [], ("doc1:2", "A"): ["Hun"], ("doc1:1", "B"): []}


def test_a_skipped_segment_does_not_move_the_others(tmp_path: Path) -> None:
    """eng3 answered only the second segment of doc1 by A, number 4."""
    rows = ROWS + "eng3,A,4,TGT,eng,deu,33,doc1#A,False,[],1,2\n"
    found = read_judgments(written(tmp_path, rows)[0])
    assert [one.item for one in found if one.judge == "eng3"] == ["doc1:2"]


def document_level(folder: Path) -> tuple[str, str]:
    """Two systems in documents that do not have the system's name, as in Appraise's own example of
    document-level direct assessment: two logins judge two segments and the whole document, and A's
    second segment again as an attention check."""
    rows, start = [], 0
    for login in ("eng1", "eng2"):
        for system, first in (("A", 70), ("B", 20)):
            for number, is_whole in ((0, False), (1, False), (2, True)):
                rows.append(
                    f"{login},{system},{number},TGT,eng,deu,{first + number},rt.1,{is_whole},{start},"
                    f"{start + 5}"
                )
                start += 10
        rows.append(f"{login},A,1,BAD,eng,deu,5,rt.1,False,{start},{start + 5}")
        start += 10
    scores, batches = folder / "scores.csv", folder / "batches.json"
    scores.write_text("\n".join(rows) + "\n", encoding="utf-8")
    items = [
        {**item(number, "rt.1", system, f"{system}{number}"), "isCompleteDocument": number == 2}
        for system in "AB"
        for number in range(3)
    ]
    items.append(item(1, "rt.1", "A", "AX", "BAD"))
    batches.write_text(json.dumps([{"items": items}]), encoding="utf-8")
    return str(scores), str(batches)


ALL_OF_BOTH_SYSTEMS = [
    (login, place, system, first + place - 1.0)
    for login in ("eng1", "eng2")
    for place in (1, 2)
    for system, first in (("A", 70), ("B", 20))
]


def test_answers_about_systems_in_one_document_are_all_read(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"scores\.csv: 4 scores are about a whole document"):
        found = read_judgments(document_level(tmp_path)[0])
    assert [
        (one.judge, int(one.item.removeprefix("rt.1:")), one.system, one.value)
        for one in found
        if isinstance(one, Judgment)
    ] == ALL_OF_BOTH_SYSTEMS


def test_a_campaign_has_all_systems_of_a_document_and_its_checks(tmp_path: Path) -> None:
    scores, batches = document_level(tmp_path)
    with pytest.warns(UserWarning, match="whole document"):
        campaign = read_campaign(batches, scores)
    assert [
        (one.judge, int(one.item.removeprefix("rt.1:")), one.system, one.value)
        for one in campaign.judgments
    ] == ALL_OF_BOTH_SYSTEMS
    assert [(item.id, dict(item.outputs)) for item in campaign.evalset] == [
        ("rt.1:1", {"A": "A0", "B": "B0"}),
        ("rt.1:2", {"A": "A1", "B": "B1"}),
    ]
    checks = [(one.answer.judge, one.answer.system, one.text) for one in campaign.checks]
    assert checks == [("eng1", "A", "AX"), ("eng2", "A", "AX")]
    planned = plan_import(campaign.evalset, campaign.judgments, campaign.checks, seed=1)
    assert Counter((one.judge, *one.trial.systems) for one in planned.answers) == {
        (login, system): 2 for login in ("eng1", "eng2") for system in "AB"
    }


def test_kinds_of_errors_make_mqm(tmp_path: Path) -> None:
    """A major error 5, minor punctuation 0.1."""
    spans = [
        {"start_i": 0, "end_i": 2, "severity": "major", "error_type": ["Accuracy", "Omission"]},
        {"start_i": 5, "end_i": 5, "severity": "minor", "error_type": ["Fluency", "Punctuation"]},
    ]
    assert mqm_score(spans) == pytest.approx(-5.1)
    cell = json.dumps(spans).replace('"', '""')
    row = f'a,A,1,TGT,eng,deu,0,doc1#A,False,"{cell}",1,2\n'
    [found] = read_judgments(written(tmp_path, row)[0])
    assert isinstance(found, Judgment)
    assert found.question == "mqm"
    assert found.value == pytest.approx(-5.1)
    assert json.loads(found.extra["spans"])[0]["category"] == "Accuracy/Omission"


def test_scores_without_spans_are_direct_assessment(tmp_path: Path) -> None:
    [found] = read_judgments(written(tmp_path, "a,A,1,TGT,eng,deu,77,doc1#A,False,1,2\n")[0])
    assert isinstance(found, Judgment)
    assert (found.question, found.value, "spans" in found.extra) == ("direct assessment", 77, False)


def test_bad_rows_are_named(tmp_path: Path) -> None:
    rows = ROWS + "eng2,B,x,TGT,eng,deu,60,d#B,False,[],5,6\neng2,B\n"
    rows += 'eng2,B,9,TGT,eng,deu,60,d#B,False,"{}",5,6\n'
    with pytest.raises(InputError) as raised:
        read_judgments(written(tmp_path, rows)[0])
    message = str(raised.value)
    assert "line 8: the third, seventh and last two cells must be numbers" in message
    assert "line 9: 2 cells; an export of Appraise has 11 or 12" in message
    assert "line 10: the tenth cell is not a list of error spans" in message


@pytest.mark.parametrize("number", ['"x"', "Infinity"])
def test_other_batches_are_refused(tmp_path: Path, number: str) -> None:
    path = tmp_path / "batches.json"
    path.write_text(f'[{{"items": [{{"itemID": {number}, "targetText": ""}}]}}]', encoding="utf-8")
    with pytest.raises(InputError, match="is not a list of Appraise's batches"):
        open_evalset(path)


def test_a_line_that_is_no_csv_is_no_export(tmp_path: Path) -> None:
    file = tmp_path / "judgments.csv"
    file.write_bytes(b"judge,item\rsystem\n")
    assert not knows(file)
    with pytest.raises(InputError, match="line 1"):
        read_rows(file)


def test_names_are_no_formulas_and_begin_no_row(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    given = [
        Judgment("=1+1", "1", "@SUM", "quality", 3.0),
        Judgment("a\r=2", "1", "-B", "quality", 4.0),
    ]
    write_scores(given, [Item("1", {"@SUM": "a", "-B": "b"}, (), document="+d")], path)
    text = path.read_bytes().decode()
    assert text.startswith("'=1+1,'@SUM,1,") and ",'+d#@SUM," in text
    assert '\n"a\r=2","\'-B",' in text
    assert [(row.login, row.system) for row in read_rows(path)] == [
        ("=1+1", "@SUM"),
        ("a\r=2", "-B"),
    ]
    assert {one.item for one in read_judgments(path)} == {"+d:1"}


def test_a_severity_that_is_no_text_is_refused(tmp_path: Path) -> None:
    rows = ROWS.replace('""minor""', "[1]")
    with pytest.raises(InputError, match="not a list of error spans"):
        read_rows(written(tmp_path, rows)[0])


def test_a_number_of_thousands_of_digits_is_a_bad_row(tmp_path: Path) -> None:
    row = f"eng2,B,{'9' * 5000},TGT,eng,deu,60,d#B,False,[],5,6\n"
    with pytest.raises(InputError, match="must be numbers"):
        read_judgments(written(tmp_path, ROWS + row)[0])
