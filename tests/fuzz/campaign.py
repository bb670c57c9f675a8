"""Fuzzing for as long as one likes: `python -m tests.fuzz.campaign --seconds 600`.

Targets (a reader with its file, or a kernel) take turns, each turn in a process of its own, so that a
crash and a hang are findings like any other and do not end the campaign. The inputs that failed stay
under `build/fuzz`, a folder for each; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import itertools
import multiprocessing
import os
import pickle
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import TypeAlias

from tests.fuzz.kernels import ALLOWED, recorded_work
from tests.fuzz.readers import MODELS, READERS, damage, write_all
from tests.fuzz.recording import Script
from wellput.core.errors import InputError

FOUND = Path("build", "fuzz")
LOG = "log.txt"
LIMIT = 60.0
"""Seconds that one input may take before it is a hang: sanitizers and a busy machine are slow."""
ADDRESS_SPACE = 8 << 30

Attempts: TypeAlias = Iterator[Callable[[], None]]
Target: TypeAlias = Callable[[Path, Random], Attempts]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="", help="targets whose name has this in it")
    parser.add_argument("--turn", type=float, default=5.0, help="seconds of a target's turn")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        all_targets = targets(Path(folder))
        chosen = {name: target for name, target in all_targets.items() if given.only in name}
        findings = campaign(chosen, given.seconds, given.seed, given.turn)
    sys.exit(bool(findings))


def campaign(chosen: dict[str, Target], seconds: float, seed: int, turn: float) -> list[str]:
    """The findings. Turns are shortened where there are too many targets for the time."""
    shutil.rmtree(FOUND, ignore_errors=True)
    FOUND.mkdir(parents=True)
    print(f"{len(chosen)} targets, seed {seed}, {seconds:.0f} s", flush=True)
    end = time.monotonic() + seconds
    turn = min(turn, seconds / len(chosen))
    findings: list[str] = []
    inputs = 0
    for number in itertools.count(seed):
        name = list(chosen)[number % len(chosen)]
        left = end - time.monotonic()
        if left <= 0:
            break
        folder = FOUND / f"{name.replace('/', '_')}-{number}"
        folder.mkdir()
        n, exit_code = in_process(chosen[name], folder, number, min(turn, left))
        inputs += n
        if exit_code == 0:
            shutil.rmtree(folder)
            continue
        findings.append(f"{folder}: exit code {exit_code}, {_gist(folder / LOG)}")
        print(findings[-1], flush=True)
    print(f"{inputs} inputs, {len(findings)} findings")
    return findings


def targets(good: Path) -> dict[str, Target]:
    """All of them by name; `good` will hold the good files."""
    files = good / "files"
    files.mkdir()
    write_all(files)
    work = good / "work"
    work.mkdir()
    scripts = recorded_work(work)
    return {
        **{name: _file_target(files, name) for name in (*READERS, *MODELS)},
        **{f"kernel {name}": _kernel_target(found) for name, found in scripts.items()},
    }


def in_process(target: Target, folder: Path, seed: int, turn: float) -> tuple[int, int]:
    """How many inputs a turn tried, and its exit code."""
    counter = multiprocessing.Value("q", 0)
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_turn, args=(target, folder, seed, turn, counter))
    process.start()
    process.join()
    return int(counter.value), process.exitcode or 0


def _turn(target: Target, folder: Path, seed: int, turn: float, counter: object) -> None:
    with (folder / LOG).open("wb", buffering=0) as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    faulthandler.enable()
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", ".*left out")  # a note that a reader gives is no finding
    if "libasan" not in Path("/proc/self/maps").read_text():
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    end = time.monotonic() + turn
    for attempt in target(folder, Random(seed)):
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        attempt()
        faulthandler.cancel_dump_traceback_later()
        counter.value += 1  # type: ignore[attr-defined]
        if time.monotonic() > end:
            return


def _gist(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "ERROR: " in line or "runtime error" in line]
    return (telling or lines or ["no output"])[-1][:200]


def _file_target(good: Path, name: str) -> Target:
    """The file that is being read lies in the folder, with those that belong to it."""

    def attempts(folder: Path, rng: Random) -> Attempts:
        tried = folder / "files"
        shutil.copytree(good, tried)
        while True:
            (tried / name).write_bytes((good / name).read_bytes())
            damage(rng, tried, name)
            yield file_attempt(tried, name)

    return attempts


def file_attempt(folder: Path, name: str) -> Callable[[], None]:
    """Reads what may be damaged or forged: an InputError or a result."""
    read = {**READERS, **MODELS}[name]

    def attempt() -> None:
        with contextlib.suppress(InputError):
            read(folder)

    return attempt


def _kernel_target(scripts: list[Script]) -> Target:
    """The script that is being played lies in the folder."""

    def attempts(folder: Path, rng: Random) -> Attempts:
        while True:
            script = rng.choice(scripts).mutated(rng)
            (folder / "script.pickle").write_bytes(pickle.dumps(script))
            yield kernel_attempt(script)

    return attempts


def kernel_attempt(script: Script) -> Callable[[], None]:
    """Asks a kernel for what it may refuse."""

    def attempt() -> None:
        with contextlib.suppress(*ALLOWED):
            script.play()

    return attempt


if __name__ == "__main__":
    main()
