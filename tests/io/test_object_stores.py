"""Evaluation sets behind s3:// URLs, over HTTP from a server on this machine."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.s3_server import ENVIRONMENT, Fault, S3Server, s3_server
from wellput.core.errors import InputError, OutputError, Unreachable
from wellput.core.evalset import EvalSet, Item
from wellput.io import open_evalset, read_evalset, write_evalset
from wellput.io.locations import names_at, urls_in, write_url

pytestmark = pytest.mark.heavy  # a server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    folder = tmp_path_factory.mktemp("s3")
    shards = folder / "bucket" / "shards"
    (shards / "sub").mkdir(parents=True)
    (shards / "a.jsonl").write_text(lines(0, 5))
    (shards / "a.jsonl.gz").write_bytes(gzip.compress(lines(5, 9).encode()))
    # A name that must be percent-encoded in a URL.
    (shards / "b, 100% größer?.jsonl").write_text(lines(9, 10))
    write_evalset(EvalSet([Item("10", {"A": "a 10"}, ("a b",))]), shards / "sub" / "z.parquet")
    (shards / "sub" / "empty.jsonl").write_text("")
    (shards / "_SUCCESS.jsonl").write_text("{}")
    (shards / "_temporary" / "0").mkdir(parents=True)
    (shards / "_temporary" / "0" / "a.jsonl").write_text(lines(3, 4))
    (shards / "notes.md").write_text("not an evaluation set")
    (folder / "other").mkdir()
    (folder / "other" / "damaged.parquet").write_bytes(b"PAR1 and no more")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        with s3_server(folder) as running:
            patch.setenv("AWS_ENDPOINT_URL", f"http://{running.address}")
            yield running


def lines(start: int, stop: int) -> str:
    rows = (
        {"id": i, "references": ["a b"], "outputs": {"A": f"a {i}"}} for i in range(start, stop)
    )
    return "".join(json.dumps(row) + "\n" for row in rows)


def ids(url: str) -> list[int]:
    return [int(item.id) for item in read_evalset(url)]


def test_folders_and_patterns_are_read_as_they_are_here(server: S3Server) -> None:
    for pattern in (
        "*.jsonl*", "**/z.parquet", "*/z*", "b*.jsonl", "[ab].jsonl", "**/[az].*", "_temporary/**/a.*",
    ):  # fmt: skip
        found = ids(f"s3://bucket/shards/{pattern}")
        assert found == ids(f"{server.folder}/bucket/shards/{pattern}"), pattern
    assert ids("s3://bucket/shards") == ids("s3://bucket") == list(range(11))


def test_the_address_may_stand_in_the_url(
    server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    root = "s3://reader:sesame@bucket/shards"
    assert ids(f"{root}/a.jsonl{server.query}") == [0, 1, 2, 3, 4]
    assert ids(f"{root}/a.jsonl.gz{server.query}") == [5, 6, 7, 8]
    assert ids(f"{root}/sub/z.parquet{server.query}") == [10]
    assert ids(f"{root}/*.jsonl*{server.query}") == list(range(10))


def test_names_that_a_url_cannot_hold(server: S3Server) -> None:
    (url,) = urls_in("s3://bucket/shards/b*")
    assert url == "s3://bucket/shards/b,%20100%25%20gr%C3%B6%C3%9Fer%3F.jsonl"
    assert ids(url) == [9]
    assert ids("s3://bucket/shards/b, 100%25 größer%3F.jsonl") == [9]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("s3://bucket/absent.jsonl", r"^No such file or folder: s3://bucket/absent\.jsonl\.$"),
        ("s3://bucket/absent", r"^No such file or folder: s3://bucket/absent\.$"),
        ("s3://absent/x.jsonl", r"^No such file or folder: s3://absent/x\.jsonl\.$"),
        ("s3://absent/*.jsonl", r"^s3://absent/\*\.jsonl cannot be read: .*bucket does not exist"),
        ("s3://bucket/shards/*.tsv", r"^No file matches s3://bucket/shards/\*\.tsv"),
        ("s3://bucket/shards/a.jsonl?bogus=1", r"a\.jsonl\?bogus=1 cannot be read: .*'bogus'\.$"),
        ("s3://other/damaged.parquet", "is damaged, or not a Parquet file"),
    ],
)
def test_what_is_not_there(server: S3Server, url: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_evalset(url)
    assert not isinstance(caught.value, Unreachable)


@pytest.mark.parametrize("secret", ["wrong", None])
def test_no_credentials_and_wrong_ones(
    server: S3Server, monkeypatch: pytest.MonkeyPatch, secret: str | None, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # where other credentials may lie
    if secret is None:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    else:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    for url in ("s3://bucket/shards", "s3://bucket/shards/a.jsonl", "s3://bucket/*/*.jsonl"):
        with pytest.raises(InputError, match=r"access is denied.*AWS_ACCESS_KEY_ID") as caught:
            open_evalset(url)
        assert str(caught.value).startswith(f"{url} cannot be read: ")
    with pytest.raises(OutputError, match=r"^Cannot write s3://bucket/new: access is denied"):
        names_at("s3://bucket/new")


def test_a_server_that_is_down(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{nobody.getsockname()[1]}")
        with pytest.raises(Unreachable, match=r"does not answer .*check its address: for s3://"):
            open_evalset("s3://bucket/shards")
        with pytest.raises(OutputError, match=r"^Cannot write s3://bucket/x: .*does not answer"):
            write_url("s3://bucket/x", memoryview(b"x"))


@pytest.mark.parametrize("fault", ["busy", "reset", "cut"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "sub/z.parquet"])
def test_a_request_that_fails_is_made_again(server: S3Server, fault: Fault, name: str) -> None:
    url = f"s3://bucket/shards/{name}"
    before = ids(url)
    server.fault, server.faults = fault, 2
    assert ids(url) == before
    assert server.faults == 0


def test_a_request_that_fails_again_and_again(server: S3Server) -> None:
    names = ["a.jsonl", "sub/z.parquet"]
    server.fault, server.faults = "reset", 1_000
    try:
        with ThreadPoolExecutor() as at_once:  # PyArrow tries each for six seconds
            readings = [at_once.submit(ids, f"s3://bucket/shards/{name}") for name in names]
    finally:
        server.faults = 0
    for name, reading in zip(names, readings, strict=True):
        with pytest.raises(Unreachable, match=rf"{name} cannot be read: the server does not"):
            reading.result()


@pytest.mark.parametrize("option", ["-o", "--segments", "--resume", "--runs"])
def test_what_cannot_be_written_there(server: S3Server, option: str) -> None:
    from wellput.cli import score

    arguments = ["s3://bucket/shards/a.jsonl", "-m", "ssa", option, "s3://bucket/x.csv"]
    with pytest.raises(
        OutputError, match=r"^Cannot write s3://bucket/x\.csv: wellput writes only .* copy the file"
    ):
        score.command.main(arguments, standalone_mode=False)


def test_a_file_that_changes_while_it_is_read(server: S3Server) -> None:
    path = server.folder / "other" / "changing.jsonl"
    path.write_text(lines(0, 3))
    source = open_evalset("s3://other/changing.jsonl")
    for _ in source.blocks():
        pass
    path.write_text(lines(0, 4))
    with pytest.raises(InputError, match=r"changing\.jsonl changed while it was read"):
        list(source.blocks())
    path.unlink()
