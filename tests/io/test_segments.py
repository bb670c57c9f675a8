from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from wellput.core.errors import InputError, OutputError
from wellput.io import SegmentScore, read_segments, writing_segments
from wellput.io.segment_scores import gathering_parts


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


@pytest.mark.parametrize("is_resumed", [False, True])
def test_two_runs_cannot_write_to_one_folder(tmp_path: Path, is_resumed: bool) -> None:
    target = tmp_path / "scores"
    with gathering_parts(target, is_resumed=is_resumed) as working:
        (Path(working) / "part-00000.parquet").write_text("mine")
        with (
            pytest.raises(OutputError, match="another run is writing scores there"),
            gathering_parts(target, is_resumed=is_resumed),
        ):
            pass
    assert (target / "part-00000.parquet").read_text() == "mine"
    with gathering_parts(target, is_resumed=False) as working:
        assert not list(Path(working).iterdir())
        (Path(working) / "part-00000.parquet").write_text("later")
    assert (target / "part-00000.parquet").read_text() == "later"
    assert [file.name for file in tmp_path.iterdir()] == ["scores"]


def test_parts_of_a_killed_run_are_not_mixed_in(tmp_path: Path) -> None:
    left = tmp_path / ".scores.part"
    left.mkdir()
    (left / "part-00001.parquet").write_text("old")
    with gathering_parts(tmp_path / "scores", is_resumed=False) as working:
        (Path(working) / "part-00000.parquet").write_text("new")
    assert [file.name for file in (tmp_path / "scores").iterdir()] == ["part-00000.parquet"]
