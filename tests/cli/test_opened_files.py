"""A command never replaces a file that it reads, whichever way the file was named."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from wellput.core.errors import OutputError
from wellput.io import opened_files
from wellput.io.opened_files import keeping_opened_files, note_own_folder
from wellput.io.output import replacing, write_text

Write = Callable[..., None]
ITEM = '{"id": "1", "references": ["a b c"], "outputs": {"A": "a b", "B": "a b c"}}\n'


def refused(run: Run, file: str, *arguments: str) -> None:
    content = Path(file).read_bytes()
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"Cannot write {file}: " in outcome.err
    assert Path(file).read_bytes() == content


def test_the_table_whose_columns_are_shown_is_kept(run: Run, files: Write) -> None:
    files(**{"e.jsonl": ITEM})
    refused(run, "e.jsonl", "columns", "e.jsonl", "-o", "e.jsonl")


@pytest.mark.parametrize("file", ["s.db", "s.db-wal"])
@pytest.mark.parametrize("study", ["s.db", "sqlite:///s.db"])
def test_the_database_of_a_study_is_kept(run: Run, files: Write, study: str, file: str) -> None:
    files(**{"e.jsonl": ITEM})
    assert run("study", "create", "e.jsonl", "--design", "rating", "-o", "s.db").code == 0
    with closing(sqlite3.connect("s.db")) as other:  # the log exists while another program reads
        other.execute("SELECT count(*) FROM answers").fetchall()
        refused(run, file, "study", "status", study, "-o", file)


def test_a_text_that_has_the_name_of_a_lattice_is_kept(run: Run, files: Write) -> None:
    files(**{"lat.1": "the dog sees a cat .\nhe runs .\n"})
    arguments = ("realize", "lat.1", "--from-text", "--model", "fergus", "--lattice", "lat")
    refused(run, "lat.1", *arguments, "-o", "z")


def test_standard_input_is_kept(run: Run, files: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    files(**{"e.jsonl": ITEM})
    before = os.dup(0)
    try:
        with Path("e.jsonl").open() as stdin:
            os.dup2(stdin.fileno(), 0)
            monkeypatch.setattr("sys.stdin", stdin)
            refused(run, "e.jsonl", "score", "-", "-m", "bleu", "-o", "e.jsonl")
    finally:
        os.dup2(before, 0)
        os.close(before)


def test_a_command_may_replace_what_it_wrote_or_owns(tmp_path: Path) -> None:
    read, written = tmp_path / "read", tmp_path / "written"
    read.write_text("one")
    with keeping_opened_files():
        assert read.read_text() == "one"
        for _ in range(2):
            write_text("two", written)
            assert written.read_text() == "two"
        note_own_folder(tmp_path)
        write_text("three", read)
    write_text("four", read)  # no command runs
    assert read.read_text() == "four"


def test_a_file_that_is_read_while_it_is_written_anew_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("one")
    with (
        keeping_opened_files(),
        pytest.raises(OutputError, match="this command reads it"),
        replacing(path) as file,
    ):
        file.write(path.read_bytes())
    assert path.read_text() == "one"
    assert list(tmp_path.iterdir()) == [path]


def test_finished_parts_of_other_data_are_computed_again(run: Run, files: Write) -> None:
    files(**{"e.jsonl": ITEM})
    arguments = ("score", "e.jsonl", "-m", "bleu", "--resume", "parts")
    assert run(*arguments).code == 0
    files(**{"e.jsonl": ITEM + ITEM.replace('"1"', '"2"')})
    assert "2 items" in run(*arguments).out
    (part,) = Path("parts").glob("*.wpm")
    part.write_bytes(part.read_bytes()[:-30])
    assert run(*arguments).code == 0


def test_learned_classifiers_are_added_to_the_cache(run: Run, files: Write) -> None:
    words = ["cat", "dog", "ship"]
    corpus = "".join(f"the {word} sat on the mat and the {word} ran\n" for word in words * 30)
    files(**{"corpus.txt": corpus, "table.csv": "word,replacement\ncat,dog\ndog,cat\nship,dog\n"})
    contents = []
    for name in ("cat", "ship"):
        item = {"id": "1", "references": [f"the {name} sat"], "outputs": {"A": "the dog sat"}}
        files(**{f"{name}.jsonl": json.dumps(item) + "\n"})
        outcome = run(
            "paraphrase", f"{name}.jsonl", "--candidates", "table:table.csv", "--filter",
            "classifier", "--corpus", "corpus.txt", "--cache", "c.wpm", "-o", f"{name}.out.jsonl",
        )  # fmt: skip
        assert outcome.code == 0, outcome.err
        contents.append(Path("c.wpm").read_bytes())
    assert contents[0] != contents[1]


def test_other_threads_may_open_files_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "target").write_text("old")
    others = (tmp_path / str(number) for number in range(1000))
    compare = opened_files._is_same_file

    def while_another_thread_opens(path: int | str, state: os.stat_result) -> bool:
        with contextlib.suppress(FileNotFoundError):
            next(others).read_bytes()
        return compare(path, state)

    with keeping_opened_files():
        (tmp_path / "target").with_name("read").write_text("an input")
        (tmp_path / "read").read_text()
        monkeypatch.setattr(opened_files, "_is_same_file", while_another_thread_opens)
        write_text("new", tmp_path / "target")
    assert (tmp_path / "target").read_text() == "new"
