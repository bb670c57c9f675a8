"""Ten million segments: streamed, in memory, and on a cluster of two workers: `python -m benchmarks.scale`.

Writes docs/results/scale.md, and the tables of docs/scale.md. Every run is a process of its own, so that
its memory is its own; runs alternate, so that what else the machine does falls on all of them. The file
(2.7 GB) is written to a temporary folder and deleted. `--segments N` for a smaller one.
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
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import wellput
from benchmarks.corpora import wmt21
from benchmarks.scale_costs import (
    Cost,
    Pair,
    metric_costs,
    python_cost,
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
IN_MEMORY = 1_000_000


@dataclass(frozen=True)
class Run:
    """One way of scoring: seconds by the clock and of the processor, and what was found."""

    mode: str
    items: int
    seconds: float
    processor: float
    peak_mb: float
    scores: dict[str, float]

    @property
    def per_second(self) -> float:
        return self.items / self.seconds


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


def measure(mode: str, path: Path) -> Run:
    """Runs in a process of its own; prints the run as JSON."""
    if mode == "memory":
        blocks = wellput.open_evalset(path).blocks()
        items = [item for _ in range(IN_MEMORY // 4096) for item in next(blocks, ())]
        return _timed(mode, wellput.EvalSet(items))
    if mode == "stream":
        return _timed(mode, path)
    with ray_cluster(None, THREADS) as ray:
        pids = workers(ray)
        wellput.score(wellput.EvalSet.of({"A": ["a"]}, ["a"]), METRICS, engine="ray")
        before = workers(ray)
        done = 0

        def kill_one(n: int) -> None:
            nonlocal done
            if mode == "killed" and done == 0:
                os.kill(next(iter(pids)), signal.SIGKILL)
            done += n

        run = _timed(mode, path, engine="ray", on_progress=kill_one)
        spent = sum(after - before.get(pid, 0.0) for pid, after in workers(ray).items())
    return Run(mode, run.items, run.seconds, run.processor + spent, run.peak_mb, run.scores)


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


def in_own_process(mode: str, path: Path) -> Run:
    command = [sys.executable, "-m", "benchmarks.scale", "--mode", mode, "--file", str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    run = Run(**json.loads(done.stdout.splitlines()[-1]))
    print(
        f"{mode}: {run.seconds:.1f} s, {run.per_second:,.0f} a second", file=sys.stderr, flush=True
    )
    return run


def page(runs: Sequence[Run]) -> str:
    by_mode = {
        mode: [run for run in runs if run.mode == mode]
        for mode in dict.fromkeys(r.mode for r in runs)
    }
    memory, stream, ray = (by_mode[mode] for mode in ("memory", "stream", "ray"))
    n = stream[0].items
    speed = {mode: mean(run.per_second for run in found) for mode, found in by_mode.items()}
    work = {
        mode: mean(run.processor / run.items for run in found) * 1e6
        for mode, found in by_mode.items()
    }
    peak = max(run.peak_mb for run in stream)
    equal = all(run.scores == stream[0].scores for run in runs if run.mode != "memory")
    loss = 1 - speed["stream"] / speed["memory"]
    more = speed["stream"] / speed["ray"] - 1
    lines = [
        "# Scale",
        "",
        f"BLEU, chrF and ssa of {n:,} segments (WMT 2021 German–English outputs, repeated, with ids of their own) on two cores. "
        "Written by `python -m benchmarks.scale`. Every row is a process of its own, and rows ran in this order on a machine that others "
        "used too: speeds by the clock are to be compared within the table only, the processor's time beyond it.",
        "",
        "| run | segments | seconds | segments a second | processor, µs a segment | peak memory, MB |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    names = {
        "memory": "in memory, reading not counted",
        "stream": "streamed from one JSONL file, two threads",
        "ray": "Ray, two workers, cluster start not counted",
        "killed": "Ray, one worker killed on the way",
    }
    lines += [
        f"| {names[run.mode]} | {run.items:,} | {run.seconds:,.1f} | {run.per_second:,.0f} | {run.processor / run.items * 1e6:.2f} | {run.peak_mb:,.0f} |"
        for run in runs
    ]
    lines += [
        "",
        "Memory is that of the process that scores; on a cluster, of the one that adds up.",
        "",
        "| what | measured | we want | |",
        "| --- | ---: | ---: | --- |",
        f"| resident memory while streaming | {peak:,.0f} MB | < 1,024 MB | {_verdict(peak < 1024)} |",
        f"| throughput below that in memory, by the clock | {loss:.0%} | ≤ 20% | {_verdict(loss <= 0.2)} |",
        f"| the same in the processor's time | {1 - work['memory'] / work['stream']:.0%} | ≤ 20% | {_verdict(1 - work['memory'] / work['stream'] <= 0.2)} |",
        f"| Ray over native threads, by the clock | {more:+.0%} | ≤ 25% | {_verdict(more <= 0.25)} |",
        f"| the same in the processor's time | {work['ray'] / work['stream'] - 1:+.0%} | ≤ 25% | {_verdict(work['ray'] / work['stream'] - 1 <= 0.25)} |",
        f"| all digits equal, a killed worker among the runs | {'yes' if equal else 'no'} | yes | {_verdict(equal)} |",
        "",
        "Scores: " + ", ".join(f"{name} {value!r}" for name, value in ray[0].scores.items()) + ".",
        "",
    ]
    assert memory, "the figure in memory is what streaming is held against"
    return "\n".join(lines)


def _verdict(is_met: bool) -> str:
    return "met" if is_met else "missed"


def costs_text(
    runs: Sequence[Run],
    metrics: Sequence[Cost],
    reading: Sequence[Cost],
    significance: Sequence[Cost],
    engine: float,
) -> str:
    stream = [run for run in runs if run.mode == "stream"]
    whole = mean(run.processor / run.items for run in stream) * 1e6
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
        f"reading and decoding {plain:.1f} ({plain / whole:.0%}), the engine's Python about {max(engine, 0):.1f}. Kernels run on all cores without the GIL; decoding and Python "
        f"hold it, one core at a time. So one process stops growing at about {whole / (plain + max(engine, 0.1)):.0f} cores; beyond that the bottleneck is Python, and "
        "processes (`--engine ray --threads N`) go on. With `length` or `exact` alone reading is most of the work already, with `fluency` nothing but the "
        f"model is. A disk must give {1e6 / whole * 270 / 1e6:.0f} MB a second for each core (270 bytes a segment) before it is the bottleneck.",
        "",
        f"**10⁹ segments**: {hours:.1f} core hours by the streamed run above: {hours / 16:.1f} hours on 16 cores, {hours * 60 / 256:.0f} minutes on 256 in a cluster, if the storage gives "
        f"{256e6 / whole * 270 / 1e9:.0f} GB a second. The coordinator receives 8 bytes an item for the check of ids (8 GB, on disk) and adds up {1e9 / 4096:,.0f} blocks. Intervals "
        f"or a test under BLEU would keep 80 GB a system: draw a sample of the items, whose interval is that of the sample.",
        "",
    ]
    return "\n".join(lines)


def _words() -> float:
    return mean(len(output.split()) for output, _ in pairs())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--segments", type=int, default=10_000_000)
    parser.add_argument("--mode")
    parser.add_argument("--file", type=Path)
    arguments = parser.parse_args()
    if arguments.mode:
        print(json.dumps(asdict(measure(arguments.mode, arguments.file))))
        return
    texts = pairs()
    with tempfile.TemporaryDirectory() as folder:
        path, small = Path(folder) / "segments.jsonl", Path(folder) / "small.jsonl"
        write_segments(path, texts, arguments.segments)
        order = ("memory", "stream", "memory", "ray", "stream", "killed", "memory")
        runs = [in_own_process(mode, path) for mode in order]
        path.unlink()
        PAGE.write_text(page(runs), encoding="utf-8")
        print(PAGE.read_text(encoding="utf-8"))
        write_segments(small, texts, 50_000)
        reading = reading_costs(small, 50_000, Path(folder))
    costs = costs_text(
        runs, metric_costs(texts[:16384]), reading, significance_costs(100_000), python_cost(texts, METRICS)
    )  # fmt: skip
    before, _, rest = COSTS_PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    COSTS_PAGE.write_text(f"{before}{BEGIN}{costs}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
