from __future__ import annotations

import gzip
import io
import lzma
import os
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.core.errors import InputError
from wellput.io.files import InputFile, check_readable


def lines_of(path: Path) -> list[str]:
    return list(InputFile(path).lines())


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),  # a last line without its line end counts
        (b"\n\n", ["", ""]),
        (b"a\r\nb\x0bc\x85\n".replace(b"\x85", "\x85".encode()), ["a\r", "b\x0bc\x85"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),  # only the mark at the start goes
    ],
)
def test_lines_end_at_newline_alone(tmp_path: Path, content: bytes, lines: list[str]) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    assert lines_of(path) == lines
    assert InputFile(path).count_lines() == len(lines)


@given(
    st.lists(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\n\ufeff")))
)
def test_blocks_are_the_lines(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    path.write_bytes("".join(line + "\n" for line in [*lines, ""]).encode())
    blocks = list(InputFile(path).line_blocks(3))
    assert [line for block in blocks for line in block] == [*lines, ""]
    assert all(len(block) == 3 for block in blocks[:-1])
    assert 1 <= len(blocks[-1]) <= 3


def test_long_lines_across_chunks(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    lines = ["ä" * 700_000, "b", "ö" * 1_500_000, "c"]
    path.write_text("\n".join(lines))
    assert lines_of(path) == lines
    assert InputFile(path).count_lines() == 4


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
@pytest.mark.parametrize("name", ["a.txt.gz", "a.txt.xz", "a.txt"])
def test_compression_is_seen_in_the_content(tmp_path: Path, compress: object, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(compress(b"a\n" * 10) + compress(b"b\n"))  # type: ignore[operator]
    assert lines_of(path) == ["a"] * 10 + ["b"]


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_truncated_and_damaged_files(tmp_path: Path, suffix: str, compress: object) -> None:
    whole: bytes = compress(os.urandom(10_000))  # type: ignore[operator]
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"a\.txt\.(gz|xz) is truncated"):
        list(InputFile(path).chunks())
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 0xFF]) + whole[middle + 1 :])
    with pytest.raises(InputError, match="is damaged"):
        list(InputFile(path).chunks())
    path.write_bytes(b"plain text\n")
    with pytest.raises(InputError, match="damaged or not compressed"):
        list(InputFile(path).chunks())


@pytest.mark.parametrize("content", [b"", gzip.compress(b"", mtime=0)])
def test_empty(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.txt is empty"):
        lines_of(path)


def test_missing_files_are_named_together_with_their_neighbors(tmp_path: Path) -> None:
    (tmp_path / "reference.txt").write_text("a\n")
    missing = [InputFile(tmp_path / "refrence.txt"), InputFile(tmp_path)]
    with pytest.raises(InputError) as caught:
        check_readable(*missing)
    assert "No such file" in str(caught.value)
    assert "Did you mean reference.txt?" in str(caught.value)
    assert f"{tmp_path} is a folder" in str(caught.value)
    with pytest.raises(InputError, match="No such file"):
        list(missing[0].lines())
    with pytest.raises(InputError, match="is a folder"):
        list(missing[1].lines())


def test_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read everything, so the refusal is played."""
    path = tmp_path / "a.txt"
    path.write_text("a\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match="no permission"):
        lines_of(path)


def test_all_lines_that_are_not_utf8_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\ncaf\xe9\ngood\n\xff\n")
    with pytest.raises(InputError) as caught:
        lines_of(path)
    message = str(caught.value)
    assert "line 2: not UTF-8 (byte 4 is 0xe9)" in message
    assert "line 4: not UTF-8 (byte 1 is 0xff)" in message
    assert "line 1" not in message
    assert "iconv -f LATIN1" in message


def test_utf16_is_recognized(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("häßlich\n", encoding="utf-16")
    with pytest.raises(InputError, match="iconv -f UTF-16"):
        lines_of(path)


def test_standard_input_is_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(b"a\nb\n")))
    monkeypatch.setattr(sys, "stdin", stdin)
    file = InputFile("-")
    first, second = file.lines(), file.lines()
    assert [next(first), next(second), next(first), next(second)] == ["a", "a", "b", "b"]
    assert list(file.lines()) == ["a", "b"]


def test_a_pipe_is_read_twice(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=["a\nb\n"])
    writer.start()
    file = InputFile(path)
    assert list(file.lines()) == ["a", "b"]
    assert file.count_lines() == 2
    writer.join()


@pytest.mark.parametrize("change", ["append", "truncate", "replace"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"line\n" * 1_000_000)
    file = InputFile(path)
    lines = file.lines()
    next(lines)
    if change == "replace":  # what is open stays whole; reading again would give other lines
        (tmp_path / "b.txt").write_bytes(b"other\n")
        (tmp_path / "b.txt").rename(path)
        assert sum(1 for _ in lines) == 999_999
        lines = file.lines()
    elif change == "append":
        with path.open("ab") as more:
            more.write(b"line\n")
    else:
        os.truncate(path, 2_000_000)
    with pytest.raises(InputError, match="changed while it was read"):
        list(lines)


def test_a_file_may_be_read_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"a\nb\n"))
    file = InputFile(path)
    assert list(file.lines()) == list(file.lines()) == ["a", "b"]


def test_urls_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\nb\n")
    assert list(InputFile(path.as_uri()).lines()) == ["a", "b"]
