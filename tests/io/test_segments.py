from __future__ import annotations

import math
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from wellput.core.errors import InputError, OutputError
from wellput.io import SegmentScore, read_segments, writing_segments
from wellput.io.segment_scores import gathering_parts, writing_part


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet", ".csv.gz"])
def test_round_trip(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"s{suffix}"
    with writing_segments(path) as writer:
        writer.write("A", ["1", "2"], "bleu", np.array([0.1 + 0.2, 1e-300]))
        writer.write("B, Inc.", ["1"], "chrf:word_order=2", np.array([np.nan]))
    first, second, third = read_segments(path)
    assert first == SegmentScore("A", "1", "bleu", 0.1 + 0.2)
    assert second == SegmentScore("A", "2", "bleu", 1e-300)
    assert third[:3] == ("B, Inc.", "1", "chrf:word_order=2")
    assert math.isnan(third.score)


def test_the_header_is_the_promised_one(tmp_path: Path) -> None:
    with writing_segments(tmp_path / "s.csv") as writer:
        writer.write("A", ["1"], "m", [math.nan])
    assert (tmp_path / "s.csv").read_text() == "system,item,metric,score\nA,1,m,\n"


def test_standard_output_is_csv(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with writing_segments("-") as writer:
        writer.write("A", ["1"], "m", [0.5])
    assert capfdbinary.readouterr().out == b"system,item,metric,score\nA,1,m,0.5\n"


def test_items_and_scores_must_be_equally_many(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shorter"), writing_segments(tmp_path / "s.csv") as writer:
        writer.write("A", ["1", "2"], "m", [0.5])
    assert list(tmp_path.iterdir()) == []


def test_all_bad_rows_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("system,item,metric,score\nA,1,m,x\nA,,m,1\nA,1,m\n")
    with pytest.raises(InputError) as caught:
        list(read_segments(path))
    assert str(caught.value).split("\n")[1:] == [
        "  line 2: the score 'x' is not a number",
        "  line 3: system, item and metric must not be empty",
        "  line 4: 3 cells; the header has 4",
    ]
    path.write_text("system,item,score\n")
    with pytest.raises(InputError, match="no column metric"):
        list(read_segments(path))


def write_part(folder: str | Path, system: str) -> None:
    with writing_part(str(folder), 0, None) as writer:
        writer.write(system, ["1"], "m", np.array([0.5]))


def system_in(folder: Path) -> str:
    return next(read_segments(folder / "part-00000.parquet")).system


@pytest.mark.parametrize("is_resumed", [False, True])
def test_two_runs_cannot_write_to_one_folder(tmp_path: Path, is_resumed: bool) -> None:
    target = tmp_path / "scores"
    with gathering_parts(target, is_resumed=is_resumed) as working:
        write_part(working, "mine")
        with (
            pytest.raises(OutputError, match="another run is writing scores there"),
            gathering_parts(target, is_resumed=is_resumed),
        ):
            pass
    assert system_in(target) == "mine"
    with gathering_parts(target, is_resumed=False) as working:
        assert not list(Path(working).iterdir())
        write_part(working, "later")
    assert system_in(target) == "later"
    assert [file.name for file in tmp_path.iterdir()] == ["scores"]


@pytest.mark.parametrize("is_url", [False, True])
@pytest.mark.parametrize("score_column", ["score", "mine"])
def test_a_folder_with_tables_of_other_programs_is_not_replaced(
    tmp_path: Path, score_column: str, is_url: bool
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"system": ["A"], "item": ["1"], "metric": ["m"], score_column: [0.5]}
    target = tmp_path / "scores"
    target.mkdir()
    write_part(target, "A")
    theirs = target / "part-00003.parquet"
    parquet.write_table(pyarrow.table(columns), theirs)
    content = theirs.read_bytes()
    with (
        pytest.raises(
            OutputError, match=r"holds part-00003\.parquet, which is not a file of segment"
        ),
        gathering_parts(f"file://{target}" if is_url else target, is_resumed=False),
    ):
        pass
    assert theirs.read_bytes() == content


def test_a_folder_with_a_file_that_is_no_table_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "part-00000.parquet").write_text("notes")
    with (
        pytest.raises(OutputError, match=r"cannot be read\. If it is a damaged part .*, remove"),
        gathering_parts(tmp_path, is_resumed=True),
    ):
        pass
    assert (tmp_path / "part-00000.parquet").read_text() == "notes"


@pytest.mark.parametrize("is_resumed", [False, True])
def test_a_damaged_part_is_replaced_by_a_resumed_run_only(tmp_path: Path, is_resumed: bool) -> None:
    target = tmp_path / "scores"
    target.mkdir()
    write_part(target, "A")
    (target / "part-00001.parquet").write_bytes(b"PAR1 and no more")
    refusal = nullcontext() if is_resumed else pytest.raises(OutputError, match="part-00001")
    with refusal, gathering_parts(target, is_resumed=is_resumed) as working:
        (Path(working) / "part-00001.parquet").unlink()
    assert (target / "part-00001.parquet").exists() != is_resumed
    assert system_in(target) == "A"


def test_a_file_that_appears_in_the_folder_during_the_run_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "scores"
    with (
        pytest.raises(OutputError, match=r"holds notes\.txt"),
        gathering_parts(target, is_resumed=False) as working,
    ):
        write_part(working, "A")
        target.mkdir()
        (target / "notes.txt").write_text("mine")
    assert (target / "notes.txt").read_text() == "mine"
    assert system_in(tmp_path / ".scores.part") == "A"


def test_an_interrupted_removal_of_the_old_folder_leaves_the_new_one_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "scores"
    target.mkdir()
    write_part(target, "old")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with (
        monkeypatch.context() as patch,
        pytest.raises(KeyboardInterrupt),
        gathering_parts(target, is_resumed=False) as working,
    ):
        write_part(working, "new")
        patch.setattr("shutil.rmtree", interrupted)
    assert system_in(target) == "new"
    with gathering_parts(target, is_resumed=True):
        pass
    assert system_in(target) == "new"
    assert [file.name for file in tmp_path.iterdir()] == ["scores"]


def test_an_old_folder_whose_replacement_was_cut_off_gets_its_name_back(tmp_path: Path) -> None:
    old = tmp_path / ".scores.0123456789ab.old"
    old.mkdir()
    write_part(old, "old")
    with pytest.raises(OutputError), gathering_parts(tmp_path / "scores", is_resumed=False):
        raise OutputError("no scores")
    assert system_in(tmp_path / "scores") == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["scores"]


def test_parts_of_a_killed_run_are_not_mixed_in(tmp_path: Path) -> None:
    left = tmp_path / ".scores.part"
    left.mkdir()
    (left / "part-00001.parquet").write_text("old")
    with gathering_parts(tmp_path / "scores", is_resumed=False) as working:
        (Path(working) / "part-00000.parquet").write_text("new")
    assert [file.name for file in (tmp_path / "scores").iterdir()] == ["part-00000.parquet"]
