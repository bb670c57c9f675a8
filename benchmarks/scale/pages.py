"""The pages that the benchmark `scale` writes."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from benchmarks.scale.costs import Cost

METRICS = "bleu,chrf,ssa"
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


def page(runs: Sequence[Run], turns: Sequence[Run]) -> str:
    modes = ("memory", "stream", "ray")
    turn = turns[0].items
    seconds = {mode: median(r.seconds for r in turns if r.mode == mode) for mode in modes}
    work = {mode: median(r.processor for r in turns if r.mode == mode) for mode in modes}
    loss, more = 1 - _ratio(turns, "memory", "seconds"), _ratio(turns, "ray", "seconds") - 1
    work_loss, work_more = (
        1 - _ratio(turns, "memory", "processor"),
        _ratio(turns, "ray", "processor") - 1,
    )
    peak = max(run.peak_mb for run in runs if run.mode == "stream")
    equal = all(run.scores == runs[0].scores for run in runs)
    lines = [
        "# Scale",
        "",
        f"BLEU, chrF and ssa of {runs[0].items:,} segments (WMT 2021 German–English outputs, repeated, each with its own id) on two cores. "
        "Each row is a separate process; Ray is a library for computing on clusters. Compare rows by "
        "processor time rather than by clock time: the cores "
        "are those of a virtual machine.",
        "",
        "| run | segments | seconds | segments a second | processor, µs a segment | peak memory, MB |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {NAMES[run.mode]} | {run.items:,} | {run.seconds:,.1f} | {run.items / run.seconds:,.0f} | {run.processor / run.items * 1e6:.2f} | {run.peak_mb:,.0f} |"
            for run in runs
        ),
        "",
        "The memory is that of the process that scores; on a cluster, of the process that adds up the "
        "results of the others.",
        "",
        f"For comparisons by the clock, the three ways ran one after the other, in {len(turns) // len(modes)} turns, in one process. The table has medians; the comparisons below are medians of the ratios within a turn:",
        "",
        "| in turns | segments | seconds | segments a second | processor, µs a segment |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(
            f"| {NAMES[mode]} | {turn:,} | {seconds[mode]:,.1f} | {turn / seconds[mode]:,.0f} | {work[mode] / turn * 1e6:.2f} |"
            for mode in modes
        ),
        "",
        _spread(turns),
        "",
        "| what | measured | goal | |",
        "| --- | ---: | ---: | --- |",
        f"| resident memory while streaming | {peak:,.0f} MB | < 1,024 MB | {_verdict(peak < 1024)} |",
        f"| throughput lost by streaming instead of memory, clock time | {loss:.0%} | ≤ 20% | {_verdict(loss <= 0.2)} |",
        f"| the same, processor time | {work_loss:.0%} | ≤ 20% | {_verdict(work_loss <= 0.2)} |",
        f"| time added by Ray to native threads, clock time | {more:+.0%} | ≤ 25% | {_verdict(more <= 0.25)} |",
        f"| the same, processor time | {work_more:+.0%} | ≤ 25% | {_verdict(work_more <= 0.25)} |",
        f"| all digits equal, also with a worker killed | {'yes' if equal else 'no'} | yes | {_verdict(equal)} |",
        "",
        "Scores: " + ", ".join(f"{name} {value!r}" for name, value in runs[0].scores.items()) + ".",
        "",
    ]
    return "\n".join(lines)


def _spread(turns: Sequence[Run]) -> str:
    """How much the ratios by the clock differ from turn to turn."""
    low, _, high = quantiles(_ratios(turns, "memory", "seconds"), n=4)
    return f"In half of the turns streaming was between {1 - high:.0%} and {1 - low:.0%} below the throughput in memory by the clock."


def _ratio(turns: Sequence[Run], mode: str, of: str) -> float:
    """What a mode takes for each of what streaming takes: the median over turns."""
    return median(_ratios(turns, mode, of))


def _ratios(turns: Sequence[Run], mode: str, of: str) -> list[float]:
    mine, streamed = ([getattr(r, of) for r in turns if r.mode == m] for m in (mode, "stream"))
    return [a / b for a, b in zip(mine, streamed, strict=True)]


def _verdict(is_met: bool) -> str:
    return "met" if is_met else "missed"


def _ten_billion(whole: float, plain: float, ids: float) -> list[str]:
    """What 1,000 cores and 10¹⁰ segments would cost, and what then is the bottleneck."""
    n, cores = 1e10, 1000
    collisions = n**2 / 2 / 2**64
    return [
        f"**10¹⁰ segments on 1,000 cores**, computed in the same way: {n * whole / 3.6e9:,.0f} core hours, so {n * whole / 1e6 / cores:.0f} seconds for the workers, which read "
        f"{n * 270 / 1e12:.1f} TB, {cores * 270 / whole / 1000:.0f} GB a second. The workers are then not the bottleneck, the first process is. It receives {n / 65536:,.0f} partitions, adds up "
        f"{n / 4096:,.0f} blocks, and compares the hashes of {n:,.0f} ids: {ids:.2f} µs an id (measured on 16.8 million ids), so {n * ids / 6e7:.0f} minutes on one core, with {n * 8 / 1e9:.0f} GB on its disk. "
        f"Of 10¹⁰ hashes of 64 bits, {collisions:.1f} pairs are equal by chance; then one process reads all ids again, "
        f"which takes about {n * plain / 3.6e9:.1f} hours. So cut a corpus of this size into parts of 10⁹ segments and score each part by itself. Then the first process takes {n / 10 * ids / 6e7:.1f} minutes for each part, "
        f"and {collisions / 100:.0%} of the parts are read a second time. An id that occurs in two parts is then not noticed.",
    ]


def costs_text(
    whole: float,
    metrics: Sequence[Cost],
    reading: Sequence[Cost],
    significance: Sequence[Cost],
    engine: float,
    words: float,
    ids: float,
) -> str:
    by_name = {cost.what: cost.microseconds for cost in metrics}
    kernels = sum(by_name[name] for name in METRICS.split(","))
    plain = reading[0].microseconds
    hours = whole * 1e9 / 1e6 / 3600
    lines = [
        f"Measured by `make bench-scale` ({platform.machine()}, one thread, the processor's time; segments of {words:.0f} words on average "
        "with one reference). Other machines take other times, but the ratios of the times are similar. A segment is one output.",
        "",
        "| metric | µs a segment | time with segments 4 times as long, as a multiple | 10⁹ segments, core hours |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {cost.what} | {cost.microseconds:,.2f} | {cost.growth or 0:.1f} | {cost.microseconds / 3.6:,.1f} |"
        for cost in metrics
    ]
    lines += [
        "",
        "Cost grows in proportion to the number of items and of systems. The third column says how it grows with the length of segments: 4 means in proportion to the length. "
        "TER takes far longer for long segments, because it searches for shifted words.",
        "",
        "| reading | µs a segment |",
        "| --- | ---: |",
        *(f"| {cost.what} | {cost.microseconds:.2f} |" for cost in reading),
        "",
        "| intervals and tests, 1,000 resamples, 10 statistics | µs an item | µs an item with 10 times the items, as a multiple |",
        "| --- | ---: | ---: |",
        *(
            f"| {cost.what} | {cost.microseconds:.2f} | {cost.growth or 0:.2f} |"
            for cost in significance
        ),
        "",
        f"**Where the time goes** with BLEU, chrF and ssa, streamed: {whole:.1f} µs a segment, of which the kernels are {kernels:.1f} ({kernels / whole:.0%}), "
        f"reading and decoding {plain:.1f} ({plain / whole:.0%}), the engine's Python {engine:.1f}; the rest is the cost of threads. Kernels (the C++ code of the metrics) run on all cores; "
        f"decoding and Python need Python's global lock, so they run on one core at a time. So one process gets no faster beyond about {whole / (plain + engine):.0f} cores: there Python is the bottleneck. Several "
        "processes (`--engine ray --threads N`) use more cores. With `length` as the only metric, reading is most of the work; with `fluency` the model is nearly all of the work, "
        f"and one process keeps {by_name.get('fluency', whole) / (plain + engine):.0f} cores busy. A disk must give {270 / whole:.0f} MB a second for each core (270 bytes a segment) before it is the bottleneck.",
        "",
        f"**10⁹ segments**, computed from the streamed run above, not measured: {hours:.1f} core hours, which is {hours * 60 / 16:.0f} minutes of 16 cores, {hours * 3600 / 256:.0f} seconds of 256 in a cluster, if the storage gives "
        f"{256 * 270 / whole / 1000:.0f} GB a second. The first process, which coordinates the workers, receives 8 bytes an item for the check of ids (8 GB, on disk) and adds up {1e9 / 4096:,.0f} blocks. Intervals "
        f"or a test under BLEU would keep 80 GB a system: score a random sample of the items for these.",
        "",
        *_ten_billion(whole, plain, ids),
        "",
    ]
    return "\n".join(lines)
