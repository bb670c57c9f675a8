"""A command never replaces a file that it reads, whichever way the file was named."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from wellput.core.errors import OutputError
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
