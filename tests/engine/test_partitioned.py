"""Partitions: the same digits here, on a cluster, after a failure and after an interruption.

The cluster is a real one of two processes on this machine.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import socket
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, cast

import pyarrow.parquet
import pytest

import wellput
from wellput.core.evalset import BLOCK_ITEMS
from wellput.core.work import OnPhase, OnProgress, ignore_progress
from wellput.engine.parsed_references import NamedParser, ParsedReferences
from wellput.engine.ray_cluster import _check_reachable, _Notices, ray_cluster
from wellput.engine.scoring_plan import Engine
from wellput.io import record_files

pytestmark = pytest.mark.heavy  # a cluster

METRICS = "bleu,chrf,ssa,rouge-l,ttr"
WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "under", "mat", "rug", "quickly", "slowly"]

TROUBLE = '''
"""A metric that fails in ways that a test asks for."""
import os, signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from wellput.metrics.base import BaseMetric


@dataclass(frozen=True)
class Trouble(BaseMetric):
    family = "trouble"
    kind: str = ""
    notes: str = ""

    def statistics(self, batch):
        path = Path(self.notes)
        with path.open("a") as file:
            print(batch.ids[0], file=file)
        times = path.read_text().split().count(batch.ids[0])
        if batch.ids[0] == "bad100" and times <= 2:
            if self.kind == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.kind == "raise":
                raise OSError("a bad disk")
        if batch.ids[0] == "bad100" and self.kind == "always":
            raise OSError("a worse disk")
        return np.array([[len(text), 1.0] for text in batch.texts])

    def score(self, statistics):
        return statistics[..., 0] / statistics[..., 1]
'''


@dataclass(frozen=True)
class Cluster:
    folder: Path


def items_to(listener: OnProgress) -> OnPhase:
    return lambda what, total=None: listener if what == "scoring items" else ignore_progress


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two workers that know the module `trouble`."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "trouble.py").write_text(TROUBLE)
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path)
        patch.syspath_prepend(folder)
        with ray_cluster(None, 2):
            yield Cluster(folder)


def rows(first: int, n: int, *, prefix: str = "") -> list[dict[str, Any]]:
    rng = random.Random(first)

    def sentence() -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(1, 12)))

    made = []
    for i in range(first, first + n):
        outputs = {"A": sentence(), "B": None if i % 50 == 0 else sentence()}
        made.append({"id": f"{prefix}{i}", "references": [sentence()], "outputs": outputs})
    return made


def text_of(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shards")
    (folder / "a.jsonl").write_text(text_of(rows(0, BLOCK_ITEMS + 100)))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(text_of(rows(10_000, 500)).encode()))
    (folder / "d.jsonl").write_text(text_of(rows(20_000, 900)))
    source = wellput.open_evalset(folder / "d.jsonl")
    wellput.write_evalset(source, folder / "c.parquet")
    (folder / "d.jsonl").unlink()
    return folder


def test_the_same_digits_everywhere(shards: Path, cluster: Cluster) -> None:
    options: dict[str, Any] = {"confidence": True, "paired": "ar", "resamples": 20}
    once = wellput.score(shards, METRICS, **options)
    assert once.items == BLOCK_ITEMS + 1500
    assert wellput.score(shards, METRICS, on_error="skip", **options).scores == once.scores
    spread = wellput.score(shards, METRICS, engine="ray", **options)
    assert spread.scores == once.scores
    assert spread.table("ssa").items == once.table("ssa").items
    assert not spread.skipped


def test_cut_files_give_the_same_digits(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text(text_of(rows(0, 3 * BLOCK_ITEMS + 11)))
    once = wellput.score(path, METRICS)
    monkeypatch.setattr(record_files, "MIN_BYTES_TO_CUT", 0)
    seen: list[int] = []
    for size in (1, 2):
        monkeypatch.setattr(record_files, "BLOCKS_PER_PARTITION", size)
        cut = wellput.score(path, METRICS, engine="ray", on_phase=items_to(seen.append))
        assert cut.scores == once.scores
    assert seen == [
        0,
        BLOCK_ITEMS,
        BLOCK_ITEMS,
        BLOCK_ITEMS,
        11,
        0,
        2 * BLOCK_ITEMS,
        BLOCK_ITEMS + 11,
    ]


def test_items_without_references_are_left_out_everywhere(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = rows(0, 2 * BLOCK_ITEMS + 11)
    for place in range(3, len(records), 7):
        records[place]["references"] = []
    (tmp_path / "mixed.jsonl").write_text(text_of(records))
    monkeypatch.setattr(record_files, "MIN_BYTES_TO_CUT", 0)
    monkeypatch.setattr(record_files, "BLOCKS_PER_PARTITION", 1)
    options: dict[str, Any] = {"confidence": True, "paired": "ar", "resamples": 20}
    once = wellput.score(tmp_path / "mixed.jsonl", METRICS, **options)
    spread = wellput.score(tmp_path / "mixed.jsonl", METRICS, engine="ray", **options)
    assert spread.scores == once.scores
    assert spread.left_out == once.left_out
    assert once.left_out[0].n == len(range(3, len(records), 7))


def test_items_in_memory_are_sent_along(shards: Path, cluster: Cluster) -> None:
    held = wellput.read_evalset(shards)
    assert wellput.score(held, "ssa", engine="ray").scores == wellput.score(held, "ssa").scores


@pytest.mark.parametrize("held", [False, True])
def test_references_are_parsed_by_the_workers(cluster: Cluster, troubled: Path, held: bool) -> None:
    parse = NamedParser("english")
    source = wellput.read_evalset(troubled) if held else wellput.open_evalset(troubled)
    parsed = ParsedReferences(source, parse, parse.signature, threads=2)
    once = wellput.score(parsed, "sta,gsa,nist")
    spread = wellput.score(parsed, "sta,gsa,nist", engine="ray")
    assert spread.scores == once.scores
    assert f"trees:{parse.signature}" in spread["A", "sta"].signature


@pytest.mark.parametrize("engine", ["ray", "local"])
def test_a_poisoned_partition_of_parsed_references(
    cluster: Cluster, troubled: Path, engine: Engine
) -> None:
    parse = NamedParser("english")

    def scored(path: str, **options: Any) -> wellput.ScoreResult:
        source = ParsedReferences(wellput.open_evalset(path), parse, parse.signature)
        return wellput.score(source, "sta", engine=engine, **options)

    (troubled / "b.jsonl").write_text("{}\n")
    result = scored(str(troubled), on_error="skip")
    assert [skipped.partition for skipped in result.skipped] == [str(troubled / "b.jsonl")]
    assert result.scores == scored(f"{troubled}/[ac].jsonl").scores
    (troubled / "b.jsonl").write_text(text_of(rows(5, 1)))
    with pytest.raises(wellput.InputError, match="the id 5 is used 2 times"):
        scored(str(troubled))


def trouble(cluster: Cluster, tmp_path: Path, kind: str) -> Any:
    from importlib import import_module

    return import_module("trouble").Trouble(kind=kind, notes=str(tmp_path / f"notes-{kind}"))


@pytest.fixture
def troubled(tmp_path: Path) -> Path:
    folder = tmp_path / "troubled"
    folder.mkdir()
    for name, first, prefix in (("a", 0, ""), ("b", 100, "bad"), ("c", 200, "")):
        (folder / f"{name}.jsonl").write_text(text_of(rows(first, 20, prefix=prefix)))
    return folder


@pytest.mark.parametrize(
    ("kind", "engine"), [("kill", "ray"), ("raise", "ray"), ("raise", "local")]
)
def test_a_partition_that_fails_twice_is_tried_again(
    cluster: Cluster, troubled: Path, tmp_path: Path, kind: str, engine: Engine
) -> None:
    quiet = wellput.score(troubled, trouble(cluster, tmp_path, "quiet"))
    # on_error="skip" makes the local engine use partitions, too.
    failing = trouble(cluster, tmp_path, kind)
    result = wellput.score(troubled, failing, engine=engine, on_error="skip")
    assert [score.score for score in result.scores] == [score.score for score in quiet.scores]
    assert not result.skipped
    # The first item of the bad shard, which only A has an output for, was tried three times.
    assert Path(failing.notes).read_text().split().count("bad100") == 3


@pytest.mark.parametrize("engine", ["ray", "local"])
def test_a_partition_that_always_fails(
    cluster: Cluster, troubled: Path, tmp_path: Path, engine: Engine
) -> None:
    failing = trouble(cluster, tmp_path, "always")
    result = wellput.score(troubled, failing, engine=engine, on_error="skip")
    assert result.items == 40
    ((skipped),) = result.skipped
    assert skipped.partition == str(troubled / "b.jsonl")
    assert skipped.reason == "3 attempts failed, the last with OSError('a worse disk')"
    with pytest.raises(OSError, match="a worse disk"):
        wellput.score(troubled, failing, engine=engine, segments=tmp_path / "seg")
    assert not list(tmp_path.glob(".seg*"))


@pytest.mark.parametrize("engine", ["ray", "local"])
def test_a_poisoned_partition_is_named_with_its_rows(
    cluster: Cluster, troubled: Path, engine: Engine
) -> None:
    good = wellput.score(f"{troubled}/[ac].jsonl", "ssa")
    path = troubled / "b.jsonl"
    path.write_text(path.read_text() + '{"id": "x", "outputs": 7}\n')
    with pytest.raises(wellput.InputError, match=r"line 21 .item x.: outputs must be an object"):
        wellput.score(troubled, "ssa", engine=engine)
    result = wellput.score(troubled, "ssa", engine=engine, on_error="skip")
    assert result.scores == good.scores
    assert [skipped.partition for skipped in result.skipped] == [str(path)]
    assert "line 21 (item x)" in result.skipped[0].reason
    with pytest.raises(wellput.InputError, match="every partition failed"):
        wellput.score(path, "ssa", engine=engine, on_error="skip")


def test_an_id_in_two_partitions(cluster: Cluster, troubled: Path) -> None:
    (troubled / "d.jsonl").write_text(text_of(rows(5, 1)))
    with pytest.raises(wellput.InputError, match=r"6 of .*a\.jsonl, 1 of .*d\.jsonl: the id 5 is"):
        wellput.score(troubled, "ssa", engine="ray")


@pytest.mark.parametrize("engine", ["ray", "local"])
def test_segment_scores_in_parts(
    cluster: Cluster, shards: Path, tmp_path: Path, engine: Engine
) -> None:
    found: dict[tuple[str, str, str], float] = {}

    def remember(system: str, ids: Any, metric: str, scores: Any) -> None:
        found.update({(system, i, metric): s for i, s in zip(ids, scores, strict=True)})

    wellput.score(shards, "ssa,bleu", on_segments=remember)
    wellput.score(shards, "ssa,bleu", engine=engine, segments=tmp_path / "scores")
    names = [file.name for file in sorted((tmp_path / "scores").iterdir())]
    assert names == ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]
    table = pyarrow.parquet.read_table(tmp_path / "scores")
    read = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
    assert {(system, item, metric): score for system, item, metric, score in read} == found


@pytest.mark.parametrize("engine", ["ray", "local"])
def test_a_disk_that_cannot_be_written_stops_the_run(
    cluster: Cluster, shards: Path, tmp_path: Path, engine: Engine
) -> None:
    scores = tmp_path / "scores"

    def spoil(_: int) -> None:
        if (tmp_path / ".scores.part").exists():  # partitions finished by then still come in
            (tmp_path / ".scores.part").rename(tmp_path / "gone")

    options: dict[str, Any] = {"segments": scores, "on_error": "skip", "on_phase": items_to(spoil)}
    folder = tmp_path / "many"
    folder.mkdir()
    for i in range(20):
        (folder / f"{i:02}.jsonl").write_text(text_of(rows(100 * i, 3)))
    with pytest.raises(wellput.OutputError, match="Cannot write"):
        wellput.score(folder, "ssa", engine=engine, **options)
    assert not scores.exists()


def test_a_folder_of_something_else_is_not_replaced(shards: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    with pytest.raises(wellput.OutputError, match=r"holds thesis\.tex"):
        wellput.score(shards, "ssa", segments=tmp_path / "mine")
    url = (tmp_path / "far").as_uri()
    wellput.score(shards, "ssa", segments=url)
    assert len(list((tmp_path / "far").iterdir())) == 3


class Interrupted(BaseException):
    """As Ctrl-C would."""


@pytest.mark.parametrize("engine", ["ray", "local"])
def test_a_stopped_run_is_resumed(
    cluster: Cluster, troubled: Path, tmp_path: Path, engine: Engine
) -> None:
    counting = trouble(cluster, tmp_path, "quiet")
    notes = Path(counting.notes)
    places: dict[str, Any] = {"resume": tmp_path / "finished", "segments": tmp_path / "scores"}
    done: list[int] = []

    def stop(n: int) -> None:
        done.append(n)
        if len([n for n in done if n]) == 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        wellput.score(troubled, counting, engine=engine, on_phase=items_to(stop), **places)
    assert not (tmp_path / "scores").exists()
    notes.unlink()
    result = wellput.score(troubled, counting, engine=engine, **places)
    # Two systems; only the third shard was left.
    assert set(notes.read_text().split()) == {"200", "201"}
    assert result.scores == wellput.score(troubled, counting).scores
    assert len(list((tmp_path / "scores").iterdir())) == 3
    notes.unlink()
    again = wellput.score(troubled, counting, engine=engine, keep_rows=False, **places)
    assert not notes.exists()
    assert again.scores == result.scores


def test_what_was_finished_keeps_the_order_of_systems_and_metrics(tmp_path: Path) -> None:
    # Rows of ssa and gsa have the same width, so in another order they would be confused.
    record = {"references": ["the cat sat down"], "outputs": {"B": "down the cat sat", "A": "cat"}}
    records = [{"id": str(i), **record} for i in range(12)]
    (tmp_path / "e.jsonl").write_text(text_of(records))
    once = wellput.score(tmp_path / "e.jsonl", "ssa,gsa", paired="ar", resamples=20)
    for _ in range(2):
        result = wellput.score(
            tmp_path / "e.jsonl", "ssa,gsa", paired="ar", resamples=20, resume=tmp_path / "done"
        )
        assert result.systems == ("B", "A")
        assert result.scores == once.scores


def test_what_was_finished_is_used_only_for_the_same_data_and_metric(
    troubled: Path, tmp_path: Path
) -> None:
    finished = tmp_path / "finished"

    def resumed(metric: str, **options: Any) -> wellput.ScoreResult:
        return wellput.score(troubled, metric, resume=finished, **options)

    assert resumed("chrf").scores == wellput.score(troubled, "chrf").scores
    other = resumed("chrf:word_order=2")
    assert other.scores == wellput.score(troubled, "chrf:word_order=2").scores
    kept = resumed("chrf", confidence=True, resamples=20)
    assert resumed("chrf", confidence=True, resamples=20).scores == kept.scores
    for file in finished.iterdir():
        file.write_bytes(file.read_bytes()[:-64])  # damaged
    path = troubled / "a.jsonl"
    path.write_text(path.read_text().replace("cat", "camel"))
    assert resumed("chrf").scores == wellput.score(troubled, "chrf").scores
    with pytest.raises(wellput.OutputError, match=r"Cannot make .*folder .*no does not exist"):
        wellput.score(troubled, "chrf", resume=tmp_path / "no" / "folder")


def test_ray_is_not_installed(shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(wellput.InputError, match=r"pip install 'wellput\[ray\]'"):
        wellput.score(shards, "ssa", engine="ray")


def test_a_cluster_that_is_not_there(shards: Path) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(wellput.InputError, match=rf"reached at {address}: .*ray start --head"):
            _check_reachable(address)
        nobody.listen()
        _check_reachable(address)
    _check_reachable("auto")  # Ray knows what it means


def test_notices_of_ray_are_short_and_leave_standard_output_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with redirect_stdout(cast("TextIO", _Notices())):
        print("\x1b[33m(raylet)\x1b[0m A worker died. See its logs. ID: 1.2.\nTraceback")
        print("Oh.")
    assert capsys.readouterr() == (
        "",
        "wellput: Ray: A worker died. See its logs.\nwellput: Ray: Oh.\n",
    )


def test_options_that_make_no_sense(shards: Path) -> None:
    with pytest.raises(wellput.InputError, match="engine='spark' is none of local, ray"):
        wellput.score(shards, "ssa", engine="spark")  # type: ignore[arg-type]
    with pytest.raises(wellput.InputError, match="address='x:1' is for a Ray cluster"):
        wellput.score(shards, "ssa", address="x:1")
    with pytest.raises(wellput.InputError, match="on_segments= needs"):
        wellput.score(shards, "ssa", on_error="skip", on_segments=lambda *_: None)
