"""Ten million segments: streamed, in memory, and on a cluster of two workers: `python -m benchmarks scale`.

Writes docs/results/scale.md, and the tables of docs/scale.md. Every large run is a separate process, so
that its memory can be measured. Runs that are compared by the clock take turns, so that other work on the
machine slows all of them. The file (2.7 GB) is written to a temporary folder and deleted; `--segments N` for a smaller one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import mean
from typing import Any

import wellput
from benchmarks.data import wmt21
from benchmarks.pages import ROOT, replace_between, write_page
from benchmarks.scale.costs import (
    Cost,
    Pair,
    engine_cost,
    id_check_cost,
    metric_costs,
    reading_costs,
    significance_costs,
)
from benchmarks.scale.pages import METRICS, Run, costs_text, page
from wellput.engine.ray_cluster import ray_cluster

BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->"
THREADS = 2
TURN = 131_072
"""Segments in a turn: two partitions. They are few, so that other work on the machine slows all runs of a turn."""
TURNS = 24


def pairs() -> list[Pair]:
    systems, references = wmt21()
    return [
        (output, references[segment][0])
        for outputs in systems.values()
        for segment, output in outputs.items()
        if segment in references
    ]


def write_segments(path: Path, texts: Sequence[Pair], n: int) -> None:
    """Writes n outputs of one system, with a reference each. The texts are repeated, the ids are not."""
    tails = [
        f', "references": [{json.dumps(reference)}], "outputs": {{"A": {json.dumps(output)}}}}}\n'
        for output, reference in texts
    ]
    with path.open("w") as file:
        for i in range(n):
            file.write(f'{{"id": "{i}"{tails[i % len(tails)]}')


def measure(mode: str, path: Path) -> list[Run]:
    """The runs of one mode, in this process: a key of `NAMES`, or `turns` for all three ways in turns."""
    if mode == "stream":
        return [_timed(mode, path)]
    with ray_cluster(None, THREADS) as ray:
        pids = workers(ray)
        wellput.score(wellput.EvalSet.of({"A": ["a"]}, ["a"]), METRICS, engine="ray")
        if mode == "turns":
            return in_turns(ray, path)
        to_kill = [next(iter(pids))] if mode == "killed" else []

        def kill_one(n: int) -> None:
            if n and to_kill:  # after the first partition
                os.kill(to_kill.pop(), signal.SIGKILL)

        return [_timed_on(ray, mode, path, on_progress=kill_one)]


def in_turns(ray: Any, path: Path) -> list[Run]:
    """The same items in memory, streamed and on the cluster, one after another and again."""
    blocks = wellput.open_evalset(path).blocks()
    held = wellput.EvalSet(item for block in blocks for item in block)
    runs: list[Run] = []
    for _ in range(TURNS):
        runs += [_timed("memory", held), _timed("stream", path), _timed_on(ray, "ray", path)]
    return runs


def _timed_on(ray: Any, mode: str, source: Any, **options: Any) -> Run:
    before = workers(ray)
    run = _timed(mode, source, engine="ray", **options)
    spent = sum(after - before.get(pid, 0.0) for pid, after in workers(ray).items())
    return replace(run, processor=run.processor + spent)


def _timed(mode: str, source: Any, **options: Any) -> Run:
    start, spent = time.perf_counter(), time.process_time()
    result = wellput.score(source, METRICS, threads=THREADS, **options)
    seconds, spent = time.perf_counter() - start, time.process_time() - spent
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    scores = {score.metric: score.score for score in result.scores}
    return Run(mode, result.items, seconds, spent, peak, scores)


def workers(ray: Any) -> dict[int, float]:
    """The processor time of each worker so far, by process."""

    @ray.remote(num_cpus=1)  # type: ignore[untyped-decorator]
    def spent() -> tuple[int, float]:
        time.sleep(0.5)  # keeps the worker busy, so that the next task goes to another one
        return os.getpid(), time.process_time()

    return dict(ray.get([spent.remote() for _ in range(THREADS)]))


def in_own_process(mode: str, path: Path) -> list[Run]:
    command = [sys.executable, "-m", "benchmarks", "scale", "--mode", mode, "--file", str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    runs = [Run(**run) for run in json.loads(done.stdout.splitlines()[-1])]
    for run in runs:
        print(f"{mode}: {run.mode} {run.seconds:.1f} s", file=sys.stderr, flush=True)
    return runs


class Kept:
    """Measurements by name, kept in a file, so that an interrupted benchmark can be resumed."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._values: dict[str, Any] = (
            json.loads(path.read_text()) if path and path.exists() else {}
        )

    def get(self, name: str, measured: Callable[[], Any]) -> Any:
        """The kept value of this name as JSON has it; if there is none, it is measured and kept."""
        if name not in self._values:
            self._values[name] = measured()
            if self._path:
                self._path.write_text(json.dumps(self._values))
        return self._values[name]

    def runs(self, name: str, measured: Callable[[], list[Run]]) -> list[Run]:
        return [Run(**run) for run in self.get(name, lambda: [asdict(run) for run in measured()])]

    def costs(self, name: str, measured: Callable[[], list[Cost]]) -> list[Cost]:
        found = self.get(name, lambda: [asdict(cost) for cost in measured()])
        return [Cost(**cost) for cost in found]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--segments", type=int, default=10_000_000)
    parser.add_argument(
        "--state",
        type=Path,
        help="a file that keeps measurements, so that an interrupted run can be resumed",
    )
    parser.add_argument("--mode", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.mode:
        print(json.dumps([asdict(run) for run in measure(arguments.mode, arguments.file)]))
        return
    kept = Kept(arguments.state)
    texts = pairs()
    with tempfile.TemporaryDirectory() as folder:
        small, part, path = (Path(folder) / f"{name}.jsonl" for name in ("small", "part", "all"))
        write_segments(small, texts, 50_000)
        write_segments(part, texts, TURN)

        def large(mode: str) -> list[Run]:
            if not path.exists():
                write_segments(path, texts, arguments.segments)
            return in_own_process(mode, path)

        turns = kept.runs("turns", lambda: in_own_process("turns", part))
        runs = [
            run
            for mode in ("stream", "ray", "killed")
            for run in kept.runs(mode, lambda mode=mode: large(mode))  # type: ignore[misc]
        ]
        write_page("scale", page(runs, turns))
        reading = kept.costs("reading", lambda: reading_costs(small, 50_000, Path(folder)))
        engine = kept.get("engine", lambda: engine_cost(small, METRICS))
    metrics = kept.costs("metrics", lambda: metric_costs(texts[:16384]))
    significance = kept.costs("significance", lambda: significance_costs(100_000))
    ids = kept.get("ids", id_check_cost)
    whole = runs[0].processor / runs[0].items * 1e6
    words = mean(len(output.split()) for output, _ in texts)
    costs = costs_text(whole, metrics, reading, significance, engine, words, ids)
    replace_between(ROOT / "docs" / "scale.md", BEGIN, END, costs)
