from __future__ import annotations

import os
from pathlib import Path

import pytest

from wellput.core.errors import OutputError
from wellput.io import check_files
from wellput.io.named_files import named_files, paths_in, reads_from


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("x.csv", "data/a.csv", "data/deep/b.jsonl.gz", "data/notes.md", "models/m.bin"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x.csv", ["x.csv"]),
        ("bleu,./x.csv", ["x.csv"]),
        ("./x.csv:metric=own:higher=true,chrf", ["x.csv"]),
        ("perplexity:model=x.csv", ["x.csv"]),
        ("A=x.csv", ["x.csv"]),
        ("data", ["data/a.csv", "data/deep/b.jsonl.gz"]),
        ("data/*.csv", ["data/a.csv"]),
        ("models", ["models/m.bin"]),  # no tables: any file may be read
        ("bleu", []),
        ("missing/*.csv", []),
        ("s3://bucket/x.csv", []),
        ("-", []),
        ("x" * 5000, []),
        ("[" + "x" * 5000, []),
        ("a\0.csv", []),
    ],
)
def test_the_files_that_a_text_names(folder: Path, text: str, names: list[str]) -> None:
    assert sorted(named_files(text)) == [os.path.realpath(folder / name) for name in names]


def test_a_url_of_this_machine_and_a_link_are_the_file_itself(folder: Path) -> None:
    (folder / "link").symlink_to(folder / "data")
    (folder / "a b.csv").write_text("text")
    for text, output in (
        (f"file://{folder}/x.csv", "x.csv"),
        (f"file://{folder}/a%20b.csv", "a b.csv"),
        ("link", "data/a.csv"),
        ("data", "link/a.csv"),
    ):
        with pytest.raises(
            OutputError, match=r"Cannot write .*: it is .*the input .*\. Give another"
        ):
            check_files([output], [text])


def test_a_folder_that_holds_an_input(folder: Path) -> None:
    assert reads_from("data/*.csv", "data/") and reads_from("data", "data")
    assert reads_from("bleu,./data/a.csv:metric=x", "data")
    assert reads_from("data", f"file://{folder}/data")
    assert not reads_from("x.csv", "data") and not reads_from("data", "new")
    assert reads_from("s3://b/scores/part-1.parquet?region=x", "s3://b/scores/")
    assert reads_from("s3://b/scores", "s3://b/scores?region=x")
    assert not reads_from("s3://b/scores2/a.csv", "s3://b/scores")


def test_texts_in_an_argument() -> None:
    assert paths_in("bleu,x.csv") == ["bleu,x.csv"]
    assert paths_in([Path("x.csv"), Path("x"), len, "bleu"]) == ["x.csv", "x"]
    assert paths_in(iter(["x.csv"])) == paths_in(None) == []


def test_a_language_pair_of_mt_metrics_eval_is_a_folder(folder: Path) -> None:
    for name in ("sources", "system-outputs/zh-en", "human-scores"):
        (folder / "wmt" / name).mkdir(parents=True)
    for name in ("sources/zh-en.txt", "system-outputs/zh-en/A.txt"):
        (folder / "wmt" / name).write_text("text\n")
    with pytest.raises(OutputError, match="it is in the input wmt/zh-en"):
        check_files(["wmt/sources/zh-en.txt"], ["wmt/zh-en"])


def test_folders_of_inputs_are_not_searched_for_a_new_output(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wellput.io.output.named_files", lambda text: pytest.fail(text))
    check_files(["new.csv", "-"], ["data", "data/*.csv"])


def test_a_folder_with_the_name_of_a_metric_is_no_input(folder: Path) -> None:
    (folder / "bleu").mkdir()
    (folder / "bleu" / "s.csv").write_text("item,score\n")
    check_files(["bleu/s.csv"], paths_in("bleu,chrf"))


def test_a_list_that_is_too_long_for_a_name_is_no_error(folder: Path) -> None:
    (folder / "sc").mkdir()
    assert named_files("sc/s.csv:metric=COMET," + "bleu," * 100) == {}
