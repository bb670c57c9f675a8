"""Scores from and to s3:// URLs: the same digits as from files here, with both engines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet
import pytest

import wellput
from tests.s3_server import ENVIRONMENT, S3Server, s3_server
from wellput.core.errors import Unreachable
from wellput.engine.ray_cluster import ray_cluster
from wellput.engine.scoring_plan import Engine

pytestmark = pytest.mark.heavy  # a server and a cluster

METRICS = "ssa,chrf"
NAMES = ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]


def lines(start: int, stop: int) -> str:
    rows = (
        {"id": i, "references": [f"a b {i % 7}"], "outputs": {"A": f"a {i % 5}", "B": f"{i % 7} b"}}
        for i in range(start, stop)
    )
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """With a cluster of two workers that know the way to it."""
    folder = tmp_path_factory.mktemp("s3")
    shards = folder / "bucket" / "shards"
    shards.mkdir(parents=True)
    (shards / "a.jsonl").write_text(lines(0, 300))
    (shards / "b.jsonl.gz").write_bytes(gzip.compress(lines(300, 400).encode()))
    (shards / "c.jsonl").write_text(lines(400, 450))
    wellput.write_evalset(wellput.open_evalset(shards / "c.jsonl"), shards / "c.parquet")
    (shards / "c.jsonl").unlink()
    with pytest.MonkeyPatch.context() as patch, s3_server(folder) as running:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        patch.setenv("AWS_ENDPOINT_URL", f"http://{running.address}")
        with ray_cluster(None, 2):
            yield running


@pytest.fixture
def shards(server: S3Server) -> Path:
    return server.folder / "bucket" / "shards"


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_segment_scores_in_parts(
    server: S3Server, shards: Path, tmp_path: Path, engine: Engine
) -> None:
    here = wellput.score(shards, METRICS, segments=tmp_path / "here")
    target = f"s3://bucket/{engine}"
    there = wellput.score("s3://bucket/shards", METRICS, engine=engine, segments=target)
    assert there.scores == here.scores
    written = server.folder / "bucket" / engine
    assert sorted(file.name for file in written.iterdir()) == NAMES
    read = pyarrow.parquet.read_table
    assert read(written).equals(read(tmp_path / "here"))


def test_a_smaller_run_leaves_nothing_of_a_larger_one(server: S3Server) -> None:
    target = f"s3://bucket/less{server.query}"
    wellput.score(f"s3://bucket/shards{server.query}", "ssa", segments=target)
    wellput.score(f"s3://bucket/shards/[bc]*{server.query}", "ssa", segments=target)
    written = server.folder / "bucket" / "less"
    assert sorted(file.name for file in written.iterdir()) == NAMES[:2]
    assert pyarrow.parquet.read_table(written).num_rows == 2 * 150


def test_two_runs_at_once_do_not_mix_their_scores(server: S3Server) -> None:
    """The other run writes all parts while this one scores the last of three."""
    target = "s3://bucket/two"
    rest = iter(range(2 * 450))

    def intruded(output: str) -> float:
        if next(rest) == 2 * 420:
            wellput.score("s3://bucket/shards", "ssa", segments=target)
        return 0.0

    with pytest.raises(
        wellput.OutputError, match=r"another run wrote there .* part-00000\.parquet"
    ):
        wellput.score("s3://bucket/shards", intruded, segments=target, threads=1)


def test_targets_that_cannot_be_written(server: S3Server, shards: Path) -> None:
    with pytest.raises(wellput.OutputError, match=r"^Cannot write s3://absent/x: .* not exist"):
        wellput.score(shards, "ssa", segments="s3://absent/x")
    with pytest.raises(wellput.OutputError, match=r"s3://bucket/shards: the folder holds a\.jsonl"):
        wellput.score(shards, "ssa", segments="s3://bucket/shards")


def test_a_resumed_run_reads_the_parts_at_the_url(server: S3Server, tmp_path: Path) -> None:
    def scored() -> tuple[wellput.ScoreResult, set[str]]:
        """With the names of the files that were written, in however many requests."""
        server.asked.clear()
        result = wellput.score(
            "s3://bucket/shards", "ssa", resume=tmp_path / "finished", segments="s3://bucket/kept"
        )
        requests = [request.split() for request in server.asked]
        return result, {
            path.rpartition("/")[2] for verb, path in requests if verb in {"PUT", "POST"}
        } - {""}

    first, written = scored()
    assert written == {*NAMES}
    again, written = scored()
    assert (again.scores, written) == (first.scores, set())
    (server.folder / "bucket" / "kept" / NAMES[1]).write_bytes(b"PAR1 and no more")
    mended, written = scored()
    assert mended.scores == first.scores
    assert written == {NAMES[1]}
    assert pyarrow.parquet.read_table(server.folder / "bucket" / "kept").num_rows == 2 * 450


@pytest.fixture(scope="module")
def tries_of_a_reading(server: S3Server) -> int:
    """How often PyArrow asks a server that gives no content, before one pass over a file ends."""
    server.fault, server.faults = "reset", 1_000
    try:
        with pytest.raises(Unreachable, match=r"a\.jsonl cannot be read: the server does"):
            wellput.score("s3://bucket/shards/a.jsonl", "ssa")
        return 1_000 - server.faults
    finally:
        server.faults = 0


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_a_partition_whose_reading_fails_is_read_again(
    server: S3Server, shards: Path, tries_of_a_reading: int, engine: Engine
) -> None:
    server.fault, server.faults = "reset", tries_of_a_reading + 1
    try:
        url = "s3://bucket/shards/a.jsonl"
        result = wellput.score(url, "ssa", engine=engine, on_error="skip")
    finally:
        server.faults = 0
    assert not result.skipped
    assert result.scores == wellput.score(shards / "a.jsonl", "ssa").scores
