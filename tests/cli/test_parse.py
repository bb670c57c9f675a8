"""`train parser`, `parse` and `score --trees auto`, with a parser from a few trees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.language.models.small_treebank import TREES
from wellput.engine import parsed_references
from wellput.io.trees import format_tree, read_trees
from wellput.language import shipped
from wellput.language.models.parsers import load_parser


@pytest.fixture
def english(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a parser that replaces the English one."""
    (tmp_path / "trees.conllu").write_text("".join(map(format_tree, TREES)), encoding="utf-8")
    folder = tmp_path / "parser"
    folder.mkdir()
    outcome = run("train", "parser", "trees.conllu", "-o", "parser", "--epochs", "3")
    assert outcome.code == 0, outcome.err
    check = shipped.shipped(shipped.LANGUAGE_FILE)
    (folder / check.name).write_bytes(check.read_bytes())
    monkeypatch.setattr(shipped, "ENGLISH_FOLDER", folder)
    # Loaded again each time; otherwise other tests would get this parser.
    monkeypatch.setattr(parsed_references, "_loaded", parsed_references._loaded.__wrapped__)
    return folder


def test_training_measures_and_gives_the_same_bytes(run: Run, english: Path) -> None:
    again = english.parent / "again"
    again.mkdir()
    arguments = ("trees.conllu", "--dev", "trees.conllu", "--epochs", "3", "--format", "json")
    first = run("train", "parser", *arguments, "-o", "again")
    assert first.json["trees"] == len(TREES)
    assert first.json["uas"] > 0.85
    assert first.json["las"] <= first.json["uas"]
    kept = [(again / name).read_bytes() for name in (shipped.TAGGER_FILE, shipped.PARSER_FILE)]
    run("train", "parser", *arguments, "-o", "again")
    assert kept == [
        (again / name).read_bytes() for name in (shipped.TAGGER_FILE, shipped.PARSER_FILE)
    ]


def test_trees_go_to_standard_output(run: Run, english: Path) -> None:
    (english.parent / "s.txt").write_text("The dog barks.\n\nIt doesn't sleep.", encoding="utf-8")
    outcome = run("parse", "s.txt", "--parser", "parser")
    assert outcome.code == 0, outcome.err
    lines = outcome.out.splitlines()
    assert lines[:2] == ["# sent_id = 1", "# text = The dog barks."]
    assert lines[2].split("\t") == ["1", "The", "the", "DET", "DT", "_", "2", "det", "_", "_"]
    assert "# sent_id = 3" in lines
    assert "2-3\tdoesn't\t_\t_\t_\t_\t_\t_\t_\t_" in lines


def test_trees_go_to_a_file_with_a_summary(run: Run, english: Path) -> None:
    (english.parent / "s.txt").write_text("The dog barks.\n\n", encoding="utf-8")
    outcome = run("parse", "s.txt", "-o", "s.conllu", "--format", "json")
    assert outcome.json == {
        "lines": 2,
        "sentences": 1,
        "words": 4,
        "log_probability_per_word": None,
        "fragmented": None,
        "not_english": {},
    }
    (tree,) = read_trees(english.parent / "s.conllu")
    assert tree.text == "The dog barks."
    table = run("parse", "s.txt", "-o", "s.conllu").out
    assert "1 of 2 lines has no words" in table


def test_bad_calls_of_parse_are_refused(run: Run, english: Path) -> None:
    missing = run("parse", "none.txt")
    assert missing.code == 2
    assert "none.txt" in missing.err
    (english.parent / "s.txt").write_text("Hi\n", encoding="utf-8")
    unknown = run("parse", "s.txt", "--parser", "frnech")
    assert unknown.code == 2
    assert "There is no parser 'frnech'" in unknown.err
    (english.parent / "empty").mkdir()
    empty = run("parse", "s.txt", "--parser", "empty")
    assert empty.code == 2
    assert "empty holds no parser: tagger.wpm and parser.wpm missing." in empty.err


STRANGE = [
    "",
    "word",
    "w " * 500,
    "😀 😀",
    "a\x00b",
    "שלום עולם",
    "x" * 1_000_000,
    "&amp; <skipped>",
]


def test_any_lines_are_parsed_and_scored(run: Run, english: Path) -> None:
    text = "".join(f"{line}\n" for line in STRANGE)
    (english.parent / "s.txt").write_text(text, encoding="utf-8")
    outcome = run("parse", "s.txt", "-o", "s.conllu", "--format", "json")
    assert outcome.json["sentences"] == len(STRANGE) - 1
    scored = run(
        *("score", "--ref", "s.txt", "--hyp", "A=s.txt", "-m", "sta", "--trees", "auto"),
        *("--format", "json"),
    )
    assert scored.code == 0, scored.err
    assert scored.json["scores"][0]["score"] == 1.0


def test_references_are_parsed_for_tree_metrics(run: Run, english: Path) -> None:
    folder = english.parent
    (folder / "ref.txt").write_text("The old cat doesn't see the dog.\n", encoding="utf-8")
    (folder / "a.txt").write_text("The dog doesn't see the old cat.\n", encoding="utf-8")
    lines = ("--ref", "ref.txt", "--hyp", "A=a.txt", "-m", "sta,ssa", "--format", "json")
    auto = run("score", *lines, "--trees", "auto")
    assert auto.code == 0, auto.err
    sta, ssa = auto.json["scores"]
    assert f"trees:{load_parser('english').signature}" in sta["signature"]
    assert "trees:" not in ssa["signature"]
    run("parse", "ref.txt", "-o", "ref.conllu")
    by_file = run("score", *lines, "--trees", "ref.conllu")
    assert by_file.json["scores"][0]["score"] == sta["score"]
    item = {
        "id": "1",
        "references": ["The old cat doesn't see the dog."],
        "outputs": {"A": "The dog doesn't see the old cat."},
    }
    (folder / "set.jsonl").write_text(json.dumps(item), encoding="utf-8")
    from_set = run("score", "set.jsonl", *lines[4:], "--trees", "auto")
    assert from_set.json["scores"] == auto.json["scores"]


def test_agree_and_fit_parse_references_too(run: Run, english: Path) -> None:
    references = ["the old cat sees the dog", "the dog sees a cat", "a cat sleeps", "the dog runs"]
    with (english.parent / "set.jsonl").open("w", encoding="utf-8") as items:
        for n, text in enumerate(references):
            turned = " ".join(reversed(text.split()))
            item = {"id": str(n), "references": [text], "outputs": {"A": text, "B": turned}}
            items.write(json.dumps(item) + "\n")
    ratings = "".join(
        f"J{j},{n},{system},quality,{3 + (system == 'A') * 2 + (n + j) % 2}\n"
        for j in (1, 2)
        for n in range(len(references))
        for system in "AB"
    )
    header = "judge,item,system,question,value\n"
    (english.parent / "ratings.csv").write_text(header + ratings, encoding="utf-8")
    calls = (
        ("agree", "set.jsonl", "ratings.csv", "-m", "sta"),
        ("fit", "set.jsonl", "ratings.csv", "--question", "quality", "--predictors", "sta"),
    )
    for call in calls:
        without = run(*call, "--format", "json")
        assert (without.code, "sta needs a tree" in without.err) == (2, True)
        parsed = run(*call, "--trees", "auto", "--format", "json")
        assert parsed.code == 0, parsed.err
        refused = run(*call, "--trees", "mine.conllu")
        assert (refused.code, "give auto or spacy:NAME" in refused.err) == (2, True)
