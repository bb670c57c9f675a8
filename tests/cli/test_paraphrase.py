"""`wellput paraphrase`, `score --paraphrase` and `train paraphrase` on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wellput
from tests.cli.conftest import Run
from tests.language.paraphrase.tiny_wordnet import write_wordnet

ITEM = {"id": "7", "references": ["A quick reply came."], "outputs": {"A": "A fast answer came."}}
CORPUS = "\n".join(
    [
        *["we had a quick reply from them ."] * 30,
        *["they sent a fast answer to us ."] * 30,
        *["the old house stands in the garden ."] * 30,
        *["a home is never far away ."] * 30,
    ]
)


@pytest.fixture(autouse=True)
def wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "dict"
    folder.mkdir()
    monkeypatch.setenv("WNSEARCHDIR", str(write_wordnet(folder)))
    (tmp_path / "set.jsonl").write_text(json.dumps(ITEM) + "\n")
    (tmp_path / "corpus.txt").write_text(CORPUS)


def test_references_are_rewritten_and_explained(run: Run, tmp_path: Path) -> None:
    outcome = run(
        "paraphrase", "set.jsonl", "--method", "wordnet", "--explain", "--format", "json",
        "-o", "new.jsonl",
    )  # fmt: skip
    assert outcome.code == 0, outcome
    item = json.loads((tmp_path / "new.jsonl").read_text())
    assert item["references"] == ITEM["references"]
    assert item["references_by_system"] == {"A": ["A fast answer came."]}
    (first, second) = outcome.json["substitutions"]
    keys = {"item", "system", "reference", "word", "replacement", "source", "probability", "kept"}
    assert set(first) == keys
    assert (first["word"], first["replacement"], first["kept"]) == ("quick", "fast", True)
    assert (second["item"], second["system"], second["source"]) == ("7", "A", "wordnet")
    table = run("paraphrase", "set.jsonl", "--method", "wordnet").out
    assert "paraphrase:wordnet|model:" in table


def test_scores_stand_side_by_side_with_the_method_in_the_signature(run: Run) -> None:
    outcome = run(
        "score", "set.jsonl", "-m", "bleu,length", "--paraphrase", "wordnet", "--format", "json"
    )
    assert outcome.code == 0, outcome
    scores = {score["metric"]: score for score in outcome.json["scores"]}
    assert list(scores) == ["bleu", "bleu+wordnet", "length"]
    assert scores["bleu+wordnet"]["score"] == pytest.approx(100)
    assert scores["bleu"]["score"] < 50
    assert "paraphrase:wordnet|model:" in scores["bleu+wordnet"]["signature"]
    assert "paraphrase" not in scores["bleu"]["signature"]
    none = run("score", "set.jsonl", "-m", "length", "--paraphrase", "wordnet")
    assert (none.code, "these metrics use none" in none.err) == (2, True)


def train(run: Run, *options: str) -> None:
    small = ("--vocabulary", "30", "--features", "12", "--dimensions", "3", "--classes", "5")
    outcome = run("train", "paraphrase", "corpus.txt", *small, *options, "-o", "model.wpm")
    assert outcome.code == 0, outcome


def test_the_corpus_is_not_overwritten(run: Run, tmp_path: Path) -> None:
    before = (tmp_path / "corpus.txt").read_bytes()
    for args in (
        ("train", "paraphrase", "corpus.txt", "--index", "corpus.txt", "-o", "m.wpm"),
        ("paraphrase", "set.jsonl", "--corpus", "corpus.txt", "-o", "corpus.txt"),
    ):
        refused = run(*args)
        assert refused.code == 2 and "it is the input corpus.txt" in refused.err
    assert (tmp_path / "corpus.txt").read_bytes() == before


@pytest.mark.heavy
def test_a_model_is_trained_and_used_by_every_method(run: Run, tmp_path: Path) -> None:
    text = "we had a quick reply from them ."
    judged = [
        {"text": text, "start": 9, "word": "quick", "replacement": "fast", "right": True},
        {"text": text, "start": 15, "word": "reply", "replacement": "response", "right": False},
        {"text": text, "start": 15, "word": "reply", "replacement": "answer", "right": True},
    ]
    lines = "".join(json.dumps(one) + "\n" for one in judged)
    (tmp_path / "judged.jsonl").write_text(lines)
    train(run, "--judged", "judged.jsonl", "--index", "index.wpm")
    first = (tmp_path / "model.wpm").read_bytes()
    train(run, "--judged", "judged.jsonl")
    assert (tmp_path / "model.wpm").read_bytes() == first
    for options in (
        ["--method", "context"],
        ["--method", "lsa"],
        ["--method", "brown"],
        ["--filter", "lm"],
        ["--filter", "classifier", "--relative", "--joint"],
        ["--filter", "classifier", "--corpus", "corpus.txt", "--threshold", "0"],
        ["--filter", "classifier", "--corpus", "index.wpm", "--words-only"],
    ):
        outcome = run("paraphrase", "set.jsonl", "--model", "model.wpm", *options)
        assert outcome.code == 0, (options, outcome)


def test_a_model_without_judgments_has_no_context_filter(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wellput.language.shipped.ENGLISH_FOLDER", tmp_path)
    train(run)
    outcome = run("paraphrase", "set.jsonl", "--model", "model.wpm")
    assert outcome.code == 2
    assert "no context filter" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "wordnet", "--filter", "none"], "--method stands for"),
        (
            ["--candidates", "thesaurus"],
            "--candidates thesaurus is none of wordnet, lsa",
        ),
        (["--candidates", "wordent"], "Did you mean wordnet?"),
        (["--candidates", "table:"], "needs a file"),
        (["--candidates", "table:none.csv"], "none.csv"),
        (["--method", "wordnet", "--relative"], "--filter classifier"),
        (["--method", "wordnet", "--wordnet", "nowhere"], "no such WordNet"),
        (["--method", "lsa", "--model", "corpus.txt"], "is not a model of wellput"),
        (["--method", "wordnet", "--corpus", "corpus.txt"], "--corpus is for --filter classifier"),
    ],
)
def test_bad_choices_are_refused(run: Run, arguments: list[str], message: str) -> None:
    outcome = run("paraphrase", "set.jsonl", *arguments)
    assert outcome.code == 2
    assert message in outcome.err


def test_a_corpus_that_is_too_small_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "small.txt").write_text("A reply.\n")
    outcome = run("train", "paraphrase", "small.txt", "--classes", "0", "-o", "x.wpm")
    assert outcome.code == 2
    assert "too small" in outcome.err
    outcome = run("train", "paraphrase", "-o", "x.wpm")
    assert (outcome.code, "Nothing to learn from" in outcome.err) == (2, True)
    outcome = run("paraphrase", "set.jsonl", "--filter", "classifier", "--corpus", "small.txt")
    assert (outcome.code, "too small" in outcome.err) == (2, True)


def test_without_a_wordnet_the_packages_are_named(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WNSEARCHDIR", "nowhere")
    monkeypatch.setattr("wellput.language.models.wordnet.SYSTEM_FOLDERS", ())
    outcome = run("paraphrase", "set.jsonl", "--method", "wordnet")
    assert outcome.code == 2
    assert "apt-get install wordnet-base" in outcome.err


def test_the_filter_is_compared_with_judges(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    made = run("paraphrase", "set.jsonl", "--method", "wordnet", "--substitutions", "subs.jsonl")
    assert made.code == 0, made
    first, second = map(json.loads, (tmp_path / "subs.jsonl").read_text().splitlines())
    assert first["outputs"] == {"kept": "A [quick → fast] reply came."}
    study = run(
        "study", "create", "subs.jsonl", "--from-substitutions", "--judges", "2",
        "-o", "study.db", "--format", "json",
    )  # fmt: skip
    assert study.code == 0, study
    assert study.json["questions"] == ["right"]
    # Two judges; the first substitution is right for both, the second for one of them.
    rows = [("j1", first, 2), ("j2", first, 2), ("j1", second, 2), ("j2", second, 1)]
    lines = [f"{judge},{item['id']},kept,right,{value}" for judge, item, value in rows]
    (tmp_path / "j.csv").write_text("judge,item,system,question,value\n" + "\n".join(lines))
    agreed = run("agree", "subs.jsonl", "j.csv", "-m", "length", "--format", "json")
    assert agreed.code == 0, agreed
    (matrix,) = agreed.json["confusion"]
    assert (matrix["true_positives"], matrix["false_positives"], matrix["n"]) == (3, 1, 4)
    refused = run("study", "create", "set.jsonl", "--from-substitutions", "-o", "s.db")
    assert (refused.code, "holds no substitutions" in refused.err) == (2, True)
    no_design = run("study", "create", "set.jsonl", "-o", "s.db")
    assert (no_design.code, "--design" in no_design.err) == (2, True)


def test_an_evalset_without_references_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bare.jsonl").write_text('{"id": "1", "outputs": {"A": "text"}}\n')
    outcome = run("paraphrase", "bare.jsonl", "--method", "wordnet")
    assert (outcome.code, "no references to rewrite" in outcome.err) == (2, True)


def test_python_gets_the_evalset_and_writes_it_if_asked(run: Run, tmp_path: Path) -> None:
    evalset = wellput.read_evalset("set.jsonl")
    made = wellput.paraphrase(evalset, method="wordnet")
    assert isinstance(made.evalset, wellput.EvalSet)
    assert made.evalset.items[0].references_for("A") == ("A fast answer came.",)
    assert made.to_dict() == {"proposed": 2, "kept": 2, "signature": made.signature}
    assert [record["word"] for record in made.records()] == ["quick", "reply"]
    made.save("saved.jsonl")
    written = wellput.paraphrase("set.jsonl", method="wordnet", path="new.jsonl")
    assert Path("saved.jsonl").read_bytes() == Path("new.jsonl").read_bytes()
    assert [item for block in written.evalset.blocks() for item in block] == list(made.evalset)


def test_python_learns_from_sentences_in_memory(run: Run) -> None:
    sentences = CORPUS.split("\n")
    made = wellput.paraphrase("set.jsonl", filter="classifier", corpus=[sentences])
    same = wellput.paraphrase("set.jsonl", filter="classifier", corpus="corpus.txt")
    assert made.signature == same.signature


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"filter": "contex"}, "filter='contex' is none of .* Did you mean context?"),
        ({"threshold": 2}, "threshold=2 must be between 0 and 1"),
        ({"cache": "c.wpm"}, "cache= keeps what is learned from corpus=: give both"),
        ({"filter": "neural"}, "filter='neural' needs encoder='NAME'"),
    ],
)
def test_errors_name_keywords(run: Run, options: dict[str, Any], message: str) -> None:
    with pytest.raises(wellput.InputError, match=message):
        wellput.paraphrase("set.jsonl", **options)


def test_contextwn_learns_as_the_paper_and_refuses_words_it_does_not_know(
    run: Run, tmp_path: Path
) -> None:
    outcome = run(
        "paraphrase", "set.jsonl", "--method", "contextwn", "--corpus", "corpus.txt",
        "--cache", "learned.wpm", "--explain", "--format", "json",
    )  # fmt: skip
    assert outcome.code == 0, outcome
    assert outcome.json["signature"].startswith("paraphrase:contextwn|model:")
    known = {one["replacement"]: one["probability"] for one in outcome.json["substitutions"]}
    assert set(known) == {"fast", "answer"}
    from wellput.language.paraphrase.classifiers import read_classifiers

    _, card = read_classifiers(tmp_path / "learned.wpm")
    assert (card["negatives"], card["smoothing"], card["bag_order"]) == (1.0, 1.0, 4)
    again = run(
        "score", "set.jsonl", "-m", "bleu", "--paraphrase",
        "wordnet:words_only=true,contextwn:model=learned.wpm", "--format", "json",
    )  # fmt: skip
    assert [row["metric"] for row in again.json["scores"]] == [
        "bleu", "bleu+wordnet-words", "bleu+contextwn"
    ]  # fmt: skip


def test_contextwn_uses_as_many_negatives_as_positives_whatever_it_was_learned_with() -> None:
    import numpy as np

    from wellput.language.paraphrase.candidates import Replacement
    from wellput.language.paraphrase.classifiers import (
        ContextClassifier,
        ContextTraining,
        joined_classifiers,
    )
    from wellput.language.paraphrase.filters import ContextwnFilter, Query

    # A bias alone, of boosting: the log odds are twice the margin. e^(2 · −.8047) = 1/5, five
    # negatives for a positive; at one negative these are even odds.
    bias = ContextClassifier(np.zeros(0, np.uint32), np.zeros(0, np.float32), -np.log(5) / 2)
    classifiers = joined_classifiers({"answer": bias}, ContextTraining())
    words = ("a", "reply", "came")
    queries = [Query(words, 1, 2, Replacement(text, "wordnet", 1.0)) for text in ("answer", "home")]
    even, unknown = ContextwnFilter(classifiers, 5.0).probabilities(queries)
    assert even == pytest.approx(0.5, abs=1e-6)
    assert np.isnan(unknown)


def test_substitutions_of_several_methods_are_mixed_and_judged(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("word,replacement\nquick,fast\n")
    outcome = run(
        "paraphrase", "set.jsonl", "--method", "wordnet,contextwn", "--corpus", "corpus.txt",
        "--substitutions", "judge.jsonl", "--format", "json",
    )  # fmt: skip
    assert outcome.code == 0, outcome
    items = [json.loads(line) for line in (tmp_path / "judge.jsonl").read_text().splitlines()]
    assert [set(item["tags"]) for item in items] == [{"wordnet", "contextwn"}] * 2
    assert all(item["tags"]["wordnet"] == "kept" for item in items)
    lines = ["judge,item,system,question,value"]
    for judge, values in (("Kim", (1, 0)), ("Lee", (1, 1))):
        for item, value in zip(items, values, strict=True):
            lines.append(f"{judge},{item['id']},{next(iter(item['outputs']))},right,{value}")
    (tmp_path / "judged.csv").write_text("\n".join(lines) + "\n")
    agreed = run("agree", "judge.jsonl", "judged.csv", "--format", "json")
    assert agreed.code == 0, agreed
    rows = {(row["method"], row["judge"]): row for row in agreed.json["substitutions"]}
    assert rows["wordnet", "Kim"]["accuracy"] == 0.5
    assert rows["wordnet", "Lee"]["accuracy"] == 1.0
    assert rows["wordnet", "Kim"]["n"] == 2
    assert agreed.json["agreement"] == []


def test_several_methods_are_for_judges_only(run: Run) -> None:
    outcome = run("paraphrase", "set.jsonl", "--method", "wordnet,contextwn", "-o", "new.jsonl")
    assert outcome.code == 2
    assert "Several methods are for judges to compare" in outcome.err
