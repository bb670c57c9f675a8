from __future__ import annotations

import builtins
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from wellput.core.errors import InputError, MissingExtra, OutputError
from wellput.core.scores import Run, RunScore
from wellput.io import run_files
from wellput.io.run_files import UnreadableRun, find_run, read_run, read_runs, run_paths, write_run

SCORE = RunScore(
    system="A",
    metric="bleu",
    score=12.5,
    signature="nrefs:1|version:wellput-0.1.0",
    n=3,
    data="d" * 64,
    outputs="e" * 64,
    higher_is_better=True,
    low=11.0,
    high=14.0,
    p_against={"B": 0.5},
    components={"bp": 1.0, "odd": math.nan},
)
UNDEFINED = RunScore("B\ud800", "ttr", math.nan, "tok:13a", 0, data="d" * 64, outputs="f" * 64)
RUN = Run(
    id="",
    time=datetime(2026, 11, 15, 14, 4, 22, 470911, UTC),
    command="wellput score x.jsonl -m bleu",
    wellput="0.1.0",
    python="3.11.7",
    platform="linux-x86_64",
    items=3,
    seed=2**70,
    resamples=1000,
    confidence=0.95,
    alpha=0.05,
    test=None,
    scores=(SCORE, UNDEFINED),
    skipped=2,
)


def test_what_is_stored_comes_back(tmp_path: Path) -> None:
    stored = write_run(tmp_path / "runs", RUN)
    back = find_run(tmp_path / "runs", stored.id)
    first, second = back.scores
    assert math.isnan(first.components["odd"])
    assert math.isnan(second.score)
    plain = {"components": {"bp": 1.0}}
    assert replace(first, **plain) == replace(SCORE, **plain)  # type: ignore[arg-type]
    assert second.system == "B\\ud800", "half a character as its escape"
    assert replace(back, scores=(), id="") == replace(RUN, scores=())
    assert back.time.tzinfo is not None
    assert back.time.utcoffset() == timedelta(0)


def test_the_folder_is_one_table_for_other_tools(tmp_path: Path) -> None:
    stored = {write_run(tmp_path, RUN).id for _ in range(2)}
    table = pyarrow.parquet.read_table(tmp_path)
    assert table.num_rows == 4
    assert set(table["run"].to_pylist()) == stored
    assert table["seed"].to_pylist() == [str(2**70)] * 4
    assert table["score"].to_pylist() == [12.5, None] * 2


def test_the_newest_is_first_and_ids_may_be_shortened(tmp_path: Path) -> None:
    hours = [3, 1, 2]
    ids = {
        hour: write_run(tmp_path, replace(RUN, time=RUN.time + timedelta(hours=hour))).id
        for hour in hours
    }
    runs, unreadable = read_runs(tmp_path)
    assert [run.id for run in runs] == [ids[3], ids[2], ids[1]]
    assert not unreadable
    # As text: with a NaN in them, runs are not equal to themselves since Python 3.13.
    for place, run in enumerate(runs, 1):
        for name in (run.id[:6].upper(), f"@{place}"):
            assert repr(asdict(find_run(tmp_path, name))) == repr(asdict(run))


def test_an_id_that_is_not_there_or_not_unique(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No runs can be read from"):
        find_run(tmp_path / "nowhere", "ab")
    stored = write_run(tmp_path, RUN)
    path = run_paths(tmp_path)[0]
    other = path.with_name(
        f"20261115-150000-000000-{stored.id[:7]}{int(stored.id[7] == '0')}.parquet"
    )
    other.write_bytes(path.read_bytes())
    with pytest.raises(InputError, match="2 runs begin with") as error:
        find_run(tmp_path, stored.id[:7])
    assert f"{stored.id} of 2026-11-15 14:04:22 UTC" in str(error.value)
    for unknown in ("zz", "", "@0", "@3", "@"):
        with pytest.raises(InputError, match=f"No run '{unknown}' in .*, which holds 2 runs"):
            find_run(tmp_path, unknown)


def test_other_files_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    write_run(tmp_path, RUN)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "data.parquet").write_bytes(b"PAR1")
    (tmp_path / ".20261115-140422-470911-00000000.parquet.ab12.part").write_bytes(b"half")
    (tmp_path / "sub").mkdir()
    runs, unreadable = read_runs(tmp_path)
    assert (len(runs), unreadable) == (1, [])


@pytest.mark.parametrize("size", [0, 4, 500, -1])
def test_a_damaged_run_is_named_and_the_others_are_read(tmp_path: Path, size: int) -> None:
    write_run(tmp_path, RUN)
    good = run_paths(tmp_path)[0]
    damaged = good.with_name("20270101-000000-000000-00000000.parquet")
    damaged.write_bytes(good.read_bytes()[:size])
    runs, unreadable = read_runs(tmp_path)
    assert len(runs) == 1
    assert [error.path for error in unreadable] == [damaged]
    with pytest.raises(UnreadableRun, match="is damaged"):
        find_run(tmp_path, "00000000")


def test_a_bit_that_flipped_is_noticed(tmp_path: Path) -> None:
    write_run(tmp_path, RUN)
    path = run_paths(tmp_path)[0]
    data = bytearray(path.read_bytes())
    place = data.index(RUN.command.encode()) + 3  # first of all in the page that holds it
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(UnreadableRun, match="is damaged"):
        read_run(path)


def _rewritten(path: Path, change: Any) -> None:
    table = change(pyarrow.parquet.read_table(path))
    pyarrow.parquet.write_table(table, path)


def test_a_run_of_a_later_version_is_not_misread(tmp_path: Path) -> None:
    write_run(tmp_path, RUN)
    path = run_paths(tmp_path)[0]
    marks = {b"wellput.run": b"2", b"wellput.version": b"3.0"}
    _rewritten(path, lambda table: table.replace_schema_metadata(marks))
    with pytest.raises(UnreadableRun, match=r"stored by a later wellput \(3\.0\)\. Update wellput"):
        read_run(path)
    assert not read_runs(tmp_path)[0]


def test_a_column_more_does_no_harm_and_one_less_is_said(tmp_path: Path) -> None:
    write_run(tmp_path, RUN)
    path = run_paths(tmp_path)[0]
    _rewritten(path, lambda table: table.append_column("new", [[1, 2]]))
    assert read_run(path).scores[0].score == 12.5
    # Columns that earlier files do not have.
    _rewritten(path, lambda table: table.drop_columns(["skipped", "is_worse"]))
    assert (read_run(path).skipped, read_run(path).scores[0].is_worse) == (0, None)
    _rewritten(path, lambda table: table.drop_columns(["signature"]))
    with pytest.raises(UnreadableRun, match="it lacks 'signature'"):
        read_run(path)


def test_a_foreign_parquet_file_with_such_a_name(tmp_path: Path) -> None:
    path = tmp_path / "20261115-140422-470911-00000000.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": [1]}), path)
    with pytest.raises(UnreadableRun, match="was not stored by wellput"):
        read_run(path)


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "runs"  # which all of them want to make
    with ThreadPoolExecutor(8) as pool:
        stored = list(pool.map(lambda _: write_run(folder, RUN).id, range(40)))
    assert sorted(run.id for run in read_runs(folder)[0]) == sorted(set(stored))
    assert len(list(folder.iterdir())) == 40


def test_a_failure_in_the_middle_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(file: Any, run: Run) -> None:
        file.write(b"PAR1")
        raise KeyboardInterrupt

    monkeypatch.setattr(run_files, "_write", write)
    with pytest.raises(KeyboardInterrupt):
        write_run(tmp_path, RUN)
    assert not list(tmp_path.iterdir())


def test_places_where_no_runs_can_be_stored(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="it is not a folder"):
        write_run(tmp_path / "file", RUN)
    with pytest.raises(OutputError, match=r"the folder .*nowhere does not exist"):
        write_run(tmp_path / "nowhere" / "runs", RUN)


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refusing(name: str, *rest: Any, **options: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(MissingExtra, match=r"runs needs .*pip install 'wellput\[parquet\]'"):
        write_run(tmp_path, RUN)
    assert "pyarrow" in sys.modules, "it was the import that was refused"
