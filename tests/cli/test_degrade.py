"""`wellput degrade` on the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

SENTENCES = [
    "The old dog saw a cat in the garden.",
    "A cat in the garden didn't see the old dog.",
    "The dog didn't run and the cat didn't sleep.",
    "Kim's dog saw Kim's cat and the cat ran.",
    "The cat ran and a dog in the garden saw it.",
]
TREE = """1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_
3\tloudly\tloudly\tADV\tRB\t_\t2\tadvmod\t_\t_
4\t!\t!\tPUNCT\t.\t_\t2\tpunct\t_\t_

"""


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(SENTENCES) + "\n")
    return str(path)


@pytest.fixture
def trees(tmp_path: Path) -> str:
    path = tmp_path / "trees.conllu"
    path.write_text(TREE + TREE.replace("Dogs\tdog", "Cats\tcat"))
    return str(path)


def test_sequences_are_printed_as_prose(run: Run, corpus: str) -> None:
    result = run("degrade", corpus, "--size", "2", "--length", "10", "-n", "5", "--seed", "3")
    assert result.code == 0
    lines = result.out.splitlines()
    assert len(lines) == 5
    assert all(line.endswith(".") and not line.endswith(" .") for line in lines)
    tokenized = run(
        "degrade", corpus, "--size", "2", "--length", "10", "-n", "5", "--seed", "3", "--tokenized"
    )
    assert all(len(line.split()) == 10 for line in tokenized.out.splitlines())


def test_the_seed_decides(run: Run, corpus: str) -> None:
    args = ("degrade", corpus, "--size", "1", "--length", "8", "-n", "4")
    assert run(*args, "--seed", "1").out == run(*args, "--seed", "1").out
    assert run(*args, "--seed", "1").out != run(*args, "--seed", "2").out


def test_an_evalset_with_its_known_order(run: Run, corpus: str, tmp_path: Path) -> None:
    made, gold = tmp_path / "made.jsonl", tmp_path / "gold.csv"
    result = run(
        "degrade", corpus, "--size", "1,2,5", "--length", "10", "-n", "3", "--evalset",
        "-o", str(made), "--gold", str(gold), "--format", "json",
    )  # fmt: skip
    assert result.code == 0, result.err
    rows = [json.loads(line) for line in made.read_text().splitlines()]
    assert [list(row["outputs"]) for row in rows] == [
        ["sequence-1", "sequence-2", "sequence-5"]
    ] * 3
    known = list(csv.DictReader(io.StringIO(gold.read_text())))
    assert len(known) == 9
    assert {(row["judge"], row["question"]) for row in known} == {("construction", "size")}
    summary = json.loads(result.out)["systems"]
    assert [row["sentences"] for row in summary] == [3, 3, 3]


def test_trees_give_templates_and_a_grammar(run: Run, trees: str) -> None:
    for method in ("pos", "supertag", "cfg"):
        result = run("degrade", trees, "--method", method, "--length", "4", "-n", "3")
        assert result.code == 0, result.err
        for line in result.out.splitlines():
            assert line in ("Dogs bark loudly!", "Cats bark loudly!")


def test_a_grammar_of_brackets(run: Run, trees: str, tmp_path: Path) -> None:
    brackets = tmp_path / "trees.mrg"
    brackets.write_text("( (S (NP (NNS Birds)) (VP (VBP sing)) (. .)) )\n")
    args = ("--method", "cfg", "--length", "3", "-n", "20", "--treebank", str(brackets))
    result = run("degrade", trees, *args)
    assert result.code == 0, result.err
    words = [line[:-1].split() for line in result.out.splitlines()]
    assert {first for first, _ in words} == {"Dogs", "Cats", "Birds"}


def test_json_and_csv_of_sentences(run: Run, corpus: str) -> None:
    args = ("degrade", corpus, "--size", "2", "--length", "8", "-n", "2")
    sentences = json.loads(run(*args, "--format", "json").out)["sentences"]
    assert [row["sentence"] for row in sentences] == run(*args).out.splitlines()
    rows = list(csv.DictReader(io.StringIO(run(*args, "--format", "csv").out)))
    assert [row["sentence"] for row in rows] == run(*args).out.splitlines()


def test_sentences_are_left_aligned(run: Run, corpus: str) -> None:
    out = run("degrade", corpus, "--length", "8", "-n", "2", "--format", "markdown").out
    assert out.splitlines()[1] == "| --- | --- |"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--size", "5"), "must be one of 1, 2, 3, 4, 6, 8, 12, 24"),
        (("--size", "x"), "--size takes whole numbers"),
        (("--method", "sequences"), "Did you mean sequence?"),
        (("--method", "pos", "--size", "2"), "--size is for the method sequence"),
        (("--size", "1,2"), "need --evalset"),
        (("--gold", "gold.csv"), "--gold needs --evalset"),
        (("--size", "24"), "no sentence of 24 words"),
        (("--size", "24"), "Give another --length"),
        (("--method", "errors"), "or another --length"),
        (("--treebank", "trees.conllu"), "--treebank is for --method cfg"),
        (("-o", "corpus.txt"), "corpus.txt"),
    ],
)
def test_bad_input_is_refused(
    run: Run, corpus: str, args: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(corpus).parent)
    result = run("degrade", "corpus.txt", *args)
    assert result.code == 2
    assert message in result.err


@pytest.mark.parametrize("name", ["known.jsonl", "known.csv.gz"])
def test_an_evalset_is_refused_as_a_corpus(run: Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('{"id": "1", "outputs": {"A": "The old dog saw a cat."}}\n')
    outcome = run("degrade", str(path))
    assert outcome.code == 2
    assert "is not text: a corpus has a sentence on each line" in outcome.err
