from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import wellput
from tests.cli.conftest import Run
from wellput.core.errors import InputError, OutputError, WellputError
from wellput.io import run_files

Write = Callable[..., None]
FIRST = (
    '{"id": "1", "references": ["a b c"], "outputs": {"A": "a b", "B": "a b c"}}\n'
    '{"id": "2", "references": ["d e"], "outputs": {"A": "d e", "B": "d"}}\n'
)


@pytest.fixture
def stored(run: Run, files: Write, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of two runs; A is better in the second."""
    monkeypatch.delenv("WELLPUT_RUNS", raising=False)
    files(**{"one.jsonl": FIRST, "two.jsonl": FIRST.replace('"a b"', '"a b c"')})
    ids = []
    for name in ("one", "two"):
        outcome = run("score", f"{name}.jsonl", "-m", "ssa,gsa", "--confidence", "--runs", "runs")
        assert outcome.code == 0
        assert outcome.err.startswith("wellput: stored in runs as run ")
        ids.append(outcome.err.split()[-1])
    return ids


def test_list_and_its_filters(run: Run, stored: list[str]) -> None:
    outcome = run("runs", "list")
    assert outcome.code == 0
    assert outcome.out.index(stored[1]) < outcome.out.index(stored[0]), "newest first"
    assert "2 runs." in outcome.out
    outcome = run("runs", "list", "--system", "A", "--metric", "gsa", "--format", "json")
    assert [each["run"] for each in outcome.json["runs"]] == stored[::-1]
    assert [score["score"] for each in outcome.json["runs"] for score in each["scores"]] == [1, 0.8]
    assert outcome.json["runs"][0]["command"].startswith("wellput score two.jsonl -m ssa,gsa")
    assert "A 0.800" in run("runs", "list", "--metric", "gsa").out
    assert run("runs", "list", "--metric", "bleu").out.strip().endswith("0 runs.")
    last = run("runs", "list", "--last", "1").out
    assert stored[0] not in last
    assert "The newest 1 of 2 runs" in last


def test_show(run: Run, stored: list[str]) -> None:
    outcome = run("runs", "show", stored[0][:5])
    assert outcome.code == 0
    assert f"Run {stored[0]} of " in outcome.out
    assert "Command: wellput score one.jsonl -m ssa,gsa --confidence --runs runs" in outcome.out
    assert "95% intervals, no test." in outcome.out
    lines = run("runs", "show", stored[0], "--format", "csv").out.splitlines()
    assert len(lines) == 5
    assert lines[1].startswith(stored[0])


def test_diff(run: Run, stored: list[str]) -> None:
    outcome = run("runs", "diff", *stored)
    assert outcome.code == 0
    # One deletion less in 5 words.
    assert "A           ssa    0.800   1.000       +0.200   the outputs changed" in outcome.out
    assert "the same outputs" in outcome.out
    assert "Two scores cannot show whether their difference is real" in outcome.out
    changes = run("runs", "diff", *stored, "--format", "json").json["changes"]
    assert [(c["system_after"], c["metric"], c["comparable"]) for c in changes] == [
        ("A", "ssa", True), ("B", "ssa", True), ("A", "gsa", True), ("B", "gsa", True),
    ]  # fmt: skip
    renamed = run("runs", "diff", *stored, "--rename", "B=A").out
    assert "B → A" in renamed


def test_python_finds_what_the_command_line_stored(stored: list[str]) -> None:
    listed = wellput.runs.list(system="A", last=1)
    assert ([run.id for run in listed.runs], listed.total) == ([stored[1]], 2)
    assert str(listed.runs[0]).startswith(f"Run {stored[1]} of ")
    changes = wellput.runs.diff(stored[0][:6], wellput.runs.show("@1"), rename="B=A")
    first = changes.changes[0]
    assert (first.before.system, first.after.system) == ("B", "A")
    for wrong in ("A", "=A"):
        with pytest.raises(InputError, match=f"rename='{wrong}': write OLD=NEW"):
            wellput.runs.diff("@2", "@1", rename=[wrong])
    with pytest.raises(InputError, match="last=0 must be 1 or more"):
        wellput.runs.list(last=0)


def test_a_run_narrowed_to_a_system_can_be_shown(run: Run, files: Write) -> None:
    files(**{"one.jsonl": FIRST})
    wellput.score("one.jsonl", "ssa", all_pairs=True, resamples=20, runs="runs")
    narrowed = wellput.runs.list(system="B").runs[0]
    assert "p (Holm) under ssa: B–A" in str(narrowed)


def test_other_references_cannot_be_compared(run: Run, files: Write, stored: list[str]) -> None:
    files(**{"three.jsonl": FIRST.replace("d e", "d f")})
    third = run("score", "three.jsonl", "-m", "ssa", "--runs", "runs").err.split()[-1]
    outcome = run("runs", "diff", stored[0], third)
    assert outcome.code == 0
    assert "not comparable: different items or references" in outcome.out
    assert "Only in" in outcome.out


def test_nothing_is_stored_unless_asked_for(
    run: Run, files: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WELLPUT_RUNS", raising=False)
    files(**{"one.jsonl": FIRST})
    run("score", "one.jsonl", "-m", "ssa")
    assert [path.name for path in tmp_path.iterdir()] == ["one.jsonl"]
    monkeypatch.setenv("WELLPUT_RUNS", "kept")
    run("score", "one.jsonl", "-m", "ssa")
    assert len(list((tmp_path / "kept").iterdir())) == 1
    assert "1 run." in run("runs", "list").out


def test_a_report_in_the_folder_of_runs_is_replaced_but_a_run_is_not(
    run: Run, stored: list[str]
) -> None:
    for _ in range(2):
        assert run("runs", "list", "-o", "runs/list.csv").code == 0
        assert (
            run("score", "one.jsonl", "-m", "ssa", "--runs", "runs", "-o", "runs/s.csv").code == 0
        )
    (first,) = Path("runs").glob(f"*{stored[0]}.parquet")
    content = first.read_bytes()
    outcome = run("runs", "list", "-o", str(first), "--format", "csv")
    assert outcome.code == 2
    assert "it is the input" in outcome.err
    assert first.read_bytes() == content


def test_bad_input_is_refused_before_the_work(run: Run, files: Write, stored: list[str]) -> None:
    files(file="")
    outcome = run("score", "one.jsonl", "-m", "ssa", "--runs", "file")
    assert (outcome.code, outcome.out) == (2, "")
    assert "Cannot store runs in file: it is not a folder." in outcome.err
    for arguments, message in (
        (["show", "zz"], "No run 'zz' in runs, which holds 2 runs."),
        (["list", "--runs", "nowhere"], "No runs can be read from nowhere"),
        (["list", "--runs", "nowhere"], "in Python by `wellput.score(…, runs=FOLDER)`"),
        (["diff", *stored, "--rename", "A"], "--rename A: write OLD=NEW"),
        (["diff", *stored, "--rename", "A=C"], "No system 'C'"),
    ):
        outcome = run("runs", *arguments)
        assert (outcome.code, outcome.out) == (2, "")
        assert message in outcome.err


@pytest.mark.parametrize("failure", [OutputError("the disk is full."), InputError("it changed.")])
def test_the_report_is_printed_if_the_run_cannot_be_stored(
    run: Run, stored: list[str], monkeypatch: pytest.MonkeyPatch, failure: WellputError
) -> None:
    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(run_files, "_write", fail)
    outcome = run("score", "one.jsonl", "-m", "ssa", "--runs", "runs")
    assert outcome.code == 2
    assert "0.800" in outcome.out
    assert outcome.err == f"wellput: The run was not stored: {failure}\n"


@pytest.mark.parametrize("trees", [[], ["--trees", "auto"]])
def test_a_run_with_items_left_out(
    run: Run, files: Write, monkeypatch: pytest.MonkeyPatch, trees: list[str]
) -> None:
    monkeypatch.delenv("WELLPUT_RUNS", raising=False)
    first, second = FIRST.splitlines(keepends=True)
    third = first.replace('"1"', '"3"')
    for folder, names in (("all", {"a": first, "b": "{}\n", "c": second}),
                          ("rest", {"a": first, "c": second}),
                          ("other", {"a": first, "b": "{}\n", "c": third})):  # fmt: skip
        Path(folder).mkdir()
        files(**{f"{folder}/{name}.jsonl": text for name, text in names.items()})

    def scored(folder: str) -> str:
        metrics = "ssa,sta" if trees else "ssa"
        options = ["-m", metrics, *trees, "--on-error", "skip", "--runs", "runs"]
        outcome = run("score", folder, *options)
        assert outcome.code == 0
        return outcome.err.split()[-1]

    left_out, without, other = map(scored, ("all", "rest", "other"))
    found = run("runs", "list", "--format", "json").json["runs"]
    assert [(each["items"], each["skipped"]) for each in found] == [(2, 1), (2, 0), (2, 1)]
    assert "2, 1 partition left out" in run("runs", "list").out
    shown = run("runs", "show", left_out).out
    assert "1 partition left out because of errors: the scores are over the other" in shown
    # The same items, scored in different ways.
    diff = run("runs", "diff", left_out, without)
    assert "the same outputs" in diff.out
    assert "1 partition left out" in diff.out
    assert "not comparable: different items" in run("runs", "diff", left_out, other).out


def test_a_damaged_run_is_named_in_the_list(run: Run, stored: list[str], tmp_path: Path) -> None:
    newest = max((tmp_path / "runs").iterdir())
    newest.write_bytes(newest.read_bytes()[:100])
    outcome = run("runs", "list")
    assert outcome.code == 0
    assert "1 run." in outcome.out
    assert f"Left out: {newest.name} is damaged" in outcome.out
    assert run("runs", "show", stored[1]).code == 2


def test_listing_runs_does_not_load_numpy(tmp_path: Path) -> None:
    program = (
        "import sys, wellput\n"
        f"try: wellput.runs.list(runs={str(tmp_path / 'nowhere')!r})\n"
        "except wellput.InputError: print(*sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "wellput.api.runs" in done.stdout.split()
    assert "numpy" not in done.stdout.split()
