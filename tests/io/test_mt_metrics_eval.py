from __future__ import annotations

from pathlib import Path

import pytest

from wellput.core.errors import InputError
from wellput.core.evalset import Item
from wellput.core.judgment import Judgment
from wellput.io import read_evalset, read_human_scores, read_judgments


@pytest.fixture
def test_set(tmp_path: Path) -> Path:
    """A small test set of the layout, with one full language pair and the source of another."""
    folder = tmp_path / "wmt99"
    files = {
        "sources/de-en.txt": "eins\nzwei\n",
        "sources/en-de.txt": "one\n",
        "references/de-en.refA.txt": "one\ntwo\n",
        "references/de-en.refB.txt": "1\n2\n",
        "system-outputs/de-en/refB.txt": "1\n2\n",
        "system-outputs/de-en/sys.v1.txt": "uno\n[No translation supplied]\n",
        "documents/de-en.docs": "news doc1\nchat doc2\n",
        "human-scores/de-en.mqm.seg.score": "sys.v1 -1.5\nsys.v1 None\nrefB 0\nrefB -2\n",
        "human-scores/de-en.wmt-z.seg.score": "sys.v1 .5\nsys.v1 .25\n",
        "human-scores/de-en.mqm.sys.score": "sys.v1 -1.5\nrefB -1\n",
        "human-scores/de-en.mqm.domain.score": "news sys.v1 -1.5\nchat sys.v1 None\n",
        "human-scores/de-en.mqm.doc.score": "sys.v1 -1.5\nsys.v1 -3\n",
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def test_a_reference_among_the_systems_is_scored_against_the_others(test_set: Path) -> None:
    assert read_evalset(test_set / "de-en").items == (
        Item(
            "1",
            {"refB": "1", "sys.v1": "uno"},
            ("one", "1"),
            source="eins",
            references_by_system={"refB": ("one",)},
            document="doc1",
            tags={"domain": "news"},
        ),
        Item(
            "2",
            {"refB": "2"},
            ("two", "2"),
            source="zwei",
            references_by_system={"refB": ("two",)},
            document="doc2",
            tags={"domain": "chat"},
        ),
    )


def test_the_only_reference_is_not_a_system(test_set: Path) -> None:
    (test_set / "references/de-en.refA.txt").unlink()
    assert read_evalset(test_set / "de-en").systems == ("sys.v1",)


def test_json_lines_instead_of_text(test_set: Path) -> None:
    (test_set / "sources/de-en.txt").unlink()
    (test_set / "sources/de-en.jsonl").write_text('{"source": "eins\\nund"}\n{"source": "zwei"}\n')
    assert [item.source for item in read_evalset(test_set / "de-en")] == ["eins\nund", "zwei"]
    (test_set / "sources/de-en.jsonl").write_text('{"source": "eins"}\n{"text": "zwei"}\n')
    with pytest.raises(InputError, match='line 2: no text under "source"'):
        read_evalset(test_set / "de-en")


def test_the_language_pair_must_be_named_if_there_are_several(test_set: Path) -> None:
    with pytest.raises(InputError, match=r"has 2 language pairs.*wmt99/de-en"):
        read_evalset(test_set)
    with pytest.raises(InputError, match="no language pair de-fr; it has de-en, en-de"):
        read_evalset(test_set / "de-fr")
    with pytest.raises(InputError, match="no system's output"):
        read_evalset(test_set / "en-de")
    (test_set / "sources/en-de.txt").unlink()
    assert len(read_evalset(test_set)) == 2


def test_segment_scores(test_set: Path) -> None:
    one = {"domain": "news", "document": "doc1"}
    two = {"domain": "chat", "document": "doc2"}
    assert read_judgments(test_set / "de-en") == [
        Judgment("mqm", "1", "sys.v1", "mqm", -1.5, one),
        Judgment("mqm", "1", "refB", "mqm", 0.0, one),
        Judgment("mqm", "2", "refB", "mqm", -2.0, two),
        Judgment("wmt-z", "1", "sys.v1", "wmt-z", 0.5, one),
        Judgment("wmt-z", "2", "sys.v1", "wmt-z", 0.25, two),
    ]


def test_other_levels(test_set: Path) -> None:
    path = test_set / "de-en"
    assert read_human_scores(path, level="sys") == [
        Judgment("mqm", "", "sys.v1", "mqm", -1.5),
        Judgment("mqm", "", "refB", "mqm", -1.0),
    ]
    assert [(j.item, j.value) for j in read_human_scores(path, level="domain")] == [("news", -1.5)]
    assert [(j.item, j.value) for j in read_human_scores(path, level="doc")] == [
        ("doc1", -1.5),
        ("doc2", -3.0),
    ]


def test_bad_scores(test_set: Path) -> None:
    path = test_set / "human-scores/de-en.mqm.seg.score"
    path.write_text("sys.v1 good\nsys.v1\nsys.v1 nan\nsys.v1 inf\n")
    with pytest.raises(InputError) as caught:
        read_judgments(test_set / "de-en")
    assert "line 1: not SYSTEM SCORE: 'sys.v1 good'" in str(caught.value)
    assert "line 2: not SYSTEM SCORE: 'sys.v1'" in str(caught.value)
    assert "line 3: not SYSTEM SCORE: 'sys.v1 nan'" in str(caught.value)
    assert "line 4: not SYSTEM SCORE: 'sys.v1 inf'" in str(caught.value)
    (test_set / "documents/de-en.docs").write_text("news\n")
    with pytest.raises(InputError, match="line 1: not a domain and a document"):
        read_judgments(test_set / "de-en")
    with pytest.raises(InputError, match=r"no file en-de\.\*\.seg\.score"):
        read_judgments(test_set / "en-de")
    with pytest.raises(InputError, match="not a folder of mt-metrics-eval"):
        read_human_scores(test_set / "sources")
