"""`wellput realize`, with the models of a toy language instead of English."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.language.realize.toy_treebank import TREES, save_toy_models
from wellput.io import format_tree, read_evalset
from wellput.language import shipped
from wellput.language.models.sentence_parsing import ParsedSentence, SentenceParser

SMALL = {"word": "sleeps", "children": [{"word": "dog", "children": [{"word": "the"}]}]}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy")
    save_toy_models(folder)
    return folder


@pytest.fixture(autouse=True)
def toy_language(models: Path, monkeypatch: pytest.MonkeyPatch, files: Callable[..., None]) -> None:
    monkeypatch.setattr(shipped, "ENGLISH_FOLDER", models)
    files(
        **{
            "trees.conllu": "".join(map(format_tree, TREES)),
            "one.conllu": format_tree(TREES[3]),
            "tree.json": json.dumps(SMALL),
        }
    )


def test_one_sentence_per_line(run: Run) -> None:
    outcome = run("realize", "trees.conllu")
    assert outcome.code == 0
    assert len(outcome.out.splitlines()) == len(TREES)
    assert "The old dog sleeps ." in outcome.out.splitlines()


def test_o_writes_only_the_sentences(run: Run, tmp_path: Path) -> None:
    said = run("realize", "tree.json", "-o", "out.txt").out
    assert said == "1 sentence written to out.txt.\n"
    assert (tmp_path / "out.txt").read_text() == "the dog sleeps\n"


def test_json_has_the_scores(run: Run) -> None:
    value = run("realize", "tree.json", "--nbest", "2", "--format", "json").json
    assert value["model"] == "learned"
    assert value["trees"] == 1
    first = value["sentences"][0]
    assert (first["tree"], first["rank"], first["sentence"]) == (1, 1, "the dog sleeps")
    assert first["score"] == 0.0
    assert value["sentences"][1]["score"] < 0


def test_nbest_is_a_table(run: Run) -> None:
    lines = run("realize", "one.conllu", "--model", "fergus", "--nbest", "3").out.splitlines()
    assert lines[0].split() == ["tree", "rank", "score", "sentence"]
    assert [line.split()[1] for line in lines[2:]] == ["1", "2"]


def test_a_jsonl_has_the_nbest_for_rerank(run: Run, tmp_path: Path) -> None:
    args = ("realize", "one.conllu", "--model", "fergus", "--nbest", "3")
    table = run(*args, "-o", "nbest.jsonl").out
    [line] = (tmp_path / "nbest.jsonl").read_text().splitlines()
    found = json.loads(line)
    assert found["id"] == "1"
    assert len(found["candidates"]) == 2 and all(text in table for text in found["candidates"])
    [reference] = found["references"]  # the order in the file
    best = run("rerank", "nbest.jsonl", "-m", "chrf").out
    assert best in {f"{text}\n" for text in found["candidates"]}
    assert sorted(reference.lower().split()) == sorted(best.lower().split())
    run("realize", "tree.json", "-o", "one.jsonl")
    assert json.loads((tmp_path / "one.jsonl").read_text()) == {
        "id": "1",
        "candidates": ["the dog sleeps"],
    }


def test_evaluation_has_the_baseline_beside_it(run: Run) -> None:
    outcome = run("realize", "trees.conllu", "--evaluate", "--format", "json")
    scores = {(s["system"], s["metric"]): s["score"] for s in outcome.json["scores"]}
    assert {system for system, _ in scores} == {"lr", "learned"}
    assert [metric for system, metric in scores if system == "lr"] == [
        "ssa", "gsa", "sta", "gta", "understandability", "quality", "bleu", "exact",
    ]  # fmt: skip
    assert scores["learned", "ssa"] > scores["lr", "ssa"]
    assert len(outcome.json["sentences"]) == len(TREES)
    assert "learned against lr" in run("realize", "trees.conllu", "--evaluate").out


def test_evaluating_the_baseline_alone(run: Run) -> None:
    outcome = run("realize", "trees.conllu", "--evaluate", "--model", "lr", "--format", "json")
    assert outcome.json["systems"] == ["lr"]


def test_explaining(run: Run) -> None:
    out = run("realize", "tree.json", "--model", "fergus+", "--explain").out
    assert "  dog" in out
    assert "VBZ/root[nsubj,_]" in out
    assert "lattice: 1 orders in" in out
    assert "path: the dog sleeps   (score" in out
    assert "VBZ/root[nsubj,_]" in run("realize", "tree.json", "--explain").out


def test_the_lattice_is_openfst_text(run: Run, tmp_path: Path) -> None:
    run("realize", "tree.json", "--model", "fergus", "--lattice", "out.fst")
    assert (tmp_path / "out.fst").read_text().splitlines()[-1] == "1"
    assert (tmp_path / "out.fst.syms").read_text().startswith("<eps>\t0\n")
    run("realize", "trees.conllu", "--model", "fergus", "--lattice", "many.fst")
    assert (tmp_path / f"many.fst.{len(TREES)}").exists()


def test_an_evalset_to_score(run: Run, tmp_path: Path) -> None:
    run("realize", "trees.conllu", "--evalset", "set.jsonl")
    evalset = read_evalset(tmp_path / "set.jsonl")
    assert evalset.systems == ("learned",)
    assert len(evalset) == len(TREES)
    assert run("score", "set.jsonl", "-m", "sta:tokenize=none").code == 0


def test_from_text(run: Run, files: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(self: object, lines: list[str], **_: object) -> list[ParsedSentence]:
        assert lines == ["The old dog sleeps."]
        return [ParsedSentence(TREES[2])]

    monkeypatch.setattr(SentenceParser, "load", lambda name, **_: SentenceParser(None))  # type: ignore[arg-type]
    monkeypatch.setattr(SentenceParser, "parse", parse)
    files(**{"text.txt": "The old dog sleeps.\n"})
    outcome = run("realize", "text.txt", "--from-text")
    assert (outcome.out, outcome.err) == ("The old dog sleeps .\n", "")


def test_text_that_is_not_english_is_warned_of(
    run: Run, files: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SentenceParser, "load", lambda name, **_: SentenceParser(None))  # type: ignore[arg-type]
    monkeypatch.setattr(SentenceParser, "parse", lambda *_, **__: [ParsedSentence(TREES[2])])
    files(**{"text.txt": "Das Schiff fährt heute um zwölf Uhr ab.\nThe old dog sleeps.\n"})
    outcome = run("realize", "text.txt", "--from-text")
    assert outcome.out == "The old dog sleeps .\n"
    assert outcome.err == (
        "1 line is not English prose, and its tree means little: not English 1.\n"
    )
    value = run("realize", "text.txt", "--from-text", "--format", "json").json
    assert value["not_english"] == {"not English": 1}


def test_missing_words_are_inserted(run: Run, files: Callable[..., None]) -> None:
    files(**{"bare.json": '{"word": "sleeps", "children": [{"word": "dog"}]}'})
    outcome = run("realize", "bare.json", "--insert", "punctuation,function")
    assert outcome.code == 0
    assert {"dog", "sleeps"} < set(outcome.out.split())
    for model in ("fergus", "fergus+", "lr"):
        other = run("realize", "bare.json", "--insert", "punctuation,function", "--model", model)
        assert sorted(other.out.lower().split()) == sorted(outcome.out.lower().split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tree.json", "--evaluate"], "no order to compare with"),
        (["tree.json", "--explain", "--format", "json"], "--explain needs --format table"),
        (["none.conllu"], "none.conllu"),
        (
            ["tree.json", "--model", "fergus", "--grammar", "xtag:nowhere"],
            "nowhere is not an XTAG grammar",
        ),
        (["tree.json", "--model", "fergus", "--grammar", "minimalist"], "no grammar 'minimalist'"),
        (["tree.json", "--grammar", "xtag:nowhere"], "takes no grammar"),
        (["tree.json", "--lattice", "out.fst"], "has no lattice"),
        (["tree.json", "--insert", "adverbs"], "not 'adverbs'"),
        (["tree.json", "--chooser", "top-down"], "takes no chooser"),
        (["tree.json", "-o", "tree.json"], "tree.json"),
        (
            ["tree.json", "--model", "fergus", "--lattice", "x", "-o", "x.syms"],
            "another output is written to x.syms",
        ),
        (["bad.json"], "bad.json, tree 1: "),
        (["ring.conllu"], "circle"),
        (["notes.txt"], "add --from-text"),
    ],
)
def test_bad_input_gets_one_paragraph(
    run: Run, files: Callable[..., None], arguments: list[str], message: str
) -> None:
    ring = (
        "1\ta\t_\t_\t_\t_\t2\t_\t_\t_\n2\tb\t_\t_\t_\t_\t1\t_\t_\t_\n3\tc\t_\t_\t_\t_\t0\t_\t_\t_\n"
    )
    files(**{"bad.json": '[{"word": 7}]', "ring.conllu": ring, "notes.txt": "A dog."})
    outcome = run("realize", *arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert "Traceback" not in outcome.err


def test_a_missing_model_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shipped, "ENGLISH_FOLDER", tmp_path)
    outcome = run("realize", "tree.json")
    assert outcome.code == 2
    assert "realizer.wpm is not in this installation" in outcome.err


def test_every_model_inflects_lemmas(run: Run, files: Callable[..., None]) -> None:
    columns = (
        "1 Dogs dog NOUN NNS Number=Plur 2 nsubj",
        "2 barked bark VERB VBD Tense=Past 0 root",
    )
    rows = ["\t".join([*line.split(), "_", "_"]) for line in columns]
    files(**{"lemmas.conllu": "\n".join(rows) + "\n\n"})
    for model in ("learned", "fergus", "lr"):
        outcome = run("realize", "lemmas.conllu", "--input", "lemmas", "--model", model)
        assert sorted(outcome.out.lower().split()) == ["barked", "dogs"], outcome
