from __future__ import annotations

import errno
import gzip
import io
import lzma
import os
import stat
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from wellput.core.errors import OutputError
from wellput.io import check_writable, replacing, replacing_text
from wellput.io.output import write_text


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_replaces_only_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing_text(path) as file:
        file.write("new\r\n")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_bytes() == b"new\r\n"
    assert names_in(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_any_failure_leaves_the_old_content_and_nothing_else(
    tmp_path: Path, failure: type[BaseException]
) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_text("old")
    with pytest.raises(failure), replacing_text(path) as file:
        file.write("half")
        raise failure
    assert path.read_text() == "old"
    assert names_in(tmp_path) == ["a.txt.gz"]


def test_a_name_of_many_bytes_in_few_characters(tmp_path: Path) -> None:
    path = tmp_path / ("漢" * 80 + ".csv")
    with replacing(path) as file:
        file.write(b"text")
    assert path.read_bytes() == b"text"


def test_a_new_file_has_the_usual_mode_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    old = os.umask(0o027)
    try:
        with replacing(path):
            pass
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    with replacing(path) as file:
        file.write(b"x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"


@pytest.mark.parametrize(("suffix", "open_it"), [(".gz", gzip.open), (".xz", lzma.open)])
def test_compresses_by_suffix(tmp_path: Path, suffix: str, open_it: object) -> None:
    path = tmp_path / f"a.txt{suffix}"
    with replacing_text(path) as file:
        file.write("ä\n")
    first = path.read_bytes()
    with open_it(path, "rt", encoding="utf-8") as back:  # type: ignore[operator]
        assert back.read() == "ä\n"
    with replacing_text(path) as file:
        file.write("ä\n")
    assert path.read_bytes() == first, "the same content gives the same bytes"


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    print("before")
    with replacing_text("-") as file:
        file.write("ä\n")
    assert capfdbinary.readouterr().out == "before\nä\n".encode()
    with pytest.raises(ValueError, match="no"), replacing_text("-") as file:
        file.write("half")
        raise ValueError("no")
    assert capfdbinary.readouterr().out == b""
    print("still open")


@pytest.mark.parametrize("is_styled", [False, True])
def test_a_terminal_does_not_obey_what_is_written(
    monkeypatch: pytest.MonkeyPatch, is_styled: bool
) -> None:
    text = "a\tb\n\x1b[31mä\x07\x9b\u202e\n"
    sink = io.BytesIO()
    terminal = io.TextIOWrapper(sink, encoding="utf-8")
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdout", terminal)
    write_text(text, "-", is_styled=is_styled)
    shown = "a\tb\n\\x1b[31mä\\x07\\x9b\\u202e\n"
    assert sink.getvalue().decode() == (text if is_styled else shown)


def test_a_device_can_be_written_by_those_who_may_not_write_in_its_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != Path("/dev"))
    check_writable(os.devnull)
    with pytest.raises(OutputError, match="no permission to write in its folder"):
        check_writable("/dev/absent")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk(tmp_path: Path) -> None:
    for size in (1, 1_000_000):  # seen at the end, seen while writing
        with pytest.raises(OutputError, match="the disk is full"), replacing("/dev/full") as file:
            file.write(b"x" * size)
    link = tmp_path / "full.gz"
    link.symlink_to("/dev/full")
    with pytest.raises(OutputError, match=r"full\.gz: the disk is full"), replacing(link) as file:
        file.write(b"x")


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    for function in (check_writable, lambda path: replacing(path).__enter__()):
        with pytest.raises(OutputError, match=r"the folder .*nowhere does not exist"):
            function(tmp_path / "nowhere" / "a.txt")
        with pytest.raises(OutputError, match="it is a folder"):
            function(tmp_path)
        (tmp_path / "file").write_text("")
        with pytest.raises(OutputError, match="Cannot write"):
            function(tmp_path / "file" / "a.txt")
    assert names_in(tmp_path) == ["file"]


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write everything, so the refusal is played."""
    path = tmp_path / "a.txt"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OutputError, match="no permission"), replacing(path):
        pass
    with pytest.raises(OutputError, match="no permission"):
        check_writable(tmp_path / "new.txt")
    assert path.read_text() == "old"


def test_a_read_only_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Played: where nothing can be made, nothing can be removed either, which must not hide why."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with (
        pytest.raises(OutputError, match=r"a\.txt: the disk is read-only"),
        replacing(tmp_path / "a.txt"),
    ):
        pass
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    with pytest.raises(OutputError, match=r"a\.txt: the disk is read-only"):
        check_writable(tmp_path / "a.txt")


def test_two_writers_of_one_file_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with replacing_text(path) as first:
        first.write("first, ")
        with replacing_text(path) as second:
            second.write("second")
        assert path.read_text() == "second"
        first.write("to the end")
    assert path.read_text() == "first, to the end"
    assert names_in(tmp_path) == ["a.txt"]


def test_an_error_in_the_block_is_raised_unchanged(tmp_path: Path) -> None:
    """A file that fails to be read inside the block is not a failure to write."""
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "a.txt"):
        (tmp_path / "nothing").read_text()
