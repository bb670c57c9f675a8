"""An input is never overwritten, and bad files or full disks never cause a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run

Write = Callable[..., None]
ITEM = '{"id": "1", "references": ["a b c"], "outputs": {"A": "a b"}}\n'


@pytest.mark.parametrize("option", ["--segments", "-o"])
def test_an_output_never_replaces_an_input(
    run: Run, files: Write, tmp_path: Path, option: str
) -> None:
    files(**{"set.jsonl": ITEM, "a.csv": "a b\n", "ref.txt": "a b c\n"})
    outcome = run("score", "set.jsonl", "-m", "ssa", option, "./set.jsonl")
    assert (outcome.code, outcome.out) == (2, "")
    assert "Cannot write ./set.jsonl: it is the input set.jsonl." in outcome.err
    outcome = run("score", "--ref", "ref.txt", "--hyp", "A=a.csv", "-m", "ssa", option, "a.csv")
    assert outcome.code == 2
    assert (tmp_path / "set.jsonl").read_text() == ITEM
    assert (tmp_path / "a.csv").read_text() == "a b\n"


JUDGMENTS = "judge,item,system,question,value\n" + "".join(
    f"{judge},{item},{system},q,{value}\n"
    for judge in ("Kim", "Lee")
    for item in ("1", "2", "3", "4", "5")
    for system, value in (("A", 5 + (item > "3")), ("B", int(item) * (2 + (judge == "Kim")) % 4))
)
SCORES = "system,item,metric,score\nA,1,own,1\nB,1,own,2\n"


@pytest.mark.parametrize(
    ("command", "replaced", "why"),
    [
        ("rank judged -o judged/j.csv", "judged/j.csv", "it is in the input judged"),
        ("rank judged/*.csv -o judged/j.csv", "judged/j.csv", "it is in the input judged/*.csv"),
        ("agree set.jsonl judged -o ./judged/j.csv", "judged/j.csv", "it is in the input judged"),
        ("score sets -m ssa --segments sets/a.jsonl", "sets/a.jsonl", "it is in the input sets"),
        (
            "score s*/*.jsonl -m ssa --segments sets/a.jsonl",
            "sets/a.jsonl",
            "in the input s*/*.jsonl",
        ),
        ("score set.jsonl -m ./own.csv --segments own.csv", "own.csv", "it is the input ./own.csv"),
        (
            "score set.jsonl -m ssa,./own.csv:metric=own -o own.csv",
            "own.csv",
            "the input ./own.csv",
        ),
        (
            "estimate set.jsonl judged --proxy ./own.csv:higher=true --budget 1 --plan own.csv",
            "own.csv",
            "it is the input ./own.csv",
        ),
        (
            "estimate set.jsonl judged --proxy ssa --probabilities own.csv --budget 1 --plan own.csv",
            "own.csv",
            "it is the input own.csv",
        ),
        (
            "power --proxy own.csv:higher=true --evalset set.jsonl -o own.csv",
            "own.csv",
            "the input",
        ),
        (
            "fit set.jsonl judged --question q --predictors ./m.json -o m.json",
            "m.json",
            "the input",
        ),
        ("score parts -m ssa --segments parts/", "parts/part-00000.parquet", "the input parts"),
        ("score parts/*.parquet -m ssa --segments parts/", "parts/part-00000.parquet", "the input"),
        ("score set.jsonl -m ssa --segments parts/", "parts/part-00000.parquet", "by wellput"),
    ],
)
def test_an_output_never_replaces_a_file_that_an_input_names(
    run: Run, files: Write, tmp_path: Path, command: str, replaced: str, why: str
) -> None:
    for folder in ("judged", "sets", "parts"):
        (tmp_path / folder).mkdir()
    item = ITEM.replace('"a b"}', '"a b", "B": "b"}')
    files(**{"set.jsonl": item, "sets/a.jsonl": item, "judged/j.csv": JUDGMENTS, "own.csv": SCORES})
    files(**{"m.json": "{}"})
    parquet = pytest.importorskip("pyarrow.parquet")
    shard = pytest.importorskip("pyarrow").table(
        {"id": ["1"], "reference": ["a"], "outputs.A": ["b"]}
    )
    parquet.write_table(shard, tmp_path / "parts/part-00000.parquet")
    before = (tmp_path / replaced).read_bytes()
    outcome = run(*command.split())
    assert (outcome.code, outcome.out) == (2, "")
    assert "Cannot write" in outcome.err and why in outcome.err
    assert (tmp_path / replaced).read_bytes() == before


def test_a_report_beside_the_inputs_is_replaced(run: Run, files: Write, tmp_path: Path) -> None:
    (tmp_path / "judged").mkdir()
    files(**{"judged/j.csv": JUDGMENTS, "judged/report.md": "old"})
    assert run("rank", "judged", "-o", "judged/report.md").code == 0
    assert "A" in (tmp_path / "judged/report.md").read_text()


def test_a_folder_with_the_name_of_a_system_is_no_input(
    run: Run, files: Write, tmp_path: Path
) -> None:
    (tmp_path / "A").mkdir()
    files(**{"j.csv": JUDGMENTS, "A/table.csv": "old"})
    assert run("rank", "j.csv", "--against", "A", "-o", "A/table.csv").code == 0
    assert (tmp_path / "A/table.csv").read_text() != "old"


def test_two_outputs_are_two_files(run: Run, files: Write, tmp_path: Path) -> None:
    files(**{"set.jsonl": ITEM})
    outcome = run("score", "set.jsonl", "-m", "ssa", "--segments", "x.csv", "-o", "x.csv")
    assert outcome.code == 2
    assert "another output is written to x.csv" in outcome.err
    assert not (tmp_path / "x.csv").exists()


def test_half_a_character_is_reported_as_its_escape(run: Run, files: Write) -> None:
    files(**{"set.jsonl": ITEM.replace('"A"', '"A\\ud800"')})
    outcome = run("score", "set.jsonl", "-m", "ssa", "--format", "csv")
    assert outcome.code == 0
    assert "A\\ud800,ssa" in outcome.out


@pytest.mark.parametrize("format", ["csv", "json", "markdown", "latex", "table"])
def test_a_terminal_gets_no_escape_sequences(
    run: Run, files: Write, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    name = "A\x1b]0;owned\x07\x9b2J"  # \x9b begins a sequence too
    files(**{"set.jsonl": ITEM.replace('"A"', json.dumps(name))})
    arguments = ("score", "set.jsonl", "-m", "ssa", "--format", format)
    if format == "csv":  # a file, or a program that reads it, gets the name itself
        assert name in run(*arguments).out
    monkeypatch.setattr("wellput.cli.options.is_terminal", lambda output: True)
    shown = run(*arguments).out
    assert "\x1b]" not in shown and not {"\x07", "\x9b"} & set(shown)
    assert "9b2J" in shown and shown.count("\n") > 1
    if format == "json":
        assert repr(name) in repr(json.loads(shown))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("argument", ["--help", "metrics", "completion"])
def test_a_full_disk_gets_a_message_without_a_traceback(argument: str) -> None:
    program = "from wellput.cli import main; main()"
    arguments = [argument, *(["bash"] if argument == "completion" else [])]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("wellput: Cannot write standard output: the disk is full.")
    assert "Traceback" not in done.stderr


def test_a_list_of_metrics_may_be_longer_than_a_name(run: Run, files: Write) -> None:
    files(**{"set.jsonl": ITEM})
    metrics = ",".join(f"bleu:smooth_method=floor:smooth_value=0.{k}" for k in range(1, 10))
    outcome = run("score", "set.jsonl", "-m", metrics, "--format", "csv")
    assert outcome.code == 0
    assert len(metrics) > 255 and len(outcome.out.splitlines()) == 10


@pytest.mark.parametrize(
    "arguments",
    [("score", "{}.jsonl", "-m", "bleu"), ("rank", "{}.csv"), ("study", "status", "{}.db")],
)
def test_a_name_that_is_too_long_gets_a_message(run: Run, arguments: tuple[str, ...]) -> None:
    outcome = run(*(one.format("x" * 300) for one in arguments))
    assert outcome.code == 2
    assert "is too long for a name" in outcome.err and "Traceback" not in outcome.err
