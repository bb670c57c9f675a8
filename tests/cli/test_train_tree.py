"""`wellput train tree` on the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run

TREES = """1	The	the	DET	DT	_	2	det	_	_
2	dog	dog	NOUN	NN	_	3	nsubj	_	_
3	sat	sit	VERB	VBD	_	0	root	_	_
4	.	.	PUNCT	.	_	3	punct	_	_

"""


def test_a_tree_model_is_trained(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(TREES * 3)
    summary = run("train", "tree", "a.conllu", "-o", "a.wpm", "--format", "json")
    assert summary.code == 0, summary
    assert (summary.json["trees"], summary.json["words"], summary.json["supertags"]) == (3, 12, 4)
    again = run("train", "tree", "a.conllu", "-o", "b.wpm", "--threads", "2", "--seed", "9")
    assert "supertags" in again.out
    assert (tmp_path / "a.wpm").read_bytes() == (tmp_path / "b.wpm").read_bytes()


def test_bad_trees_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(TREES)
    (tmp_path / "bad.conllu").write_text("1\tThe\n\n")
    for arguments, message in (
        (("a.conllu", "-o", "a.arpa"), ".wpm"),
        (("bad.conllu", "-o", "a.wpm"), "columns"),
        (("none.conllu", "-o", "a.wpm"), "none.conllu"),
        (("a.conllu", "-o", "missing/a.wpm"), "missing"),
    ):
        outcome = run("train", "tree", *arguments)
        assert outcome.code == 2
        assert message in outcome.err
