"""`wellput convert`, `wellput train fergus` and `wellput realize --models` on the command line."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

import wellput
from tests.cli.conftest import Run

TREES = """1	The	the	DET	DT	_	2	det	_	_
2	dog	dog	NOUN	NN	_	3	nsubj	_	_
3	sat	sit	VERB	VBD	_	0	root	_	_
4	.	.	PUNCT	.	_	3	punct	_	_

"""
BRACKETS = """
( (S (NP-SBJ (DT The) (NN dog)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)) )
( (S (NP-SBJ (DT The) (NN cat)) (VP (MD can) (VP (VB sit) (PP (IN on) (NP (DT a) (NN dog))))) (. .)) )
"""
WORDS = "the dog sat on the mat . the cat can sit on a dog ."


@pytest.fixture
def mrg(tmp_path: Path) -> str:
    (tmp_path / "wsj.mrg").write_text(BRACKETS)
    return "wsj.mrg"


def test_fergus_is_trained_the_same_each_time(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(TREES * 3)
    summary = run("train", "fergus", "a.conllu", "-o", "a", "--format", "json")
    assert summary.code == 0, summary
    assert (summary.json["trees"], summary.json["words"], summary.json["supertags"]) == (3, 12, 4)
    again = run("train", "fergus", "a.conllu", "--dev", "a.conllu", "-o", "b", "--threads", "2")
    assert "supertags" in again.out
    for name in ("tree.wpm", "ngrams.wlm"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_failed_training_leaves_no_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.conllu").write_text("1\tno tree\n")
    assert run("train", "fergus", "bad.conllu", "-o", "new/models").code == 2
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    assert run("train", "fergus", "bad.conllu", "-o", "old").code == 2
    assert (tmp_path / "old").is_dir()
    (tmp_path / "a.conllu").write_text(TREES * 3)
    monkeypatch.setattr("os.fsync", _disk_is_full)
    assert "the disk is full" in run("train", "fergus", "a.conllu", "-o", "new").err
    assert not (tmp_path / "new").exists()


def _disk_is_full(_: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_brackets_become_a_realizer(run: Run, tmp_path: Path, mrg: str) -> None:
    assert "2 trees, 15 words." in run("convert", mrg, "-o", "wsj.conllu").out
    assert run("convert", mrg).out == (tmp_path / "wsj.conllu").read_text()
    run("train", "fergus", "wsj.conllu", "-o", "mine")
    for model in ("fergus", "fergus+", "lr"):
        outcome = run("realize", "wsj.conllu", "--models", "mine", "--model", model)
        assert outcome.code == 0, outcome
        assert sorted(outcome.out.lower().split()) == sorted(WORDS.split())
    top_down = ["--models", "mine", "--model", "fergus", "--chooser", "top-down"]
    outcome = run("realize", "wsj.conllu", *top_down)
    assert outcome.out == "The dog sat on the mat .\nThe cat can sit on a dog .\n"
    assert " lr " in run("realize", "wsj.conllu", *top_down, "--evaluate").out
    made = wellput.train.fergus("wsj.conllu")
    assert made.realizer("fergus").realize(wellput.convert(mrg).trees[0]).text == (
        "The dog sat on the mat ."
    )


def test_lemmas_are_filled_in_and_inflected_again(run: Run, tmp_path: Path, mrg: str) -> None:
    pytest.importorskip("lemminflect")
    assert run("convert", mrg, "--lemmas", "-o", "wsj.conllu").code == 0
    lines = (tmp_path / "wsj.conllu").read_text().splitlines()
    assert [line.split("\t")[2] for line in lines if line][:4] == ["the", "dog", "sit", "on"]
    run("train", "fergus", "wsj.conllu", "-o", "mine")
    outcome = run(
        *("realize", "wsj.conllu", "--models", "mine", "--model", "fergus", "--input", "lemmas")
    )
    assert outcome.out == "the dog sat on the mat .\nthe cat can sit on a dog .\n"
    run("convert", mrg, "-o", "bare.conllu")
    lemmas = ("--models", "mine", "--model", "fergus", "--input", "lemmas")
    refused = run("realize", "bare.conllu", *lemmas)
    assert refused.code == 2
    assert "no lemma of 'The', 'dog', 'sat'" in refused.err


def test_bad_input_is_refused(run: Run, tmp_path: Path, mrg: str) -> None:
    (tmp_path / "a.conllu").write_text(TREES)
    (tmp_path / "bad.conllu").write_text("1\tThe\n\n")
    (tmp_path / "empty.mrg").write_text("( (S (NP-SBJ (-NONE- *)) (VP (-NONE- *?*))) )\n")
    assert run("train", "fergus", "a.conllu", "-o", "mine").code == 0
    shutil.copytree(tmp_path / "mine", tmp_path / "old")
    (tmp_path / "old" / "completer.wpm").unlink()
    on_models = ("realize", "a.conllu", "--models")
    for arguments, message in (
        (("train", "fergus", "bad.conllu", "-o", "a"), "columns"),
        (("train", "fergus", "none.conllu", "-o", "a"), "none.conllu"),
        (("train", "fergus", "a.conllu", "-o", "a.conllu/x"), "a.conllu/x cannot be made"),
        (("convert", "none.mrg"), "none.mrg"),
        (("convert", "a.conllu"), "a.conllu"),
        (("convert", "empty.mrg"), "empty.mrg, tree 1: The constituent has no words"),
        ((*on_models, "nowhere", "--model", "fergus"), "nowhere"),
        ((*on_models, "mine"), "mine has no learned.wpm"),
        ((*on_models, "old", "--model", "fergus", "--insert", "punctuation"), "no completer.wpm"),
        ((*on_models, "old", "--model", "lr", "--input", "lemmas"), "no completer.wpm"),
        ((*on_models, "mine", "--model", "lr", "--chooser", "top-down"), "takes no chooser"),
    ):
        outcome = run(*arguments)
        assert outcome.code == 2, (arguments, outcome)
        assert message in outcome.err, (arguments, outcome.err)
