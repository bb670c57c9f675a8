"""Files that would fill the memory are refused with a sentence, and many names cost no more than their
number."""

from __future__ import annotations

import gzip
import json
import os
import threading
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import zstandard

from wellput.core.errors import InputError, did_you_mean
from wellput.io import open_evalset, read_evalset, read_judgments
from wellput.io.files import InputFile
from wellput.io.locations import matching_paths
from wellput.io.minimal_pairs import read_minimal_pairs

MIB = 1 << 20


@pytest.mark.parametrize("before", ["", "short\n" * 3])
@pytest.mark.parametrize("after", ["", "\nshort"])
def test_a_line_that_is_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, after: str
) -> None:
    monkeypatch.setenv("WELLPUT_MAX_LINE_MIB", "3")
    path = tmp_path / "long.txt.gz"
    path.write_bytes(gzip.compress((before + "x" * (3 * MIB) + after).encode(), 1))
    assert len(list(InputFile(path).lines())) == before.count("\n") + 1 + after.count("\n")
    path.write_bytes(gzip.compress((before + "x" * (5 * MIB) + after).encode(), 1))
    with pytest.raises(
        InputError,
        match=r"long.txt.gz has a line of more than 3 MiB.*one item on each line\?.*WELLPUT_MAX",
    ):
        list(InputFile(path).lines())
    monkeypatch.setenv("WELLPUT_MAX_LINE_MIB", "many")
    with pytest.raises(InputError, match="'many' is not a whole number"):
        list(InputFile(path).lines())


@pytest.mark.parametrize(("name", "is_text"), [("zeros", True), ("zeros.parquet", False)])
def test_text_without_lines_is_not_copied_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_text: bool
) -> None:
    # As /dev/zero, but with an end. raw_chunks copies what can be read once, and looks for no lines.
    monkeypatch.setenv("WELLPUT_MAX_LINE_MIB", "3")
    os.mkfifo(pipe := tmp_path / name)

    def write() -> None:
        with suppress(BrokenPipeError), pipe.open("wb", buffering=0) as file:
            for _ in range(5):
                file.write(b"short\n" + bytes(2 * MIB))
            file.write(bytes(2 * MIB))

    writer = threading.Thread(target=write)
    writer.start()
    if is_text:
        with pytest.raises(InputError, match="zeros has a line of more than 3 MiB"):
            list(InputFile(pipe).raw_chunks())
    else:
        assert sum(map(len, InputFile(pipe).raw_chunks())) == 12 * MIB + 30
    writer.join()


def test_a_table_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "bomb.parquet"

    def write(texts: list[str], *, is_dictionary: bool) -> None:
        ids = [str(n) for n in range(len(texts))]
        table = pyarrow.table({"id": ids, "references.0": texts, "outputs.A": texts})
        parquet.write_table(
            table, path, compression="zstd", use_dictionary=is_dictionary, write_statistics=False
        )

    monkeypatch.setenv("WELLPUT_MAX_UNPACKED_MIB", "2")
    write(["x" * MIB + str(n) for n in range(4)], is_dictionary=False)
    assert path.stat().st_size < MIB / 10
    with pytest.raises(InputError, match=r"bomb.parquet unpacks to 8 MiB; at most 2 MiB are read"):
        read_evalset(path)
    monkeypatch.setenv("WELLPUT_MAX_UNPACKED_MIB", "4")
    write(["x" * MIB] * 4, is_dictionary=True)  # it says 1 MiB for each column
    with pytest.raises(InputError, match=r"bomb.parquet unpacks to 8 MiB; at most 4 MiB are read"):
        read_evalset(path)
    monkeypatch.setenv("WELLPUT_MAX_UNPACKED_MIB", "20")
    assert len(read_evalset(path).items) == 4


@pytest.mark.parametrize("suffix", [".parquet", ".eval"])
def test_what_is_packed_twice_does_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setenv("WELLPUT_MAX_UNPACKED_MIB", "2")
    path = tmp_path / f"bomb{suffix}.gz"
    path.write_bytes(gzip.compress(b"x" * (3 * MIB)))
    with pytest.raises(InputError, match=r"gz holds more than 2 MiB"):
        InputFile(path).seekable()
    with pytest.raises(InputError, match=r"gz holds more than 2 MiB"):
        read_evalset(path)


@pytest.mark.parametrize("is_zstandard", [False, True])
def test_an_archive_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_zstandard: bool
) -> None:
    monkeypatch.setenv("WELLPUT_MAX_UNPACKED_MIB", "2")
    header = json.dumps({"eval": {"task": "quiz", "model": "m"}, "samples": []}).encode()
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", header)
        archive.writestr("samples/1.json", b'"' + b"x" * (3 * MIB) + b'"')
    assert path.stat().st_size < MIB / 100
    with pytest.raises(InputError, match=r"unpacks to 3 MiB; at most 2 MiB are read"):
        open_evalset(path)
    if is_zstandard:
        # An entry may lie about its size.
        packed = zstandard.compress(b"x" * (3 * MIB))
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("header.json", header)
            archive.writestr("samples/1.json", packed)
        content = bytearray(path.read_bytes())
        for signature, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
            entry = content.index(signature, content.index(signature) + 4)
            content[entry + place : entry + place + 2] = (93).to_bytes(2, "little")
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"unpacks to 2 MiB; at most 2 MiB are read"):
            open_evalset(path)


def test_twenty_thousand_systems_and_names_given_twice(tmp_path: Path) -> None:
    """With checks that compare each name with all others this would take minutes."""
    outputs = {f"system-{n}": f"text {n}" for n in range(20_000)}
    path = tmp_path / "wide.jsonl"
    lines = [json.dumps({"id": str(n), "outputs": outputs}) for n in range(2)]
    path.write_text("\n".join(lines))
    evalset = read_evalset(path)
    assert len(evalset.systems) == 20_000
    assert [item.outputs["system-7"] for item in evalset.items] == ["text 7", "text 7"]
    twice = json.dumps(outputs)[:-1] + "," + json.dumps(outputs)[1:]
    path.write_text(f'{{"id": "1", "outputs": {twice}}}')
    with pytest.raises(InputError, match=r'the key "system-0", "system-1", .* is given twice'):
        read_evalset(path)
    header = ",".join(["id", *outputs, "system-3"])
    (tmp_path / "wide.csv").write_text(f"{header}\n")
    with pytest.raises(InputError, match="names system-3 twice"):
        read_evalset(tmp_path / "wide.csv")
    assert did_you_mean("sistem-3", list(outputs)) == ""


def test_two_stars_do_not_follow_links_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for path in (tmp_path / "a" / "b", tmp_path / "a"):
        (path / "set.jsonl").write_text("{}")
        (path / "loop").symlink_to(tmp_path / "a")
        (path / "again").symlink_to(tmp_path)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "set.jsonl").write_text("{}")
    expected = [f"{tmp_path}/a/b/set.jsonl", f"{tmp_path}/a/set.jsonl"]
    assert sorted(matching_paths(f"{tmp_path}/**/*.jsonl")) == expected
    assert sorted(matching_paths(f"{tmp_path}/**/b/**/set.jsonl")) == expected[:1]
    monkeypatch.chdir(tmp_path)
    assert sorted(matching_paths("**/*.jsonl")) == ["a/b/set.jsonl", "a/set.jsonl"]
    assert matching_paths(f"a{os.sep}*.jsonl") == ["a/set.jsonl"]


@pytest.mark.parametrize("read", [read_evalset, read_judgments, read_minimal_pairs])
def test_a_file_that_is_read_as_a_whole_may_not_be_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Path], object]
) -> None:
    monkeypatch.setenv("WELLPUT_MAX_UNPACKED_MIB", "1")
    path = tmp_path / "log.json.gz"
    path.write_bytes(gzip.compress(b"[" + b"\n" * (2 << 20) + b"]"))
    with pytest.raises(InputError, match="more than 1 MiB"):
        read(path)


def test_pairs_that_are_nested_too_deeply(tmp_path: Path) -> None:
    (tmp_path / "pairs.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match="is not JSON"):
        read_minimal_pairs(tmp_path / "pairs.json")
