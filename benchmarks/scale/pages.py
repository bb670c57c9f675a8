"""The pages that the benchmark `scale` writes."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

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
    """One run: `seconds` by the clock, and the seconds of `processor` time. `mode` is a key of `NAMES`."""

    mode: str
    items: int
    seconds: float
    processor: float
    peak_mb: float
    scores: dict[str, float]


def page(runs: Sequence[Run], turns: Sequence[Run]) -> str:
    """The page of the large `runs`, and of the smaller runs in `turns`."""
    modes = ("memory", "stream", "ray")
    n_segments = turns[0].items
    seconds = {mode: median(r.seconds for r in turns if r.mode == mode) for mode in modes}
    work = {mode: median(r.processor for r in turns if r.mode == mode) for mode in modes}
    loss, more = 1 - _ratio(turns, "memory", "seconds"), _ratio(turns, "ray", "seconds") - 1
    work_loss, work_more = (
        1 - _ratio(turns, "memory", "processor"),
        _ratio(turns, "ray", "processor") - 1,
    )
    whole = {run.mode: run for run in runs}
    peak = whole["stream"].peak_mb
    equal = all(run.scores == runs[0].scores for run in runs)
    run_rows = "\n".join(
        f"| {NAMES[run.mode]} | {run.items:,} | {run.seconds:,.1f} | {run.items / run.seconds:,.0f} | {run.processor / run.items * 1e6:.2f} | {run.peak_mb:,.0f} |"
        for run in runs
    )
    turn_rows = "\n".join(
        f"| {NAMES[mode]} | {n_segments:,} | {seconds[mode]:,.1f} | {n_segments / seconds[mode]:,.0f} | {work[mode] / n_segments * 1e6:.2f} |"
        for mode in modes
    )
    return f"""# Scale

How long does it take to score {runs[0].items:,} segments, and how much memory? Streamed from a file, BLEU, chrF and [`ssa`](../metrics/ssa.md) took {whole["stream"].seconds:.1f} seconds on two cores, and {peak:,.0f} MB; on a cluster of two workers they took {whole["ray"].seconds:.1f} seconds. {"All runs gave the same scores to the last digit, also the run in which a worker was killed." if equal else "The runs did NOT all give the same scores."}

The segments are outputs of WMT 2021 German–English, repeated, each with its own id. The cluster is Ray, a library for computing on many machines; here its workers are two processes of one machine. Each row is a separate run. Compare rows by processor time rather than by clock time, because the two cores are those of a
virtual machine. The memory is that of the process that scores or, on the cluster, of the process that adds up the workers' results.

| run | segments | clock time, s | segments a second | processor time, µs a segment | peak memory, MB |
| --- | ---: | ---: | ---: | ---: | ---: |
{run_rows}

For comparisons by the clock, three ways of scoring {n_segments:,} segments were run in turns, {len(turns) // len(modes)} times each; the table has the medians:

| run | segments | clock time, s | segments a second | processor time, µs a segment |
| --- | ---: | ---: | ---: | ---: |
{turn_rows}

Medians of the ratios within a turn, and the goals that wellput should reach:

| what | measured | goal | |
| --- | ---: | ---: | --- |
| peak memory while streaming | {peak:,.0f} MB | < 1,024 MB | {_verdict(peak < 1024)} |
| throughput lost by streaming, compared with segments in memory, clock time | {loss:.0%} | ≤ 20% | {_verdict(loss <= 0.2)} |
| throughput lost by streaming, compared with segments in memory, processor time | {work_loss:.0%} | ≤ 20% | {_verdict(work_loss <= 0.2)} |
| time added by Ray, compared with streaming by two threads, clock time | {more:+.0%} | ≤ 25% | {_verdict(more <= 0.25)} |
| time added by Ray, compared with streaming by two threads, processor time | {work_more:+.0%} | ≤ 25% | {_verdict(work_more <= 0.25)} |
| all runs give the same scores to the last digit, also with a worker killed | {"yes" if equal else "no"} | yes | {_verdict(equal)} |
"""


def _ratio(turns: Sequence[Run], mode: str, what: Literal["seconds", "processor"]) -> float:
    """The time of this mode divided by that of streaming: the median over turns."""
    own, streamed = ([getattr(r, what) for r in turns if r.mode == m] for m in (mode, "stream"))
    return float(median(a / b for a, b in zip(own, streamed, strict=True)))


def _verdict(is_met: bool) -> str:
    return "met" if is_met else "missed"


BYTES_A_SEGMENT = 270
"""Of the JSONL file that was measured."""


def _ten_billion(whole: float, plain: float, ids: float) -> str:
    """What 10¹⁰ segments would cost on 1,000 cores, and what then is the bottleneck. The times, in µs: of a
    segment, of reading a segment, and of comparing an id."""
    n, cores = 1e10, 1000
    collisions = n**2 / 2 / 2**64
    return f"""**10¹⁰ segments on 1,000 cores**, computed in the same way: the workers need {n * whole / 3.6e9:,.0f} core hours, so {n * whole / 1e6 / cores:.0f} seconds, in which they read {n * BYTES_A_SEGMENT / 1e12:.1f} TB, {cores * BYTES_A_SEGMENT / whole / 1000:.0f} GB a second. The first process is then the bottleneck: it compares the hashes of all ids, which takes {ids:.2f} µs an id (measured on 16.8 million ids), so {n * ids / 6e7:.0f} minutes on one core, and {n * 8 / 1e9:.0f} GB on its disk.
Different ids may by chance have the same hash of 64 bits: {collisions:.1f} pairs of 10¹⁰ ids. Then one process reads all ids again, which takes about {n * plain / 3.6e9:.1f} hours. So cut a corpus of this size into parts of 10⁹ segments and score each part by itself: the ids of a part are compared in {n / 10 * ids / 6e7:.1f} minutes, and only {collisions / 100:.0%} of the parts are read again. But an id that occurs in two parts is not noticed."""


def costs_text(
    whole: float,
    metrics: Sequence[Cost],
    reading: Sequence[Cost],
    significance: Sequence[Cost],
    engine: float,
    words: float,
    ids: float,
) -> str:
    """The part of docs/scale.md that is measured. In µs: `whole` is the streamed run's processor time for a segment,
    `engine` what its Python takes of it, `ids` the comparison of an id; `words` is the length of a segment."""
    by_name = {cost.what: cost.microseconds for cost in metrics}
    kernels = sum(by_name[name] for name in METRICS.split(","))
    plain = reading[0].microseconds
    hours = whole * 1e9 / 1e6 / 3600
    metric_rows = "\n".join(
        f"| {cost.what} | {cost.microseconds:,.2f} | {cost.growth or 0:.1f} | {cost.microseconds / 3.6:,.1f} |"
        for cost in metrics
    )
    reading_rows = "\n".join(f"| {cost.what} | {cost.microseconds:.2f} |" for cost in reading)
    significance_rows = "\n".join(
        f"| {cost.what} | {cost.microseconds:.2f} | {cost.growth or 0:.2f} |"
        for cost in significance
    )
    return f"""Measured by `make bench-scale` ({platform.machine()}, one thread, processor time; a segment is one output with one reference, of {words:.0f} words on average). Other machines take other times, but the ratios of the times are similar.

| metric | µs a segment | factor if segments are 4 times as long | 10⁹ segments, core hours |
| --- | ---: | ---: | ---: |
{metric_rows}

Cost grows in proportion to the number of items and of systems. The third column says how it grows with the length of segments: 4 means in proportion to the length. TER takes far longer for long segments, because it searches for shifted words.

| reading | µs a segment |
| --- | ---: |
{reading_rows}

| intervals and tests, 1,000 resamples, 10 statistics an item | µs an item, with 100,000 items | the same divided by µs an item with 10,000 items |
| --- | ---: | ---: |
{significance_rows}

**Where the time goes** with BLEU, chrF and [`ssa`](metrics/ssa.md), read from a file: of {whole:.1f} µs a segment, {kernels:.1f} ({kernels / whole:.0%}) are the C++ code of the metrics, {plain:.1f} ({plain / whole:.0%}) reading and decoding, {engine:.1f} the engine's Python; the rest is the cost of threads. The C++ code runs on all cores; decoding and Python need Python's global lock, so they run on one core at a time. So one process gets no faster beyond about {whole / (plain + engine):.0f} cores. Several
processes (`--engine ray --threads N`) use more cores. With `length` as the only metric, reading is most of the work; with `fluency` the model is nearly all of it, and one process keeps {by_name.get("fluency", whole) / (plain + engine):.0f} cores busy. A disk must give {BYTES_A_SEGMENT / whole:.0f} MB a second for each core ({BYTES_A_SEGMENT} bytes a segment), or it is the bottleneck.

**10⁹ segments**, computed from the processor time of the run that [streams its segments from a file](results/scale.md), not measured: {hours:.1f} core hours. That is {hours * 60 / 16:.0f} minutes of 16 cores, or {hours * 3600 / 256:.0f} seconds of 256 in a cluster, if the storage gives {256 * BYTES_A_SEGMENT / whole / 1000:.0f} GB a second. The first process, which coordinates the workers, receives 8 bytes an item for the check of ids (8 GB, on disk). Intervals or a test with BLEU would keep 80 GB a system: for these, score a random sample of the items.

{_ten_billion(whole, plain, ids)}
"""
