"""Ten million segments: streamed, in memory, and on a cluster of two workers: `python -m benchmarks.scale`.

Writes docs/results/scale.md, and the tables of docs/scale.md. Every large run is a process of its own, so
that its memory is its own; what is compared by the clock runs in turns, so that what else the machine does
falls on all of it. The file (2.7 GB) is written to a temporary folder and deleted; `--segments N` for a smaller one.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean, median
from typing import Any

import wellput
from benchmarks.corpora import wmt21
from benchmarks.scale_costs import (
    Cost,
    Pair,
    engine_cost,
    metric_costs,
    reading_costs,
    significance_costs,
)
from wellput.engine.ray_cluster import ray_cluster

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "results" / "scale.md"
COSTS_PAGE = DOCS / "scale.md"
BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->"
METRICS = "bleu,chrf,ssa"
THREADS = 2
TURN = 262_144
TURNS = 12
NAMES = {
    "memory": "in memory, reading not counted",
    "stream": "streamed from one JSONL file, two threads",
    "ray": "Ray, two workers, cluster start not counted",
    "killed": "Ray, one worker killed on the way",
}


@dataclass(frozen=True)
class Run:
    """One way of scoring: seconds by the clock and of the processor, and what was found."""

    mode: str
    items: int
    seconds: float
    processor: float
    peak_mb: float
    scores: dict[str, float]


def pairs() -> list[Pair]:
    systems, references = wmt21()
    return [
        (output, references[segment][0])
        for outputs in systems.values()
        for segment, output in outputs.items()
        if segment in references
    ]


def write_segments(path: Path, texts: Sequence[Pair], n: int) -> None:
    """One system's outputs with a reference each; the texts come again and again, ids do not."""
    tails = [
        f', "references": [{json.dumps(reference)}], "outputs": {{"A": {json.dumps(output)}}}}}\n'
        for output, reference in texts
    ]
    with path.open("w") as file:
        for i in range(n):
            file.write(f'{{"id": "{i}"{tails[i % len(tails)]}')


def measure(mode: str, path: Path) -> list[Run]:
    """What a process of its own does; runs in turns are all of one process."""
    if mode == "stream":
        return [_timed(mode, path)]
    with ray_cluster(None, THREADS) as ray:
        pids = workers(ray)
        wellput.score(wellput.EvalSet.of({"A": ["a"]}, ["a"]), METRICS, engine="ray")
        if mode == "turns":
            return in_turns(ray, path)
        done = 0

        def kill_one(n: int) -> None:
            nonlocal done
            if mode == "killed" and done == 0:
                os.kill(next(iter(pids)), signal.SIGKILL)
            done += n

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
        time.sleep(0.5)  # so that the next one goes to another worker
        return os.getpid(), time.process_time()

    return dict(ray.get([spent.remote() for _ in range(THREADS)]))


def in_own_process(mode: str, path: Path) -> list[Run]:
    command = [sys.executable, "-m", "benchmarks.scale", "--mode", mode, "--file", str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    runs = [Run(**run) for run in json.loads(done.stdout.splitlines()[-1])]
    for run in runs:
        print(f"{mode}: {run.mode} {run.seconds:.1f} s", file=sys.stderr, flush=True)
    return runs


def page(runs: Sequence[Run], turns: Sequence[Run]) -> str:
    modes = ("memory", "stream", "ray")
    seconds = {mode: median(r.seconds for r in turns if r.mode == mode) for mode in modes}
    work = {mode: median(r.processor for r in turns if r.mode == mode) for mode in modes}
    loss, more = 1 - seconds["memory"] / seconds["stream"], seconds["ray"] / seconds["stream"] - 1
    work_loss, work_more = 1 - work["memory"] / work["stream"], work["ray"] / work["stream"] - 1
    peak = max(run.peak_mb for run in runs if run.mode == "stream")
    equal = all(run.scores == runs[0].scores for run in runs)
    lines = [
        "# Scale",
        "",
        f"BLEU, chrF and ssa of {runs[0].items:,} segments (WMT 2021 German–English outputs, repeated, with ids of their own) on two cores. "
        "Written by `python -m benchmarks.scale`. Each row is a process of its own; the machine was shared with others, so that seconds by the clock "
        "hardly compare from row to row, the processor's time does.",
        "",
        "| run | segments | seconds | segments a second | processor, µs a segment | peak memory, MB |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {NAMES[run.mode]} | {run.items:,} | {run.seconds:,.1f} | {run.items / run.seconds:,.0f} | {run.processor / run.items * 1e6:.2f} | {run.peak_mb:,.0f} |"
            for run in runs
        ),
        "",
        "Memory is that of the process that scores; on a cluster, of the one that adds up.",
        "",
        f"What is held against one another by the clock ran in {len(turns) // len(modes)} turns in one process; medians:",
        "",
        "| in turns | segments | seconds | segments a second | processor, µs a segment |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(
            f"| {NAMES[mode]} | {TURN:,} | {seconds[mode]:,.1f} | {TURN / seconds[mode]:,.0f} | {work[mode] / TURN * 1e6:.2f} |"
            for mode in modes
        ),
        "",
        "| what | measured | we want | |",
        "| --- | ---: | ---: | --- |",
        f"| resident memory while streaming | {peak:,.0f} MB | < 1,024 MB | {_verdict(peak < 1024)} |",
        f"| streaming below the throughput in memory, by the clock | {loss:.0%} | ≤ 20% | {_verdict(loss <= 0.2)} |",
        f"| the same in the processor's time | {work_loss:.0%} | ≤ 20% | {_verdict(work_loss <= 0.2)} |",
        f"| Ray over native threads, by the clock | {more:+.0%} | ≤ 25% | {_verdict(more <= 0.25)} |",
        f"| the same in the processor's time | {work_more:+.0%} | ≤ 25% | {_verdict(work_more <= 0.25)} |",
        f"| all digits equal, with a worker killed too | {'yes' if equal else 'no'} | yes | {_verdict(equal)} |",
        "",
        "Scores: " + ", ".join(f"{name} {value!r}" for name, value in runs[0].scores.items()) + ".",
        "",
    ]
    return "\n".join(lines)


def _verdict(is_met: bool) -> str:
    return "met" if is_met else "missed"


def costs_text(
    whole: float,
    metrics: Sequence[Cost],
    reading: Sequence[Cost],
    significance: Sequence[Cost],
    engine: float,
) -> str:
    by_name = {cost.what: cost.microseconds for cost in metrics}
    kernels = sum(by_name[name] for name in METRICS.split(","))
    plain = reading[0].microseconds
    hours = whole * 1e9 / 1e6 / 3600
    lines = [
        f"Measured by `python -m benchmarks.scale` ({platform.machine()}, one thread, the processor's time; segments of {_words():.0f} words on average "
        "with one reference). Ratios hold from machine to machine, times do not.",
        "",
        "| metric | µs a segment | × with segments 4 times as long | 10⁹ segments, core hours |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {cost.what} | {cost.microseconds:,.2f} | {cost.growth or 0:.1f} | {cost.microseconds / 3.6:,.1f} |"
        for cost in metrics
    ]
    lines += [
        "",
        "Cost grows with the number of items and of systems as it is; with the length of segments as the third column says (4 is in proportion, "
        "TER's search for shifts takes far more). With several references the cost of a metric is nearly that of as many segments.",
        "",
        "| reading | µs a segment |",
        "| --- | ---: |",
        *(f"| {cost.what} | {cost.microseconds:.2f} |" for cost in reading),
        "",
        "| uncertainty, 1,000 resamples, 10 statistics | µs an item | × per item at 10 times the items |",
        "| --- | ---: | ---: |",
        *(
            f"| {cost.what} | {cost.microseconds:.2f} | {cost.growth or 0:.2f} |"
            for cost in significance
        ),
        "",
        f"**Where the time goes** with BLEU, chrF and ssa, streamed: {whole:.1f} µs a segment, of which the kernels are {kernels:.1f} ({kernels / whole:.0%}), "
        f"reading and decoding {plain:.1f} ({plain / whole:.0%}), the engine's Python {engine:.1f}; the rest is threads that start and wait. Kernels run on all cores "
        f"without the GIL; decoding and Python hold it, one core at a time. So one process stops growing at about {whole / (plain + engine):.0f} cores: beyond that the bottleneck is Python, and "
        "processes (`--engine ray --threads N`) go on. With `length` or `exact` alone reading is most of the work already; with `fluency` the model is nearly all of it, "
        f"and one process keeps {by_name.get('fluency', whole) / (plain + engine):.0f} cores busy. A disk must give {270 / whole:.0f} MB a second for each core (270 bytes a segment) before it is the bottleneck.",
        "",
        f"**10⁹ segments**: {hours:.1f} core hours by the streamed run above: {hours / 16:.1f} hours on 16 cores, {hours * 60 / 256:.0f} minutes on 256 in a cluster, if the storage gives "
        f"{256 * 270 / whole / 1000:.0f} GB a second. The coordinator receives 8 bytes an item for the check of ids (8 GB, on disk) and adds up {1e9 / 4096:,.0f} blocks. Intervals "
        f"or a test under BLEU would keep 80 GB a system: draw a sample of the items, whose interval is that of the sample.",
        "",
    ]
    return "\n".join(lines)


def _words() -> float:
    return mean(len(output.split()) for output, _ in pairs())


class Kept:
    """What was measured, by name, in a file: a benchmark of an hour that was stopped goes on."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._values: dict[str, Any] = (
            json.loads(path.read_text()) if path and path.exists() else {}
        )

    def get(self, name: str, measured: Callable[[], Any]) -> Any:
        """The value of that name as JSON has it, measured where it is not there."""
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
        "--state", type=Path, help="keep what is measured here, and do not repeat it"
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
        PAGE.write_text(page(runs, turns), encoding="utf-8")
        reading = kept.costs("reading", lambda: reading_costs(small, 50_000, Path(folder)))
        engine = kept.get("engine", lambda: engine_cost(small, METRICS))
    metrics = kept.costs("metrics", lambda: metric_costs(texts[:16384]))
    significance = kept.costs("significance", lambda: significance_costs(100_000))
    whole = runs[0].processor / runs[0].items * 1e6
    costs = costs_text(whole, metrics, reading, significance, engine)
    before, _, rest = COSTS_PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    COSTS_PAGE.write_text(f"{before}{BEGIN}{costs}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
