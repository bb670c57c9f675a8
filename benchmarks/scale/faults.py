"""Every command under every fault that a machine can have: `python -m benchmarks faults`.

Runs the program in separate processes on Linux; for a full or a read-only disk, in a separate mount
namespace (`unshare`). Writes docs/results/faults.md, which marks what is not as docs/reliability.md says.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.pages import ROOT, write_page
from tests.studies.studies import answer_all, judges_of, new_setup
from wellput.cli import COMMANDS
from wellput.studies.store import Store

PROGRAM = [sys.executable, "-c", "from wellput.cli import main; main()"]
MAX_SECONDS = 300
"""A command that takes longer counts as hanging."""

CASES: Mapping[str, str] = {
    "score": "score set.jsonl -m bleu,gsa,sta --paired ar --segments {out}/seg.csv -o {out}/report.txt",
    "score --runs": "score set.jsonl -m bleu --runs {out} -o {out}/report.txt",
    "score (writes .gz)": "score --ref ref.txt --hyp A=hyp.txt -m chrf --segments {out}/seg.jsonl.gz -o {out}/r.txt",
    "agree": "agree set.jsonl judgments.csv -m bleu,chrf -o {out}/agree.txt",
    "rank": "rank judgments.csv -o {out}/rank.txt",
    "vet": "vet judgments.csv --evalset set.jsonl --judge bleu -o {out}/vet.txt",
    "estimate": "estimate set.jsonl judgments.csv --proxy bleu -o {out}/estimate.txt",
    "columns": "columns set.jsonl -o {out}/columns.txt",
    "convert": "convert trees.mrg -o {out}/converted.conllu",
    "probe": "probe ref.txt -m bleu -o {out}/probe.txt",
    "report": "report set.jsonl judgments.csv -m bleu,gsa -o {out}/report.html",
    "fit": "fit set.jsonl judgments.csv --question 'quality (simulated)' --predictors gsa,length -o {out}/fit.json",
    "power": "power --difference 0.2 --sd-item 0.8 --sd-noise 1.1 --items 50 --judges 1 -o {out}/power.txt",
    "study create": "study create set.jsonl --design rating --judges 3 --per-item 1 -o {out}/study.db",
    "study export": "study export answered.db -o {out}/judgments.csv",
    "study status": "study status study.db -o {out}/status.txt",
    "displays example": "displays example -o {out}/displays.jsonl",
    "displays select": "displays select displays.jsonl --strategy rule -o {out}/all.jsonl",
    "displays evaluate": "displays evaluate displays.jsonl -o {out}/evaluation.txt",
    "displays preview": "displays preview displays.jsonl -o {out}/page.html",
    "realize": "realize trees.conllu -o {out}/sentences.txt",
    "degrade": "degrade corpus.txt --method sequence -n 2000 -o {out}/degraded.txt",
    "rerank": "rerank nbest.jsonl -m chrf -o {out}/best.txt",
    "parse": "parse ref.txt -o {out}/trees.conllu",
    "paraphrase": "paraphrase set.jsonl --candidates table:table.csv --filter none -o {out}/rewritten.jsonl",
    "train lm": "train lm corpus.txt --order 3 -o {out}/model.wlm",
    "train fergus": "train fergus trees.conllu -o {out}/fergus",
    "metrics": "metrics -o {out}/metrics.txt",
    "demo": "demo --save {out}/demo.jsonl -o {out}/demo.txt",
    "runs": "runs list --runs kept -o {out}/runs.txt",
    "completion": "completion bash",
}
"""By the name on the page, the commands that write files into the folder `{out}`."""

ON_STDOUT: Mapping[str, str] = {
    "score": "score set.jsonl -m bleu,gsa --format json",
    "score --segments -": "score set.jsonl -m bleu --segments - -o {out}/report.txt",
    "agree": "agree set.jsonl judgments.csv -m bleu --format json",
    "rank": "rank judgments.csv",
    "vet": "vet judgments.csv --evalset set.jsonl --judge bleu",
    "estimate": "estimate set.jsonl judgments.csv --proxy bleu",
    "columns": "columns set.jsonl",
    "convert": "convert trees.mrg",
    "probe": "probe ref.txt -m bleu",
    "judge --dry-run": "judge set.jsonl --question quality --dry-run",
    "help": "help score",
    "report": "report set.jsonl -m bleu -o -",
    "fit": "fit set.jsonl judgments.csv --question 'quality (simulated)' --predictors gsa --format json",
    "power": "power --difference 0.2 --sd-item 0.8 --sd-noise 1.1 --items 50 --judges 1",
    "study export": "study export answered.db",
    "study status": "study status study.db",
    "displays evaluate": "displays evaluate displays.jsonl",
    "realize": "realize trees.conllu",
    "degrade": "degrade corpus.txt --method sequence -n 2000",
    "rerank": "rerank nbest.jsonl -m chrf",
    "parse": "parse ref.txt",
    "paraphrase": "paraphrase set.jsonl --candidates table:table.csv --filter none",
    "train fergus": "train fergus trees.conllu -o {out}/fergus",
    "metrics": "metrics",
    "demo": "demo",
    "runs": "runs list --runs kept",
    "completion": "completion bash",
    "--help": "score --help",
    "--version": "--version",
}
"""By the name on the page, the commands that write to standard output."""


@dataclass(frozen=True)
class Outcome:
    """`code` is negative for a death by that signal; `left` the files found in the output folder."""

    code: int
    err: str
    left: tuple[str, ...]

    @property
    def has_traceback(self) -> bool:
        return "Traceback" in self.err or "terminate called" in self.err


Runner = Callable[[Sequence[str], Path, Path], Outcome]
"""Runs a command with these arguments in a folder with the inputs; its files go to another folder."""


def execute(
    arguments: Sequence[str],
    folder: Path,
    out: Path,
    *,
    before: Sequence[str] = (),
    stdout: object = subprocess.DEVNULL,
    variables: Mapping[str, str | None] | None = None,
) -> Outcome:
    changed = variables or {}
    kept = {name: value for name, value in os.environ.items() if name not in changed}
    environment = {**kept, **{k: v for k, v in changed.items() if v is not None}}
    environment["PYTHONPATH"] = str(ROOT / "src")
    done = subprocess.run(
        [*before, *PROGRAM, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=stdout,  # type: ignore[call-overload]
        stderr=subprocess.PIPE,
        timeout=MAX_SECONDS,
        check=False,
    )
    err = done.stderr.decode(errors="replace")
    left = tuple(sorted(path.name for path in out.iterdir()))
    return Outcome(done.returncode, err, left)


def with_mount(script: str) -> Runner:
    """The output folder is a file system of its own, prepared by the script."""

    def run(arguments: Sequence[str], folder: Path, out: Path) -> Outcome:
        quoted, listing = shlex.quote(str(out)), Path(f"{out}.left")
        shell = (
            f"mount -t tmpfs -o size=64k tmpfs {quoted} && {script.format(out=quoted)} && "
            f'"$@"; code=$?; ls -A {quoted} > {shlex.quote(str(listing))}; exit $code'
        )
        done = execute(arguments, folder, out, before=["unshare", "-rm", "sh", "-c", shell, "sh"])
        left = tuple(name for name in listing.read_text().split("\n") if name not in ("", "filler"))
        listing.unlink()
        return replace(done, left=left)

    return run


def to_a_full_device(arguments: Sequence[str], folder: Path, out: Path) -> Outcome:
    with Path("/dev/full").open("wb") as full:
        return execute(arguments, folder, out, stdout=full)


def to_a_closed_pipe(arguments: Sequence[str], folder: Path, out: Path) -> Outcome:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return execute(arguments, folder, out, stdout=writer)
    finally:
        os.close(writer)


def in_c_locale(arguments: Sequence[str], folder: Path, out: Path) -> Outcome:
    names = {name: None for name in os.environ if name.startswith("LC_") or name == "LANG"}
    poor = {**names, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    return execute(arguments, folder, out, variables=poor)


def without_home(arguments: Sequence[str], folder: Path, out: Path) -> Outcome:
    names = {name: None for name in os.environ if name.startswith("XDG_")}
    return execute(arguments, folder, out, variables={**names, "HOME": "/nonexistent"})


def on_one_core(arguments: Sequence[str], folder: Path, out: Path) -> Outcome:
    return execute(arguments, folder, out, before=["taskset", "-c", "0"])


def in_512_mb(arguments: Sequence[str], folder: Path, out: Path) -> Outcome:
    return execute(arguments, folder, out, before=["prlimit", f"--data={512 << 20}"])


def stopped_by(number: signal.Signals) -> Runner:
    """The signal comes as soon as a file appears in the output folder: in the middle of writing, or
    between two files, or too late."""

    def run(arguments: Sequence[str], folder: Path, out: Path) -> Outcome:
        with subprocess.Popen(
            [*PROGRAM, *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as program:
            while program.poll() is None and not any(out.iterdir()):
                time.sleep(0.0005)
            program.send_signal(number)
            _, err = program.communicate()
        left = tuple(sorted(path.name for path in out.iterdir()))
        return Outcome(program.returncode, err.decode(errors="replace"), left)

    return run


def without_fault(arguments: Sequence[str], folder: Path, out: Path) -> Outcome:
    return execute(arguments, folder, out)


@dataclass(frozen=True)
class Fault:
    """A fault, how a command is run under it, and the commands that are tried (`cases`). `codes` are the
    allowed exit codes, `leaves_files` whether files may be left, `says` a part of the expected message."""

    name: str
    run: Runner
    cases: Mapping[str, str]
    codes: frozenset[int]
    leaves_files: bool
    says: str = ""


FAULTS = (
    Fault("none", without_fault, CASES, frozenset({0}), True),
    Fault("disk full", with_mount("cat /dev/zero > {out}/filler 2>/dev/null; true"), CASES, frozenset({2}), False, "the disk is full"),
    Fault("read-only disk", with_mount("mount -o remount,ro {out}"), CASES, frozenset({2}), False, "read-only"),
    Fault("SIGTERM", stopped_by(signal.SIGTERM), CASES, frozenset({-signal.SIGTERM, 0}), True),
    Fault("SIGINT", stopped_by(signal.SIGINT), CASES, frozenset({-signal.SIGINT, 0}), True),
    Fault("SIGKILL", stopped_by(signal.SIGKILL), CASES, frozenset({-signal.SIGKILL, 0}), True),
    Fault("standard output full", to_a_full_device, ON_STDOUT, frozenset({2}), True, "the disk is full"),
    Fault("pipe closed", to_a_closed_pipe, ON_STDOUT, frozenset({-signal.SIGPIPE}), True),
    Fault("no locale", in_c_locale, CASES, frozenset({0}), True),
    Fault("no home", without_home, CASES, frozenset({0}), True),
    Fault("one core", on_one_core, CASES, frozenset({0}), True),
    Fault("512 MB", in_512_mb, CASES, frozenset({0}), True),
)  # fmt: skip
NEVER_WRITES = frozenset({"completion"})
"""Commands without a file to write: a full disk does not stop them."""


def prepare(folder: Path) -> None:
    """Inputs for every command, from the embedded example."""
    _run_all(["demo --save set.jsonl --save-judgments judgments.csv"], folder)
    items = [json.loads(line) for line in (folder / "set.jsonl").read_text().splitlines()]
    references = "".join(f"{item['references'][0]}\n" for item in items)
    (folder / "ref.txt").write_text(references)
    (folder / "hyp.txt").write_text("".join(f"{item['outputs']['careful']}\n" for item in items))
    (folder / "corpus.txt").write_text(references * 20)
    (folder / "trees.mrg").write_text("( (S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .)) )\n" * 200)
    (folder / "table.csv").write_text("word,replacement\nleave,depart\n")
    nbest = [
        {"id": i["id"], "references": i["references"], "candidates": list(i["outputs"].values())}
        for i in items
    ]
    (folder / "nbest.jsonl").write_text("".join(json.dumps(one) + "\n" for one in nbest))
    store = Store.create(str(folder / "answered.db"), new_setup())
    for judge in judges_of(store, 2):
        answer_all(store, judge)
    store.close()
    _run_all(
        [
            "parse ref.txt -o trees.conllu",
            "displays example -o displays.jsonl",
            "study create set.jsonl --design rating --judges 3 --per-item 1 -o study.db",
            "score set.jsonl -m bleu --runs kept",
        ],
        folder,
    )


def _run_all(lines: Sequence[str], folder: Path) -> None:
    for line in lines:
        done = execute(line.split(), folder, folder)
        if done.code:
            raise SystemExit(f"{line}: {done.err}")


def measure(
    fault: Fault, folder: Path, only: str | None, jobs: int
) -> dict[str, tuple[Outcome, bool]]:
    """Each command's outcome, and whether it is as it should be."""
    names = [name for name in fault.cases if only is None or name.startswith(only)]
    with ThreadPoolExecutor(jobs) as pool:
        tried = pool.map(lambda name: attempt(fault, name, folder), names)
        return dict(zip(names, tried, strict=True))


def attempt(fault: Fault, name: str, folder: Path) -> tuple[Outcome, bool]:
    with tempfile.TemporaryDirectory() as out:
        line = fault.cases[name].format(out=out)
        outcome = fault.run(shlex.split(line), folder, Path(out))
    codes = frozenset({0}) if name in NEVER_WRITES and not fault.leaves_files else fault.codes
    is_right = (
        outcome.code in codes
        and (outcome.code == 0 or fault.says in outcome.err.lower())
        and not outcome.has_traceback
        and (fault.name == "SIGKILL" or not any(".part" in one for one in outcome.left))
        and (fault.leaves_files or not outcome.left)
    )
    if not is_right:
        print(f"{fault.name} · {name}: {outcome.code} {outcome.left}\n{outcome.err[-1500:]}\n")
    return outcome, is_right


INTRODUCTION = """\
# Faults: every command under every fault

What does wellput do if the disk is full, a signal stops it, or the machine is small? {right} of {total} runs ended as [documented](../reliability.md): with the right exit code, without a printed traceback, and without a half-written file (after SIGKILL a temporary file may remain).

A row is a command, a column a fault of the machine; *none* is a run without a fault, *512 MB* a run with no more memory than that. A cell is the exit code: 0 after success, 2 after an error that is reported; a negative code is the number of the signal that ended the command (−2 SIGINT, −9 SIGKILL, −13 SIGPIPE, −15 SIGTERM). ✗ marks a run that is not as documented. An empty cell means that this fault was not tried with this command. `completion` writes no file, so most faults do not concern it.
"""


def page(results: Mapping[str, Mapping[str, tuple[Outcome, bool]]]) -> str:
    outcomes = [is_right for found in results.values() for _, is_right in found.values()]
    lines = [INTRODUCTION.format(right=sum(outcomes), total=len(outcomes))]
    names = list(dict.fromkeys(name for found in results.values() for name in found))
    lines.append("| command | " + " | ".join(results) + " |")
    lines.append("| --- " * (len(results) + 1) + "|")
    for name in names:
        cells = [_cell(found.get(name)) for found in results.values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(entry: tuple[Outcome, bool] | None) -> str:
    if entry is None:
        return ""
    outcome, is_right = entry
    return f"{str(outcome.code).replace('-', '−')}{'' if is_right else ' ✗'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fault", help="only this one")
    parser.add_argument("--command", help="only commands that begin so")
    parser.add_argument("--jobs", type=int, default=1, help="commands at once")
    chosen = parser.parse_args()
    # Ignored where this runs in the background of a shell, and then by every child.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    known = {name.split()[0] for name in (*CASES, *ON_STDOUT)}
    assert known >= set(COMMANDS) - {"train", "study", "displays"}, set(COMMANDS) - known
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        results: dict[str, dict[str, tuple[Outcome, bool]]] = {}
        for fault in FAULTS:
            if chosen.fault in (None, fault.name):
                print(f"{fault.name} …", flush=True)
                results[fault.name] = measure(fault, Path(folder), chosen.command, chosen.jobs)
    text = page(results)
    if chosen.fault is None and chosen.command is None:
        write_page("faults", text)
    else:
        print(text)
